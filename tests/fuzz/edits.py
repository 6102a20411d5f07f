"""Changes of a recorded text, word by word: most of what comes out still looks like what a tool prints."""

import random
import re
from dataclasses import dataclass

WORD = re.compile(rb'"(?:[^"\\]|\\.)*"|[A-Za-z_@]+|-?[0-9]+|\s|.', re.DOTALL)
"""A string with its quotes, a name, a number; else a single byte."""

PUT = (
    b"",
    *(b"0", b"-1", b"1", b"18446744073709551615", b"9223372036854775808", b"1e999", b"1.5", b"NaN", b"9" * 5000),
    *(b"null", b"true", b"[]", b"{}", b'""', b'"x"', b'"-"', b'"\\u0000"', b'"\\ud800"', b"[" * 2000, b'{"a":' * 2000),
    *(b"\0", b"\xff\xfe", b"\x0c", b"\r", b"\n", b"\n\n", b"\t", b" ", b"=", b":", b"/", b"\\x", b"\\777", b"\\"),
    *("\N{SUPERSCRIPT TWO}".encode(), "\N{ARABIC-INDIC DIGIT THREE}".encode(), "\N{LINE SEPARATOR}".encode()),
)
"""What stands in the place of a word: what numbers, names and brackets are mistaken for, and what is too much."""


@dataclass(frozen=True)
class Edit:
    """From a word on, so many are cut, and something is put there: one of `PUT`, or as many words from elsewhere."""

    at: int
    cut: int
    put: int
    copied: int = 0


def edited(text: bytes, edits: list[Edit]) -> bytes:
    """The text after these edits, whatever they are: places and choices count from the front again beyond the end."""
    words: list[bytes] = WORD.findall(text)
    for edit in edits:
        at = edit.at % (len(words) + 1)
        copy = words[edit.put % (len(words) + 1) :][: edit.copied]
        words[at : at + edit.cut] = copy if edit.copied else [PUT[edit.put % len(PUT)]]
    return b"".join(words)


def some_edits(chance: random.Random) -> list[Edit]:
    """A few edits by chance; most cut one word, so that what is around it is still understood."""
    return [
        Edit(
            chance.getrandbits(16), chance.choice((0, 1, 1, 1, 2, 9)), chance.getrandbits(16), chance.choice((0, 0, 3))
        )
        for _ in range(chance.randint(1, 4))
    ]
