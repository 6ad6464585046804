"""The numbers that README.md quotes are those of the committed runs: each of its tables is the one that scripts/tables.py makes."""

import importlib.util
import os
import pathlib

from tap import Tap

ROOT = pathlib.Path(os.environ["SOURCE"])
spec = importlib.util.spec_from_file_location("tables", ROOT / "scripts/tables.py")
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)

tap = Tap()
quoted = (ROOT / "README.md").read_text().splitlines()
for first, columns in tables.TABLES:
    wanted = tables.table(first, columns, "amd-epyc-zen4-2core").splitlines()
    head = wanted[0]
    begin = quoted.index(head) if head in quoted else len(quoted)
    found = []
    while begin < len(quoted) and quoted[begin].startswith("|"):
        found.append(quoted[begin])
        begin += 1
    wrong = [f"{a!r}, not {b!r}" for a, b in zip(found, wanted) if a != b]
    if len(found) != len(wanted):
        wrong.append(f"{len(found)} rows, not {len(wanted)}")
    tap.check(f"README.md has the table of {first}s as measured", "\n".join(wrong))
tap.done()
