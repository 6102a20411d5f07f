"""The templates as somebody has to read them."""

from pathlib import Path

TEMPLATES = Path(__file__).parents[3] / "templates"
LONGEST = 120
"""Characters of a line, as everywhere in the project."""


def test_no_line_of_a_template_is_too_long_to_read() -> None:
    paths = sorted(TEMPLATES.rglob("*.html"))
    lines = [
        (str(path.relative_to(TEMPLATES)), number, len(line))
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    ]
    assert len(paths) > 50
    assert [line for line in lines if line[2] > LONGEST] == []
