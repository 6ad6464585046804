"""The figures of a report: what scripts/plot.py writes down and puts on a page."""

import math
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot: matplotlib is missing: apt-get install python3-matplotlib, and run this with /usr/bin/python3")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

INK, QUIET, BAR, TRACK = "#1f2933", "#66717d", "#2f6fb0", "#e4e8ec"
# Told apart with any colour vision (M. Okabe, K. Ito, "Color universal design", 2008); lines have markers too.
COLOURS = ["#2f6fb0", "#d55e00", "#009e73", "#b0478c", "#b8860b", "#56b4e9", "#8c5a2b"]
MARKERS = "osD^vP*Xh<>"
width = 7.2  # of a figure, inches


def number(row, column):
    return float(row[column]) if row.get(column) else None


def times(ratio):
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def is_rung(row):
    """v0, v1, ...: what beside the ladder is named otherwise."""
    return row["level"][:1] == "v" and row["level"][1:].isdigit()


def how(row):
    """What a level ran on: "avx512, 64 lanes, 2 threads"."""
    lanes, threads = int(row["lanes"]), int(row["threads"])
    return ", ".join([row["isa"]] + [f"{lanes} lanes"] * (lanes > 1) + [f"{threads} threads"] * (threads > 1))


def whiskers(rows):
    medians = [number(row, "ns_per_op") for row in rows]
    low = [max(n - (number(row, "ns_per_op_low") or n), 0) for n, row in zip(medians, rows)]
    high = [max((number(row, "ns_per_op_high") or n) - n, 0) for n, row in zip(medians, rows)]
    return medians, [low, high]


def values(rows, column):
    """What a column has, in order of appearance."""
    return list(dict.fromkeys(row.get(column) or "" for row in rows))


def styles(names):
    return {name: {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]} for i, name in enumerate(names)}


def canvas(height, title):
    matplotlib.rcParams.update({"font.size": 10, "text.color": INK, "axes.labelcolor": INK, "svg.fonttype": "none",
                                "svg.hashsalt": "wengert", "font.family": "DejaVu Sans"})
    figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    figure.patch.set_alpha(0)
    axes.set_facecolor("none")
    axes.grid(True, color=TRACK)
    axes.set_axisbelow(True)
    axes.tick_params(axis="both", which="both", length=0, colors=QUIET)
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=11)
    return figure, axes


def plain_logs(axes, *names):
    """Logarithmic axes with numbers as one says them: 1, 10, 1000."""
    for name in names:
        getattr(axes, f"set_{name}scale")("log")
        axis = getattr(axes, name + "axis")
        axis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")
        axis.set_minor_formatter(lambda x, _: "")


def spread(places, gap):
    """Places moved apart, in order, so that none is nearer than `gap` to the next; each group stays around its middle."""
    groups = []  # [sum of wanted places, members]
    for i in sorted(range(len(places)), key=lambda i: places[i]):
        groups.append([places[i], [i]])
        while len(groups) > 1:
            (sum_a, a), (sum_b, b) = groups[-2:]
            if sum_b / len(b) - sum_a / len(a) >= gap * (len(a) + len(b)) / 2:
                break
            groups[-2:] = [[sum_a + sum_b, a + b]]
    moved = [0.0] * len(places)
    for total, members in groups:
        for k, i in enumerate(members):
            moved[i] = total / len(members) + gap * (k - (len(members) - 1) / 2)
    return moved


def label_ends(axes, ends, height):
    """Names at the right of their lines, moved apart: (x, y, text, colour) in data coordinates of a log axis."""
    low, high = (math.log10(y) for y in axes.get_ylim())
    gap = 0.19 / height * (high - low)  # a line of text, in decades
    for (x, y, text, colour), place in zip(ends, spread([math.log10(y) for _, y, _, _ in ends], gap)):
        axes.annotate(text, (x, y), xytext=(1.02, (place - low) / (high - low)), textcoords="axes fraction", color=colour,
                      va="center", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6, "alpha": 0.5, "shrinkB": 4})


