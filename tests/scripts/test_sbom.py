"""What `make deb` puts beside a package: what it is made of, and checksums of all of it."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = "nasadvisor_0.1.0_amd64.deb"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("build")
    (made / PACKAGE).write_bytes(b"a package")
    subprocess.run([ROOT / "scripts/sbom.sh", made, PACKAGE], check=True, cwd=ROOT, capture_output=True)
    return made


def components(folder: Path, name: str) -> set[tuple[str, str]]:
    document = json.loads((folder / name).read_text())
    assert document["bomFormat"] == "CycloneDX"
    return {(each["name"].lower(), each["version"]) for each in document["components"]}


def test_every_pinned_package_is_named_with_its_version(folder: Path) -> None:
    pinned = re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements/run.txt").read_text(), re.MULTILINE)
    assert pinned
    assert {(name.lower(), version) for name, version in pinned} <= components(folder, "nasadvisor-python.cdx.json")


def test_what_browsers_load_is_named_with_its_version(folder: Path) -> None:
    wanted = json.loads((ROOT / "package.json").read_text())["dependencies"]
    locked = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    versions = {(name.lower(), locked[f"node_modules/{name}"]["version"]) for name in wanted}
    assert versions <= components(folder, "nasadvisor-browser.cdx.json")


def test_the_checksums_are_those_of_all_of_it_and_notice_a_change(folder: Path) -> None:
    (sums,) = folder.glob("*SHA256*")
    check = ["sha256sum", "--check", "--strict", sums.name]
    assert subprocess.run(check, cwd=folder, capture_output=True, check=False).returncode == 0
    named = {line.split()[1].lstrip("*") for line in sums.read_text().splitlines()}
    assert named == {path.name for path in folder.iterdir()} - {sums.name}
    (folder / PACKAGE).write_bytes(b"another package")
    assert subprocess.run(check, cwd=folder, capture_output=True, check=False).returncode == 1
