//! Levels lang-rust and lang-rust-v1: the tapes of v2 and v1 as one would write them in Rust, of the workloads expr and west.
//! scripts/languages compiles it: rustc -C opt-level=3 -C target-cpu=native. What the ladder calls is in tape.h.

/// What the workloads are recorded on, and how it is evaluated.
trait Graph {
    type Node: Copy;

    fn input(&mut self) -> Self::Node;
    fn add(&mut self, a: Self::Node, b: Self::Node) -> Self::Node;
    fn mul(&mut self, a: Self::Node, b: Self::Node) -> Self::Node;
    fn softplus(&mut self, x: Self::Node) -> Self::Node;
    fn sum(&mut self, terms: &[Self::Node]) -> Self::Node;
    fn softmax(&mut self, of: &[Self::Node]) -> Vec<Self::Node>;

    fn set(&mut self, input: Self::Node, value: f64);
    fn forward(&mut self);
    fn backward(&mut self, output: Self::Node);
    fn value(&self, node: Self::Node) -> f64;
    fn adjoint(&self, node: Self::Node) -> f64;
}

fn expr<G: Graph>(g: &mut G, inputs: &[G::Node]) -> G::Node {
    let (x, y) = (inputs[0], inputs[1]);
    let sum = g.add(x, y);
    let product = g.mul(sum, x);
    g.softplus(product)
}