def line_chart(title, series, x_label, y_label, x_ticks, below=None, y_log=True):
    """series: {name: (x, y, whiskers, style)}. `below` draws what lies below the lines."""
    height = 4.2
    figure, axes = canvas(height, title)
    for name, (x, y, error, style) in series.items():
        axes.errorbar(x, y, yerr=error, color=style["color"], marker=style["marker"], markersize=5, linewidth=1.6,
                      linestyle=style.get("linestyle", "-"), elinewidth=1, capsize=2)
    plain_logs(axes, "x", "y") if y_log else plain_logs(axes, "x")
    if below:
        below(axes)
    axes.set_xticks(x_ticks, [f"{x:,}" for x in x_ticks])
    axes.set_xticks([], minor=True)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    label_ends(axes, [(x[-1], y[-1], name, style["color"]) for name, (x, y, _, style) in series.items()], height)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    return figure


def what(rows):
    """The settings that all rows share: "west, f64, 10,000 ops, batches of 1,000"."""
    shared = []
    for column, text in (("workload", "{}"), ("precision", "{}"), ("ops", "{:,} ops"), ("iterations", "batches of {:,}")):
        if len(values(rows, column)) == 1:
            value = rows[0][column]
            shared.append(text.format(int(value) if value.isdigit() else value))
    return ", ".join(shared)


# ---- charts: each gives figures by name, none where the report has nothing for it ------------------------------------


