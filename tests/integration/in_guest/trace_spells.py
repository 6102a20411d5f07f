"""Runs inside the lab guest: about SPELLS spells of this machine, beside one trace of all that time.

It prints what the spells sum up to, what the whole trace tells, and what each spell cost as the kernel counted it.
"""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field

from nasadvisor.domain.evidence.spells import PoolSpells, Spell, added
from nasadvisor.domain.evidence.waited import waited_of
from nasadvisor.host.adapters.bpftrace import SPELL_FLAGS_SCRIPT, SPELL_SCRIPT, has_commit_flags, parse_spell
from nasadvisor.host.build import machine_of
from nasadvisor.host.config import load_config
from nasadvisor.host.evidence.sample import Sampler
from nasadvisor.host.evidence.spell_pace import Pace
from nasadvisor.host.evidence.spells import SpellKeeper, SpellTracer
from nasadvisor.stored.documents import to_document

PAUSE_S = 8
"""Between two spells: they begin with a sample, and there is one every five seconds."""


@dataclass
class Often(Pace):
    """One spell after the other, whatever they cost; `paid` is that."""

    paid: list[float] = field(default_factory=list)

    @property
    def is_due(self) -> bool:
        return True

    def pay(self, cost_s: float) -> None:
        self.paid.append(cost_s)


class Beside(SpellTracer):
    """Does not mind that all of it is traced, too."""

    @property
    def is_possible(self) -> bool:
        return True

    def trace(self, pools: tuple[str, ...]) -> tuple[dict[str, Spell], float]:
        spells, cost_s = super().trace(pools)
        print(json.dumps({"spell": {name: asdict(each) for name, each in spells.items()}}), flush=True)
        return spells, cost_s


def main(spells: int) -> None:
    machine, kept = machine_of(load_config()), dict[int, PoolSpells]()
    began_s = time.monotonic()
    SpellTracer(machine).trace(("tank",))
    each_s = time.monotonic() - began_s + PAUSE_S
    script = SPELL_FLAGS_SCRIPT if has_commit_flags(machine.roots.proc) else SPELL_SCRIPT
    args = ("bpftrace", "-q", "-f", "json", str(script), "1", str(int(spells * each_s)))
    whole = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)
    time.sleep(each_s)  # it needs no longer to start than a spell
    pace = Often()
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
    main(int(sys.argv[1]))