fn west<G: Graph>(g: &mut G, inputs: &[G::Node], ops: usize, sum: bool) -> G::Node {
    let mut n = inputs.to_vec();
    for op in 0..ops {
        let last = |k: usize| n[n.len() - k];
        match op % 4 {
            0 => n.push(g.softplus(last(10))),
            1 => n.push(g.sum(&[last(30), last(25), last(20), last(15)])),
            2 => n.push(g.mul(last(20), last(10))),
            _ => {
                let powers = g.softmax(&n[n.len() - 4..]);
                n.extend(powers);
            }
        }
    }
    if sum { g.sum(&n) } else { n[n.len() - 1] }
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn softplus_slope(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

// ---- v2: ids, contiguous arrays, every result stored ---------------------------------------------------------------------

#[derive(Clone, Copy)]
enum Op {
    Add(u32, u32),
    Mul(u32, u32),
    Softplus(u32),
    Sum { first: u32, count: u32 }, // of the array of operands
    Softmax { first: u32, count: u32 },
}

#[derive(Default)]
struct Tape {
    ops: Vec<(Op, u32)>, // and the id of the first result
    operands: Vec<u32>,
    values: Vec<f64>,
    adjoints: Vec<f64>,
}

impl Tape {
    fn variable(&mut self) -> u32 {
        self.values.push(0.0);
        self.adjoints.push(0.0);
        (self.values.len() - 1) as u32
    }
    fn record(&mut self, op: Op) -> u32 {
        let out = self.variable();
        self.ops.push((op, out));
        out
    }
    fn list(&mut self, of: &[u32]) -> (u32, u32) {
        let first = self.operands.len() as u32;
        self.operands.extend_from_slice(of);
        (first, of.len() as u32)
    }
}

fn operands_of(operands: &[u32], first: u32, count: u32) -> &[u32] {
    &operands[first as usize..(first + count) as usize]
}

impl Graph for Tape {
    type Node = u32;

    fn input(&mut self) -> u32 {
        self.variable()
    }
    fn add(&mut self, a: u32, b: u32) -> u32 {
        self.record(Op::Add(a, b))
    }
    fn mul(&mut self, a: u32, b: u32) -> u32 {
        self.record(Op::Mul(a, b))
    }
    fn softplus(&mut self, x: u32) -> u32 {
        self.record(Op::Softplus(x))
    }
    fn sum(&mut self, terms: &[u32]) -> u32 {
        let (first, count) = self.list(terms);
        self.record(Op::Sum { first, count })
    }
    fn softmax(&mut self, of: &[u32]) -> Vec<u32> {
        let (first, count) = self.list(of);
        let out = self.record(Op::Softmax { first, count });
        for _ in 1..count {
            self.variable();
        }
        (out..out + count).collect()
    }

    fn set(&mut self, input: u32, value: f64) {
        self.values[input as usize] = value;
    }

    fn forward(&mut self) {
        let Tape { ops, operands, values, .. } = self;
        for &(op, out) in ops.iter() {
            let out = out as usize;
            match op {
                Op::Add(a, b) => values[out] = values[a as usize] + values[b as usize],
                Op::Mul(a, b) => values[out] = values[a as usize] * values[b as usize],
                Op::Softplus(x) => values[out] = softplus(values[x as usize]),
                Op::Sum { first, count } => {
                    values[out] = operands_of(operands, first, count).iter().map(|&i| values[i as usize]).sum();
                }
                Op::Softmax { first, count } => {
                    let of = operands_of(operands, first, count);
                    let largest = of.iter().map(|&i| values[i as usize]).fold(f64::NEG_INFINITY, f64::max);
                    let mut sum = 0.0;
                    for (k, &i) in of.iter().enumerate() {
                        let power = (values[i as usize] - largest).exp();
                        values[out + k] = power;
                        sum += power;
                    }
                    for y in &mut values[out..out + of.len()] {
                        *y /= sum;
                    }
                }
            }
        }
    }

    fn backward(&mut self, output: u32) {
        let Tape { ops, operands, values, adjoints } = self;
        adjoints.fill(0.0);
        adjoints[output as usize] = 1.0;
        for &(op, out) in ops.iter().rev() {
            let out = out as usize;
            let g = adjoints[out];
            match op {
                Op::Add(a, b) => {
                    adjoints[a as usize] += g;
                    adjoints[b as usize] += g;
                }
                Op::Mul(a, b) => {
                    adjoints[a as usize] += g * values[b as usize];
                    adjoints[b as usize] += g * values[a as usize];
                }
                Op::Softplus(x) => adjoints[x as usize] += g * softplus_slope(values[x as usize]),
                Op::Sum { first, count } => {
                    for &i in operands_of(operands, first, count) {
                        adjoints[i as usize] += g;
                    }
                }
                Op::Softmax { first, count } => {
                    let of = operands_of(operands, first, count);
                    let y = &values[out..out + of.len()];
                    let dot: f64 = adjoints[out..out + of.len()].iter().zip(y).map(|(g, y)| g * y).sum();
                    for (k, &i) in of.iter().enumerate() {
                        adjoints[i as usize] += y[k] * (adjoints[out + k] - dot);
                    }
                }
            }
        }
    }

    fn value(&self, node: u32) -> f64 {
        self.values[node as usize]
    }
    fn adjoint(&self, node: u32) -> f64 {
        self.adjoints[node as usize]
    }
}

// ---- v1: pointers into a pool of fixed size, operands computed again ------------------------------------------------------

const POOL_NODES: usize = 1 << 21;
const POOL_LINKS: usize = 1 << 22;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Input,
    Add,
    Mul,
    Softplus,
    Sum,
    Softmax,
}

struct Node {
    value: f64,
    adjoint: f64,
    operands: *const *mut Node,
    count: u32,
    place: u32, // among the results of a softmax
    kind: Kind,
}

type Link = *mut Node;

/// Never more than its capacity: so that pointers into it stay.
struct Pool {
    nodes: Vec<Node>,
    links: Vec<Link>,
}

impl Pool {
    fn new() -> Pool {
        Pool { nodes: Vec::with_capacity(POOL_NODES), links: Vec::with_capacity(POOL_LINKS) }
    }
    fn push(&mut self, kind: Kind, operands: *const Link, count: usize, place: usize) -> Link {
        assert!(self.nodes.len() < POOL_NODES);
        self.nodes.push(Node { value: 0.0, adjoint: 0.0, operands, count: count as u32, place: place as u32, kind });
        unsafe { self.nodes.as_mut_ptr().add(self.nodes.len() - 1) }
    }
    fn list(&mut self, of: &[Link]) -> *const Link {
        assert!(of.len() <= POOL_LINKS - self.links.len());
        let first = self.links.len();
        self.links.extend_from_slice(of);
        unsafe { self.links.as_ptr().add(first) }
    }
    fn record(&mut self, kind: Kind, of: &[Link]) -> Link {
        let operands = self.list(of);
        self.push(kind, operands, of.len(), 0)
    }
}

impl Node {
    /// The nodes that this one is computed of. What is linked is in the pool for as long as the node is.
    fn of(&self) -> &[Link] {
        unsafe { std::slice::from_raw_parts(self.operands, self.count as usize) }
    }
}

fn stored(node: Link) -> f64 {
    unsafe { (*node).value }
}

fn give(node: Link, adjoint: f64) {
    unsafe { (*node).adjoint += adjoint }
}

/// A node computed from what its operands hold.
fn again(node: Link) -> f64 {
    let node = unsafe { &*node };
    match node.kind {
        Kind::Input => node.value,
        Kind::Add => stored(node.of()[0]) + stored(node.of()[1]),
        Kind::Mul => stored(node.of()[0]) * stored(node.of()[1]),
        Kind::Softplus => softplus(stored(node.of()[0])),
        Kind::Sum => node.of().iter().map(|&x| stored(x)).sum(),
        Kind::Softmax => {
            let largest = node.of().iter().map(|&x| stored(x)).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = node.of().iter().map(|&x| (stored(x) - largest).exp()).sum();
            (stored(node.of()[node.place as usize]) - largest).exp() / sum
        }
    }
}

impl Graph for Pool {
    type Node = Link;

    fn input(&mut self) -> Link {
        self.record(Kind::Input, &[])
    }
    fn add(&mut self, a: Link, b: Link) -> Link {
        self.record(Kind::Add, &[a, b])
    }
    fn mul(&mut self, a: Link, b: Link) -> Link {
        self.record(Kind::Mul, &[a, b])
    }
    fn softplus(&mut self, x: Link) -> Link {
        self.record(Kind::Softplus, &[x])
    }
    fn sum(&mut self, terms: &[Link]) -> Link {
        self.record(Kind::Sum, terms)
    }
    fn softmax(&mut self, of: &[Link]) -> Vec<Link> {
        let operands = self.list(of);
        (0..of.len()).map(|place| self.push(Kind::Softmax, operands, of.len(), place)).collect()
    }

    fn set(&mut self, input: Link, value: f64) {
        unsafe { (*input).value = value }
    }

    fn forward(&mut self) {
        for k in 0..self.nodes.len() {
            let node = &self.nodes[k];
            let value = match node.kind {
                Kind::Input => continue,
                Kind::Add => again(node.of()[0]) + again(node.of()[1]),
                Kind::Mul => again(node.of()[0]) * again(node.of()[1]),
                Kind::Softplus => softplus(again(node.of()[0])),
                Kind::Sum => node.of().iter().map(|&x| again(x)).sum(),
                Kind::Softmax if node.place != 0 => continue, // all results at their first
                Kind::Softmax => {
                    let (operands, count) = (node.operands, node.count as usize);
                    let results = &mut self.nodes[k..k + count];
                    let mut largest = f64::NEG_INFINITY;
                    for (i, y) in results.iter_mut().enumerate() {
                        y.value = again(unsafe { *operands.add(i) });
                        largest = largest.max(y.value);
                    }
                    let mut sum = 0.0;
                    for y in results.iter_mut() {
                        y.value = (y.value - largest).exp();
                        sum += y.value;
                    }
                    for y in results.iter_mut() {
                        y.value /= sum;
                    }
                    continue;
                }
            };
            self.nodes[k].value = value;
        }
    }

    fn backward(&mut self, output: Link) {
        for node in &mut self.nodes {
            node.adjoint = 0.0;
        }
        give(output, 1.0);
        for k in (0..self.nodes.len()).rev() {
            let node = &self.nodes[k];
            let (of, g) = (node.of(), node.adjoint);
            match node.kind {
                Kind::Input => {}
                Kind::Add => {
                    give(of[0], g);
                    give(of[1], g);
                }
                Kind::Mul => {
                    give(of[0], g * stored(of[1]));
                    give(of[1], g * stored(of[0]));
                }
                Kind::Softplus => give(of[0], g * softplus_slope(stored(of[0]))),
                Kind::Sum => of.iter().for_each(|&x| give(x, g)),
                Kind::Softmax if node.place != 0 => {}
                Kind::Softmax => {
                    let results = &self.nodes[k..k + of.len()];
                    let dot: f64 = results.iter().map(|y| y.adjoint * y.value).sum();
                    for (&x, y) in of.iter().zip(results) {
                        give(x, y.value * (y.adjoint - dot));
                    }
                }
            }
        }
    }

    fn value(&self, node: Link) -> f64 {
        stored(node)
    }
    fn adjoint(&self, node: Link) -> f64 {
        unsafe { (*node).adjoint }
    }
}

// ---- what the ladder calls: tape.h ---------------------------------------------------------------------------------------

/// A batch, as columns.
struct Batch<'a> {
    evaluations: usize,
    stride: usize,
    inputs: &'a [f64],
    values: &'a mut [f64],
    gradients: &'a mut [f64],
}

