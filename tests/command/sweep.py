"""`wengert sweep` as people run it: the grid, its report, and what is left of it when it is stopped."""

import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from command_line import QUICK, WENGERT, ends, expect, on_terminal, run, table_of
from tap import Tap

FEW = ["--iterations", "20", "--repetitions", "2", "--min-time", "0.001", "--quiet"]
FILES = ["ceilings.csv", "meta.json", "samples.csv", "summary.csv"]


def grids(tap, folder):
    out = folder / "grid"
    done = run("sweep", *FEW, "--ops", "20,60", "--threads", "1,2", "--precision", "f64,f32", "--levels", "v2,v3,v4", "--out", out)
    rows = table_of(out / "summary.csv") if done.returncode == 0 else []
    tap.check("a sweep", expect((done.returncode == 0, done), (sorted(os.listdir(out)) == FILES, os.listdir(out))))
    seen = [(row["precision"], row["threads"], row["ops"], row["level"]) for row in rows]
    wanted = [(p, "1", n, level) for p in ("f64", "f32") for n in ("20", "60") for level in ("v2", "v3", "v4")]
    wanted += [(p, "2", n, "v4") for p in ("f64", "f32") for n in ("20", "60")]
    tap.check("every point, each level where it differs", expect((sorted(seen) == sorted(wanted), seen)))
    tap.check("work is counted", expect(*((float(row["flops_per_op"]) > 1 and float(row["bytes_per_op"]) > 8, row) for row in rows)))
    samples = table_of(out / "samples.csv")
    tap.check("samples of all points", expect((len(samples) == 2 * len(rows), len(samples)),
                                              ({s["point"] for s in samples} == {r["point"] for r in rows}, "other points")))
    meta = json.loads((out / "meta.json").read_text())
    tap.check("meta.json", expect((len(meta["points"]) == 8, len(meta["points"])), (not meta["partial"], "partial"),
                                  (meta["grid"]["ops"] == "20,60", meta["grid"]), (len(meta["ceilings"]) >= 6, meta["ceilings"])))
    ceilings = table_of(out / "ceilings.csv")
    tap.check("ceilings.csv", expect((len(ceilings) == len(meta["ceilings"]), ceilings), *((float(c["value"]) > 0, c) for c in ceilings)))
    done = run("compare", out, out, "--format", "csv")
    compared = list(csv.DictReader(done.stdout.splitlines()))
    tap.check("compare tells the points apart", expect((len(compared) == len(rows), done), ({r["verdict"] for r in compared} == {"same"}, done)))
    done = run("compare", out, "--base", "v2", "--format", "csv")
    tap.check("its levels have their base", expect((len(list(csv.DictReader(done.stdout.splitlines()))) == len(rows), done)))
    done = run("sweep", *FEW, "--lanes", "8,16,128", "--precision", "f64,f32", "--ops", "20", "--levels", "v3", "--csv", "-")
    lanes = sorted((row["precision"], row["lanes"]) for row in csv.DictReader(done.stdout.splitlines()))
    tap.check("lanes where they go with the precision",
              expect((lanes == sorted([("f64", "8"), ("f64", "16"), ("f32", "16"), ("f32", "128")]), done)))
    done = run("sweep", *FEW, "--workload", "expr", "--levels", "v2", "--csv", "-")
    tap.check("a workload of one size has one", expect((len(done.stdout.splitlines()) == 2, done)))
    done = run("sweep", *QUICK[2:], "--ops", "20,60", "--levels", "v2")
    tap.check("a table per point", expect((done.stdout.count("ns/op") == 2, done), ("point 2 of 2" in done.stdout, done)))


def refusals(tap, folder):
    for option, value in (("--ops", "10,ten"), ("--ops", "0"), ("--ops", "10,,20"), ("--ops", "10,10"), ("--threads", "1,-2"),
                          ("--lanes", "8,9"), ("--precision", "f64,f16"), ("--iterations", "1e3")):
        tap.check(f"{option} {value}", ends(run("sweep", *FEW[2:], option, value), 2, option))
    tap.check("lanes that don't go with the precision", ends(run("sweep", *FEW, "--lanes", "8", "--precision", "f32"), 2, "f32"))
    (folder / "file").write_text("mine")
    tap.check("--out is a file", ends(run("sweep", "--out", folder / "file"), 1, "file"))


def stopped(tap, folder):
    long = ["sweep", "--levels", "v2", "--ops", "20,1000000", "--iterations", "1000", "--repetitions", "2", "--min-time", "0.001"]
    out = folder / "stopped"
    ended, shown = on_terminal([*long, "--out", str(out)], until=b"point 2 of 2", send=signal.SIGINT)
    tap.check("Ctrl-C keeps the points that are finished", expect(
        (ended == 130, f"exit {ended}: {shown}"), ([r["ops"] for r in table_of(out / "summary.csv")] == ["20"], shown),
        ("stopped after 1 of 2 points" in shown, shown),
        (json.loads((out / "meta.json").read_text())["partial"], "not partial")))
    out = folder / "killed"
    process = subprocess.Popen([WENGERT, *long, "--quiet", "--out", str(out)])
    until = time.monotonic() + 120
    while time.monotonic() < until and not ((out / "summary.csv").exists() and (out / "summary.csv").stat().st_size):
        time.sleep(0.05)
    process.kill()
    process.wait()
    tap.check("so does a kill", expect(([r["ops"] for r in table_of(out / "summary.csv")] == ["20"], os.listdir(out))))


def ceilings(tap):
    measured = json.loads(run("info", "--ceilings", "--json").stdout)["ceilings"]
    names = [c["ceiling"] for c in measured if c["threads"] == 1]
    tap.check("info --ceilings", expect((names == ["arithmetic f64", "arithmetic f32", "L1", "L2", "L3", "memory"], names)))


def main():
    tap = Tap()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="wengert-"))
    try:
        grids(tap, folder)
        refusals(tap, folder)
        stopped(tap, folder)
        ceilings(tap)
    finally:
        shutil.rmtree(folder)
    tap.done()


if __name__ == "__main__":
    main()
