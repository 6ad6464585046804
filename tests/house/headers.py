"""Public headers: each compiles by itself, each opens with an example that compiles and runs,
and including all of them costs a translation unit at most three times what the standard headers they stand on cost."""

import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from tap import Tap

LIBRARY = sys.argv[1]
CXX = os.environ["CXX"]
INCLUDE = pathlib.Path(os.environ["SOURCE"]) / "include"
FLAGS = [CXX, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{INCLUDE}"]
OPTIONAL = {"wengert/eigen.hpp": "eigen3"}  # headers that need a package, by pkg-config


def package_flags(package):
    """Where a package's headers are; nothing if it isn't there."""
    try:
        found = subprocess.run(["pkg-config", "--cflags", package], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except FileNotFoundError:
        return None
    return found.stdout.replace("-I", "-isystem").split() if found.returncode == 0 else None


def example_of(text):
    """The indented lines of the comment that a header opens with."""
    opening = re.match(r"(?://.*\n)+", text)
    lines = opening.group(0).splitlines() if opening else []
    return [line[2:] for line in lines if line.startswith("//   ")]


def seconds(source, folder):
    """Processor time of the compiler, the least of five: what others do on the machine mostly isn't in it."""
    path = folder / "timed.cpp"
    path.write_text(source)
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*FLAGS, "-O2", "-c", path, "-o", folder / "timed.o"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main():
    tap = Tap()
    headers = sorted(path.relative_to(INCLUDE) for path in INCLUDE.rglob("*.hpp"))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source, program = folder / "example.cpp", folder / "example"
        for header in headers:
            more = package_flags(OPTIONAL[str(header)]) if str(header) in OPTIONAL else []
            if more is None:
                tap.skip(f"{header}", f"no {OPTIONAL[str(header)]}")
                continue
            source.write_text(f'#include "{header}"\n#include "{header}"\nint main() {{}}\n')
            tap.run(f"{header} compiles by itself, twice", [*FLAGS, *more, "-fsyntax-only", source])
            example = example_of((INCLUDE / header).read_text())
            if not example:
                tap.check(f"{header} opens with an example", "the comment at its top has no indented lines")
                continue
            source.write_text("\n".join([
                f'#include "{header}"', '#include "wengert/wengert.hpp"', "#include <cstdio>",
                *[line.strip() for line in example if line.strip().startswith("#include")], "int main() {",
                *[line for line in example if not line.strip().startswith("#include")], "}", ""]))
            tap.run(f"{header}: its example compiles and runs",
                    [*FLAGS, *more, "-Wno-unused", source, LIBRARY, "-pthread", "-o", program], [program])

        everything = "".join((INCLUDE / header).read_text() for header in headers if header.parent.name == "wengert")
        standard = "".join(sorted(f"#include <{name}>\n" for name in set(re.findall(r"#include <(\w+)>", everything))))
        ours = seconds('#include "wengert/wengert.hpp"\n', folder)
        theirs = seconds(standard, folder)
        tap.check("wengert.hpp compiles in at most 3x the time of its standard headers",
                  "" if ours <= 3 * theirs else f"{ours:.2f} s against {theirs:.2f} s")
    tap.done()


if __name__ == "__main__":
    main()
