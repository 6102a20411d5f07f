"""What is put on a dataset of TrueNAS, and what runs beside it."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from plugins.truenas.start import PROGRAM

ROOT = Path(__file__).parents[3]
SERVICE = ROOT / "packaging/systemd/nasadvisor-host.service"


@pytest.fixture(scope="module")
def starter() -> ModuleType:
    """packaging/truenas/run.py."""
    spec = importlib.util.spec_from_file_location("starter", ROOT / "packaging/truenas/run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_state_and_socket_lie_on_the_dataset_unless_the_settings_say_otherwise(
    starter: ModuleType, tmp_path: Path
) -> None:
    places = {"NASADVISOR_HOST_STATE": f"{tmp_path}/host", "NASADVISOR_RUN_DIR": f"{tmp_path}/run"}
    assert starter.environment(tmp_path) == places
    (tmp_path / "environment").write_text("# a comment\nNASADVISOR_NODE = nas\nNASADVISOR_RUN_DIR=/run/x\n\n")
    assert starter.environment(tmp_path) == {**places, "NASADVISOR_NODE": "nas", "NASADVISOR_RUN_DIR": "/run/x"}


def test_a_python_for_which_there_are_no_packages_is_said_so(starter: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "python3.11").mkdir()
    assert starter.packages(tmp_path, (3, 11)) == tmp_path / "python3.11"
    with pytest.raises(SystemExit, match=r"no packages for the Python 3\.14 .* Nothing was changed"):
        starter.packages(tmp_path, (3, 14))


def test_the_host_part_is_protected_as_everywhere() -> None:
    """Every setting of the service that limits it is in the transient one too."""
    lines = SERVICE.read_text(encoding="utf-8").partition("[Service]")[2].partition("[Install]")[0].splitlines()
    limits = [line for line in lines if "=" in line and not line.startswith(("#", " "))]
    limits = [
        line for line in limits if line.partition("=")[0] not in ("Type", "Environment", "EnvironmentFile", "ExecStart")
    ]
    start = (ROOT / "packaging/truenas/start").read_text(encoding="utf-8").replace('"', "")
    assert len(limits) > 8
    assert [limit for limit in limits if f"--property={limit}" not in start] == []
    assert "--property=StartLimitIntervalSec=0" in start


def test_the_host_part_looks_for_its_start_script_where_the_bundle_has_it() -> None:
    bundle = (ROOT / "packaging/truenas/bundle.sh").read_text(encoding="utf-8")
    assert 'cp -r "$SOURCE/$part" "$PROGRAM/app/"' in bundle
    assert 'packaging/truenas/{start,nasadvisor,nasadvisor-truenas} "$PROGRAM/"' in bundle
    assert ROOT.parent == PROGRAM, "what is `app` in the bundle is the repository here"


def test_the_pages_have_no_privilege_and_no_device() -> None:
    text = (ROOT / "docker/truenas/compose.yaml").read_text(encoding="utf-8")
    for wanted in ("read_only: true", "cap_drop: [ALL]", '"no-new-privileges:true"'):
        assert wanted in text
    for forbidden in ("privileged:", "/dev", "pid:", "cap_add", "middlewared.sock"):
        assert forbidden not in text
