"""`make freeze`: keep the form that each kind has now, for ever. What is frozen already is never written again."""

import json
from pathlib import Path

import django

GOLDEN = Path(__file__).parents[2] / "golden"
PACKED = "packed-sample"


def main() -> None:
    """Write the golden file and the shape of every number that has none."""
    django.setup()
    from nasadvisor.stored.documents import to_document  # noqa: PLC0415 - after Django's settings
    from nasadvisor.stored.packing import form  # noqa: PLC0415
    from tests.unit.stored.examples import examples_of, kinds, packed_example  # noqa: PLC0415
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
    packed = GOLDEN / PACKED / f"{form()}.json"
    if not packed.exists():
        packed.parent.mkdir(parents=True, exist_ok=True)
        packed.write_text(json.dumps(packed_example(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"froze {PACKED} number {form()}")


if __name__ == "__main__":
    main()
