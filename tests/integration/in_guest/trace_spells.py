"""Runs inside the lab guest: spells of this machine for SECONDS, one in each EVERY seconds, beside one trace of all of
it.

It prints what the spells sum up to, what the whole trace tells, and what each spell cost as the kernel counted it.
"""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field

from nasadvisor.domain.evidence.spells import PoolSpells, Spell, Stratum, added
from nasadvisor.domain.evidence.waited import waited_of
from nasadvisor.host.adapters.bpftrace import SPELL_FLAGS_SCRIPT, SPELL_SCRIPT, has_commit_flags, parse_spell
from nasadvisor.host.build import machine_of
from nasadvisor.host.config import load_config
from nasadvisor.host.evidence.sample import Sampler
from nasadvisor.host.evidence.spell_pace import Pace
from nasadvisor.host.evidence.spells import SpellKeeper, SpellTracer
from nasadvisor.stored.documents import to_document

STARTS_S = 60
"""How long the trace of all of it needs to start beside everything else."""


@dataclass
class Often(Pace):
    """A block for each spell that is as long as it is told, whatever the spell cost."""

    every_s: float = 30.0
    paid: list[float] = field(default_factory=list)

    def go_on(self, seconds: float, stratum: Stratum) -> None:
        del stratum
        super().go_on(seconds, Stratum.BUSY)

    def pay(self, cost_s: float) -> None:
        self.paid.append(cost_s)
        super().pay(self.every_s * 0.005)
        self._block_s = min(self._block_s, self._clock_s)


class Beside(SpellTracer):
    """Does not mind that all of it is traced, too."""

    @property
    def is_possible(self) -> bool:
        return True

    def trace(self, pools: tuple[str, ...]) -> tuple[dict[str, Spell], float]:
        spells, cost_s = super().trace(pools)
        print(json.dumps({"spell": {name: asdict(each) for name, each in spells.items()}}), flush=True)
        return spells, cost_s


def main(seconds: int, every: float) -> None:
    machine, kept = machine_of(load_config()), dict[int, PoolSpells]()
    script = SPELL_FLAGS_SCRIPT if has_commit_flags(machine.roots.proc) else SPELL_SCRIPT
    args = ("bpftrace", "-q", "-f", "json", str(script), "1", str(seconds + 1))
    whole = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)
    time.sleep(STARTS_S)
    pace = Often(every_s=every)
    pace._due_s = 10.0
    pace._length_s = every
    keeper = SpellKeeper(
        Sampler(machine).sample, Beside(machine), lambda each: kept.update({each.began: each}), pace=pace
    )
    while whole.poll() is None:
        keeper.sample()
        time.sleep(5)
    keeper.job.wait(120)
    keeper.sample()
    time.sleep(1)
    keeper.sample()
    told, _ = whole.communicate()
    traced = parse_spell(told, 0.0)
    found = waited_of(added(kept.values()))
    sums = added(kept.values())
    print(
        json.dumps(
            {
                "all": [asdict(each) for each in traced.waits],
                "seconds": traced.seconds,
                "waited": to_document(found) if found else None,
                "sums": to_document(sums) if sums else None,
                "costs_s": pace.paid,
            }
        ),
        flush=True,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
