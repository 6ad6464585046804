"""The encoder's bytes are those of binutils' assembler.

    encoder.py PROGRAM   prints bytes and text of instructions, a line each
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from tap import Tap


def assembled(lines, folder):
    """The bytes of each line, by the assembler: from the listing that it writes."""
    source = folder / "lines.s"
    source.write_text("\n".join(lines) + "\n")
    listing = subprocess.run(["as", "-al=/dev/stdout", "--listing-lhs-width=16", "-o", folder / "lines.o", source],
                             check=True, capture_output=True, text=True).stdout
    found = {}
    for line in listing.splitlines():
        parts = line.split()
        if len(parts) >= 3 and parts[0].isdigit():
            code = []
            for part in parts[2:]:
                if len(part) % 2 or any(c not in "0123456789ABCDEF" for c in part):
                    break
                code.append(part)
            found[int(parts[0])] = "".join(code).lower()
    return [found.get(number) for number in range(1, len(lines) + 1)]


def main():
    tap = Tap()
    if not shutil.which("as"):
        print("1..0 # SKIP no assembler here")
        return
    lines = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines()
    ours, texts = zip(*(line.split("\t") for line in lines))
    with tempfile.TemporaryDirectory() as folder:
        theirs = assembled(texts, pathlib.Path(folder))
    wrong = [f"{text}: {a}, the assembler {b}" for a, b, text in zip(ours, theirs, texts) if a != b]
    tap.check(f"{len(lines)} instructions have the assembler's bytes", "\n".join(wrong[:10]))
    tap.check("there are instructions to compare", "" if len(lines) > 3000 else f"only {len(lines)}")
    tap.done()


if __name__ == "__main__":
    main()
