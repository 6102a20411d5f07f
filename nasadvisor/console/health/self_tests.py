"""What smartctl calls self-tests and their ends, as far as it is translated."""

from typing import Final

from nasadvisor.domain.statements import gettext_noop

KNOWN_WORDS: Final = frozenset(
    {
        gettext_noop("Short offline"),
        gettext_noop("Extended offline"),
        gettext_noop("Conveyance offline"),
        gettext_noop("Selective offline"),
        gettext_noop("Short captive"),
        gettext_noop("Extended captive"),
        gettext_noop("Short"),
        gettext_noop("Extended"),
        gettext_noop("Background short"),
        gettext_noop("Background long"),
        gettext_noop("Completed"),
        gettext_noop("Completed without error"),
        gettext_noop("Aborted by host"),
        gettext_noop("Interrupted (host reset)"),
        gettext_noop("Fatal or unknown error"),
        gettext_noop("Fatal or unknown test error"),
        gettext_noop("Completed: unknown failure"),
        gettext_noop("Completed: electrical failure"),
        gettext_noop("Completed: servo/seek failure"),
        gettext_noop("Completed: read failure"),
        gettext_noop("Completed: handling damage??"),
        gettext_noop("Self-test routine in progress"),
    }
)
