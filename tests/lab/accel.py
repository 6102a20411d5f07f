"""Whether this machine can run guests in hardware."""

import os
import platform
import subprocess
import tempfile
from pathlib import Path

from .cache import hash_of
from .image import Image
from .paths import cache_directory
from .stages import say

# Of what AVX gives nothing is left where each of its instructions becomes a call: Python takes 15 % less time without,
# and OpenZFS, which chooses its checksums by what the processor can, a third less.
EMULATION = ("-accel", "tcg,thread=multi,tb-size=1024", "-cpu", "max,la57=off,-avx,-avx2")
HARDWARE = ("-accel", "kvm", "-cpu", "host")
TRIAL_SECONDS = 20
KVM = Path("/dev/kvm")


def acceleration(image: Image) -> tuple[str, ...]:
    """The QEMU options for the fastest way that works. A trial is made once for each kernel of guest and machine."""
    if not os.access(KVM, os.R_OK | os.W_OK):
        return EMULATION
    verdict = cache_directory() / f"kvm-{hash_of([image.kernel], platform.release() + _processor())}"
    if not verdict.exists():
        say("Trying whether KVM works here.")
        verdict.write_text("yes" if _trial_boot(image) else "no", encoding="ascii")
    return HARDWARE if verdict.read_text(encoding="ascii") == "yes" else EMULATION


def _processor() -> str:
    """What the processor is and can do. Where machines are nested, its flags do not tell whether KVM works."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags"))}))


def _trial_boot(image: Image) -> bool:
    """Boot until the kernel speaks: on nested hosts /dev/kvm may open and a stock kernel still die early."""
    with tempfile.TemporaryDirectory() as directory:
        serial = Path(directory) / "serial.log"
        argv = [
            "qemu-system-x86_64", *HARDWARE, "-machine", "q35", "-m", "512", "-nodefaults", "-display", "none",
            "-no-reboot", "-kernel", str(image.kernel), "-append", "console=ttyS0 panic=-1 root=/dev/none",
            "-serial", f"file:{serial}",
        ]  # fmt: skip
        try:
            # Without a root disk a kernel that lives gets as far as looking for one, panics and ends QEMU.
            subprocess.run(argv, timeout=TRIAL_SECONDS, check=False, capture_output=True)
        except subprocess.TimeoutExpired:
            return False
        return serial.exists() and "Unable to mount root fs" in serial.read_text(encoding="utf-8", errors="replace")
