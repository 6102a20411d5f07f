"""Every reader of bytes that somebody else wrote, by name. A new one is added to the list of its kind."""

from tests.fuzz import of_browsers, of_machine, of_messages, of_platforms, of_tools
from tests.fuzz.reader import Reader

READERS: dict[str, Reader] = {
    reader.name: reader
    for kind in (of_tools, of_machine, of_messages, of_platforms, of_browsers)
    for reader in kind.readers()
}
