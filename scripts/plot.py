#!/usr/bin/python3
"""Draws the charts of a report, and a page of all of it.

    plot.py DIR            writes DIR/*.png and DIR/*.svg
    plot.py --html DIR     writes DIR/report.html: one file, nothing else needed to see it (`wengert report DIR`)

ladder: nanoseconds per op of each level, with what it bought; languages, where they were timed: v1 beside v2. Of a sweep: sizes (ns per op against ops), threads (speed-up
against threads, with the ideal line), roofline (where each level stands below this machine's ceilings).
A bar or point is the median, its whisker the 95% interval. Needs matplotlib (Debian: python3-matplotlib).
"""

import csv
import html
import io
import json
import os
import sys

import figures
from figures import BAR, INK, QUIET, TRACK, charts, how, number, size, times, values, what

PAGE_WIDTH = 5.4  # inches, of a figure on the page: on a phone its text is still read

STYLE = """
:root { --ink: #1f2933; --quiet: #66717d; --track: #e4e8ec; --page: #ffffff; --bar: #2f6fb0; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { @media screen {
  :root { --ink: #e6e9ec; --quiet: #9aa5b1; --track: #323b44; --page: #14181c; --bar: #5b9bd8; } } }
body { color: var(--ink); background: var(--page); font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
figure { margin: 1rem 0; break-inside: avoid; } svg { width: 100%; max-width: 42rem; height: auto; display: block; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--track); }
th { color: var(--quiet); font-weight: normal; } .l { text-align: left; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .9rem; } dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.warn { border-left: 4px solid #d55e00; padding-left: .8rem; } footer, .quiet { color: var(--quiet); font-size: .85rem; }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } .scroll { overflow: visible; } }
"""