trait Evaluate {
    fn evaluate(&mut self, batch: &mut Batch);
}

struct Recorded<G: Graph> {
    graph: G,
    inputs: Vec<G::Node>,
    output: G::Node,
}

impl<G: Graph> Recorded<G> {
    fn new(mut graph: G, workload: i32, ops: usize, sum: bool) -> Self {
        let inputs: Vec<_> = (0..if workload == 0 { 2 } else { 100 }).map(|_| graph.input()).collect();
        let output = if workload == 0 { expr(&mut graph, &inputs) } else { west(&mut graph, &inputs, ops, sum) };
        Recorded { graph, inputs, output }
    }
}

impl<G: Graph> Evaluate for Recorded<G> {
    fn evaluate(&mut self, batch: &mut Batch) {
        for e in 0..batch.evaluations {
            for (i, &input) in self.inputs.iter().enumerate() {
                self.graph.set(input, batch.inputs[i * batch.stride + e]);
            }
            self.graph.forward();
            self.graph.backward(self.output);
            batch.values[e] = self.graph.value(self.output);
            for (i, &input) in self.inputs.iter().enumerate() {
                batch.gradients[i * batch.stride + e] = self.graph.adjoint(input);
            }
        }
    }
}

pub struct Handle {
    tape: Box<dyn Evaluate>,
    inputs: usize,
}

