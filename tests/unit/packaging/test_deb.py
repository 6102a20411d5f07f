"""The Debian package says what it needs, and its scripts do no harm."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from nasadvisor import __version__
from nasadvisor.cli import main
from nasadvisor.cli.services import THIS_HOST
from nasadvisor.host.adapters.process import PACKAGES, Tool
from nasadvisor.host.change.runs import apply_plan, undo_run
from nasadvisor.host.config import HostConfig
from nasadvisor.host.simulated.executor import SimulatedExecutor
from nasadvisor.stored import kinds
from tests.unit.host.change.conftest import Bench, Killed, killer
from tests.unit.machines import home_server

ROOT = Path(__file__).parents[3]
PACKAGING = ROOT / "packaging"
RECIPES = sorted(path.parent for path in (PACKAGING / "deb").glob("*/control"))
RECIPE = PACKAGING / "deb" / "nasadvisor"
UNITS = sorted((PACKAGING / "systemd").glob("*.service"))
AS_ROOT = frozenset({"nasadvisor-host", "nasadvisor-certificate"})
"""The worker of the host, and what looks at certificates, which only root can read."""
SCRIPTS = sorted(path for recipe in RECIPES for path in recipe.glob("p*[mt]") if path.name.startswith(("post", "prer")))
# Programs without which the product still does its work, and those of OpenZFS, which is there or is not.
OPTIONAL = {Tool.BPFTRACE, Tool.FIO, Tool.NVME, Tool.PG_DUMP, Tool.PG_RESTORE, Tool.ZDB, Tool.ZFS, Tool.ZPOOL}
# Always there: no package depends on these.
ESSENTIAL = {"dpkg", "perl-base", "util-linux"}

# What `FROM` and `image:` name; one that a variable may replace by what it is then.
IMAGE = re.compile(r"^(?:ARG BASE=| *image: )(?:\$\{[A-Z_]+:-)?([^\s}]+)", re.MULTILINE)
DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A simulated host with its state in a directory of its own."""
    return Bench(tmp_path, SimulatedExecutor(home_server()))


def field(recipe: Path, name: str) -> list[str]:
    found = re.search(rf"^{name}: (.*)$", (recipe / "control").read_text(), re.MULTILINE)
    return [word.strip() for word in found[1].split(",")] if found else []


def test_it_depends_on_the_packages_of_every_program_that_it_must_be_able_to_start() -> None:
    needed = {package for tool, package in PACKAGES.items() if tool not in OPTIONAL} - ESSENTIAL
    assert needed - set(field(RECIPE, "Depends")) == set()
    assert {PACKAGES[tool] for tool in (Tool.BPFTRACE, Tool.FIO, Tool.NVME)} <= set(field(RECIPE, "Recommends"))


def test_it_does_not_depend_on_a_package_that_opens_a_port() -> None:
    assert "redis-server" not in field(RECIPE, "Depends") + field(RECIPE, "Recommends")


