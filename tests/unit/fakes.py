"""Stand-ins for the ports of a machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nasadvisor.host.adapters.process import Command, Output, Tool
from nasadvisor.host.errors import CommandFailed, HostError, ToolMissing


@dataclass
class FakeRunner:
    """Answers from a table, keyed by the command as typed ("zpool status -j"); notes every command in `ran`.

    An answer is what the command prints, an `Output` or an error to raise. Commands outside the table fail the test,
    those of tools in `missing` raise ToolMissing.
    """

    answers: Mapping[str, str | Output | HostError] = field(default_factory=dict)
    missing: frozenset[Tool] = frozenset()
    ran: list[Command] = field(default_factory=list)

    def has(self, tool: Tool) -> bool:
        return tool not in self.missing

    def holding(self, descriptors: tuple[int, ...]) -> "FakeRunner":
        return self

    def run(self, command: Command) -> Output:
        if command.tool in self.missing:
            raise ToolMissing(command.tool, "its package", ("/usr/sbin",))
        self.ran.append(command)
        if str(command) not in self.answers:
            raise AssertionError(f"Nothing is recorded for: {command}")
        answer = self.answers[str(command)]
        if isinstance(answer, HostError):
            raise answer
        output = Output(answer, "", 0, 0.0) if isinstance(answer, str) else answer
        if output.code not in command.expected_codes:
            raise CommandFailed(str(command), output.code, output.stderr, mutates=command.mutates)
        return output
