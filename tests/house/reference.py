"""The reference: everything public has a text, ops are in it, and links lead somewhere. What Doxygen warns of is an error."""

import html
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.parse

from tap import Tap

SOURCE = pathlib.Path(os.environ["SOURCE"])
LINK = re.compile(r'(?:href|src)="([^"#]+)[^"]*"')


def dead_links(pages):
    """What pages link to and isn't there. Three folders up is the tree: build/reference/html lies that deep in it."""
    dead = set()
    for page in pages.glob("*.html"):
        for link in LINK.findall(page.read_text()):
            target = urllib.parse.unquote(html.unescape(link))
            if re.match(r"[a-z]+:", target):
                continue
            there = SOURCE / target[9:] if target.startswith("../../../") else pages / target
            if not there.exists():
                dead.add(f"{page.name}: {target}")
    return "\n".join(sorted(dead))


def ops_without_text(pages):
    """Ops of the table that the page of namespace wengert has no function for."""
    ops = re.findall(r"^\| `(\w+)` ", (SOURCE / "docs/ops.md").read_text(), re.M)
    page = (pages / "namespacewengert.html").read_text()
    missing = [op for op in ops if f">{op}</a> (" not in page]
    return "no ops in docs/ops.md" if not ops else " ".join(missing)


def main():
    tap = Tap()
    names = ["everything public has a text", "links lead somewhere", "every op has a function"]
    if not shutil.which("doxygen"):
        for name in names:
            tap.skip(name, "doxygen is missing")
        tap.done()
    with tempfile.TemporaryDirectory() as folder:
        tap.run(names[0], [SOURCE / "scripts/reference", folder])
        pages = pathlib.Path(folder) / "html"
        tap.check(names[1], dead_links(pages) if (pages / "index.html").exists() else "no pages")
        tap.check(names[2], ops_without_text(pages) if (pages / "namespacewengert.html").exists() else "no page of functions")

        # What it is good for: a name without a text is found.
        bare = pathlib.Path(folder) / "bare"
        shutil.copytree(SOURCE, bare, ignore=shutil.ignore_patterns("build*", ".git", "results", "tests", "kernels", "subprojects"))
        (bare / "include/wengert/bare.hpp").write_text("namespace wengert {\nint bare();\n}\n")
        done = subprocess.run([bare / "scripts/reference"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tap.check("a name without a text is found", "" if done.returncode and "bare()" in done.stdout else done.stdout or "it isn't")
    tap.done()


if __name__ == "__main__":
    main()
