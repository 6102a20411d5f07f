"""Which passwords somebody may choose."""

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError


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
    ],
)
def test_what_is_guessed_first_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password)


@pytest.mark.parametrize("password", ["a long pass phrase", "correct horse battery", "xK9#mQ2$vL7p", "Größe 12 Äpfel?"])
def test_what_nobody_guesses_is_taken(password: str) -> None:
    validate_password(password)
