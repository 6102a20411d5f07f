"""What a platform integration is made of. `host` and `console` are its two parts; README.md says what they must do."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class VersionRange:
    """Versions from `first` up to, not including, `before`: VersionRange("8.2", "10")."""

    first: str
    before: str

    def holds(self, version: str) -> bool:
        """Whether a version such as "9.2.11" is in the range; one that starts with no number is not."""
        found = _numbers(version)
        return bool(found) and _numbers(self.first) <= found < _numbers(self.before)


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()
