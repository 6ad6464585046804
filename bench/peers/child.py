"""A peer in Python: evaluates the workload that bench/peers/python.cpp tells it, batch after batch.

    child.py TOOL      jax, casadi, drjit, enzyme, torch, numba or numba-v1; on one core
    child.py casadi-c  only makes a library of C code, for bench/peers/casadi_c.cpp to call: a graph, then `compile FOLDER`

Talks in lines on standard input and output. First a graph, one JSON object; then `map FILE N`, a file of N evaluations
that both share: inputs, values, gradients, each a column of float64 per number (of a workload with parameters those, one
number each, then the columns of the other inputs, then one value and one gradient of all); then `run` as often as it takes.
Answers: `ready`, `mapped`, `done`, or `error` and a line of text.
"""

import json
import os
import sys

import numpy as np


def evaluate(graph, x, tool):
    """The graph's output, in the numbers of a tool: x are the inputs, `tool` has the functions."""
    node = dict(enumerate(x))
    node.update({int(k): c for k, c in graph["constants"].items()})
    simple = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
        "neg": lambda a: -a, "fma": getattr(tool, "fma", lambda a, b, c: a * b + c), "square": lambda a: a * a,
        "sum": getattr(tool, "sum", lambda *a: sum(a[1:], a[0])), "sqnorm": lambda *a: sum(v * v for v in a),
        "dot": lambda *a: sum(v * w for v, w in zip(a[:len(a) // 2], a[len(a) // 2:])),
        "sqrt": tool.sqrt, "exp": tool.exp, "log": tool.log, "tanh": tool.tanh, "max": tool.maximum, "erfc": tool.erfc,
        "sigmoid": tool.sigmoid, "softplus": tool.softplus, "logsumexp": tool.logsumexp,
    }
    for name, out, operands in graph["ops"]:
        values = [node[i] for i in operands]
        if name == "softmax":
            node.update(zip(range(out, out + len(values)), tool.softmax(*values)))
        else:
            node[out] = simple[name](*values)
    return node[graph["output"]]


def jax_batches(graph, n):
    """jit(vmap(value_and_grad)), as JAX's documentation has it; one argument per input, not x[i] of an array, whose gradient
    would be as long as the array for each use. In double precision."""
    if len(graph["ops"]) > 2000:  # fusing takes hours there
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_disable_hlo_passes=fusion"
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")

    class Tool:
        sqrt, exp, log, tanh, maximum = jnp.sqrt, jnp.exp, jnp.log, jnp.tanh, jnp.maximum
        erfc, sigmoid, softplus = jax.scipy.special.erfc, jax.nn.sigmoid, jax.nn.softplus

        @staticmethod
        def logsumexp(*a):
            return jax.scipy.special.logsumexp(jnp.stack(a))

        @staticmethod
        def softmax(*a):
            return list(jax.nn.softmax(jnp.stack(a)))

    wanted = tuple(graph["differentiated"])
    if graph["parameters"] == 0:
        both = jax.jit(jax.vmap(jax.value_and_grad(lambda *x: evaluate(graph, x, Tool), argnums=wanted)))
    else:
        axes = tuple(None if i < graph["parameters"] else 0 for i in range(graph["inputs"]))
        each = jax.vmap(lambda *x: evaluate(graph, x, Tool), in_axes=axes, axis_size=n)
        both = jax.jit(jax.value_and_grad(lambda *x: jnp.sum(each(*x)), argnums=wanted))

    def run(inputs, values, gradients):
        value, slopes = both(*inputs)
        values[...] = value
        for to, slope in zip(gradients, slopes):
            to[...] = slope
    return run


def written_out(tool):
    """What a tool has of the ops, and the rest as its users would write it."""
    class Tool:
        sqrt, exp, log, tanh = tool.sqrt, tool.exp, tool.log, tool.tanh

        @staticmethod
        def erfc(x):
            return 1 - tool.erf(x)

        @staticmethod
        def sigmoid(x):
            return 1 / (1 + tool.exp(-x))

        @staticmethod
        def logsumexp(*a):
            return tool.log(sum(tool.exp(x) for x in a))

        @staticmethod
        def softmax(*a):
            powers = [tool.exp(x) for x in a]
            total = sum(powers)
            return [power / total for power in powers]
    return Tool


def casadi_function(graph):
    """The inputs as one vector; the output, and its derivatives as another: SX, reverse mode."""
    import casadi

    class Tool(written_out(casadi)):
        maximum = casadi.fmax

        @staticmethod
        def softplus(x):
            return casadi.log1p(casadi.exp(x))

    x = [casadi.SX.sym(f"x{i}") for i in range(graph["inputs"])]
    y = evaluate(graph, x, Tool)
    wanted = casadi.vertcat(*[x[i] for i in graph["differentiated"]])
    return casadi.Function("both", [casadi.vertcat(*x)], [casadi.densify(y), casadi.densify(casadi.gradient(y, wanted))])


def casadi_library(graph, folder):
    """The C code that CasADi generates, by the system's compiler with all its optimisations: CasADi's documentation, 5.
    It runs as long as its graph's expressions are; nothing is shared between calls. Answers with its path."""
    import subprocess
    os.chdir(folder)  # it takes a name, no path
    casadi_function(graph).generate("both.c")
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", "both.c", "-o", "both.so"], check=True)
    return os.path.join(folder, "both.so")


def casadi_batches(graph, n):
    """On the virtual machine, over all evaluations by map, through buffers: CasADi's documentation, 4 and 6."""
    both = casadi_function(graph).map(n)
    columns = np.empty((n, graph["inputs"]))
    value, slopes = np.empty(n), np.empty((n, len(graph["differentiated"])))
    buffer, call = both.buffer()
    buffer.set_arg(0, memoryview(columns.reshape(-1)))
    buffer.set_res(0, memoryview(value))
    buffer.set_res(1, memoryview(slopes.reshape(-1)))

    def run(inputs, values, gradients):
        for i, column in enumerate(inputs):
            columns[:, i] = column
        call()
        summed = graph["parameters"] > 0
        values[...] = value.sum() if summed else value
        for k, to in enumerate(gradients):
            to[...] = slopes[:, k].sum() if summed else slopes[:, k]
    run.buffer = buffer  # `call` points into it, and doesn't keep it
    return run


def drjit_batches(graph, n):
    """The LLVM backend, reverse mode, in a function that is traced and compiled once and then replayed: `freeze`, of Dr.Jit's
    documentation. It has no erfc, log1p or softmax; they are written as its users would."""
    import drjit as dr
    from drjit.llvm.ad import Float64

    class Tool(written_out(dr)):
        maximum = dr.maximum

        @staticmethod
        def softplus(x):
            return dr.log(1 + dr.exp(x))

    @dr.freeze
    def both(x):
        x = [Float64(column) for column in x]
        wanted = [x[i] for i in graph["differentiated"]]
        for number in wanted:
            dr.enable_grad(number)
        y = evaluate(graph, x, Tool)
        if graph["parameters"] > 0:
            y = dr.sum(y)
        dr.backward(y)
        return dr.detach(y), [dr.grad(number) for number in wanted]

    def run(inputs, values, gradients):
        y, slopes = both([Float64(np.atleast_1d(column)) for column in inputs])
        dr.eval(y, slopes)
        values[...] = y.numpy()
        for to, slope in zip(gradients, slopes):
            to[...] = slope.numpy()
    return run


def enzyme_source(graph, n):
    """The graph in C++, statement by statement, and the loop over a batch that differentiates it."""
    simple = {
        "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "{0} / {1}", "neg": "-{0}", "fma": "{0} * {1} + {2}",
        "square": "{0} * {0}", "sqrt": "sqrt({0})", "exp": "exp({0})", "log": "log({0})", "tanh": "tanh({0})",
        "max": "fmax({0}, {1})", "erfc": "erfc({0})", "sigmoid": "1 / (1 + exp(-{0}))", "softplus": "log1p(exp({0}))",
    }
    of = {i: f"x[{i}]" for i in range(graph["inputs"])}
    of.update({int(k): repr(float(c)) for k, c in graph["constants"].items()})
    lines = []
    for name, out, operands in graph["ops"]:
        a = [of[i] for i in operands]
        half = len(a) // 2
        if name == "softmax":
            powers = [f"p{out + k}" for k in range(len(a))]
            lines += [f"const double {power} = exp({x});" for power, x in zip(powers, a)]
            lines.append(f"const double s{out} = {' + '.join(powers)};")
            for k, power in enumerate(powers):
                of[out + k] = f"v{out + k}"
                lines.append(f"const double v{out + k} = {power} / s{out};")
            continue
        whole = {"sum": " + ".join(a), "sqnorm": " + ".join(f"{x} * {x}" for x in a),
                 "dot": " + ".join(f"{x} * {y}" for x, y in zip(a[:half], a[half:])),
                 "logsumexp": f"log({' + '.join(f'exp({x})' for x in a)})"}
        of[out] = f"v{out}"
        lines.append(f"const double v{out} = {whole[name] if name in whole else simple[name].format(*a)};")
    d, p, rows = len(graph["differentiated"]), graph["parameters"], graph["inputs"] - graph["parameters"]
    results, body = (1 if p else n), "\n  ".join(lines)
    wanted = ", ".join(map(str, graph["differentiated"]))
    return f"""
#include <cmath>
extern int enzyme_dup;
void __enzyme_autodiff(void*, ...);
static void f(const double* __restrict x, double* __restrict y) {{
  {body}
  *y = {of[graph["output"]]};
}}
void batch(enzyme::tensor<double, {results}>& values, enzyme::tensor<double, {d}, {results}>& slopes,
           const enzyme::tensor<double, {max(p, 1)}>& parameters, const enzyme::tensor<double, {rows}, {n}>& columns) {{
  const int wanted[] = {{{wanted}}};
  if ({p}) values[0] = 0;
  for (int k = 0; {p} && k < {d}; ++k) slopes[k][0] = 0;
  for (int e = 0; e < {n}; ++e) {{
    double x[{graph["inputs"]}], slope[{graph["inputs"]}] = {{}}, y = 0, one = 1;
    for (int i = 0; i < {p}; ++i) x[i] = parameters[i];
    for (int i = 0; i < {rows}; ++i) x[{p} + i] = columns[i][e];
    __enzyme_autodiff((void*)f, enzyme_dup, x, slope, enzyme_dup, &y, &one);
    if ({p}) values[0] += y;
    else values[e] = y;
    for (int k = 0; k < {d}; ++k) {{
      if ({p}) slopes[k][0] += slope[wanted[k]];
      else slopes[k][e] = slope[wanted[k]];
    }}
  }}
}}
"""


def enzyme_batches(graph, n):
    """__enzyme_autodiff on C++ source, which gives the value too (both are duplicated), compiled by the package's own clang and
    called through JAX: the documentation of Enzyme and of Enzyme-JAX's cpp_call. One evaluation after the other."""
    import subprocess
    import jax
    import jax.numpy as jnp
    from enzyme_ad.jax import cpp_call
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    results, d = (1 if graph["parameters"] else n), len(graph["differentiated"])
    headers = subprocess.run(["g++", "-print-file-name=include"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    shapes = [jax.core.ShapedArray(shape, jnp.float64) for shape in ([results], [d, results])]
    source = enzyme_source(graph, n)
    both = jax.jit(lambda parameters, columns: cpp_call(parameters, columns, out_shapes=shapes, source=source, fn="batch",
                                                        argv=("-O3", "-isystem", headers)))

    def run(inputs, values, gradients):
        p = graph["parameters"]
        value, slopes = both(np.array(inputs[:p] or [0.0]), np.stack(inputs[p:]))
        values[...] = np.asarray(value) if p == 0 else np.asarray(value)[0]
        for to, slope in zip(gradients, np.asarray(slopes)):
            to[...] = slope
    return run


def torch_batches(graph, n):
    """Eager, the graph recorded anew for every batch; an operation takes a whole column, and the columns are those of the
    shared file: `from_numpy`, then `autograd.grad`, of https://pytorch.org/docs/stable/autograd.html. Licence: BSD-3-Clause."""
    import torch
    torch.set_num_threads(1)

    class Tool:
        sqrt, exp, log, tanh, erfc, sigmoid = torch.sqrt, torch.exp, torch.log, torch.tanh, torch.special.erfc, torch.sigmoid

        @staticmethod
        def fma(a, b, c):
            return torch.addcmul(c, a, b) if all(isinstance(x, torch.Tensor) for x in (a, b, c)) else a * b + c

        @staticmethod
        def maximum(a, b):
            return torch.clamp(a, min=b)  # of two tensors too

        @staticmethod
        def sum(*a):
            return sum(a[1:], a[0]) if len(a) < 10 else torch.stack(a).sum(0)

        @staticmethod
        def softplus(x):
            return torch.nn.functional.softplus(x, threshold=40)  # x itself above: by default from 20 on, 2e-9 off

        @staticmethod
        def logsumexp(*a):
            return torch.logsumexp(torch.stack(a), 0)

        @staticmethod
        def softmax(*a):
            return torch.softmax(torch.stack(a), 0).unbind(0)

    def run(inputs, values, gradients):
        x = [torch.from_numpy(np.asarray(column)) for column in inputs]
        wanted = [x[i].requires_grad_() for i in graph["differentiated"]]
        y = evaluate(graph, x, Tool)
        if graph["parameters"] > 0:
            y = y.sum()
        slopes = torch.autograd.grad(y, wanted, torch.ones_like(y), allow_unused=True)
        values[...] = y.detach().numpy()
        for to, slope in zip(gradients, slopes):
            to[...] = 0 if slope is None else slope.numpy()
    return run


def numba_batches(graph, n):
    import numba_tape
    return numba_tape.batches(numba_tape.pool_of if sys.argv[1].endswith("-v1") else numba_tape.tape_of)(graph, n)


def main():
    batches = {"casadi-c": None,  # a library instead
               "jax": jax_batches, "casadi": casadi_batches, "drjit": drjit_batches, "enzyme": enzyme_batches,
               "torch": torch_batches, "numba": numba_batches, "numba-v1": numba_batches}[sys.argv[1]]
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one core each: tools that make threads make one
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a tool prints is no answer
    graph, run = None, None
    for line in sys.stdin:
        try:
            if line.startswith("{"):
                graph = json.loads(line)
                answer = "ready"
            elif line.startswith("compile "):
                answer = casadi_library(graph, line.split(maxsplit=1)[1].rstrip("\n"))
            elif line.startswith("map "):
                _, path, count = line.split()
                n = int(count)
                shared = np.memmap(path, dtype=np.float64, mode="r+")
                p, d = graph["parameters"], len(graph["differentiated"])
                columns, place = graph["inputs"] - p, 0
                parts = []
                for rows, length in ((p, 1), (columns, n), (1, 1 if p else n), (d, 1 if p else n)):
                    parts.append([shared[place + r * length:place + (r + 1) * length] for r in range(rows)])
                    place += rows * length
                run = batches(graph, n)
                answer = "mapped"
            else:
                inputs = [parameter[0] for parameter in parts[0]] + parts[1]
                run(inputs, parts[2][0], parts[3])
                answer = "done"
        except Exception as error:  # whatever it is, the one who waits must be told
            answer = "error " + " ".join(f"{type(error).__name__}: {error}".split())[:300]
        print(answer, file=out, flush=True)


if __name__ == "__main__":
    main()
