"""`make release` in a repository of its own, with stand-ins for the tests and for what builds packages."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHANGELOG = """# Changelog

## 1.2.3 (2026-12-01)

**Weighs.** What it weighs.

## 1.2.2 (2026-11-01)

Older.
"""
STAND_INS = {
    "make": 'echo "$@" >> made\n[ ! -e tests-fail ]',
    "python3": "d=$(mktemp -d)\n"
    'for one in a b; do echo "$6 $one" > "$d/${one}_1.2.3~$6.deb"; echo "$d/${one}_1.2.3~$6.deb"; done',
}


class Checkout:
    """A repository that can be released."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.programs = folder / "checkout", folder / "programs"
        for place in (self.folder / "scripts", self.folder / "nasadvisor", self.programs):
            place.mkdir(parents=True)
        shutil.copy(ROOT / "scripts/release.sh", self.folder / "scripts")
        (self.folder / "nasadvisor/__init__.py").write_text('"""Text."""\n\n__version__ = "1.2.3"\n')
        (self.folder / "CHANGELOG.md").write_text(CHANGELOG)
        (self.folder / ".gitignore").write_text("/build/\n/made\n/tests-fail\n")
        self.program(self.folder / "scripts/sbom.sh", 'cd "$1"; shift; sha256sum -- "$@" > SHA256SUMS')
        for name, text in STAND_INS.items():
            self.program(self.programs / name, text)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key"], check=True)
        self.git("init", "--quiet")
        self.git("config", "user.email", "a@example.org")
        self.git("config", "user.name", "A")
        self.git("config", "gpg.format", "ssh")
        self.git("config", "user.signingkey", str(folder / "key.pub"))
        self.commit()

    @staticmethod
    def program(path: Path, text: str) -> None:
        path.write_text(f"#!/bin/bash\nset -eu\n{text}\n")
        path.chmod(0o755)

    def git(self, *args: str) -> str:
        return subprocess.run(["git", *args], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-gpg-sign", "--allow-empty", "--message", "Text")

    def release(self) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}"}
        argv = [str(self.folder / "scripts/release.sh")]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)

    @property
    def tags(self) -> list[str]:
        return self.git("tag", "--list").split()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_it_tests_builds_every_suite_and_signs_the_tag_with_the_notes(checkout: Checkout) -> None:
    done = checkout.release()
    assert done.returncode == 0, done.stderr
    made = checkout.folder / "build/release"
    sums = (made / "SHA256SUMS").read_text().split()[1::2]
    assert sums == [f"{one}_1.2.3~{suite}.deb" for one in "ab" for suite in ("bookworm", "trixie")]
    assert (made / "NOTES.md").read_text() == "**Weighs.** What it weighs.\n\n"
    assert (checkout.folder / "made").read_text() == "test\n"
    tag = checkout.git("cat-file", "tag", "v1.2.3")
    assert "**Weighs.** What it weighs." in tag
    assert "BEGIN SSH SIGNATURE" in tag


@pytest.mark.parametrize(
    ("file", "text", "is_committed", "said"),
    [
        ("nasadvisor/new.py", "x = 1\n", False, "not committed:"),
        ("nasadvisor/__init__.py", '__version__ = "1.2.3"  \n', False, "not committed:"),
        ("nasadvisor/__init__.py", '__version__ = "1.2"\n', True, "not like 1.2.3"),
        ("nasadvisor/__init__.py", '__version__ = "1.2.4"\n', True, 'no part "## 1.2.4'),
        ("CHANGELOG.md", "## 1.2.3 (unreleased)\n", True, 'no part "## 1.2.3'),
    ],
)
def test_what_is_not_committed_or_not_described_is_not_released(
    checkout: Checkout, file: str, text: str, is_committed: bool, said: str
) -> None:
    (checkout.folder / file).write_text(text)
    if is_committed:
        checkout.commit()
    done = checkout.release()
    assert (done.returncode, checkout.tags) == (1, [])
    assert said in done.stderr
    assert not (checkout.folder / "made").exists()


def test_a_release_that_is_there_is_not_made_again(checkout: Checkout) -> None:
    checkout.git("tag", "v1.2.3")
    done = checkout.release()
    assert done.returncode == 1
    assert "v1.2.3 is there already" in done.stderr


def test_without_a_key_nothing_is_begun(checkout: Checkout) -> None:
    checkout.git("config", "--unset", "user.signingkey")
    done = checkout.release()
    assert done.returncode == 1
    assert "no key to sign with" in done.stderr


def test_where_a_test_fails_there_is_no_tag(checkout: Checkout) -> None:
    (checkout.folder / "tests-fail").touch()
    assert checkout.release().returncode != 0
    assert checkout.tags == []
    assert not (checkout.folder / "build").exists()
