"""Every C++ block in README.md and docs/ compiles and runs. Whole programs by themselves; the other blocks of a page one after
the other in one program, as a reader would type them: what starts with template, struct or #include outside of main."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from tap import Tap

LIBRARY = sys.argv[1]
SOURCE = pathlib.Path(os.environ["SOURCE"])
COMMAND = [os.environ["CXX"], "-std=c++20", "-Wall", "-Wextra", "-Wno-unused", f"-I{SOURCE / 'include'}"]
BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PREAMBLE = "#include <cmath>\n#include <cstdio>\n#include <span>\n#include <vector>\n#include \"wengert/wengert.hpp\"\nusing namespace wengert;\n"


def programs(page):
    blocks = BLOCK.findall(page.read_text())
    whole = [block for block in blocks if "int main(" in block]
    parts = [block for block in blocks if "int main(" not in block]
    outside = [block for block in parts if re.match(r"template|struct|#include", block)]
    inside = [block for block in parts if block not in outside]
    if parts:
        whole.append(PREAMBLE + "".join(outside) + "int main() {\n" + "".join(inside) + "}\n")
    return whole


def main():
    tap = Tap()
    pages = sorted([SOURCE / "README.md", *(SOURCE / "docs").rglob("*.md")])
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "page.cpp", pathlib.Path(folder) / "page"
        for page in pages:
            for number, text in enumerate(programs(page), 1):
                source.write_text(text)
                tap.run(f"{page.relative_to(SOURCE)}, program {number}",
                        [*COMMAND, source, LIBRARY, "-pthread", "-o", program], [program], cwd=folder)
    broken = [f"{page.relative_to(SOURCE)}: {target}" for page in pages for target in LINK.findall(page.read_text())
              if "://" not in target and not (page.parent / target).exists()]
    tap.check("links lead somewhere", "\n".join(broken))
    tap.done()


if __name__ == "__main__":
    main()
