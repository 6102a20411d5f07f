"""Starting, finding and ending guests.

    with Lab.start("slow", name="evidence") as guest:
        print(guest.run(["zpool", "status", "-j"]).stdout)
"""  # fmt: skip

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from .errors import InUseError, LabError
from .guest import Guest
from .image import image, product_image
from .instance import Instance, check_name, free_port, instance_names, load_instance
from .machine import Machine
from .paths import cache_directory
from .scenario import load_scenario
from .stages import stage

OF_TESTS = "test-"
"""How the names of guests begin that live no longer than the tests that started them."""


class Lab:
    """The guests of this machine, by name."""

    @staticmethod
    @contextmanager
    def start(
        scenario: str = "default", name: str = "test", forwards: Sequence[int] = (), product: bool = False
    ) -> Iterator[Guest]:
        """A fresh guest for the length of a `with` block; see `up`. One process at a time can have a name."""
        with _owned(name):
            if name in instance_names():
                # Left over from a run that did not get to its end.
                Lab.down(name)
            try:
                yield Lab.up(scenario, name, forwards=forwards, product=product)
            finally:
                Lab.down(name)

    @staticmethod
    def up(
        scenario: str = "default",
        name: str = "dev",
        ssh_port: int | None = None,
        forwards: Sequence[int] = (),
        product: bool = False,
    ) -> Guest:
        """Boot a fresh guest with the scenario's pool, and leave it running.

        With the product in it, it may still be starting services: they need more time than the pool does.
        """
        if name in instance_names():
            machine = Machine(load_instance(name))
            if machine.is_running():
                raise LabError(f"The lab instance {name} is running already.")
            machine.remove()
        instance = Instance(
            name=check_name(name),
            scenario=load_scenario(scenario).name,
            image=str((product_image() if product else image()).directory),
            ssh_port=ssh_port or free_port(),
            forwards={port: free_port() for port in forwards},
        )
        instance.directory.mkdir(parents=True, exist_ok=True)
        instance.save()
        guest = Guest(instance)
        guest.machine.make_disks()
        with stage(f"Booting {name} ({scenario})"):
            guest.start_again(to_its_end=not product)
        with stage("Making the pool"):
            guest.make_pool()
        return guest

    @staticmethod
    def up_again(name: str = "dev", to_its_end: bool = True) -> Guest:
        """Switch a guest on again with its disks as they are, after a power cut; at least until one can log in."""
        guest = Guest(load_instance(name))
        with stage(f"Booting {name} ({guest.scenario.name}) with its disks as they are"):
            guest.start_again(to_its_end)
        return guest

    @staticmethod
    def attach(name: str = "dev") -> Guest:
        """A guest that runs already."""
        guest = Guest(load_instance(name))
        if not guest.machine.is_running():
            raise LabError(f"The lab instance {name} is off. `up --name {name}` starts it.")
        return guest

    @staticmethod
    @contextmanager
    def borrow(name: str) -> Iterator[Guest]:
        """A guest that runs already, for one test run at a time; it goes on running afterwards."""
        with _owned(name):
            yield Lab.attach(name)

    @staticmethod
    def down(name: str) -> None:
        """End a guest and forget its disks."""
        Machine(load_instance(name)).remove()

    @staticmethod
    def tidy() -> None:
        """End the guests of tests whose process is gone: it was killed before it could do so itself."""
        for name in instance_names():
            if name.startswith(OF_TESTS):
                with suppress(InUseError), _owned(name):
                    Lab.down(name)


@contextmanager
def _owned(name: str) -> Iterator[None]:
    directory = cache_directory()
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"{check_name(name)}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUseError(f"Another test run uses the lab instance {name}.") from None
        yield
