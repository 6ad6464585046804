"""scripts/plot.py draws the reports of `wengert ladder` and `wengert sweep`, `wengert report` makes a page of one, and both
say in one line what they can't draw.

    charts.py WENGERT
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from tap import Tap, fails

WENGERT = sys.argv[1]
PLOT = [sys.executable, pathlib.Path(os.environ["SOURCE"]) / "scripts/plot.py"]


def complains(folder, words):
    """Nothing if the script, given this folder, stops with one line that has these words."""
    done = subprocess.run([*PLOT, folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.splitlines()
    if done.returncode != 0 and len(lines) == 1 and words in lines[0]:
        return ""
    return f"exit {done.returncode}, said: {done.stdout}"


def refuses(folder, words):
    """Nothing if `wengert report` ends with one line that has these words."""
    done = subprocess.run([WENGERT, "report", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = done.stderr.splitlines()
    good = done.returncode == 1 and len(lines) == 1 and lines[0].startswith("wengert: ") and words in lines[0]
    return "" if good else f"exit {done.returncode}: {done.stderr}"


def page_of(tap, folder, words):
    """`wengert report` makes one file that has these words and needs no other."""
    done = subprocess.run([WENGERT, "report", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    tap.check(f"a page of {folder.name}", "" if done.returncode == 0 else done.stdout)
    page = (folder / "report.html").read_text() if done.returncode == 0 else ""
    missing = [word for word in words if word not in page]
    tap.check("all is on it", ", ".join(missing))
    # Names of XML vocabularies look like addresses, but nobody goes there.
    outside = [address for address in re.findall(r"""(?:src|href)=["']([^"'#][^"']*)|url\(([^#)][^)]*)|@import (.*)""", page)]
    tap.check("it needs no network", str(outside) if outside else "")


def overlaps(path):
    """Names at the ends of lines in a chart: those of one column must be a line of text apart."""
    texts = {}
    for text in xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text"):
        level = not re.match(r"rotate\(-?0*[1-9]", text.get("transform", ""))
        if level and text.get("x") and "text-anchor: start" in text.get("style", ""):
            texts.setdefault(round(float(text.get("x"))), []).append((float(text.get("y")), text.text))
    close = [f"{path.name}: {a[1]} and {b[1]}" for column in texts.values()
             for a, b in zip(sorted(column), sorted(column)[1:]) if b[0] - a[0] < 8]
    return "\n".join(close)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if fails([sys.executable, "-c", "import matplotlib"]):
            tap.skip("charts", "this python has no matplotlib")
            tap.done()
        tap.run("a run is drawn",
                [WENGERT, "ladder", "--levels", "v0,v2,v3", "--ops", "60", "--iterations", "20", "--repetitions", "2",
                 "--min-time", "0.001", "--quiet", "--out", folder],
                [*PLOT, folder])
        wrong = [name for name, start in (("ladder.png", b"\x89PNG"), ("ladder.svg", b"<?xml"))
                 if not (folder / name).exists() or not (folder / name).read_bytes().startswith(start)]
        tap.check("as PNG and SVG", ", ".join(wrong))
        labels = (folder / "ladder.svg").read_text() if not wrong else ""
        missing = [word for word in ("v0 heap", "v2 tape", "v3 simd", "x v0", "west, f64, 60 ops") if word not in labels]
        tap.check("with levels, speed-ups and workload named", ", ".join(missing))
        tap.check("no chart of languages where there are none", "" if not (folder / "languages.svg").exists() else "drawn")
        pairs = folder / "pairs"
        tap.run("v1 and v2 in two languages are drawn",
                [WENGERT, "ladder", "--levels", "v1,v2,c,c-v1", "--ops", "60", "--iterations", "20", "--repetitions", "2",
                 "--min-time", "0.001", "--quiet", "--out", pairs],
                [*PLOT, pairs])
        labels = (pairs / "languages.svg").read_text() if (pairs / "languages.svg").exists() else ""
        missing = [word for word in ("C++ (v1, v2)", ">C<", "v1: pool", "v2: index tape") if word not in labels]
        tap.check("side by side", ", ".join(missing))
        tap.check("no folder", complains(folder / "none", "No such file"))
        page_of(tap, folder, ["v0 heap", "v3 simd", "ns/op", "CPU", "<svg", "prefers-color-scheme"])

        grid = folder / "grid"
        tap.run("a sweep is drawn",
                [WENGERT, "sweep", "--levels", "v2,v3,v4", "--ops", "20,60,200", "--threads", "1,2", "--iterations", "20",
                 "--repetitions", "2", "--min-time", "0.001", "--quiet", "--out", grid],
                [*PLOT, grid])
        drawn = sorted(path.name for path in grid.glob("*.svg"))
        tap.check("its charts", "" if drawn == ["roofline-west-f64-1-core.svg", "roofline-west-f64-2-cores.svg", "sizes-west-f64.svg",
                                                 "threads-west-f64.svg"] else str(drawn))
        tap.check("no names on top of each other", "\n".join(overlaps(path) for path in grid.glob("*.svg")).strip())
        page_of(tap, grid, ["Sizes", "Threads", "Roofline", "Ceilings", "memory"])

        (folder / "summary.csv").write_text("schema,level,workload,ns_per_op\r\n1,v0,west,\r\n")
        tap.check("a run without times", complains(folder, "no rows to draw"))
        (folder / "summary.csv").write_text("a,b\r\n1,2\r\n")
        tap.check("a foreign file", complains(folder, "not the summary of a report"))
        (folder / "meta.json").write_text("{")
        tap.check("broken metadata", complains(folder, "meta.json"))
        tap.check("a page of no report", refuses(folder, "summary.csv"))
        tap.check("a page of no folder", refuses(folder / "none", "no such folder"))
    tap.done()


if __name__ == "__main__":
    main()
