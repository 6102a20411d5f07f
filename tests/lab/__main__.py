"""The command line of the lab: `python3 -m tests.lab --help`."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from .deb import QUICK_XZ, RELEASED_XZ, deb
from .errors import LabError
from .guest import Guest
from .image import image
from .instance import instance_names, load_instance
from .lab import Lab
from .machine import Machine
from .packages import GUEST_SUITE, HOST_PACKAGES
from .scenario import scenario_names
from .shell import CommandError
from .stages import say

DEFAULT_NAME = "dev"
FAULTS = {
    "err": "every request to the disk fails, or works again",
    "vanish": "the disk is pulled out while the guest runs",
    "return": "a disk that was pulled out is put back",
    "swap": "from now on another disk with the same content is in the slot",
    "powercut": "the mains fail; `up --keep` switches the machine on again",
}


def main(argv: list[str]) -> int:
    """Exit code 0 done, 1 the lab failed, 2 usage; `ssh` ends with the code of the command in the guest."""
    arguments = _parser().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        return command(arguments)
    except CommandError as error:
        say(str(error))
        return error.completed.code
    except LabError as error:
        say(str(error))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m tests.lab", description="A guest with real OpenZFS.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=command)
        return sub

    def add_for_guest(name: str, command: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        sub = add(name, command, text)
        sub.add_argument("--name", default=DEFAULT_NAME, help=f"which instance (default: {DEFAULT_NAME})")
        return sub

    add("packages", _packages, "Print the Debian packages that the lab needs on this machine.")
    add("build", _build, "Build the image, if it is not there yet.")
    packaged = add("deb", _deb, "Build the Debian packages, if they are not there yet, and print where they are.")
    packaged.add_argument("--suite", default=GUEST_SUITE, help=f"for which Debian (default: {GUEST_SUITE})")
    packaged.add_argument("--version", default="", help="another version than the product's own")
    packaged.add_argument("--released", action="store_true", help="packed harder, for others to download")
    up = add_for_guest("up", _up, "Boot a guest in the background.")
    up.add_argument("--scenario", default="default", choices=scenario_names(), help="which machine")
    up.add_argument("--keep", action="store_true", help="go on with the disks of the last time")
    up.add_argument("--product", action="store_true", help="with the product installed; do not wait for its services")
    up.add_argument("--ssh-port", type=int, help="port for ssh on this machine (default: a free one)")
    up.add_argument("--forward", type=int, action="append", default=[8080], metavar="PORT",
                    help="make a port of the guest reachable from this machine (8080 always is)")  # fmt: skip
    ssh = add_for_guest("ssh", _ssh, "Log in, or run a command.")
    ssh.add_argument("words", nargs=argparse.REMAINDER, metavar="CMD", help="a command for the guest's shell")
    push = add_for_guest("push", _push, "Copy a directory's content into a directory of the guest.")
    push.add_argument("local", type=Path)
    push.add_argument("remote")
    push.add_argument("--exclude", action="append", default=[], metavar="PATTERN")
    reset = add_for_guest("reset", _reset, "Blank all data disks and create the pool anew.")
    reset.add_argument("--no-pool", action="store_true", help="leave all disks blank")
    fault = add_for_guest("fault", _fault, "Make a disk or the mains fail.")
    kinds = fault.add_subparsers(required=True, metavar="FAULT", dest="kind")
    for kind, text in FAULTS.items():
        one = kinds.add_parser(kind, help=text, description=text)
        if kind != "powercut":
            one.add_argument("disk")
        if kind == "err":
            one.add_argument("switch", choices=("on", "off"))
        if kind == "swap":
            one.add_argument("serial", help="the serial number of the other disk")
    add_for_guest("down", _down, "End a guest and forget its disks.")
    add("status", _status, "List the instances.")
    add("tidy", _tidy, "End the guests of tests that were killed.")
    return parser


def _packages(_: argparse.Namespace) -> int:
    print("\n".join(HOST_PACKAGES))
    return 0


def _build(_: argparse.Namespace) -> int:
    print(image().directory)
    return 0


def _deb(arguments: argparse.Namespace) -> int:
    xz = RELEASED_XZ if arguments.released else QUICK_XZ
    for package in sorted(deb(arguments.suite, arguments.version, xz).glob("*.deb")):
        print(package)
    return 0


def _up(arguments: argparse.Namespace) -> int:
    name = arguments.name
    if name in instance_names() and Machine(load_instance(name)).is_running():
        say(f"The guest {name} is running already.")
        guest = Lab.attach(name)
    elif arguments.keep:
        guest = Lab.up_again(name, to_its_end=not arguments.product)
    else:
        guest = Lab.up(arguments.scenario, name, arguments.ssh_port, arguments.forward, arguments.product)
    _how_to_reach(guest)
    return 0


def _how_to_reach(guest: Guest) -> None:
    say(f"  python3 -m tests.lab ssh --name {guest.name} zpool status")
    say(f"  ssh -F {guest.ssh_config} guest")
    for guest_port, host_port in guest.machine.instance.forwards.items():
        say(f"  127.0.0.1:{host_port} leads to port {guest_port} of the guest")


def _ssh(arguments: argparse.Namespace) -> int:
    guest = Lab.attach(arguments.name)
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    argv = ["ssh", "-F", str(guest.ssh_config), "guest", *words]
    sys.stdout.flush()
    os.execvp("ssh", argv)


def _push(arguments: argparse.Namespace) -> int:
    Lab.attach(arguments.name).push_tree(arguments.local, arguments.remote, arguments.exclude)
    return 0


def _reset(arguments: argparse.Namespace) -> int:
    start = time.monotonic()
    Lab.attach(arguments.name).reset(pool=not arguments.no_pool)
    say(f"Reset in {time.monotonic() - start:.1f} s.")
    return 0


def _fault(arguments: argparse.Namespace) -> int:
    guest = Guest(load_instance(arguments.name))
    match arguments.kind:
        case "err":
            guest.fail(arguments.disk, on=arguments.switch == "on")
        case "vanish":
            guest.vanish(arguments.disk)
        case "return":
            guest.bring_back(arguments.disk)
        case "swap":
            guest.swap(arguments.disk, arguments.serial)
        case _:
            guest.power_cut()
            say(f"`up --keep --name {guest.name}` switches it on again.")
    return 0


def _down(arguments: argparse.Namespace) -> int:
    Lab.down(arguments.name)
    return 0


def _status(_: argparse.Namespace) -> int:
    for name in instance_names():
        instance = load_instance(name)
        state = "running" if Machine(instance).is_running() else "off"
        forwards = " ".join(f"{guest}→{host}" for guest, host in instance.forwards.items())
        print(f"{name}\t{instance.scenario}\t{state}\tssh→{instance.ssh_port} {forwards}")
    return 0


def _tidy(_: argparse.Namespace) -> int:
    Lab.tidy()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
