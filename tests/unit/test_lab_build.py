"""How the lab builds its images: steps side by side, what they are kept by, and whether KVM is used."""

import os
import threading
import time
from pathlib import Path

import pytest

from tests.lab import __main__ as command_line
from tests.lab import accel, cache, image, layer_base, layer_final, packages
from tests.lab.deb import deb_key
from tests.lab.errors import LabError
from tests.lab.image import Image
from tests.lab.progress import FIRST_GUESS, STAGE
from tests.lab.stages import side_by_side, stage


def step(title: str) -> str:
    with stage(title):
        return title


def test_steps_side_by_side_run_at_once_and_answer_in_their_order() -> None:
    both = threading.Barrier(2, timeout=30)

    def waits_for_the_other() -> int:
        return both.wait()

    def late() -> str:
        time.sleep(0.05)
        return "first"

    assert set(side_by_side("Both", waits_for_the_other, waits_for_the_other)) == {0, 1}
    assert side_by_side("Both", late, lambda: "second") == ["first", "second"]


def test_who_follows_the_build_sees_one_stage_where_several_run(capsys: pytest.CaptureFixture[str]) -> None:
    side_by_side("All", lambda: step("One"), lambda: side_by_side("Two", lambda: step("Three"))[0])
    step("Last")
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if STAGE.fullmatch(line)] == ["All …", "Last …"]
    assert {line.strip().rpartition(":")[0] for line in said if ": done in" in line} == {"One", "Two", "Three"}


def test_a_step_that_fails_fails_all_once_the_others_have_ended() -> None:
    ended = []

    def fails() -> None:
        raise LabError("No such mirror.")

    def goes_on() -> None:
        time.sleep(0.05)
        ended.append(True)

    with pytest.raises(LabError, match="No such mirror"):
        side_by_side("Both", fails, goes_on)
    assert ended


def test_the_package_that_one_asks_for_is_the_one_in_the_image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Proves: `make run` does not build a second one, packed harder, while somebody waits for the first."""
    asked = []

    def deb(_suite: str, version: str, xz: int) -> Path:
        asked.append(deb_key(version, xz))
        return tmp_path

    monkeypatch.setattr(command_line, "deb", deb)
    assert command_line.main(["deb"]) == 0
    assert command_line.main(["deb", "--released"]) == 0
    assert asked[0] == deb_key()
    assert asked[1] != deb_key()


def test_every_file_of_the_recipe_makes_another_image_when_it_changes() -> None:
    files = {path for path in layer_base.RECIPE.rglob("*") if path.is_file()}
    known = {*layer_base.INGREDIENTS, *layer_final.INGREDIENTS, layer_final.INSTALLS}
    assert files <= known


def test_nothing_that_compiles_is_named_among_what_the_guest_has() -> None:
    assert not set(packages.GUEST_PACKAGES) & {
        "dkms",
        "zfs-dkms",
        "binutils",
        "make",
        *packages.GUEST_BUILD_PACKAGES,
    }


def test_the_kept_answers_of_configure_name_the_release_that_they_are_for() -> None:
    for kept in (layer_base.RECIPE / "zfs-config").iterdir():
        release = kept.name.partition("-linux-")[0]
        assert f'#define ZFS_META_ALIAS "zfs-{release}"\n' in kept.read_text()


def test_the_first_guess_knows_the_longest_stage() -> None:
    assert image.WITH_PACKAGE in FIRST_GUESS


def test_what_is_forgotten_takes_its_logs_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def make(directory: Path, log: Path) -> None:
        log.touch()
        log.with_name(f"{log.stem}-modules.log").touch()

    for key in range(cache.KEPT + 1):
        made = cache.built("base", str(key), make)
        os.utime(made, (key, key))
    cache.built("base", "last", make)
    left = sorted(path.name for path in made.parent.glob("base-*"))
    assert "base-0" not in left
    assert len(left) == 3 * cache.KEPT


class TestKvm:
    @pytest.fixture
    def trials(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
        """The answers that trials give, the next one last; KVM is there."""
        answers: list[bool] = []
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        (tmp_path / "nasadvisor/lab").mkdir(parents=True)
        monkeypatch.setattr(accel, "KVM", tmp_path)
        monkeypatch.setattr(accel, "_trial_boot", lambda _image: answers.pop())
        return answers

    @pytest.fixture
    def machine(self, tmp_path: Path) -> Image:
        (tmp_path / "vmlinuz").write_bytes(b"a kernel")
        return Image(tmp_path)

    @pytest.mark.parametrize(("works", "options"), [(True, accel.HARDWARE), (False, accel.EMULATION)])
    def test_it_is_used_where_a_trial_has_worked_and_tried_once(
        self, trials: list[bool], machine: Image, works: bool, options: tuple[str, ...]
    ) -> None:
        trials.append(works)
        assert accel.acceleration(machine) == options
        assert accel.acceleration(machine) == options

    def test_another_kernel_is_tried_anew(self, trials: list[bool], machine: Image) -> None:
        trials += [True, False]
        assert accel.acceleration(machine) == accel.EMULATION
        machine.kernel.write_bytes(b"another kernel")
        assert accel.acceleration(machine) == accel.HARDWARE

    def test_nothing_is_tried_where_it_is_not(
        self, trials: list[bool], machine: Image, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(accel, "KVM", machine.directory / "none")
        assert accel.acceleration(machine) == accel.EMULATION
