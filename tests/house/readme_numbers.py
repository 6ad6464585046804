"""The numbers that README.md quotes are those of the committed runs, and so are those of the other machines' pages: each table is
the one that scripts/tables.py makes."""

import importlib.util
import os
import pathlib

from tap import Tap

ROOT = pathlib.Path(os.environ["SOURCE"])
spec = importlib.util.spec_from_file_location("tables", ROOT / "scripts/tables.py")
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)

tap = Tap()
for machine in sorted(path.name for path in (ROOT / "results").iterdir() if path.is_dir() and path.name != "local"):
    page = tables.page(machine)
    quoted = page.read_text().splitlines()
    for first, columns in tables.of(machine):
        wanted = tables.table(first, columns, machine).splitlines()
        head = wanted[0]
        begin = quoted.index(head) if head in quoted else len(quoted)
        found = []
        while begin < len(quoted) and quoted[begin].startswith("|"):
            found.append(quoted[begin])
            begin += 1
        wrong = [f"{a!r}, not {b!r}" for a, b in zip(found, wanted) if a != b]
        if len(found) != len(wanted):
            wrong.append(f"{len(found)} rows, not {len(wanted)}")
        tap.check(f"{page.relative_to(ROOT)} has the table of {first}s as measured", "\n".join(wrong))
    run = [first for first, _ in tables.of(machine)]
    without = [line for line in quoted for first, columns in tables.TABLES
               if first not in run and line.startswith(f"| {first} | {columns[0][0]} |")]
    tap.check(f"{page.relative_to(ROOT)} has no table without runs", "\n".join(without))
tap.done()
