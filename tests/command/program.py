"""`wengert program` as people run it: saved, looked at, drawn, run on tables; files that aren't right."""

import csv
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from command_line import WENGERT, ends, expect, run
from tap import Tap


def piped(text, *arguments):
    return subprocess.run([WENGERT, "program", *map(str, arguments)], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def rows(text):
    return list(csv.DictReader(text.splitlines()))


def softplus_expression(x, y):
    """softplus((x + y) * x) and its slopes."""
    z = (x + y) * x
    sigmoid = 1 / (1 + math.exp(-z))
    return math.log1p(math.exp(z)), sigmoid * (2 * x + y), sigmoid * x


def made_and_looked_at(tap, folder):
    expr = folder / "expr.wng"
    tap.check("save", expect((run("program", "save", "--workload", "expr", expr).returncode == 0, "failed"),
                             (os.listdir(folder) == ["expr.wng"], os.listdir(folder))))
    info = run("program", "info", expr)
    tap.check("info", expect(("inputs            2: x0, x1" in info.stdout, info), ("3 recorded ops" in info.stdout, info)))
    dot = run("program", "dot", expr, "--out", folder / "expr.dot")
    text = (folder / "expr.dot").read_text()
    tap.check("dot", expect((dot.returncode == 0 and not dot.stdout, dot), ('label="softplus"' in text, text),
                            (text.count("->") == 5, text)))
    return expr


def evaluated(tap, folder, expr):
    points = [(1, 2), (0.5, 3), (-4, 0.25)]
    plain = piped("".join(f"{x},{y}\n" for x, y in points), "run", expr)
    named = piped("x1,x0\r\n" + "".join(f"{y},{x}\r\n" for x, y in points), "run", expr, "-", "--isa", "scalar", "--threads", "1")
    tap.check("columns by name and in order give the same", expect((plain.returncode == 0, plain), (plain.stdout == named.stdout, named)))
    right = all(math.isclose(float(number), wanted, rel_tol=1e-14)
                for row, point in zip(rows(plain.stdout), points) for number, wanted in zip(row.values(), softplus_expression(*point)))
    tap.check("values and gradients", expect((right, plain), (list(rows(plain.stdout)[0]) == ["y0", "dy0/dx0", "dy0/dx1"], plain)))
    (folder / "points.csv").write_text("1,2\n")
    out = run("program", "run", expr, folder / "points.csv", "--values", "--out", folder / "values.csv")
    tap.check("--values and --out", expect((out.returncode == 0 and not out.stdout, out),
                                           ((folder / "values.csv").read_text() == "y0\n3.048587351573742\n", (folder / "values.csv").read_bytes())))
    special = piped("inf,1\nnan,1\n-0.0,1e308\n", "run", expr)
    tap.check("inf and nan", expect(([row["y0"] for row in rows(special.stdout)][:2] == ["inf", "nan"], special)))
    run("program", "save", "--workload", "expr", "--precision", "f32", folder / "f32.wng")
    tap.check("f32", expect((rows(piped("1,2\n", "run", folder / "f32.wng").stdout)[0]["y0"] == "3.0485873", "value")))


def parameters(tap, folder):
    file, uniform = folder / "logistic.wng", folder / "uniform.csv"
    run("program", "save", "--workload", "logistic", file)
    inputs = int(run("program", "info", file).stdout.split("inputs            ")[1].split(":")[0])
    table = "\n".join(",".join(["0.5"] * inputs) for _ in range(3)) + "\n"
    ones = piped(table, "run", file, "--uniform", uniform)
    line = rows(uniform.read_text())
    tap.check("uniform outputs and derivatives in parameters", expect((ones.returncode == 0, ones), (len(line) == 1, line), ("u0" in line[0], line),
                                                                       (len(line[0]) == 1 + 11, line)))
    changed = piped(table, "run", file, "--uniform", uniform, "--parameters", ",".join(["0.25"] * 11))
    tap.check("--parameters", expect((changed.returncode == 0, changed), (rows(uniform.read_text())[0]["u0"] != line[0]["u0"], line)))
    tap.check("too few parameters", ends(piped(table, "run", file, "--parameters", "1"), 1, "1 values for 11 parameters"))
    tap.check("parameters that are no numbers", ends(piped(table, "run", file, "--parameters", "1,x"), 2, "'x' is not a number"))


def several_outputs(tap, folder):
    """Of samples and of the batch: f = x y, s = the sum of p x^2, and q log(s), where p is 2 and q 3."""
    file, uniform = folder / "mixed.wng", folder / "uniform.csv"
    subprocess.run([sys.argv[1], file], check=True)
    ran = piped("1,2\n3,4\n", "run", file, "--uniform", uniform)
    wanted = [{"y0": 2, "dy0/dx0": 2, "dy0/dx1": 1, "du0/dx0": 4, "du0/dx1": 0, "du1/dx0": 3 * 4 / 20, "du1/dx1": 0},
              {"y0": 12, "dy0/dx0": 4, "dy0/dx1": 3, "du0/dx0": 12, "du0/dx1": 0, "du1/dx0": 3 * 12 / 20, "du1/dx1": 0}]
    total = {"u0": 20, "u1": 3 * math.log(20), "du0/dp0": 10, "du0/dp1": 0, "du1/dp0": 3 / 2, "du1/dp1": math.log(20)}
    for what, found, right in (("samples", rows(ran.stdout), wanted), ("batch", rows(uniform.read_text()), [total])):
        close = len(found) == len(right) and all(
            list(line) == list(row) and all(math.isclose(float(line[key]), row[key], rel_tol=1e-14) for key in row)
            for line, row in zip(found, right))
        tap.check(f"outputs of samples and of the batch, and all their derivatives: {what}", expect((close, found)))


def refused(tap, folder, expr):
    for what, text, part in (
            ("a name that isn't there", "x0,x2\n1,2\n", "the inputs are 2: x0, x1"), ("a name twice", "x0,x0\n1,2\n", "x0, x0"),
            ("a column too many", "1,2,3\n", "3 numbers for 2 inputs"), ("a line too short", "1,2\n1\n", "line 2"),
            ("a field that is no number", "1,2\n1,two\n", "line 2, column 2: 'two'"), ("an empty field", "1,2\n,2\n", "line 2, column 1"),
            ("a number too large", "1e999,2\n", "1e999"), ("nothing", "", "it is empty")):
        tap.check("points: " + what, ends(piped(text, "run", expr), 1, part))
    whole = expr.read_bytes()
    for what, content, part in (("cut off", whole[:-1], "ends after"), ("altered", whole[:40] + b"?" + whole[41:], "checksum"),
                                ("something else", b"PK\3\4 and so on", "doesn't begin as one"), ("empty", b"", "it is empty")):
        (folder / "bad.wng").write_bytes(content)
        for action in ("info", "dot", "run"):
            tap.check(f"{action}: a file that is {what}", ends(run("program", action, folder / "bad.wng"), 1, part))
    tap.check("no such file", ends(run("program", "info", folder / "none.wng"), 1, "No such file"))
    tap.check("no such workload", ends(run("program", "save", "--workload", "none", folder / "x.wng"), 2, "none"))
    tap.check("no such folder", ends(run("program", "save", folder / "no/x.wng"), 1, "no/x.wng"))
    tap.check("what to do with a program?", ends(run("program"), 2, "subcommand"))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="wengert-") as folder:
        folder = pathlib.Path(folder)
        expr = made_and_looked_at(tap, folder)
        evaluated(tap, folder, expr)
        parameters(tap, folder)
        several_outputs(tap, folder)
        refused(tap, folder, expr)
    tap.done()


if __name__ == "__main__":
    main()
