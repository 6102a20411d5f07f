"""`make codes`: makes nasadvisor/explain/catalogue.json and, in docs, reference/codes.md and how-to/procedures/."""

import json
import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from nasadvisor.domain.statements import Level
from nasadvisor.explain.codes import CATALOGUE, FRAMES, Catalogue, Code, CodeKind, Meaning
from nasadvisor.explain.procedures import BY_CODE, PROCEDURES, Procedure, ProcedureStep, command_for, filled
from nasadvisor.stored.documents import to_document
from tests.unit.explain.source import Said, said_in

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = ROOT / "docs" / "reference" / "codes.md"
FOLDER: Final = ROOT / "docs" / "how-to" / "procedures"

PLANS: Final = ("/warnings.py", "/change/actions/", "/undo.py", "/refusals/platforms.py")
"""Parts of the paths of modules whose findings are about a plan or an undo, not about a host."""

GUIDES: Final = (
    ("plugins/truenas/", "docs/how-to/truenas.md"),
    ("plugins/proxmox/", "docs/reference/proxmox.md"),
    ("/wear/", "docs/explanation/wear.md"),
    ("/host_findings.py", "docs/explanation/architecture.md"),
    ("/smart/", "docs/explanation/wear.md"),
    ("/replacement/", "docs/explanation/health.md"),
    ("/forecasts.py", "docs/explanation/wear.md"),
    ("_findings.py", "docs/explanation/health.md"),
    ("/findings.py", "docs/explanation/health.md"),
    ("/collect_findings.py", "docs/explanation/health.md"),
    ("/probing.py", "docs/explanation/evidence.md"),
    ("/suitability.py", "docs/explanation/evidence.md"),
    ("/schema_versions.py", "docs/how-to/many-hosts.md"),
    ("/join.py", "docs/how-to/many-hosts.md"),
    ("/trials.py", "docs/explanation/architecture.md"),
    ("", "docs/explanation/safety.md"),
)
"""The page that goes further, by a part of the module's path; the first that fits counts."""

PAGE_HEAD: Final = """# Codes

Every refusal, warning, finding and error has a code. It stands in the answers of `--json`, in the API and in alerts,
and never changes its meaning. `nasadvisor explain CODE` and the page `/explain/CODE/` of the console say the same as
this page, which is made from the code by `make codes`. Values stand in braces.
"""


def gathered() -> tuple[Code, ...]:
    """What the source says today, by code."""
    found = sorted(_all_said(), key=lambda each: each[1].code)
    return tuple(Code(code, tuple(_meanings(said))) for code, said in groupby(found, key=lambda each: each[1].code))


def page(codes: Iterable[Code]) -> str:
    """The page of the documentation."""
    all_codes = tuple(codes)
    lines = [PAGE_HEAD]
    for kind in CodeKind:
        of_kind = [(each.code, meaning) for each in all_codes for meaning in each.meanings if meaning.kind is kind]
        lines.append(f"\n## {kind.value.capitalize()}s\n\n{FRAMES[kind]}\n")
        lines.extend(_entry(code, meaning) for code, meaning in of_kind)
    return "".join(lines)


def _all_said() -> Iterator[tuple[str, Said]]:
    for folder in ("nasadvisor", "plugins"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            yield from ((name, said) for said in said_in(path.read_text(encoding="utf-8")))


def _meanings(said: Iterable[tuple[str, Said]]) -> Iterator[Meaning]:
    """One for each kind in which a code is met, with all its sentences."""
    found = list(said)
    for kind in CodeKind:
        of_kind = [(path, each) for path, each in found if _kind(path, each) is kind]
        if of_kind:
            yield Meaning(
                kind,
                _once(text for _path, each in of_kind for text in each.sentences),
                _once(text for _path, each in of_kind for text in each.more),
                tuple(level for level in Level if any(level in each.levels for _path, each in of_kind)),
                next(guide for part, guide in GUIDES if part in of_kind[0][0]),
            )


def _kind(path: str, said: Said) -> CodeKind:
    if said.maker == "HostError":
        return CodeKind.ERROR
    if said.maker == "Refused":
        return CodeKind.REFUSAL
    return CodeKind.WARNING if any(part in path for part in PLANS) else CodeKind.FINDING


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _entry(code: str, meaning: Meaning) -> str:
    levels = f" ({', '.join(level.value for level in meaning.levels)})" if meaning.levels else ""
    said = "\n".join(f"> {text}\n" for text in meaning.sentences).replace("\n\n", "\n>\n")
    more = "".join(f"\n{text}\n" for text in meaning.more)
    guide = f"[{Path(meaning.guide).stem.replace('-', ' ')}]({os.path.relpath(ROOT / meaning.guide, PAGE.parent)})"
    found = BY_CODE.get(code)
    steps = f"\nStep by step: [{found.title}](../how-to/procedures/{found.name}.md).\n" if found else ""
    return f"\n### `{code}`{levels}\n\n{said}{more}\nSee {guide}.\n{steps}"


def procedure_page(procedure: Procedure) -> str:
    """The page of one procedure in the documentation, with the steps for every case."""
    codes = ", ".join(f"`{code}`" for code in sorted(procedure.codes))
    steps = "".join(_step(number, step) for number, step in enumerate(procedure.steps, 1))
    return (
        f"# {procedure.title}\n\n{filled(procedure.lead, {})}\n\n"
        f"For {codes}. `nasadvisor explain CODE --steps` says the same. Words in capitals are to be put in.\n{steps}"
    )


def _step(number: int, step: ProcedureStep) -> str:
    only = f"For {', '.join(f'`{code}`' for code in sorted(step.codes))}." if step.codes else ""
    typed = "\n".join(f"    {command_for(command, {})}" for command in step.commands)
    ends = [("It worked if", step.done), ("If not", step.otherwise)]
    told = "\n".join(f"- {lead}: {filled(text, {})}" for lead, text in ends if text)
    parts = (f"## {number}. {filled(step.do, {})}", only, filled(step.stake, {}), typed, told)
    return "".join(f"\n{part}\n" for part in parts if part)


def main() -> None:
    """Write both."""
    codes = gathered()
    text = json.dumps(to_document(Catalogue(codes)), indent=1, ensure_ascii=False)
    CATALOGUE.write_text(f"{text}\n", encoding="utf-8")
    PAGE.write_text(page(codes), encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    for procedure in PROCEDURES.values():
        (FOLDER / f"{procedure.name}.md").write_text(procedure_page(procedure), encoding="utf-8")
    print(f"{len(codes)} codes")


if __name__ == "__main__":
    main()
