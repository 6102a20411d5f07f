"""The templates as somebody has to read them."""

import re
from pathlib import Path

TEMPLATES = Path(__file__).parents[3] / "templates"
STYLES = TEMPLATES.with_name("static") / "css" / "nasadvisor.css"
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


def test_of_several_buttons_the_main_one_comes_first() -> None:
    for path in sorted(TEMPLATES.rglob("*.html")):
        for block in path.read_text(encoding="utf-8").split('<div class="wizard-buttons">')[1:]:
            kinds = re.findall(r"btn btn-(primary|danger|outline-\w+)", block.partition("</div>")[0])
            assert kinds[0] in ("primary", "danger") or not {"primary", "danger"} & set(kinds), path


def test_in_the_style_sheet_each_block_that_ends_has_begun_and_none_stands_twice() -> None:
    """A browser drops what follows a bracket too many without a word."""
    text = re.sub(r"/\*.*?\*/", "", STYLES.read_text(encoding="utf-8"), flags=re.DOTALL)
    depth, blocks, begin = 0, list[str](), 0
    for found in re.finditer("[{}]", text):
        depth += 1 if found[0] == "{" else -1
        assert depth >= 0, text[begin : found.end()]
        if depth == 0:
            blocks.append(text[begin : found.end()].strip())
            begin = found.end()
    assert depth == 0
    assert [block for block in set(blocks) if blocks.count(block) > 1] == []
