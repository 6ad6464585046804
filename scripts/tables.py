#!/usr/bin/python3
"""The tables of README.md, from committed runs; those of other machines than its own are in results/MACHINE/README.md.

    tables.py MACHINE            prints them
    tables.py MACHINE --write    puts them into the page, in place of those that it has
"""

import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAIN = "amd-epyc-zen4-2core"  # README.md is about this machine
# Of each table the name of its first column, and a title and a run for each of the others.
TABLES = [
    ("level", [("west f64", "west"), ("west f32", "west-f32"), ("dag f64", "dag"), ("black-scholes f64", "black-scholes"),
               ("heston f64", "heston"), ("gmm f64", "gmm")]),
    ("one evaluation", [("expr", "one-expr"), ("west", "one-west"), ("dag", "one-dag"), ("black-scholes", "one-black-scholes"),
                        ("heston", "one-heston")]),
    ("peer", [("expr", "peers-expr"), ("west 100", "peers-west-100"), ("west 1,000", "peers-west-1000"), ("dag 1,000", "peers-dag"),
              ("black-scholes", "peers-black-scholes"), ("heston", "peers-heston")]),
    ("one call", [("expr", "call-expr"), ("west 100", "call-west-100")]),
    ("language", [("west", "languages-west"), ("expr", "languages-expr")]),
]


def page(machine):
    return ROOT / "README.md" if machine == MAIN else ROOT / "results" / machine / "README.md"


def of(machine):
    """Its tables: those that have been run."""
    return [(first, columns) for first, columns in TABLES if (ROOT / "results" / machine / columns[0][1]).is_dir()]


def table(first, columns, machine):
    """Nanoseconds per op and evaluation; of a level that failed its check, that it did. Without runs that aren't there, the
    first excepted."""
    runs = []
    columns = columns[:1] + [(title, run) for title, run in columns[1:] if (ROOT / "results" / machine / run).is_dir()]
    for _, run in columns:
        with (ROOT / "results" / machine / run / "summary.csv").open(newline="") as file:
            runs.append({row["level"]: f"{float(row['ns_per_op']):.3g}" if row["ns_per_op"] else row["status"]
                         for row in csv.DictReader(file)})
    levels = list(dict.fromkeys(level for run in runs for level in run))
    lines = [f"| {first} | " + " | ".join(title for title, _ in columns) + " |", "|---" * (1 + len(columns)) + "|"]
    lines += [f"| {level} | " + " | ".join(run.get(level, "") for run in runs) + " |" for level in levels]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--write"]):
        sys.exit(__doc__)
    machine, write = sys.argv[1], len(sys.argv) == 3
    try:
        text = page(machine).read_text() if write else ""
        tables = [(first, columns, table(first, columns, machine)) for first, columns in of(machine)]
    except OSError as error:
        sys.exit(f"tables: {error.filename}: {error.strerror}")
    for first, columns, now in tables:
        text = re.sub(rf"^\| {first} \| {re.escape(columns[0][0])} \|.*?\n(?=\n)", lambda _: now, text, flags=re.M | re.S)
        if not write:
            print(now)
    if write:
        page(machine).write_text(text)


if __name__ == "__main__":
    main()
