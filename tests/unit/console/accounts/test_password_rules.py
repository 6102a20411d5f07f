"""Which passwords somebody may choose."""

import time

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from nasadvisor.console.accounts.password_rules import GuessablePasswordValidator


@pytest.mark.parametrize(
    "password",
    [
        "nasadvisor",
        "nasadvisor12",
        "NAS-Advisor 2026!",
        "n4s4dv1s0r!!",
        "proxmox-truenas-1",
        "          ",
        "                    ",
        "abcabcabcabc",
        "aaaaaaaaaaaaaaaaaaaa",
        "password1234",
        "Passw0rd!2026",
        "administrator1",
        "liverpool!!!1",
        "11 charact.",
        "12345678901234567890",
        "iloveyou1234567",
        "Zxcvbnm,./12",
        "qwertzuiop12",
        "Passwort1234",
    ],
)
def test_what_is_guessed_first_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password)


def test_ones_own_name_counts_among_what_is_guessed_first() -> None:
    guessable = GuessablePasswordValidator()
    guessable.validate("zwetschgenkuchen12")
    with pytest.raises(ValidationError):
        guessable.validate("zwetschgenkuchen12", User(username="zwetschgenkuchen"))


def test_a_very_long_password_is_looked_at_in_no_time() -> None:
    began = time.process_time()
    validate_password("correct horse battery staple " * 100)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("password", ["a long pass phrase", "correct horse battery", "xK9#mQ2$vL7p", "Größe 12 Äpfel?"])
def test_what_nobody_guesses_is_taken(password: str) -> None:
    validate_password(password)
