"""Levels lang-numba and lang-numba-v1: the tapes of v2 and v1 as one would write them for Numba: arrays of numbers, and loops
that `njit` compiles; of the workloads expr and west. The rest of the process is bench/peers/child.py.

Numba has no pointers: the nodes of v1 are records in a pool of fixed size, and what links them are their places in it.
"""

import math

import numpy as np
from numba import njit

INPUT, ADD, MUL, SOFTPLUS, SUM, SOFTMAX = range(6)
KINDS = {"add": ADD, "mul": MUL, "softplus": SOFTPLUS, "sum": SUM, "softmax": SOFTMAX}
POOL_NODES, POOL_LINKS = 1 << 21, 1 << 22


@njit
def softplus(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@njit
def softplus_slope(x):
    e = math.exp(-abs(x))
    return (e if x < 0 else 1.0) / (1.0 + e)


# ---- v2: ids, contiguous arrays, every result stored -------------------------------------------------------------------


@njit
def forward(ops, operands, value):
    for k in range(ops.shape[0]):
        kind, out, first, count = ops[k, 0], ops[k, 1], ops[k, 2], ops[k, 3]
        a = operands[first]
        if kind == ADD:
            value[out] = value[a] + value[operands[first + 1]]
        elif kind == MUL:
            value[out] = value[a] * value[operands[first + 1]]
        elif kind == SOFTPLUS:
            value[out] = softplus(value[a])
        elif kind == SUM:
            total = 0.0
            for i in range(count):
                total += value[operands[first + i]]
            value[out] = total
        else:
            largest = value[a]
            for i in range(1, count):
                largest = max(largest, value[operands[first + i]])
            total = 0.0
            for i in range(count):
                value[out + i] = math.exp(value[operands[first + i]] - largest)
                total += value[out + i]
            for i in range(count):
                value[out + i] /= total


@njit
def backward(ops, operands, value, adjoint):
    for k in range(ops.shape[0] - 1, -1, -1):
        kind, out, first, count = ops[k, 0], ops[k, 1], ops[k, 2], ops[k, 3]
        g, a = adjoint[out], operands[first]
        if kind == ADD:
            adjoint[a] += g
            adjoint[operands[first + 1]] += g
        elif kind == MUL:
            b = operands[first + 1]
            adjoint[a] += g * value[b]
            adjoint[b] += g * value[a]
        elif kind == SOFTPLUS:
            adjoint[a] += g * softplus_slope(value[a])
        elif kind == SUM:
            for i in range(count):
                adjoint[operands[first + i]] += g
        else:
            dot = 0.0
            for i in range(count):
                dot += adjoint[out + i] * value[out + i]
            for i in range(count):
                adjoint[operands[first + i]] += value[out + i] * (adjoint[out + i] - dot)


@njit
def tape_batch(inputs, values, gradients, ops, operands, value, adjoint, output):
    for e in range(inputs.shape[1]):
        for i in range(inputs.shape[0]):
            value[i] = inputs[i, e]
        forward(ops, operands, value)
        adjoint[:] = 0.0
        adjoint[output] = 1.0
        backward(ops, operands, value, adjoint)
        values[e] = value[output]
        for i in range(inputs.shape[0]):
            gradients[i, e] = adjoint[i]


# ---- v1: linked nodes in a pool of fixed size, operands computed again -------------------------------------------------------

NODE = np.dtype([("value", np.float64), ("adjoint", np.float64), ("kind", np.int32), ("first", np.int32), ("count", np.int32),
                 ("place", np.int32)])  # links[first : first + count]; the place among the results of a softmax


@njit
def again(pool, links, k):
    """A node computed from what its operands hold."""
    kind, first, count = pool[k].kind, pool[k].first, pool[k].count
    if kind == INPUT:
        return pool[k].value
    if kind == ADD:
        return pool[links[first]].value + pool[links[first + 1]].value
    if kind == MUL:
        return pool[links[first]].value * pool[links[first + 1]].value
    if kind == SOFTPLUS:
        return softplus(pool[links[first]].value)
    total = 0.0
    if kind == SUM:
        for i in range(count):
            total += pool[links[first + i]].value
        return total
    largest = pool[links[first]].value
    for i in range(1, count):
        largest = max(largest, pool[links[first + i]].value)
    for i in range(count):
        total += math.exp(pool[links[first + i]].value - largest)
    return math.exp(pool[links[first + pool[k].place]].value - largest) / total


@njit
def pool_forward(pool, links, nodes):
    for k in range(nodes):
        kind, first, count = pool[k].kind, pool[k].first, pool[k].count
        if kind == ADD:
            pool[k].value = again(pool, links, links[first]) + again(pool, links, links[first + 1])
        elif kind == MUL:
            pool[k].value = again(pool, links, links[first]) * again(pool, links, links[first + 1])
        elif kind == SOFTPLUS:
            pool[k].value = softplus(again(pool, links, links[first]))
        elif kind == SUM:
            total = 0.0
            for i in range(count):
                total += again(pool, links, links[first + i])
            pool[k].value = total
        elif kind == SOFTMAX and pool[k].place == 0:  # all results at their first
            largest = -math.inf
            for i in range(count):
                pool[k + i].value = again(pool, links, links[first + i])
                largest = max(largest, pool[k + i].value)
            total = 0.0
            for i in range(count):
                pool[k + i].value = math.exp(pool[k + i].value - largest)
                total += pool[k + i].value
            for i in range(count):
                pool[k + i].value /= total


@njit
def pool_backward(pool, links, nodes):
    for k in range(nodes - 1, -1, -1):
        kind, first, count, g = pool[k].kind, pool[k].first, pool[k].count, pool[k].adjoint
        if kind == ADD:
            pool[links[first]].adjoint += g
            pool[links[first + 1]].adjoint += g
        elif kind == MUL:
            a, b = links[first], links[first + 1]
            pool[a].adjoint += g * pool[b].value
            pool[b].adjoint += g * pool[a].value
        elif kind == SOFTPLUS:
            pool[links[first]].adjoint += g * softplus_slope(pool[links[first]].value)
        elif kind == SUM:
            for i in range(count):
                pool[links[first + i]].adjoint += g
        elif kind == SOFTMAX and pool[k].place == 0:
            dot = 0.0
            for i in range(count):
                dot += pool[k + i].adjoint * pool[k + i].value
            for i in range(count):
                pool[links[first + i]].adjoint += pool[k + i].value * (pool[k + i].adjoint - dot)


@njit
def pool_batch(inputs, values, gradients, pool, links, nodes, output):
    for e in range(inputs.shape[1]):
        for i in range(inputs.shape[0]):
            pool[i].value = inputs[i, e]
        pool_forward(pool, links, nodes)
        for k in range(nodes):
            pool[k].adjoint = 0.0
        pool[output].adjoint = 1.0
        pool_backward(pool, links, nodes)
        values[e] = pool[output].value
        for i in range(inputs.shape[0]):
            gradients[i, e] = pool[i].adjoint


# ---- recording ---------------------------------------------------------------------------------------------------------------


def recorded(graph):
    """(ops, operands): (kind, first result, first operand, operands) of each op, and the operands of all."""
    ops = np.empty((len(graph["ops"]), 4), np.int32)
    operands = []
    for k, (name, out, of) in enumerate(graph["ops"]):
        ops[k] = KINDS[name], out, len(operands), len(of)
        operands += of
    return ops, np.array(operands, np.int32)


def variables(graph):
    name, out, of = graph["ops"][-1]
    return out + (len(of) if name == "softmax" else 1)


def tape_of(graph):
    size = variables(graph)
    return tape_batch, (*recorded(graph), np.zeros(size), np.zeros(size), graph["output"])


def pool_of(graph):
    ops, operands = recorded(graph)
    if variables(graph) > POOL_NODES or len(operands) > POOL_LINKS:
        raise MemoryError("the graph doesn't fit the pool; choose fewer ops")
    pool, links = np.zeros(POOL_NODES, NODE), np.zeros(POOL_LINKS, np.int32)
    links[:len(operands)] = operands
    for kind, out, first, count in ops:
        for place in range(count if kind == SOFTMAX else 1):
            pool[out + place] = 0, 0, kind, first, count, place
    return pool_batch, (pool, links, variables(graph), graph["output"])


def batches(make):
    """What child.py wants of a tool; compiling is part of the first batch."""
    def of(graph, n):
        batch, rest = make(graph)
        columns, slopes = np.empty((graph["inputs"], n)), np.empty((graph["inputs"], n))

        def run(inputs, values, gradients):
            for i, column in enumerate(inputs):
                columns[i] = column
            batch(columns, values, slopes, *rest)
            for slope, to in zip(slopes, gradients):
                to[...] = slope
        return run
    return of
