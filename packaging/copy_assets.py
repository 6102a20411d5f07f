#!/usr/bin/env python3
"""Copy what the browser needs from node_modules to static/vendor, of the icons only those that pages show.

`npm ci --ignore-scripts && .venv/bin/python packaging/copy_assets.py`

The font of all 2,000 icons would be more than half of what a browser loads on its first visit; `icons.txt` lists those
that are shown, and tests/unit/console/test_icons.py holds it. The font is cut by fontTools, which WeasyPrint brings.
"""

import re
import shutil
from pathlib import Path

from fontTools import subset

ROOT = Path(__file__).resolve().parent.parent
MODULES = ROOT / "node_modules"
VENDOR = ROOT / "static" / "vendor"
ASSETS = {
    "bootstrap/dist/css/bootstrap.min.css": "bootstrap.min.css",
    "bootstrap/dist/js/bootstrap.bundle.min.js": "bootstrap.bundle.min.js",
    "htmx.org/dist/htmx.min.js": "htmx.min.js",
    "bootstrap/LICENSE": "licenses/bootstrap.txt",
    "bootstrap-icons/LICENSE": "licenses/bootstrap-icons.txt",
    "htmx.org/LICENSE": "licenses/htmx.txt",
}
SOURCE_MAP = re.compile(r"^(/\*# sourceMappingURL=.*\*/|//# sourceMappingURL=.*)$", re.MULTILINE)
ICON_RULE = re.compile(r"\.bi-([a-z0-9-]+)::before\{content:\"\\([0-9a-f]+)\"\}")
FONT_FILES = re.compile(r"src:url\([^;}]*")
FONT = "fonts/bootstrap-icons.woff2"
"""Every browser since 2018 reads WOFF2, so there is no other form."""


def main() -> None:
    """Copy each asset; the reference to a source map is dropped because the map is not shipped."""
    for source, target in ASSETS.items():
        source_path, target_path = MODULES / source, VENDOR / target
        target_path.parent.mkdir(parents=True, exist_ok=True)
        if source_path.suffix in (".css", ".js"):
            target_path.write_text(SOURCE_MAP.sub("", source_path.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            shutil.copyfile(source_path, target_path)
    copy_icons(MODULES / "bootstrap-icons" / "font", VENDOR / "icons")


def copy_icons(source: Path, target: Path) -> None:
    """The icons in `icons.txt`: their rules of the style sheet, and their glyphs of the font.

    Raises:
        SystemExit: one of them is not in this release of Bootstrap Icons.
    """
    wanted = (ROOT / "packaging" / "icons.txt").read_text(encoding="utf-8").split()
    style = (source / "bootstrap-icons.min.css").read_text(encoding="utf-8")
    places = dict(ICON_RULE.findall(style))
    if unknown := [name for name in wanted if name not in places]:
        raise SystemExit(f"Bootstrap Icons has no {', '.join(unknown)}: see packaging/icons.txt")
    kept = ICON_RULE.sub(lambda rule: rule[0] if rule[1] in wanted else "", style)
    (target / FONT).parent.mkdir(parents=True, exist_ok=True)
    (target / "fonts" / "bootstrap-icons.woff").unlink(missing_ok=True)
    kept = FONT_FILES.sub(f'src:url("{FONT}") format("woff2")', kept, count=1)
    (target / "bootstrap-icons.min.css").write_text(kept, encoding="utf-8")
    characters = ",".join(places[name] for name in wanted)
    subset.main([str(source / FONT), f"--unicodes={characters}", "--flavor=woff2", f"--output-file={target / FONT}"])


if __name__ == "__main__":
    main()
