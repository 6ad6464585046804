//! Levels lang-zig and lang-zig-v1: the tapes of v2 and v1 as one would write them in Zig, of the workloads expr and west.
//! scripts/languages compiles it: zig build-lib -dynamic -O ReleaseFast -mcpu=native. What the ladder calls is in tape.h.
const std = @import("std");

const Allocator = std.mem.Allocator;
const memory = std.heap.page_allocator; // a few large arrays

const Workload = enum { expr, west };

const Settings = struct {
    workload: Workload,
    ops: usize,
    sum: bool, // of all nodes, not the last

    fn inputs(self: Settings) usize {
        return if (self.workload == .expr) 2 else 100;
    }
    fn variables(self: Settings) usize {
        return if (self.workload == .expr) 5 else 100 + self.ops / 4 * 7 + self.ops % 4 + @intFromBool(self.sum);
    }
    fn operands(self: Settings) usize {
        return if (self.workload == .expr) 5 else 4 * self.ops + if (self.sum) self.variables() else 0;
    }

    /// Records the workload; the nodes of a graph are numbered in the order of recording, inputs first.
    fn build(self: Settings, graph: anytype) void {
        for (0..self.inputs()) |_| graph.record(.input, &.{}, 1);
        switch (self.workload) {
            .expr => {
                graph.record(.add, &.{ 0, 1 }, 1);
                graph.record(.mul, &.{ 2, 0 }, 1);
                graph.record(.softplus, &.{3}, 1);
            },
            .west => {
                for (0..self.ops) |op| {
                    const n: u32 = @intCast(graph.len());
                    switch (op % 4) {
                        0 => graph.record(.softplus, &.{n - 10}, 1),
                        1 => graph.record(.sum, &.{ n - 30, n - 25, n - 20, n - 15 }, 1),
                        2 => graph.record(.mul, &.{ n - 20, n - 10 }, 1),
                        else => graph.record(.softmax, &.{ n - 4, n - 3, n - 2, n - 1 }, 4),
                    }
                }
                if (self.sum) graph.recordSumOfAll();
            },
        }
    }
};

const Kind = enum(u32) { input, add, mul, softplus, sum, softmax };

fn softplus(x: f64) f64 {
    return @max(x, 0) + std.math.log1p(@exp(-@abs(x)));
}

fn softplusSlope(x: f64) f64 {
    const e = @exp(-@abs(x));
    return (if (x < 0) e else 1) / (1 + e);
}

// ---- v2: ids, contiguous arrays, every result stored --------------------------------------------------------------------

