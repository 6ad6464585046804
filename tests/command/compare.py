"""`wengert compare` as people run it: formats, gate, exit codes, reports that aren't."""

import csv
import json
import os
import pathlib
import shutil
import tempfile

from command_line import QUICK, ends, expect, run
from tap import Tap

SOURCE = pathlib.Path(os.environ["SOURCE"])
COMMITTED = SOURCE / "results/amd-epyc-zen4-2core"
FIRST_SCHEMA = SOURCE / "tests/command/schema_1"  # a report of west as version 1 of the reports had it


def slower(report, copy, factor, level="v3"):
    """A copy of a report whose level took `factor` times as long."""
    shutil.copytree(report, copy)
    for name in ("summary.csv", "samples.csv"):
        with open(copy / name, newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            for column in [c for c in row if c.startswith("ns_per_op") or c.startswith("seconds")]:
                if row["level"] == level and row[column]:
                    row[column] = repr(float(row[column]) * factor)
        with open(copy / name, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
    return copy


def formats(tap, west, bad):
    table = run("compare", west, bad)
    tap.check("a table", expect((table.returncode == 0, table), ("1.50" in table.stdout and "slower" in table.stdout, table.stdout),
                                (not table.stderr, table.stderr)))
    rows = list(csv.DictReader(run("compare", west, bad, "--format", "csv").stdout.splitlines()))
    tap.check("CSV", expect((len(rows) == 10, rows), *((r["verdict"] == ("slower" if r["level"] == "v3" else "same"), r) for r in rows),
                            *((float(r["ratio_low"]) <= float(r["ratio"]) <= float(r["ratio_high"]), r) for r in rows)))
    document = json.loads(run("compare", west, bad, "--format", "json").stdout)
    v3 = [row for row in document["rows"] if row["level"] == "v3"][0]["changes"][0]
    tap.check("JSON", expect((abs(v3["ratio"] - 1.5) < 1e-9, v3), (v3["verdict"] == "slower" and v3["samples"] == 5, v3)))
    lines = run("compare", west, bad, "--format", "markdown").stdout.splitlines()
    table = [line for line in lines if line.startswith("|")]
    tap.check("Markdown", expect((len(table) == 12, lines), (len({line.count("|") for line in table}) == 1, table)))
    three = run("compare", west, bad, west)
    tap.check("three reports", expect((three.returncode == 0, three), ("C / A" in three.stdout, three.stdout)))
    done = run("compare", west / "summary.csv", bad / "summary.csv")
    tap.check("summaries alone: by intervals, and said",
              expect((done.returncode == 0, done), ("has no samples" in done.stdout and "1.50" in done.stdout, done.stdout)))
    done = run("compare", west, "--base", "c", "--format", "csv")
    v2 = [row for row in csv.DictReader(done.stdout.splitlines()) if row["level"] == "v2"]
    tap.check("one report, any base", expect((len(v2) == 1 and v2[0]["base_level"] == "c" and v2[0]["verdict"] == "faster", done)))
    tap.check("one report, v2 without being told", expect(("time / v2" in run("compare", west).stdout, "no v2")))


def gates(tap, folder, west, bad):
    tap.check("a gate that holds", expect((run("compare", west, west, "--threshold", "5%").returncode == 0, "closed")))
    tap.check("a gate that a slower level fails", ends(run("compare", west, bad, "--threshold", "5%", "--format", "json"), 1,
                                                       "west v3 of B", "slower by 50"))
    tap.check("a gate wide enough", expect((run("compare", west, bad, "--threshold", "60%").returncode == 0, "closed")))
    tap.check("a faster level passes", expect((run("compare", bad, west, "--threshold", "5%").returncode == 0, "closed")))
    wrong = folder / "wrong"
    shutil.copytree(west, wrong)
    text = (wrong / "summary.csv").read_text().splitlines()
    text[4] = text[4].replace("complete", "wrong")
    (wrong / "summary.csv").write_text("\r\n".join(text) + "\r\n")
    tap.check("a gate that a wrong level fails", ends(run("compare", west, wrong, "--threshold", "5%"), 1, "v3", "wrong"))
    tap.check("--strict, the same machine", expect((run("compare", west, bad, "--strict").returncode == 0, "refused")))
    other = folder / "other"
    shutil.copytree(west, other)
    meta = json.loads((other / "meta.json").read_text())
    meta["machine"]["cpu"] = "another CPU"
    (other / "meta.json").write_text(json.dumps(meta))
    done = run("compare", west, other)
    tap.check("another CPU is said", expect((done.returncode == 0 and "another CPU" in done.stdout, done)))
    tap.check("--strict refuses it", ends(run("compare", west, other, "--strict"), 3, "CPU", "another CPU"))
    tap.check("--strict refuses what it can't know", ends(run("compare", west, west / "samples.csv", "--strict"), 3, "meta.json"))


def refusals(tap, folder, west):
    tap.check("no report at all", expect((run("compare").returncode == 2, "")))
    tap.check("no such folder", ends(run("compare", folder / "none"), 1, "none", "no such"))
    tap.check("a foreign file", ends(run("compare", west / "meta.json"), 1, "meta.json", "not a report"))
    tap.check("a picture", ends(run("compare", COMMITTED / "west/ladder.png"), 1, "ladder.png", "not a report"))
    cut = folder / "cut.csv"
    cut.write_bytes((west / "summary.csv").read_bytes()[:1000])
    tap.check("a file cut short", ends(run("compare", west, cut), 1, "cut.csv", "line"))
    tap.check("--base with two reports", ends(run("compare", west, west, "--base", "v2"), 2, "--base"))
    tap.check("--base that isn't there", ends(run("compare", west, "--base", "v77"), 2, "v77", "hand-simd"))
    tap.check("--threshold without its sign", ends(run("compare", west, west, "--threshold", "5"), 2, "--threshold", "'5'"))
    tap.check("--format that isn't", ends(run("compare", west, "--format", "xml"), 2, "xml"))
    done = run("compare", west, COMMITTED / "dag")
    tap.check("nothing in common", expect((done.returncode == 3, done), ("nothing to compare" in done.stderr, done.stderr)))


def main():
    tap = Tap()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="wengert-"))
    try:
        west = FIRST_SCHEMA
        bad = slower(west, folder / "bad", 1.5)
        formats(tap, west, bad)
        gates(tap, folder, west, bad)
        refusals(tap, folder, west)
        for name in ("a", "b"):
            run("ladder", *QUICK, "--levels", "v2,v3", "--quiet", "--out", folder / name)
        done = run("compare", folder / "a", folder / "b", "--strict")
        tap.check("two runs of now", expect((done.returncode == 0, done), ("B / A" in done.stdout, done.stdout)))
    finally:
        shutil.rmtree(folder)
    tap.done()


if __name__ == "__main__":
    main()
