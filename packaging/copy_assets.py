#!/usr/bin/env python3
"""Copy what the browser needs from node_modules to static/vendor.

`npm ci --ignore-scripts && python3 packaging/copy_assets.py`
"""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASSETS = {
    "bootstrap/dist/css/bootstrap.min.css": "bootstrap.min.css",
    "bootstrap/dist/js/bootstrap.bundle.min.js": "bootstrap.bundle.min.js",
    "bootstrap-icons/font/bootstrap-icons.min.css": "icons/bootstrap-icons.min.css",
    "bootstrap-icons/font/fonts/bootstrap-icons.woff2": "icons/fonts/bootstrap-icons.woff2",
    "bootstrap-icons/font/fonts/bootstrap-icons.woff": "icons/fonts/bootstrap-icons.woff",
    "htmx.org/dist/htmx.min.js": "htmx.min.js",
    "bootstrap/LICENSE": "licenses/bootstrap.txt",
    "bootstrap-icons/LICENSE": "licenses/bootstrap-icons.txt",
    "htmx.org/LICENSE": "licenses/htmx.txt",
}
SOURCE_MAP = re.compile(r"^(/\*# sourceMappingURL=.*\*/|//# sourceMappingURL=.*)$", re.MULTILINE)


def main() -> None:
    """Copy each asset; the reference to a source map is dropped because the map is not shipped."""
    for source, target in ASSETS.items():
        source_path, target_path = ROOT / "node_modules" / source, ROOT / "static" / "vendor" / target
        target_path.parent.mkdir(parents=True, exist_ok=True)
        if source_path.suffix in (".css", ".js"):
            target_path.write_text(SOURCE_MAP.sub("", source_path.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            shutil.copyfile(source_path, target_path)


if __name__ == "__main__":
    main()