const Tape = struct {
    const Op = struct { kind: Kind, out: u32, first: u32, count: u32 }; // operands[first..][0..count]

    ops: []Op,
    operands: []u32,
    values: []f64,
    adjoints: []f64,
    op_count: usize = 0,
    operand_count: usize = 0,
    variable_count: usize = 0,

    fn init(settings: Settings) Allocator.Error!Tape {
        const ops = try memory.alloc(Op, settings.ops + 1);
        errdefer memory.free(ops);
        const operands = try memory.alloc(u32, settings.operands());
        errdefer memory.free(operands);
        const values = try memory.alloc(f64, settings.variables());
        errdefer memory.free(values);
        return .{ .ops = ops, .operands = operands, .values = values, .adjoints = try memory.alloc(f64, settings.variables()) };
    }

    fn deinit(self: *Tape) void {
        memory.free(self.ops);
        memory.free(self.operands);
        memory.free(self.values);
        memory.free(self.adjoints);
    }

    fn len(self: *const Tape) usize {
        return self.variable_count;
    }

    fn record(self: *Tape, kind: Kind, of: []const u32, results: usize) void {
        if (kind != .input) {
            self.ops[self.op_count] = .{
                .kind = kind,
                .out = @intCast(self.variable_count),
                .first = @intCast(self.operand_count),
                .count = @intCast(of.len),
            };
            self.op_count += 1;
            @memcpy(self.operands[self.operand_count..][0..of.len], of);
            self.operand_count += of.len;
        }
        self.variable_count += results;
    }

    fn recordSumOfAll(self: *Tape) void {
        const all = self.operands[self.operand_count..][0..self.variable_count];
        for (all, 0..) |*id, k| id.* = @intCast(k);
        self.record(.sum, all, 1);
    }

    fn setInput(self: *Tape, i: usize, value: f64) void {
        self.values[i] = value;
    }

    fn forward(self: *Tape) void {
        const values = self.values;
        for (self.ops[0..self.op_count]) |op| {
            const of = self.operands[op.first..][0..op.count];
            const out = op.out;
            switch (op.kind) {
                .input => {},
                .add => values[out] = values[of[0]] + values[of[1]],
                .mul => values[out] = values[of[0]] * values[of[1]],
                .softplus => values[out] = softplus(values[of[0]]),
                .sum => {
                    var sum: f64 = 0;
                    for (of) |id| sum += values[id];
                    values[out] = sum;
                },
                .softmax => {
                    var largest = values[of[0]];
                    for (of[1..]) |id| largest = @max(largest, values[id]);
                    var sum: f64 = 0;
                    const results = values[out..][0..of.len];
                    for (results, of) |*y, id| {
                        y.* = @exp(values[id] - largest);
                        sum += y.*;
                    }
                    for (results) |*y| y.* /= sum;
                },
            }
        }
    }

    fn backward(self: *Tape) void {
        const values = self.values;
        const adjoints = self.adjoints;
        @memset(adjoints, 0);
        adjoints[self.variable_count - 1] = 1;
        var k = self.op_count;
        while (k > 0) {
            k -= 1;
            const op = self.ops[k];
            const of = self.operands[op.first..][0..op.count];
            const g = adjoints[op.out];
            switch (op.kind) {
                .input => {},
                .add => {
                    adjoints[of[0]] += g;
                    adjoints[of[1]] += g;
                },
                .mul => {
                    adjoints[of[0]] += g * values[of[1]];
                    adjoints[of[1]] += g * values[of[0]];
                },
                .softplus => adjoints[of[0]] += g * softplusSlope(values[of[0]]),
                .sum => for (of) |id| {
                    adjoints[id] += g;
                },
                .softmax => {
                    const y = values[op.out..][0..of.len];
                    const gs = adjoints[op.out..][0..of.len];
                    var dot: f64 = 0;
                    for (y, gs) |a, b| dot += a * b;
                    for (of, y, gs) |id, a, b| adjoints[id] += a * (b - dot);
                },
            }
        }
    }

    fn output(self: *const Tape) f64 {
        return self.values[self.variable_count - 1];
    }
    fn gradient(self: *const Tape, i: usize) f64 {
        return self.adjoints[i];
    }
};

// ---- v1: pointers into a pool of fixed size, operands computed again -----------------------------------------------------

