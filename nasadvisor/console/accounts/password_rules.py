"""Passwords that are guessed first, beyond those that Django lists: its list of 20,000 has few of twelve characters."""

import re
from typing import Final, TypeVar

from django import forms
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from nasadvisor.console.accounts import platforms

FEWEST_DIFFERENT: Final = 6
"""Characters: fewer are a pattern, as ten spaces or "abcabcabcabc" are."""

HERE: Final = ("nasadvisor", "openzfs", "admin", "password", "passwort")
"""Words that somebody tries first at a console like this one, beside the names of platforms."""

MUST_BE_LEFT: Final = 8
"""Characters beside such words."""

_LOOK_ALIKES: Final = (
    str.maketrans("", ""),
    str.maketrans("013457$@!", "oleastsai"),
    str.maketrans("013457$@!", "oieastsai"),
)
_SPACING: Final = re.compile(r"[\s_-]")
_NO_LETTER: Final = re.compile(r"[\W\d_]+")


WEAKEST: Final = 3
"""zxcvbn's score from 0 to 4: 3 is beyond 10^8 guesses, "safely unguessable" by its authors' measure for passwords that
are stored slowly hashed, as Django stores them.
"""

LONGEST_LOOKED_AT: Final = 72
"""Characters that zxcvbn takes (`zxcvbn.zxcvbn`); more of them make no password weaker."""


F = TypeVar("F", bound=forms.BaseForm)


def say_plainly(form: F) -> F:
    """Have a form that a password is chosen in say what is refused in two sentences, not in a list of all rules."""
    for name in form.fields.keys() & {"password1", "new_password1"}:
        form.fields[name].help_text = _(
            "At least 12 characters. Easily guessed passwords are refused: common passwords, names, a few repeated "
            "characters. Several words in a row are good."
        )
    for name in form.fields.keys() & {"password2", "new_password2"}:
        form.fields[name].help_text = ""
        form.fields[name].label = _("Confirm password")
    if "username" in form.fields:
        form.fields["username"].help_text = _("Letters, digits and @ . + - _")
    return form


class GuessablePasswordValidator:
    """Refuses what breached passwords, names, words, dates and rows of keys make guessable.

    zxcvbn brings 30,000 breached passwords and lists of names and words in several languages, and reckons how many
    guesses a password takes whose parts are among them, in any spelling. It asks nobody.
    """

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """Refuse it.

        Raises:
            ValidationError: with why.
        """
        from zxcvbn import zxcvbn  # noqa: PLC0415 - its lists take memory that only choosing a password needs

        known = [user.get_username()] if user else []
        if zxcvbn(password[:LONGEST_LOOKED_AT], user_inputs=known)["score"] < WEAKEST:
            raise ValidationError(
                _("This password consists of easily guessed parts. Several words in a row are better."),
                code="password_guessable",
            )

    def get_help_text(self) -> str:
        """What the form says beforehand."""
        return _("Your password can’t consist of easily guessed parts; several words in a row are good.")


class PredictablePasswordValidator:
    """Refuses a few characters repeated, names of this product with a little beside them, and common ones decorated."""

    def __init__(self) -> None:
        self.common = CommonPasswordValidator()

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """Refuse it.

        Raises:
            ValidationError: with why.
        """
        if len(set(password.casefold())) < FEWEST_DIFFERENT:
            raise ValidationError(_("This password is only a few repeated characters."), code="password_repeats")
        del user  # Django's own validator looks whether it is like their name
        tried_first = (*HERE, *(name.split()[0].casefold() for name in platforms.known()))
        for plain in {password.casefold().translate(table) for table in _LOOK_ALIKES}:
            joined = left = _SPACING.sub("", plain)
            for word in tried_first:
                left = left.replace(word, "")
            if left != joined and len(left) < MUST_BE_LEFT:
                raise ValidationError(
                    _("This password is one of the first that an attacker would try here."), code="password_of_product"
                )
            bare = _NO_LETTER.sub("", plain)
            if bare and len(password) - len(bare) < MUST_BE_LEFT:
                self.common.validate(bare)

    def get_help_text(self) -> str:
        """What the form says beforehand."""
        return _("Your password can’t be a few repeated characters, or a common word with digits around it.")