def inline(figure):
    """A figure as SVG whose greys follow the page's."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg"):]
    for colour, variable in ((INK, "--ink"), (QUIET, "--quiet"), (TRACK, "--track"), (BAR, "--bar")):
        svg = svg.replace(colour, f"var({variable})")
    return svg


def table(rows):
    varying = [c for c in ("workload", "precision", "ops", "iterations") if len(values(rows, c)) > 1]
    columns = [("level", "l", lambda r: f"{r['level']} {r['name']}")]
    columns += [(c, "", lambda r, c=c: f"{int(r[c]):,}" if r[c].isdigit() else r[c]) for c in varying]
    columns += [("ns/op", "", lambda r: f"{number(r, 'ns_per_op'):.3g}" if r["ns_per_op"] else r.get("status", "")),
                ("95%", "", lambda r: f"[{number(r, 'ns_per_op_low'):.3g}, {number(r, 'ns_per_op_high'):.3g}]" if r["ns_per_op_low"] else ""),
                ("x first", "", lambda r: times(number(r, "speedup_first")) if r["speedup_first"] else ""),
                ("x above", "", lambda r: times(number(r, "speedup_previous")) if r["speedup_previous"] else ""),
                ("instruction set", "l", lambda r: how(r) if r["isa"] else ""),
                ("tape", "", lambda r: size(int(r["tape_bytes"])) if r["tape_bytes"] != "0" else ""),
                ("peak memory", "", lambda r: size(int(r["peak_rss_bytes"])) if r["peak_rss_bytes"] else ""),
                ("largest error", "", lambda r: f"{number(r, 'max_relative_error'):.1e}" if r["max_relative_error"] else "")]
    head = "".join(f'<th class="{kind}">{title}</th>' for title, kind, _ in columns)
    body = "".join("<tr>" + "".join(f'<td class="{kind}">{html.escape(cell(row))}</td>' for _, kind, cell in columns) + "</tr>\n"
                   for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'


def facts(meta):
    """What a reader wants to know first of a machine and a build."""
    machine, build = meta.get("machine") or {}, meta.get("build") or {}
    cores = machine.get("cores") or {}
    caches = ", ".join(f"L{c['level']} {c['type'][0].lower() if c['type'] != 'Unified' else ''} {c['bytes'] // 1024:,} KiB".replace("  ", " ")
                       for c in machine.get("caches") or [])
    pairs = [("run", f"{meta.get('run_id', '')}, {meta.get('utc', '')}"), ("command", " ".join(meta.get("command") or [])),
             ("CPU", machine.get("cpu")), ("cores", f"{cores.get('available')} of {cores.get('online')}" if cores else None),
             ("caches", caches), ("instruction set", machine.get("default_instruction_set")), ("governor", machine.get("governor")),
             ("load before", f"{machine['load_average']:.2f}" if machine.get("load_average") is not None else None), ("system", machine.get("system")), ("compiler", build.get("compiler")),
             ("version", f"{build.get('version', '')} {(build.get('git_commit') or '')[:12]}{', modified' if build.get('git_dirty') else ''}")]
    return "<dl>" + "".join(f"<dt>{k}</dt><dd>{html.escape(str(v))}</dd>\n" for k, v in pairs if v not in (None, "", " ")) + "</dl>"


CAPTIONS = {
    "ladder": "Median time per recorded op and evaluation, forward and backward; the whisker is its 95% interval. Beside it the speed-up over the first level and the one above.",
    "languages": "The same two tapes in each language, built by its own toolchain's fastest mode; beside v2 its speed-up over v1.",
    "totals": "Seconds for all evaluations. What was published for this set-up is of another machine: it tells the order of magnitude.",
    "sizes": "Time per op against the number of recorded ops. Where a line rises, its working set leaves a cache.",
    "threads": "Speed-up over one thread; the dashed line is ideal.",
    "roofline": "Counted floating-point operations against what this machine can do at most. A point below both the arithmetic roof and the roof of the cache that its working set (beside its name) fits into is held back by latency, dispatch or work that isn't counted. Faint points are smaller sizes.",
}


def page(directory, rows, all_rows, ceilings, meta):
    title = "wengert " + ("sweep" if len(values(rows, "point")) > 1 else "ladder") + ": " + what(rows)
    parts = [f"<h1>{html.escape(title)}</h1>", facts(meta)]
    warnings = list(meta.get("noise") or [])
    if meta.get("partial"):
        warnings.insert(0, "The run was stopped before its end: what follows is what it had finished.")
    warnings += [f"{r['level']} {r['status']}" for r in all_rows if r.get("status") in ("wrong", "failed")]
    if warnings:
        parts.append('<div class="warn">' + "".join(f"<p>{html.escape(w)}</p>" for w in warnings) + "</div>")
    seen = set()
    for name, figure in charts(rows, meta).items():
        kind = name.split("-")[0]
        heading = "" if kind in seen else f"<h2>{kind.capitalize()}</h2><p class='quiet'>{CAPTIONS[kind]}</p>"
        seen.add(kind)
        parts.append(f'{heading}<figure role="img" aria-label="{html.escape(name)}">{inline(figure)}</figure>')
    parts += ["<h2>Numbers</h2>", table(all_rows)]
    if ceilings:
        parts += ["<h2>Ceilings</h2>", '<div class="scroll"><table><tbody>' + "".join(
            f'<tr><td class="l">{c["ceiling"]}</td><td>{int(c["threads"])} thread{"s" if int(c["threads"]) > 1 else ""}</td><td>{float(c["value"]):.3g} {c["unit"]}</td></tr>'
            for c in ceilings) + "</tbody></table></div>"]
    parts.append("<footer><p>Medians with 95% bootstrap intervals; every level was verified before it was timed. Times of different runs do not compare unless machine, build and settings are the same.</p></footer>")
    path = os.path.join(directory, "report.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
                   f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n")
    print(path)


def read(directory):
    """(rows, ceilings, meta) of a report."""
    path = os.path.join(directory, "summary.csv")
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        meta = {}
        if os.path.exists(os.path.join(directory, "meta.json")):
            path = os.path.join(directory, "meta.json")
            with open(path, encoding="utf-8") as file:
                meta = json.load(file)
    except OSError as error:
        sys.exit(f"plot: {path}: {error.strerror}")
    except ValueError as error:
        sys.exit(f"plot: {path}: {str(error).splitlines()[0]}")
    if rows and not {"level", "ns_per_op", "workload"} <= set(rows[0]):
        sys.exit(f"plot: {path} is not the summary of a report")
    return rows, meta.get("ceilings") or [], meta


def main():
    arguments = sys.argv[1:]
    as_page = arguments[:1] == ["--html"]
    if as_page:
        arguments, figures.width = arguments[1:], PAGE_WIDTH
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.exit(__doc__)
    directory = arguments[0]
    all_rows, ceilings, meta = read(directory)
    rows = [row for row in all_rows if row.get("ns_per_op")]  # not those without times
    if not rows:
        sys.exit(f"plot: {os.path.join(directory, 'summary.csv')} has no rows to draw")
    try:
        if as_page:
            return page(directory, rows, all_rows, ceilings, meta)
        for name, figure in charts(rows, meta).items():
            for extension, metadata in (("png", None), ("svg", {"Date": None})):
                path = os.path.join(directory, f"{name}.{extension}")
                figure.savefig(path, dpi=144, metadata=metadata, facecolor="white")
                print(path)
    except OSError as error:
        sys.exit(f"plot: {error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
