#!/usr/bin/python3
"""Draws the chart of a report: nanoseconds per op of each level, on a log axis.

    scripts/plot.py DIR     reads DIR/summary.csv, writes DIR/ladder.png and DIR/ladder.svg

A bar is the median, its whisker the 95% bootstrap interval; beside it stand the median and the speed-up over the first
row and over the row before. Needs matplotlib (Debian: python3-matplotlib).
"""

import csv
import os
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot: matplotlib is missing: apt-get install python3-matplotlib, and run this with /usr/bin/python3")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

INK, QUIET, BAR, TRACK = "#1f2933", "#66717d", "#2f6fb0", "#e4e8ec"


def number(row, column):
    return float(row[column]) if row.get(column) else None


def how(row):
    """What a level ran on: "avx512, 64 lanes, 2 threads"."""
    lanes, threads = int(row["lanes"]), int(row["threads"])
    return ", ".join([row["isa"]] + [f"{lanes} lanes"] * (lanes > 1) + [f"{threads} threads"] * (threads > 1))


def label(row, first, previous):
    times = lambda ratio: f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"
    text = f"{number(row, 'ns_per_op'):.3g} ns"
    over_first, over_previous = number(row, "speedup_first"), number(row, "speedup_previous")
    if row is not first and over_first:
        text += f"   {times(over_first)}x {first['level']}"
        if over_previous and previous is not first:
            text += f"   {times(over_previous)}x {previous['level']}"
    return text


def draw(rows, directory):
    matplotlib.rcParams.update({"font.size": 10, "text.color": INK, "axes.labelcolor": INK, "svg.fonttype": "none",
                                "svg.hashsalt": "wengert"})
    figure, axes = plt.subplots(figsize=(10, 1.5 + 0.62 * len(rows)), layout="constrained")
    nanoseconds = [number(row, "ns_per_op") for row in rows]
    low = [n - (number(row, "ns_per_op_low") or n) for n, row in zip(nanoseconds, rows)]
    high = [(number(row, "ns_per_op_high") or n) - n for n, row in zip(nanoseconds, rows)]
    whiskers = [[max(x, 0) for x in low], [max(x, 0) for x in high]]
    places = range(len(rows))
    axes.barh(places, nanoseconds, height=0.62, color=BAR, xerr=whiskers,
              error_kw={"ecolor": INK, "elinewidth": 1, "capsize": 3})
    for place, n, up, row, previous in zip(places, nanoseconds, whiskers[1], rows, [rows[0]] + rows):
        axes.annotate(label(row, rows[0], previous), (n + up, place), xytext=(7, 0), textcoords="offset points", va="center")

    axes.set_xscale("log")
    # Room on the right for the longest label: bars end at two thirds of the axis.
    left, right = min(nanoseconds) / 3, max(nanoseconds)
    axes.set_xlim(left, left * (right / left) ** 1.5)
    axes.xaxis.set_major_formatter(lambda ns, _: f"{ns:g}")
    axes.set_yticks(places, [f"{row['level']} {row['name']}\n{how(row)}" for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("ns per recorded op and evaluation, forward and backward; median, 95% interval")
    axes.xaxis.grid(True, color=TRACK)
    axes.set_axisbelow(True)
    axes.tick_params(axis="both", which="both", length=0, colors=QUIET)
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)
    one = rows[0]
    axes.set_title(f"{one['workload']}, {int(one['ops']):,} ops, {one['precision']}, "
                   f"batches of {int(one['iterations']):,}", loc="left", weight="bold")
    for extension, metadata in (("png", None), ("svg", {"Date": None})):
        path = os.path.join(directory, "ladder." + extension)
        figure.savefig(path, dpi=144, metadata=metadata)
        print(path)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    path = os.path.join(sys.argv[1], "summary.csv")
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row.get("ns_per_op")]  # not those without times
    except OSError as error:
        sys.exit(f"plot: {path}: {error.strerror}")
    if not rows:
        sys.exit(f"plot: {path} has no rows to draw")
    draw(rows, sys.argv[1])


if __name__ == "__main__":
    main()
