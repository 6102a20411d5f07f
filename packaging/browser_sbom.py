#!/usr/bin/env python3
"""What the pages load in a browser, as CycloneDX, from the lock file of npm: browser_sbom.py LOCK TARGET.

Not by `npm sbom`, which Debian's npm (9.2) does not have.
"""

import base64
import json
import sys
from pathlib import Path
from typing import Any

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL


def component(name: str, locked: dict[str, Any]) -> Component:
    """One package, with the hash against which npm checks what it fetches (`integrity`, Subresource Integrity)."""
    algorithm, _, digest = locked["integrity"].partition("-")
    if algorithm != "sha512":
        raise ValueError(f"{name} is locked by {algorithm}")
    scope, _, short = name.rpartition("/")
    return Component(
        name=name,
        bom_ref=f"{name}@{locked['version']}",
        version=locked["version"],
        type=ComponentType.LIBRARY,
        purl=PackageURL("npm", scope or None, short, locked["version"]),
        hashes=[HashType(alg=HashAlgorithm.SHA_512, content=base64.b64decode(digest).hex())],
    )


def main(lock: Path, target: Path) -> None:
    """The same lock file makes the same bytes."""
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    shipped = {path.rpartition("node_modules/")[2]: each for path, each in packages.items() if path}
    bom = Bom(components=[component(name, each) for name, each in shipped.items() if not each.get("dev")])
    bom.serial_number = bom.metadata.timestamp = None  # type: ignore[assignment]
    target.write_text(JsonV1Dot6(bom).output_as_string(indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
