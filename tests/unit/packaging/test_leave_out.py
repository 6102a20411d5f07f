"""A package brings no file that nobody reads: each costs an installation time."""

import runpy
from pathlib import Path

import pytest
from django.conf import settings

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / "packaging" / "leave_out.py"))
READ = (
    "django/conf/locale/__init__.py",
    "django/conf/locale/__pycache__/__init__.pyc",
    "django/conf/locale/de/LC_MESSAGES/django.mo",
    "django/conf/locale/de/formats.py",
    "django/conf/locale/de_CH/formats.py",
    "django/conf/locale/en_GB/LC_MESSAGES/django.mo",
    "django/test/client.py",
    "cron_descriptor/locale/de_DE.mo",
    "apprise/i18n/__init__.py",
    "pyphen/dictionaries/hyph_de_AT.dic",
    "pyphen/dictionaries/README_hyph_fr.txt",
    "django-5.2.dist-info/METADATA",
    "django-5.2.dist-info/entry_points.txt",
    "django-5.2.dist-info/licenses/LICENSE",
    "fontTools/misc/bezierTools.py",
    "PIL/_imaging.cpython-313-x86_64-linux-gnu.so",
    "PIL/ImageFont.py",
    "django/db/backends/postgresql/base.py",
    "kombu/transport/redis.py",
    "kombu/transport/virtual/base.py",
    "ninja/main.py",
    "django/contrib/auth/models.py",
    "prompt_toolkit-3.0.dist-info/licenses/LICENSE",
    "pydantic/py.typed",
    "whitenoise/fr/base.py",  # a name like a language's, but no home of translations above it
)
NOT_READ = (
    "django/conf/locale/fr/LC_MESSAGES/django.mo",
    "django/conf/locale/fr/formats.py",
    "django/conf/locale/fr_CA/formats.py",
    "django/conf/locale/zh_Hans/LC_MESSAGES/django.mo",
    "django/conf/locale/sr@latin/LC_MESSAGES/django.mo",
    "cron_descriptor/locale/fr_FR.mo",
    "apprise/i18n/fil/LC_MESSAGES/apprise.mo",
    "pyphen/dictionaries/hyph_hu_HU.dic",
    "certifi/tests/test_certify.py",
    "certifi/tests/locale/fr/LC_MESSAGES/django.mo",
    "fontTools/misc/bezierTools.c",
    "fontTools/misc/bezierTools.cpython-313-x86_64-linux-gnu.so",
    "fontTools/cu2qu.so",
    "ninja/static/ninja/redoc.standalone.js",
    "redis/page.js.map",
    "prompt_toolkit/shortcuts/__init__.py",
    "django/contrib/gis/geos/point.py",
    "PIL/_imagingft.cpython-313-x86_64-linux-gnu.so",
    "django/contrib/postgres/fields/array.py",
    "kombu/transport/SQS/exceptions.py",
    "kombu/transport/azureservicebus.py",
    "pillow.libs/libavif-c6062d5f.so.16.4.2",
    "pydantic/v1/main.py",
    "cryptography/hazmat.pyi",
    "django-5.2.dist-info/RECORD",
    "django-5.2.dist-info/INSTALLER",
)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Python packages of which this and that has been left out."""
    for name in (*READ, *NOT_READ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    SCRIPT["leave_out"](tmp_path)
    return tmp_path


def test_what_is_read_or_must_be_shipped_stays_and_nothing_else(packages: Path) -> None:
    left = {str(path.relative_to(packages)) for path in packages.rglob("*") if path.is_file()}
    assert left == set(READ)


def test_a_language_goes_with_its_directory(packages: Path) -> None:
    assert {path.name for path in (packages / "django/conf/locale").iterdir() if path.is_dir()} == {
        "__pycache__",
        "de",
        "de_CH",
        "en_GB",
    }
    assert not (packages / "certifi/tests").exists()


def test_it_knows_just_the_languages_that_the_product_is_offered_in() -> None:
    assert set(SCRIPT["LANGUAGES"]) == {code for code, _ in settings.LANGUAGES}
