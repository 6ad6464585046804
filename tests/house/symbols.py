"""Symbols. A template instantiated under two sets of flags must not be one symbol, or the linker keeps either and a CPU
meets instructions that it lacks: what the kernels of an instruction set define weakly lies in their own namespace. (Not
so for the baseline's: every CPU has those.) And the shared library shows the public API alone.

    symbols.py libwengert.so ISA=libwengert_kernels_ISA.a...
"""

import re
import subprocess
import sys

from tap import Tap


def symbols(path, *flags):
    """(kind, name) of each symbol that a library defines."""
    listing = subprocess.run(["nm", "-C", "--defined-only", *flags, path], check=True, stdout=subprocess.PIPE, text=True)
    return re.findall(r"^[0-9a-f]+ (\w) (.*)$", listing.stdout, re.M)


def main():
    tap = Tap()
    shared, kernels = sys.argv[1], dict(argument.split("=", 1) for argument in sys.argv[2:])
    for isa, path in kernels.items():
        defined = symbols(path)
        stray = [f"{kind} {name}" for kind, name in defined
                 if kind in "WVu" and f"wengert::kernels::{isa}::" not in name]
        tap.check(f"weak symbols of the {isa} kernels lie in wengert::kernels::{isa}",
                  "\n".join(stray) if defined else "no symbols at all: " + path)
    shown = symbols(shared, "-D")
    stray = [name for _, name in shown if "wengert::" not in name or "wengert::kernels::" in name.split("(")[0]]
    tap.check("the shared library shows wengert's public names only",
              "\n".join(stray) if shown else "it shows nothing: is WENGERT_API missing?")
    tap.done()


if __name__ == "__main__":
    main()
