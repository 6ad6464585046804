"""scripts/plot.py draws the reports of `wengert ladder`, and says in one line what it can't draw.

    charts.py WENGERT
"""

import os
import pathlib
import subprocess
import sys
import tempfile

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
        missing = [word for word in ("v0 heap", "v2 tape", "v3 simd", "x v0", "west, 60 ops") if word not in labels]
        tap.check("with levels, speed-ups and workload named", ", ".join(missing))
        tap.check("no folder", complains(folder / "none", "No such file"))
        (folder / "summary.csv").write_text("schema,level,ns_per_op\r\n1,v0,\r\n")
        tap.check("a run without times", complains(folder, "no rows to draw"))
    tap.done()


if __name__ == "__main__":
    main()