def test_every_python_package_is_taken_against_its_hash_and_the_driver_is_the_one_that_is_tested() -> None:
    lists = {path.name: path.read_text() for path in (ROOT / "requirements").glob("*.txt")}
    pins = {
        name: re.findall(r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==(\S+)[^\n]*\\\n    --hash=", text, re.MULTILINE)
        for name, text in lists.items()
    }
    assert {name: len(found) for name, found in pins.items()} == {
        name: len(re.findall("^[a-z0-9]", text, re.MULTILINE)) for name, text in lists.items()
    }
    assert {"psycopg", "psycopg-binary"} <= {name for name, _version in pins["postgresql.txt"]}
    assert set(pins["postgresql.txt"]) | set(pins["run.txt"]) <= set(pins["dev.txt"])
    installs = re.findall(r"pip\S* [^&]*?install [^&]*", (ROOT / "docker/Dockerfile").read_text().replace("\\\n", " "))
    assert len(installs) == 1
    assert all("--require-hashes" in line for line in installs)


def test_every_image_that_comes_from_elsewhere_has_a_digest() -> None:
    """What a tag stands for can be changed by others at any time; a digest cannot."""
    files = [ROOT / "docker" / "Dockerfile", *(ROOT / "docker").rglob("compose.yaml")]
    named = [image for file in files for image in IMAGE.findall(file.read_text())]
    ours = {image for image in named if image == "nasadvisor"}

    assert {image.partition(":")[0] for image in named} == {"debian", "postgres", "nasadvisor"}
    assert [image for image in named if image not in ours and not DIGEST.search(image)] == []


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_package_has_what_the_build_asks_for(recipe: Path) -> None:
    assert field(recipe, "Package") == [recipe.name]
    assert field(recipe, "Version") == ["@VERSION@"]
    assert (recipe / "copyright").exists()
    assert (recipe / "stage.sh").stat().st_mode & 0o100


def test_what_is_installed_is_there_and_nothing_else_of_the_source() -> None:
    names = (PACKAGING / "app-files").read_text().split()
    assert [name for name in names if not (ROOT / name).exists()] == []
    assert {"tests", "benchmarks", "node_modules", "build", "packaging"} & set(names) == set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_maintainer_scripts_stop_at_the_first_error_and_know_of_no_pool(script: Path) -> None:
    lines = script.read_text().splitlines()
    assert lines[0] == "#!/bin/sh"
    assert "set -e" in lines
    code = "\n".join(line for line in lines if not line.startswith("#"))
    assert re.findall(r"\b(zpool|zfs|sgdisk|wipefs|blkdiscard|labelclear|dd)\b", code) == []


NOTHING_LEFT = "No run has left anything"


def listed(bench: Bench) -> str:
    """What the script prints: the runs of which the host's state directory says that they left something."""
    script = (RECIPE / "prerm").read_text()
    (command,) = re.findall(r"/usr/bin/nasadvisor (.*) 2>&1\) \|\| code", script)
    services = replace(THIS_HOST, run_host=lambda: bench.host, inventory=bench.executor.inventory, is_root=lambda: True)
    result = CliRunner().invoke(main, command.split(), obj=services, catch_exceptions=False)
    assert f'"0 {NOTHING_LEFT}"*) return 0' in script
    assert f'"{result.exit_code} "*' in script
    return "" if result.output.startswith(NOTHING_LEFT) else result.output


def test_a_removal_names_the_runs_in_place_and_the_trials_that_are_still_running(bench: Bench) -> None:
    assert listed(bench) == ""
    apply_plan(bench.host, bench.plan(), "anna", bench.watch, trial_s=3600)
    (row,) = [line for line in listed(bench).splitlines() if "run-1" in line]
    assert "tank" in row
    assert "applied, on trial until 2026-08-25 21:" in row
    undo_run(bench.host, "run-1", "anna", bench.watch)
    assert listed(bench) == ""


def test_a_removal_names_runs_that_were_interrupted_or_whose_journal_is_damaged(bench: Bench) -> None:
    with pytest.raises(Killed):
        apply_plan(bench.host, bench.plan(), "anna", killer(4))
    assert "interrupted" in listed(bench)
    (bench.host.journals / "run-1" / "journal.jsonl").write_text("")
    assert "damaged" in listed(bench)


def test_what_stays_is_told_before_the_services_stop_and_only_when_the_package_is_removed() -> None:
    lines = (RECIPE / "prerm").read_text().splitlines()
    assert lines[-5:] == [
        '[ "$1" != upgrade ] || refuse_to_go_back "$2"',
        '[ "$1" != failed-upgrade ] || stay_refused "$2"',
        '[ "$1" != remove ] || tell_what_stays',
        "stop_services",
        "wait_for_runs",
    ]


def write_newer_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a made-up next release write records of a journal in another form than the first."""
    record = next(kind for kind in kinds.all_kinds() if kind.name == "record")
    monkeypatch.setattr(kinds, "_registry", dict(kinds._registry))
    kinds.register(replace(record, upgrades=(*record.upgrades, dict)))


class TestGoingBackToAnOlderRelease:
    """dpkg calls the script of the package that is installed before it touches a file (Debian policy 6.6)."""

    def ask(self, state: Path, script: str, release: str) -> int:
        """What a script runs, with `release` for the version that it means; its exit code."""
        (command,) = re.findall(r"/usr/bin/nasadvisor (\S+) \"\$\w+\" \|\|", (RECIPE / script).read_text())
        config = HostConfig("nas", state, state, "redis+socket:///nowhere", "auto")
        services = replace(THIS_HOST, config=lambda: config, is_root=lambda: True)
        result = CliRunner().invoke(main, [command, release], obj=services, catch_exceptions=False)
        if result.exit_code:
            assert "Nothing was changed; the installed release stays." in result.stderr
        return int(result.exit_code)

    def test_what_has_stored_a_newer_form_is_not_replaced_by_a_release_that_cannot_read_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert self.ask(tmp_path, "postinst", "1.0") == 0
        write_newer_records(monkeypatch)
        assert self.ask(tmp_path, "postinst", "2.0") == 0
        assert self.ask(tmp_path, "prerm", "1.0") == 3
        assert self.ask(tmp_path, "prerm", "2.0") == 0
        monkeypatch.undo()
        assert self.ask(tmp_path, "prerm", "1.0") == 3, "what was written stays written, whoever asks"

    def test_a_release_that_writes_the_same_forms_may_come_back(self, tmp_path: Path) -> None:
        self.ask(tmp_path, "postinst", "1.0")
        self.ask(tmp_path, "postinst", "1.1")
        assert self.ask(tmp_path, "prerm", "1.0") == 0

    def test_a_release_that_was_never_here_is_taken_to_read_first_forms_only(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_newer_records(monkeypatch)
        self.ask(tmp_path, "postinst", "2.0")
        assert self.ask(tmp_path, "prerm", "0.1") == 3

    @pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'{"known": 5}'])
    def test_a_damaged_note_counts_as_what_this_release_writes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
    ) -> None:
        write_newer_records(monkeypatch)
        (tmp_path / "releases.json").write_bytes(content)
        assert self.ask(tmp_path, "prerm", "0.1") == 3
        assert self.ask(tmp_path, "postinst", "1.0") == 0

    def test_it_is_asked_only_where_the_version_is_lower_and_an_installation_that_is_broken_may_be_replaced(
        self,
    ) -> None:
        script = (RECIPE / "prerm").read_text()
        assert 'dpkg --compare-versions "$1" lt "$VERSION" || return 0' in script
        assert '[ "$code" != 3 ] || exit 1' in script
        assert '! dpkg --compare-versions "$1" gt "$VERSION" || exit 1' in script
        assert 'VERSION="@VERSION@"' in script
        assert "s/@VERSION@/$version/" in (PACKAGING / "deb" / "build.sh").read_text()


def test_a_purge_stays_out_of_file_systems_mounted_below() -> None:
    removals = [line.strip() for line in (RECIPE / "postrm").read_text().splitlines() if "rm -rf" in line]
    assert removals == [
        "rm -rf --one-file-system /run/nasadvisor /run/nasadvisor-host /run/nasadvisor-tls",
        "rm -rf --one-file-system /etc/nasadvisor /var/lib/nasadvisor /run/nasadvisor /run/nasadvisor-host",
    ]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_every_service_of_the_console_waits_for_its_database(unit: Path) -> None:
    text = unit.read_text()
    is_console = "venv/bin/python" in text and unit.stem not in {*AS_ROOT, "nasadvisor-prepare"}
    assert ("ExecStartPre=/usr/bin/test -e /var/lib/nasadvisor/console/prepared" in text) == is_console
    wanted = [line for line in text.splitlines() if line.startswith("Wants=") and "nasadvisor-prepare.service" in line]
    assert bool(wanted) == is_console
    assert "Requires=nasadvisor-prepare" not in text, "it is not tried again when that one fails"


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_every_service_that_need_not_be_root_runs_as_the_consoles_user_without_any_privilege(unit: Path) -> None:
    lines = set(unit.read_text().splitlines())
    unprivileged = {"User=nasadvisor", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict"}
    assert (unprivileged <= lines) == (unit.stem not in AS_ROOT)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_every_service_starts_what_the_package_installs(unit: Path) -> None:
    for command in re.findall(r"^ExecStart=(\S+)", unit.read_text(), re.MULTILINE):
        assert command in {
            "/usr/bin/systemctl",
            "/usr/bin/touch",
            "/usr/lib/nasadvisor/venv/bin/python",
            "/usr/lib/nasadvisor/redis-server",
            "/usr/lib/nasadvisor/redis-watch",
        }


def test_the_version_of_the_code_is_that_of_the_project() -> None:
    """Two places: the code is installed without metadata, and the bill of materials reads the project's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__