#[no_mangle]
pub extern "C" fn language_tape_new(version: i32, workload: i32, ops: usize, sum: i32) -> *mut Handle {
    // No more than fits; an allocation that fails ends the process, as it does in any Rust program.
    if version == 1 && workload == 1 && ops / 4 * 7 + 200 > POOL_NODES {
        return std::ptr::null_mut();
    }
    let tape: Box<dyn Evaluate> = match version {
        1 => Box::new(Recorded::new(Pool::new(), workload, ops, sum != 0)),
        2 => Box::new(Recorded::new(Tape::default(), workload, ops, sum != 0)),
        _ => return std::ptr::null_mut(),
    };
    Box::into_raw(Box::new(Handle { tape, inputs: if workload == 0 { 2 } else { 100 } }))
}

/// # Safety
/// As tape.h has it.
#[no_mangle]
pub unsafe extern "C" fn language_tape_evaluate(
    tape: *mut Handle, evaluations: usize, stride: usize, inputs: *const f64, values: *mut f64, gradients: *mut f64,
) {
    let tape = &mut *tape;
    let numbers = (tape.inputs - 1) * stride + evaluations;
    tape.tape.evaluate(&mut Batch {
        evaluations,
        stride,
        inputs: std::slice::from_raw_parts(inputs, numbers),
        values: std::slice::from_raw_parts_mut(values, evaluations),
        gradients: std::slice::from_raw_parts_mut(gradients, numbers),
    });
}

/// # Safety
/// As tape.h has it.
#[no_mangle]
pub unsafe extern "C" fn language_tape_delete(tape: *mut Handle) {
    drop(Box::from_raw(tape));
}