const Pool = struct {
    const capacity_nodes = 1 << 21;
    const capacity_links = 1 << 22;

    const Node = struct {
        value: f64 = 0,
        adjoint: f64 = 0,
        of: []const *Node,
        kind: Kind,
        place: u32, // among the results of a softmax

        /// Computed from what its operands hold.
        fn again(self: *const Node) f64 {
            const of = self.of;
            return switch (self.kind) {
                .input => self.value,
                .add => of[0].value + of[1].value,
                .mul => of[0].value * of[1].value,
                .softplus => softplus(of[0].value),
                .sum => sum: {
                    var sum: f64 = 0;
                    for (of) |x| sum += x.value;
                    break :sum sum;
                },
                .softmax => softmax: {
                    var largest = of[0].value;
                    for (of[1..]) |x| largest = @max(largest, x.value);
                    var sum: f64 = 0;
                    for (of) |x| sum += @exp(x.value - largest);
                    break :softmax @exp(of[self.place].value - largest) / sum;
                },
            };
        }
    };

    nodes: []Node,
    links: []*Node,
    node_count: usize = 0,
    link_count: usize = 0,

    fn init(settings: Settings) Allocator.Error!Pool {
        if (settings.variables() > capacity_nodes or settings.operands() > capacity_links) return error.OutOfMemory;
        const nodes = try memory.alloc(Node, capacity_nodes);
        errdefer memory.free(nodes);
        return .{ .nodes = nodes, .links = try memory.alloc(*Node, capacity_links) };
    }

    fn deinit(self: *Pool) void {
        memory.free(self.nodes);
        memory.free(self.links);
    }

    fn len(self: *const Pool) usize {
        return self.node_count;
    }

    fn record(self: *Pool, kind: Kind, of: []const u32, results: usize) void {
        const links = self.links[self.link_count..][0..of.len];
        for (links, of) |*link, k| link.* = &self.nodes[k];
        self.push(kind, links, results);
    }

    fn recordSumOfAll(self: *Pool) void {
        const links = self.links[self.link_count..][0..self.node_count];
        for (links, self.nodes[0..self.node_count]) |*link, *node| link.* = node;
        self.push(.sum, links, 1);
    }

    fn push(self: *Pool, kind: Kind, links: []const *Node, results: usize) void {
        self.link_count += links.len;
        for (0..results) |place| {
            self.nodes[self.node_count] = .{ .of = links, .kind = kind, .place = @intCast(place) };
            self.node_count += 1;
        }
    }

    fn setInput(self: *Pool, i: usize, value: f64) void {
        self.nodes[i].value = value;
    }

    fn forward(self: *Pool) void {
        for (self.nodes[0..self.node_count], 0..) |*node, k| {
            const of = node.of;
            switch (node.kind) {
                .input => {},
                .add => node.value = of[0].again() + of[1].again(),
                .mul => node.value = of[0].again() * of[1].again(),
                .softplus => node.value = softplus(of[0].again()),
                .sum => {
                    var sum: f64 = 0;
                    for (of) |x| sum += x.again();
                    node.value = sum;
                },
                .softmax => if (node.place == 0) { // all results at their first
                    const results = self.nodes[k..][0..of.len];
                    var largest = -std.math.inf(f64);
                    for (results, of) |*y, x| {
                        y.value = x.again();
                        largest = @max(largest, y.value);
                    }
                    var sum: f64 = 0;
                    for (results) |*y| {
                        y.value = @exp(y.value - largest);
                        sum += y.value;
                    }
                    for (results) |*y| y.value /= sum;
                },
            }
        }
    }

    fn backward(self: *Pool) void {
        for (self.nodes[0..self.node_count]) |*node| node.adjoint = 0;
        self.nodes[self.node_count - 1].adjoint = 1;
        var k = self.node_count;
        while (k > 0) {
            k -= 1;
            const node = &self.nodes[k];
            const of = node.of;
            const g = node.adjoint;
            switch (node.kind) {
                .input => {},
                .add => {
                    of[0].adjoint += g;
                    of[1].adjoint += g;
                },
                .mul => {
                    of[0].adjoint += g * of[1].value;
                    of[1].adjoint += g * of[0].value;
                },
                .softplus => of[0].adjoint += g * softplusSlope(of[0].value),
                .sum => for (of) |x| {
                    x.adjoint += g;
                },
                .softmax => if (node.place == 0) {
                    const results = self.nodes[k..][0..of.len];
                    var dot: f64 = 0;
                    for (results) |y| dot += y.adjoint * y.value;
                    for (of, results) |x, y| x.adjoint += y.value * (y.adjoint - dot);
                },
            }
        }
    }

    fn output(self: *const Pool) f64 {
        return self.nodes[self.node_count - 1].value;
    }
    fn gradient(self: *const Pool, i: usize) f64 {
        return self.nodes[i].adjoint;
    }
};

// ---- what the ladder calls: tape.h ---------------------------------------------------------------------------------------

const Handle = struct {
    graph: union(enum) { v1: Pool, v2: Tape },
    inputs: usize,
};

fn make(version: c_int, settings: Settings) Allocator.Error!*Handle {
    const handle = try memory.create(Handle);
    errdefer memory.destroy(handle);
    handle.* = .{
        .graph = if (version == 1) .{ .v1 = try Pool.init(settings) } else .{ .v2 = try Tape.init(settings) },
        .inputs = settings.inputs(),
    };
    switch (handle.graph) {
        inline else => |*graph| settings.build(graph),
    }
    return handle;
}

export fn language_tape_new(version: c_int, workload: c_int, ops: usize, sum: c_int) ?*Handle {
    if (version != 1 and version != 2) return null;
    return make(version, .{ .workload = if (workload == 0) .expr else .west, .ops = if (workload == 0) 3 else ops, .sum = sum != 0 }) catch null;
}

export fn language_tape_evaluate(handle: *Handle, evaluations: usize, stride: usize, inputs: [*]const f64, values: [*]f64, gradients: [*]f64) void {
    switch (handle.graph) {
        inline else => |*graph| for (0..evaluations) |e| {
            for (0..handle.inputs) |i| graph.setInput(i, inputs[i * stride + e]);
            graph.forward();
            graph.backward();
            values[e] = graph.output();
            for (0..handle.inputs) |i| gradients[i * stride + e] = graph.gradient(i);
        },
    }
}

export fn language_tape_delete(handle: *Handle) void {
    switch (handle.graph) {
        inline else => |*graph| graph.deinit(),
    }
    memory.destroy(handle);
}
