"""No cell of a table is a formula."""

import csv
import io

import pytest
from django.utils import timezone

from nasadvisor.console.web.sanitise import cell, cells


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "＝"])
def test_text_of_others_is_no_formula(begin: str) -> None:
    assert cell(f"{begin}1+1").startswith("'")


def test_numbers_stay_numbers() -> None:
    assert cells([-5, -0.5, None, "Samsung 990"]) == ["-5", "-0.5", "", "Samsung 990"]
    assert cell(timezone.now())[4] == "-"


def test_a_row_is_read_back_as_it_was_written() -> None:
    file = io.StringIO()
    csv.writer(file).writerow(cells(["a\r=b", "\t=c"]))
    assert next(csv.reader(io.StringIO(file.getvalue(), newline=""))) == ["a\r=b", "'\t=c"]
