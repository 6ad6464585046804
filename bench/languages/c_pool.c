/* Level c-v1: v1 as one would write it in plain C, on libm: nodes in a pool of fixed size, linked by pointers, and each
   operand computed again from its own stored operands. Compiled with the flags of v1 and c (bench/meson.build). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/languages/tape.h"

enum { POOL_NODES = 1 << 21, POOL_LINKS = 1 << 22 };

enum op { INPUT, ADD, MUL, SOFTPLUS, SUM, SOFTMAX };

struct node {
  double value, adjoint;
  struct node** operands;
  uint32_t count, place; /* of operands; among the results of a softmax */
  enum op op;
};

struct pool {
  struct node *nodes, *output;
  struct node** links;
  size_t node_count, link_count, inputs;
  int full;
};

static struct node* push(struct pool* pool, enum op op, struct node** operands, uint32_t count, uint32_t place) {
  if (pool->node_count == POOL_NODES) {
    pool->full = 1;
    return pool->nodes;
  }
  struct node* node = pool->nodes + pool->node_count++;
  *node = (struct node){.operands = operands, .count = count, .place = place, .op = op};
  return node;
}

static struct node** link_to(struct pool* pool, struct node* const* operands, size_t count) {
  if (count > POOL_LINKS - pool->link_count) {
    pool->full = 1;
    return pool->links;
  }
  struct node** links = pool->links + pool->link_count;
  memcpy(links, operands, count * sizeof *links);
  pool->link_count += count;
  return links;
}

static struct node* record(struct pool* pool, enum op op, struct node* const* operands, size_t count) {
  return push(pool, op, link_to(pool, operands, count), (uint32_t)count, 0);
}

static struct node* expr(struct pool* pool, struct node* const* in) {
  struct node* sum = record(pool, ADD, (struct node*[]){in[0], in[1]}, 2);
  struct node* product = record(pool, MUL, (struct node*[]){sum, in[0]}, 2);
  return record(pool, SOFTPLUS, &product, 1);
}

static struct node* west(struct pool* pool, size_t ops, int sum) {
  /* Nodes of the pool are the nodes of the graph, in order. */
  for (size_t k = 0; k < ops && !pool->full; ++k) {
    struct node* end = pool->nodes + pool->node_count;
    switch (k % 4) {
      case 0: record(pool, SOFTPLUS, (struct node*[]){end - 10}, 1); break;
      case 1: record(pool, SUM, (struct node*[]){end - 30, end - 25, end - 20, end - 15}, 4); break;
      case 2: record(pool, MUL, (struct node*[]){end - 20, end - 10}, 2); break;
      case 3: {
        struct node** links = link_to(pool, (struct node*[]){end - 4, end - 3, end - 2, end - 1}, 4);
        for (uint32_t place = 0; place < 4; ++place) push(pool, SOFTMAX, links, 4, place);
        break;
      }
    }
  }
  if (!sum || pool->full) return pool->nodes + pool->node_count - 1;
  struct node* all = push(pool, SUM, pool->links + pool->link_count, (uint32_t)pool->node_count, 0);
  for (struct node* node = pool->nodes; node != all; ++node) link_to(pool, &node, 1);
  return all;
}

static double softplus(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }

/* A node computed from what its operands hold. */
static double again(const struct node* node) {
  struct node* const* of = node->operands;
  switch (node->op) {
    case INPUT: break;
    case ADD: return of[0]->value + of[1]->value;
    case MUL: return of[0]->value * of[1]->value;
    case SOFTPLUS: return softplus(of[0]->value);
    case SUM: {
      double sum = 0;
      for (uint32_t i = 0; i < node->count; ++i) sum += of[i]->value;
      return sum;
    }
    case SOFTMAX: {
      double largest = of[0]->value, sum = 0;
      for (uint32_t i = 1; i < node->count; ++i) largest = fmax(largest, of[i]->value);
      for (uint32_t i = 0; i < node->count; ++i) sum += exp(of[i]->value - largest);
      return exp(of[node->place]->value - largest) / sum;
    }
  }
  return node->value;
}

