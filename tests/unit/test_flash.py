"""The lab's flash: no page is lost, and the more of it is in use, the more is moved before anything can be erased."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.lab.flash import BLOCK_PAGES, PAGE_S, Flash

PAGES = 32 * BLOCK_PAGES


def moved_per_write(used_share: float, spare_percent: int = 7) -> float:
    """How many pages are moved for each that is written scattered, once every page was written several times."""
    flash, used, random = Flash(PAGES, spare_percent), int(PAGES * used_share), Random(1)
    for page in range(used):
        flash.write(page)
    for _ in range(4 * used):
        flash.write(random.randrange(used))
    count = 2 * used
    return sum(flash.write(random.randrange(used)) for _ in range(count)) / count / PAGE_S - 1


def test_what_is_left_free_need_not_be_moved() -> None:
    half, some, little = map(moved_per_write, (0.5, 0.7, 0.9))
    assert half < 0.3
    assert 2 * half < some < little / 2
    assert moved_per_write(0.9, spare_percent=100) < some


def test_what_is_written_in_one_piece_is_not_moved() -> None:
    flash = Flash(PAGES, 7)
    seconds = sum(flash.write(page) for _ in range(3) for page in range(PAGES))
    assert seconds < 1.1 * 3 * PAGES * PAGE_S


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2 * BLOCK_PAGES - 1)), max_size=4000))
def test_every_page_is_where_it_was_written_last_and_no_two_share_a_place(
    requests: list[tuple[bool, int]],
) -> None:
    flash, written = Flash(2 * BLOCK_PAGES, 7), set[int]()
    for is_write, page in requests:
        if is_write:
            flash.write(page)
            written.add(page)
        else:
            flash.forget(page)
            written.discard(page)
    places = [place for place in flash.place_of if place is not None]
    assert len(set(places)) == len(places) == len(written)
    assert {page for page, place in enumerate(flash.place_of) if place is not None} == written
