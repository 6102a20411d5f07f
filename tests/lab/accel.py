"""Whether this machine can run guests in hardware."""

import subprocess
import tempfile
from pathlib import Path

from .image import Image
from .stages import say

# Of what AVX gives nothing is left where each of its instructions becomes a call: Python takes 15 % less time without,
# and OpenZFS, which chooses its checksums by what the processor can, a third less.
EMULATION = ("-accel", "tcg,thread=multi,tb-size=1024", "-cpu", "max,la57=off,-avx,-avx2")
HARDWARE = ("-accel", "kvm", "-cpu", "host")
TRIAL_SECONDS = 20


def acceleration(image: Image) -> tuple[str, ...]:
    """The QEMU options for the fastest way that works. A trial is made once for each image."""
    if not _processor_can():
        return EMULATION
    verdict = image.directory / "kvm-works"
    if not verdict.exists():
        say("Trying whether KVM works here …")
        verdict.write_text("yes" if _trial_boot(image) else "no", encoding="ascii")
    return HARDWARE if verdict.read_text(encoding="ascii") == "yes" else EMULATION


def _processor_can() -> bool:
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    return Path("/dev/kvm").exists() and ("vmx" in flags or "svm" in flags)


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
        return "Unable to mount root fs" in serial.read_text(encoding="utf-8", errors="replace")
