/* Products with numbers, taken together. In: a primitive and a number. Out: their product with as few
 * instructions as it takes:
 *
 *     0.001 * ((0.9 m + 0.1 g) / 0.1)  ─▶  0.009 m + 0.001 g
 *
 * A quotient by a number is a product with its reciprocal: one cycle for 64 elements instead of five.
 * The last bit may differ, so nothing is touched where a step follows that jumps (floor, a comparison).
 * A number goes into a sum only where all terms but one have a factor already: those are rounded
 * anyway, while a plain difference that cancels is exact. */
#include "gen/plan/prim_int.h"

#include "gen/plan/plan.h"
#include <math.h>
#include <string.h>

/* Beyond it what is computed on the way might overflow where the task does not, or the reverse. */
#define MOST_FACTOR 0x1p60

static bool is_map(const Prim *p, const char *form)
{
    return p->op == PRIM_MAP && !strcmp(p->form, form);
}

static bool fits(double by) { return fabs(by) <= MOST_FACTOR && fabs(by) >= 1 / MOST_FACTOR; }

bool prim_factor(const PrimGraph *g, PrimId id, PrimId *of, double *by)
{
    const Prim *p = &g->prims.at[id];
    for (int i = 0; is_map(p, "$0 * $1") && i < 2; i++) {
        const Prim *n = &g->prims.at[p->arg[i]];
        if (n->op == PRIM_NUMBER && g->prims.at[p->arg[1 - i]].op != PRIM_NUMBER) {
            *of = p->arg[1 - i];
            *by = n->number;
            return true;
        }
    }
    return false;
}

static bool is_sum(const Prim *p) { return is_map(p, "$0 + $1") || is_map(p, "$0 - $1"); }

/* Terms of a sum that would need a product of their own. */
static uint32_t plain_terms(const PrimGraph *g, PrimId id)
{
    const Prim *p = &g->prims.at[id];
    PrimId of;
    double by;
    if (p->shared)
        return 1;
    if (is_sum(p))
        return plain_terms(g, p->arg[0]) + plain_terms(g, p->arg[1]);
    return prim_factor(g, id, &of, &by) && fits(by) ? 0 : 1;
}

static PrimId scale(PrimGraph *g, PrimId id, double by)
{
    Prim p = g->prims.at[id];
    PrimId of;
    double had;
    if (by == 1)
        return id;
    if (p.op == PRIM_NUMBER)
        return prim_number(g, p.number * by).prim;
    if (!p.shared && prim_factor(g, id, &of, &had) && fits(had) && fits(had * by))
        return scale(g, of, had * by);
    if (!p.shared && is_sum(&p) && plain_terms(g, id) <= 1) {
        for (int i = 0; i < 2; i++)
            p.arg[i] = scale(g, p.arg[i], by);
        return prim_add(g, p);
    }
    Prim product = {.op = PRIM_MAP, .form = "$0 * $1", .n_arg = 2};
    product.arg[0] = id;
    product.arg[1] = prim_number(g, by).prim;
    return prim_add(g, product);
}

bool prim_scaled(PrimGraph *g, PrimValue v, double by, PrimValue *out)
{
    if (!g->smooth || !fits(by) || g->prims.at[v.prim].op == PRIM_NUMBER)
        return false;
    *out = v;
    out->prim = scale(g, v.prim, by);
    return true;
}

/* Floors and the like: constant between jumps, so that the last bit of what they are given may become a
 * whole step. */
static bool is_stair(const Node *node)
{
    if (node->op == OP_UNARY)
        switch (node->kind) {
        case UNARY_sign:
        case UNARY_floor:
        case UNARY_ceil:
        case UNARY_trunc:
        case UNARY_frac:
        case UNARY_round: return true;
        default: return false;
        }
    if (node->op == OP_BINARY)
        switch (node->kind) {
        case BINARY_floor_div:
        case BINARY_trunc_div:
        case BINARY_remainder:
        case BINARY_fmod: return true;
        default: return false;
        }
    return false;
}

/* Functions that have a jump somewhere. */
static bool has_jump(const Node *node)
{
    if (node->op == OP_UNARY)
        return node->kind == UNARY_hardshrink || node->kind == UNARY_threshold;
    if (node->op == OP_BINARY)
        return node->kind == BINARY_atan2 || node->kind == BINARY_copysign ||
               node->kind == BINARY_hardsigmoid_grad || node->kind == BINARY_relu_grad;
    return node->op == OP_WHERE || node->op == OP_REDUCE_INDEX;
}

bool prim_node_steps(const Graph *graph, const Node *node)
{
    return is_stair(node) || !dtype_is_float(graph_value(graph, node->out)->dtype);
}

bool prim_steps_follow(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->notes.len; i++)
        if (graph->notes.at[i] == plan_steps)
            return true;
    return false;
}

bool prim_is_smooth(const Graph *graph)
{
    if (prim_steps_follow(graph))
        return false;
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        const Node *node = &graph->nodes.at[i];
        bool unknown = node->op == OP_BINARY && !prim_binary_forms[node->kind];
        if (unknown || has_jump(node) || prim_node_steps(graph, node))
            return false;
    }
    return true;
}

/* An operator that jumps, or of which nothing is known. A choice by a mask passes its two values on; what the mask was
 * compared from is looked at itself. */
static bool jumps(const Graph *graph, const Node *node)
{
    bool unknown = node->op == OP_BINARY && !prim_binary_forms[node->kind];
    for (uint32_t i = 0; i < node->n_out; i++)
        if (!dtype_is_float(graph_value(graph, node->out + i)->dtype))
            return true;
    return unknown || is_stair(node) || (has_jump(node) && node->op != OP_WHERE);
}

bool *prim_decisive(Arena *arena, const Graph *graph)
{
    bool *decides = arena_array(arena, bool, graph->values.len + 1);
    for (uint32_t i = 0; i < graph->outputs.len && prim_steps_follow(graph); i++)
        decides[graph->outputs.at[i]] = true;
    for (uint32_t i = graph->nodes.len; i-- > 0;) {
        const Node *node = &graph->nodes.at[i];
        bool read = jumps(graph, node);
        for (uint32_t k = 0; k < node->n_out; k++)
            read = read || decides[node->out + k];
        for (uint32_t k = 0; k < node->n_in && read; k++)
            if (node->in[k] != VALUE_NONE)
                decides[node->in[k]] = true;
    }
    return decides;
}
