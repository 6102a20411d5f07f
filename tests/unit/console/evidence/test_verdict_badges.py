"""What is known of a log and a cache, in a few words."""

from datetime import timedelta

import pytest
from django.utils import timezone, translation

from nasadvisor.console.evidence.models import SampledPool
from nasadvisor.console.evidence.verdict_badges import verdict_badges_of
from nasadvisor.domain.evidence.options import PoolWaiting, Waits
from nasadvisor.domain.evidence.verdict import Relief, Waiting
from nasadvisor.domain.evidence.waited import NO_WAIT, Wait
from nasadvisor.domain.statements import Statement
from nasadvisor.stored.documents import to_document

SHARE = {"share": "66 %", "commits": "90"}


def said(answer: str, code: str, values: dict[str, str], more_s: float = 0) -> str:
    """What is said of a log with this verdict."""
    now = timezone.now()
    rule = to_document(Statement(code, "", values))
    due_at = int((now + timedelta(seconds=more_s)).timestamp()) if more_s else 0
    pool = SampledPool(log_answer=answer, cache_answer="no", log_rule_document=rule, log_due_at=due_at)
    badge = verdict_badges_of(pool, now)[0]
    return f"{badge.title}: {badge.look.word}"


@pytest.mark.parametrize(
    ("answer", "code", "values", "words"),
    [
        ("helps", "slow-commits", {"pool": "24 ms", "ssd": "1.1 ms"}, "Log: would help, 24 ms → 1.1 ms"),
        ("helps", "log-in-use", SHARE, "Log: handles 66 % of log writes"),
        ("little", "log-bypassed", SHARE, "Log: handles only 66 % of log writes"),
        ("little", "seldom", SHARE, "Log: would help little"),
        ("no", "no-commits", {}, "Log: would not help"),
        ("cannot-tell", "depends-on-ssd", {}, "Log: depends on the SSD: test it first"),
    ],
)
def test_a_verdict_is_said_in_a_few_words(answer: str, code: str, values: dict[str, str], words: str) -> None:
    assert said(answer, code, values) == words


def test_figures_have_the_decimal_separator_of_the_language() -> None:
    with translation.override("de"):
        words = said("helps", "slow-commits", {"pool": "24 ms", "ssd": "0.14–2.1 ms"})
    assert words == "Log: würde helfen, 24 ms → 0,14–2,1 ms"


@pytest.mark.parametrize(
    ("more_s", "words"),
    [
        (6.5 * 3600, "Log: 7 h more data needed"),
        (200, "Log: collecting data: first answer in 4 min"),
        (-60, "Log: collecting data: first answer in 1 min"),
        (-3600, "Log: overdue: no recent data"),
    ],
)
def test_what_is_not_known_yet_says_how_much_longer_it_takes(more_s: float, words: str) -> None:
    assert said("cannot-tell", "too-early", {"seen": "1 min"}, more_s) == words


def test_answers_that_were_kept_without_figures_are_said_without() -> None:
    pool = SampledPool(log_answer="helps", cache_answer="no")
    assert [str(badge.look.word) for badge in verdict_badges_of(pool, timezone.now())] == [
        "would help",
        "would not help",
    ]


def test_how_long_programs_wait_stands_first_and_a_log_that_helps_says_how_much_it_takes_away() -> None:
    waits = Waits(Wait(1800, 3600, 7200), NO_WAIT)
    kept = PoolWaiting(waits, Relief(Waiting.COMMITS, 0.5, 0.9), None)
    pool = SampledPool(log_answer="helps", cache_answer="no", waiting_document=to_document(kept))
    assert [f"{badge.title}: {badge.look.word}" for badge in verdict_badges_of(pool, timezone.now())] == [
        "Programs wait: 60 min a day",
        "Log: would help: 30\N{NO-BREAK SPACE}min to 54\N{NO-BREAK SPACE}min less waiting a day",
        "Cache: would not help",
    ]


def test_a_second_a_day_is_hardly_any_waiting() -> None:
    kept = PoolWaiting(Waits(None, Wait(0, 0.5, 1)), None, None)
    pool = SampledPool(log_answer="no", cache_answer="no", waiting_document=to_document(kept))
    assert verdict_badges_of(pool, timezone.now())[0].look.word == "hardly any"
