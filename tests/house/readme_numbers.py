"""The numbers that README.md quotes are those of the committed runs."""

import csv
import os
import pathlib
import re

from tap import Tap

ROOT = pathlib.Path(os.environ["SOURCE"])
RUNS = ["west", "west-f32", "dag", "black-scholes", "heston", "gmm"]  # the table's columns

tap = Tap()
runs = []
for run in RUNS:
    with (ROOT / "results/amd-epyc-zen4-2core" / run / "summary.csv").open() as file:
        runs.append({row["level"]: f"{float(row['ns_per_op']):.3g}" for row in csv.DictReader(file)})
table = re.search(r"^\| level \| west f64 .*?\n\n", (ROOT / "README.md").read_text(), re.M | re.S)
rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.group(0).strip().splitlines()[2:]] if table else []
levels = {row[0] for row in rows}
tap.check("README.md has a row for each level that was run",
          "" if levels == set().union(*runs) else f"{sorted(levels)}")
for level, *cells in rows:
    wanted = [run.get(level, "") for run in runs]
    tap.check(f"README.md quotes {level} as measured", "" if cells == wanted else f"{cells}, not {wanted}")
tap.done()