static void forward(struct pool* pool) {
  struct node* end = pool->nodes + pool->node_count;
  for (struct node* node = pool->nodes; node != end; ++node) {
    struct node* const* of = node->operands;
    switch (node->op) {
      case INPUT: break;
      case ADD: node->value = again(of[0]) + again(of[1]); break;
      case MUL: node->value = again(of[0]) * again(of[1]); break;
      case SOFTPLUS: node->value = softplus(again(of[0])); break;
      case SUM:
        node->value = 0;
        for (uint32_t i = 0; i < node->count; ++i) node->value += again(of[i]);
        break;
      case SOFTMAX: { /* all results at their first */
        if (node->place != 0) break;
        double largest = -INFINITY, sum = 0;
        for (uint32_t i = 0; i < node->count; ++i) largest = fmax(largest, node[i].value = again(of[i]));
        for (uint32_t i = 0; i < node->count; ++i) sum += node[i].value = exp(node[i].value - largest);
        for (uint32_t i = 0; i < node->count; ++i) node[i].value /= sum;
        break;
      }
    }
  }
}

static void backward(struct pool* pool) {
  for (struct node* node = pool->nodes + pool->node_count; node-- != pool->nodes;) {
    struct node* const* of = node->operands;
    const double g = node->adjoint;
    switch (node->op) {
      case INPUT: break;
      case ADD:
        of[0]->adjoint += g;
        of[1]->adjoint += g;
        break;
      case MUL:
        of[0]->adjoint += g * of[1]->value;
        of[1]->adjoint += g * of[0]->value;
        break;
      case SOFTPLUS: {
        const double x = of[0]->value, e = exp(-fabs(x));
        of[0]->adjoint += g * ((x < 0 ? e : 1) / (1 + e));
        break;
      }
      case SUM:
        for (uint32_t i = 0; i < node->count; ++i) of[i]->adjoint += g;
        break;
      case SOFTMAX: {
        if (node->place != 0) break;
        double dot = 0;
        for (uint32_t i = 0; i < node->count; ++i) dot += node[i].adjoint * node[i].value;
        for (uint32_t i = 0; i < node->count; ++i) of[i]->adjoint += node[i].value * (node[i].adjoint - dot);
        break;
      }
    }
  }
}

void* language_tape_new(int version, int workload, size_t ops, int sum) {
  struct pool* pool = version == 1 ? calloc(1, sizeof *pool) : NULL;
  if (!pool) return NULL;
  pool->nodes = malloc(POOL_NODES * sizeof *pool->nodes);
  pool->links = malloc(POOL_LINKS * sizeof *pool->links);
  if (pool->nodes && pool->links) {
    struct node* in[100];
    pool->inputs = workload == 0 ? 2 : 100;
    for (size_t i = 0; i < pool->inputs; ++i) in[i] = push(pool, INPUT, NULL, 0, 0);
    pool->output = workload == 0 ? expr(pool, in) : west(pool, ops, sum);
    if (!pool->full) return pool;
  }
  language_tape_delete(pool);
  return NULL;
}

void language_tape_evaluate(void* tape, size_t evaluations, size_t stride, const double* inputs, double* values,
                            double* gradients) {
  struct pool* pool = tape;
  for (size_t e = 0; e < evaluations; ++e) {
    for (size_t i = 0; i < pool->inputs; ++i) pool->nodes[i].value = inputs[i * stride + e];
    forward(pool);
    for (size_t k = 0; k < pool->node_count; ++k) pool->nodes[k].adjoint = 0;
    pool->output->adjoint = 1;
    backward(pool);
    values[e] = pool->output->value;
    for (size_t i = 0; i < pool->inputs; ++i) gradients[i * stride + e] = pool->nodes[i].adjoint;
  }
}

void language_tape_delete(void* tape) {
  struct pool* pool = tape;
  free(pool->nodes);
  free(pool->links);
  free(pool);
}