def ladder(rows):
    def label(row, previous):
        text = f"{number(row, 'ns_per_op'):.3g} ns"
        over_first, over_previous = number(row, "speedup_first"), number(row, "speedup_previous")
        if row is not rows[0] and over_first:
            text += f", {times(over_first)}x {rows[0]['level']}"
            if over_previous and previous is not rows[0] and is_rung(row) and is_rung(previous):
                text += f", {times(over_previous)}x {previous['level']}"
        return text

    figure, axes = canvas(1.4 + 0.52 * len(rows), what(rows))
    nanoseconds, errors = whiskers(rows)
    places = range(len(rows))
    axes.barh(places, nanoseconds, height=0.62, color=BAR, xerr=errors, error_kw={"ecolor": INK, "elinewidth": 1, "capsize": 3})
    for place, n, up, row, previous in zip(places, nanoseconds, errors[1], rows, [rows[0]] + rows):
        axes.annotate(label(row, previous), (n + up, place), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9)
    plain_logs(axes, "x")
    # Room on the right for the longest label: bars end at little more than half of the axis.
    left, right = min(nanoseconds) / 3, max(nanoseconds)
    axes.set_xlim(left, left * (right / left) ** 1.75)
    axes.set_xticks([tick for tick in axes.get_xticks() if left <= tick <= right])
    axes.set_yticks(places, [f"{row['level']} {row['name']}\n{how(row)}" for row in rows], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel("ns per op and evaluation")
    axes.yaxis.grid(False)
    return {"ladder": figure}


def languages(rows):
    """The tapes of v1 and v2 side by side, a pair of bars for each language; C++ is the ladder's own."""
    by_level = {row["level"]: row for row in rows}
    pairs = [("C++ (v1, v2)", by_level["v1"], by_level["v2"])] if {"v1", "v2"} <= set(by_level) else []
    pairs += [(row["name"].removeprefix("plain "), by_level[level + "-v1"], row) for level, row in by_level.items() if level + "-v1" in by_level]
    if len(pairs) < 2:
        return {}
    figure, axes = canvas(1.3 + 0.62 * len(pairs), what(rows))
    axes.margins(y=0.02)
    for k, (colour, name) in enumerate(((QUIET, "v1: pool, operands computed again"), (BAR, "v2: index tape, results stored"))):
        line = [pair[1 + k] for pair in pairs]
        nanoseconds, errors = whiskers(line)
        places = [place + 0.36 * k - 0.18 for place in range(len(pairs))]
        axes.barh(places, nanoseconds, height=0.33, color=colour, xerr=errors, label=name, error_kw={"ecolor": INK, "elinewidth": 1, "capsize": 2})
        for place, n, up, (_, first, _) in zip(places, nanoseconds, errors[1], pairs):
            gain = f", {times(number(first, 'ns_per_op') / n)}x" if k == 1 else ""
            axes.annotate(f"{n:.3g} ns{gain}", (n + up, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8.5)
    axes.set_xlim(0, axes.get_xlim()[1] * 1.15)
    axes.set_yticks(range(len(pairs)), [pair[0] for pair in pairs])
    axes.invert_yaxis()
    axes.set_xlabel("ns per op and evaluation")
    axes.yaxis.grid(False)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=9, borderaxespad=0.2)
    return {"languages": figure}


def totals(rows, preset):
    """Seconds in total of a preset's levels, among those that others have published."""
    published = (preset or {}).get("published")
    if not published:
        return {}
    bars = [(f"{r['level']} {r['name']}", number(r, "seconds_median"), BAR) for r in rows]
    bars += [(f"{who}, {published['when']}", seconds, QUIET) for who, seconds in published["seconds"].items()]
    bars.sort(key=lambda bar: -bar[1])
    figure, axes = canvas(1.1 + 0.34 * len(bars), f"{what(rows)}: seconds in total")
    names, seconds, colours = zip(*bars)
    axes.barh(range(len(bars)), seconds, height=0.66, color=colours)
    for place, s in enumerate(seconds):
        axes.annotate(f"{s:,.3g}" if s < 1000 else f"{s:,.0f}", (s, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9)
    plain_logs(axes, "x")
    left, right = min(seconds) / 3, max(seconds)
    axes.set_xlim(left, left * (right / left) ** 1.12)
    axes.set_yticks(range(len(bars)), names, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel(f"seconds; grey: as published, of {published['machine']} machine")
    axes.yaxis.grid(False)
    return {"totals": figure}


def sizes(rows):
    figures = {}
    for key in dict.fromkeys((r["workload"], r["precision"], r["iterations"]) for r in rows):
        own = [r for r in rows if (r["workload"], r["precision"], r["iterations"]) == key]
        most = max(int(r["threads"]) for r in own)  # the others are in the chart of threads
        wide = {level: max(int(r["lanes"]) for r in own if r["level"] == level) for level in values(own, "level")}
        style, series = styles(values(rows, "level")), {}
        for level in values(own, "level"):
            line = sorted((r for r in own if r["level"] == level and (int(r["threads"]) in (1, most)) and
                           (len(values([q for q in own if q["level"] == level and q["ops"] == r["ops"]], "lanes")) == 1 or
                            int(r["lanes"]) == wide[level])), key=lambda r: (int(r["ops"]), -int(r["threads"])))
            line = [r for i, r in enumerate(line) if i == 0 or line[i - 1]["ops"] != r["ops"]]
            series[level] = ([int(r["ops"]) for r in line], *whiskers(line), style[level])
        ticks = sorted({x for xs, *_ in series.values() for x in xs})
        if len(ticks) < 2:
            continue
        decades = [t for t in ticks if math.log10(t).is_integer()]
        figures["-".join(["sizes", *key[:2]] + [key[2]] * (len(values(rows, "iterations")) > 1))] = line_chart(
            what(own), series, "recorded ops", "ns per op and evaluation", decades if len(ticks) > 6 and len(decades) > 2 else ticks)
    return figures


def threads(rows):
    figures = {}
    for key in dict.fromkeys((r["workload"], r["precision"]) for r in rows):
        own = [r for r in rows if (r["workload"], r["precision"]) == key]
        style, series = styles(values(rows, "level")), {}
        problems = dict.fromkeys((r["level"], r["ops"], r["iterations"], r["lanes"]) for r in own)
        for level, ops, iterations, lanes in problems:
            line = sorted((r for r in own if (r["level"], r["ops"], r["iterations"], r["lanes"]) == (level, ops, iterations, lanes)),
                          key=lambda r: int(r["threads"]))
            if len(line) < 2:
                continue
            base, _ = number(line[0], "ns_per_op"), None
            scale = int(line[0]["threads"]) * base  # as if the first were on one thread, scaled ideally
            x, y = [int(r["threads"]) for r in line], [scale / number(r, "ns_per_op") for r in line]
            low = [max(a - scale / (number(r, "ns_per_op_high") or number(r, "ns_per_op")), 0) for a, r in zip(y, line)]
            high = [max(scale / (number(r, "ns_per_op_low") or number(r, "ns_per_op")) - a, 0) for a, r in zip(y, line)]
            name = level + f", {int(ops):,} ops" * (len({p[1] for p in problems}) > 1)
            name += f", {lanes} lanes" * (len({p[3] for p in problems if p[:3] == (level, ops, iterations)}) > 1)
            dashes = ["-", "--", ":", "-."][list(dict.fromkeys(p[1] for p in problems)).index(ops) % 4]
            series[name] = (x, y, [low, high], dict(style[level], linestyle=dashes))
        if not series:
            continue
        ticks = sorted({x for xs, *_ in series.values() for x in xs})

        def ideal(axes):
            axes.set_yticks(ticks, [str(t) for t in ticks])
            axes.set_yticks([], minor=True)
            axes.plot(ticks, ticks, color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
            axes.annotate("ideal", (ticks[-1], ticks[-1]), xytext=(-6, 2), textcoords="offset points", ha="right", color=QUIET)

        figures["-".join(["threads", *key])] = line_chart(what(own), series, "threads", "speed-up", ticks, ideal)
    return figures


def name_roofs(figure, axes, roofs, left):
    """Each roof's name along its slope, one further to the right than the other: roofs may be close to each other."""
    figure.draw_without_rendering()  # places the axes: until then slopes on the page aren't known
    figure.set_layout_engine("none")
    at = axes.transData.transform
    (x0, y0), (x1, y1) = at((left, left * min(roofs.values()))), at((left * 2, left * 2 * min(roofs.values())))
    low, high = axes.get_xlim()
    for place, (name, value) in enumerate(sorted(roofs.items(), key=lambda roof: -roof[1])):
        x = low * (high / low) ** (0.01 + 0.07 * place)
        axes.annotate(f"{name} {value:.3g} GB/s", (x, value * x), xytext=(2, 6), textcoords="offset points",
                      rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)), rotation_mode="anchor", fontsize=8, color=QUIET,
                      va="center")


def roofline(rows, ceilings):
    """One chart per precision, of the largest number of ops at which all levels are. Bandwidth is of all cores, as are threads'."""
    figures = {}
    rows = [r for r in rows if number(r, "flops_per_op")]
    for key in dict.fromkeys((r["workload"], r["precision"]) for r in rows):
        own = [r for r in rows if (r["workload"], r["precision"]) == key]
        for cores in sorted({int(c["threads"]) for c in ceilings}):
            here = [r for r in own if int(r["threads"]) == cores]
            roofs = {c["ceiling"]: c["value"] for c in ceilings if int(c["threads"]) == cores}
            if not here or not roofs:
                continue
            height = 4.6
            figure, axes = canvas(height, f"{what(own)}: {'one core' if cores == 1 else f'{cores} cores'}")
            peak = roofs["arithmetic " + key[1]]
            points = [(number(r, "flops_per_op") / number(r, "bytes_per_op"), number(r, "flops_per_op") / number(r, "ns_per_op"), r)
                      for r in here]
            left, right = min(x for x, _, _ in points) / 8, max(max(x for x, _, _ in points) * 4, 1.3 * peak / roofs["memory"])
            bottom = min(min(y for _, y, _ in points) / 2, roofs["memory"] * left)
            plain_logs(axes, "x", "y")
            axes.set_xlim(left, right)
            axes.set_ylim(bottom, peak * 3)
            names = [n for n in ("L1", "L2", "L3", "memory") if n in roofs]
            for name in names:
                knee = min(peak / roofs[name], right)
                axes.plot([left, knee], [roofs[name] * left, roofs[name] * knee], color=QUIET, linewidth=1)
            axes.plot([peak / roofs[names[0]], right], [peak, peak], color=QUIET, linewidth=1.4)
            axes.annotate(f"arithmetic {peak:.3g} Gflop/s", (right, peak), xytext=(-4, 4), textcoords="offset points", ha="right",
                          fontsize=8, color=QUIET)
            style, ends = styles(values(rows, "level")), []
            largest = {level: max(int(r["ops"]) for r in here if r["level"] == level) for level in values(here, "level")}
            for x, y, r in points:
                last = int(r["ops"]) == largest[r["level"]]
                axes.plot([x], [y], color=style[r["level"]]["color"], marker=style[r["level"]]["marker"], markersize=6 if last else 4,
                          alpha=1 if last else 0.45, linestyle="")
                if last:
                    ends.append((x, y, f"{r['level']}: {100 * y / peak:.0f}% of peak, {size(int(r['tape_bytes']))}", style[r["level"]]["color"]))
            label_ends(axes, ends, height)
            axes.set_xlabel("flops per byte loaded and stored")
            axes.set_ylabel("Gflop/s")
            name_roofs(figure, axes, {name: roofs[name] for name in names}, left)
            figures["-".join(["roofline", *key, f"{cores}-cores" if cores > 1 else "1-core"])] = figure
    return figures


def size(count):
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def charts(rows, meta):
    if len(values(rows, "point")) <= 1:
        return {**ladder(rows), **languages(rows), **totals(rows, meta.get("preset"))}
    ceilings = meta.get("ceilings") or []
    figures = {**sizes(rows), **threads(rows), **roofline(rows, ceilings)}
    return figures or ladder(rows)
