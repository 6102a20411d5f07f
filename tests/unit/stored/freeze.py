"""`make freeze`: keep the form that each kind has now, for ever. What is frozen already is never written again."""

import json
from pathlib import Path
from typing import Any

import django

GOLDEN = Path(__file__).parents[2] / "golden"


def main() -> None:
    """Write the golden file and the shape of every number that has none."""
    django.setup()
    from nasadvisor.stored.documents import to_document  # noqa: PLC0415 - after Django's settings
    from nasadvisor.stored.packing import READINGS_FORM, form  # noqa: PLC0415
    from tests.unit.stored.examples import examples_of, kinds, packed_example  # noqa: PLC0415
    from tests.unit.stored.readings import packed_readings_example  # noqa: PLC0415
    from tests.unit.stored.shapes import shape_of  # noqa: PLC0415

    for kind in kinds():
        golden = GOLDEN / kind.name / f"{kind.number}.json"
        if golden.exists():
            continue
        golden.parent.mkdir(parents=True, exist_ok=True)
        documents = [to_document(example) for example in examples_of(kind)]
        golden.write_text(json.dumps(documents, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        golden.with_suffix(".shape").write_text(shape_of(kind.of), encoding="utf-8")
        print(f"froze {kind.name} number {kind.number}")
    freeze_packed("packed-sample", form(), packed_example())
    freeze_packed("packed-readings", READINGS_FORM, packed_readings_example())


def freeze_packed(name: str, number: int, example: dict[str, Any]) -> None:
    """Keep what is packed beside the documents; in base64."""
    golden = GOLDEN / name / f"{number}.json"
    if not golden.exists():
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(json.dumps(example, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"froze {name} number {number}")


if __name__ == "__main__":
    main()
