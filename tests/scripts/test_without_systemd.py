"""What the package says where systemd does not run: in a chroot, or a container without an init."""

import subprocess
from pathlib import Path

import pytest

PACKAGING = Path(__file__).parents[2] / "packaging"


def test_without_systemd_manage_says_what_to_do_and_does_nothing(tmp_path: Path) -> None:
    script = (PACKAGING / "manage").read_text().replace("/run/systemd/system", str(tmp_path / "none"))
    done = subprocess.run(
        ["/bin/sh", "-c", script, "manage", "setup_link"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "systemd does not run here" in done.stderr


@pytest.mark.parametrize("runs", [True, False])
def test_an_installation_without_systemd_names_no_pages_and_says_that_nothing_was_started(
    tmp_path: Path, runs: bool
) -> None:
    text = (PACKAGING / "deb/nasadvisor/postinst").read_text()
    folder = tmp_path / "systemd"
    if runs:
        folder.mkdir()
    (tmp_path / "nasadvisor").write_text("#!/bin/sh\necho https://nas:8843\n")
    (tmp_path / "nasadvisor").chmod(0o755)
    functions = text[: text.index('case "$1" in')].replace("/run/systemd/system", str(folder))
    script = f"{functions.replace('/usr/bin/nasadvisor', str(tmp_path / 'nasadvisor'))}\nsay_where_the_pages_are ''\n"
    said = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert ("https://nas:8843" in said, "nothing was started" in said) == (runs, not runs)
