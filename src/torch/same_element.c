/* Two tasks, element by element. In: the tasks and the seed they were read with. Out: whether
 * every element of their results is the same scalar expression of the same tensors (unroll.h).
 *
 *   pair     inputs and parameters by name, dtype and shape, then by order
 *   draw     values of what is pinned: integers a condition rests on, and tensors that only one
 *            file has: of one element, of integers, or the same in every run
 *   assume   conditions on floating values hold as they were found
 *   compare  results as they are, before their last casts, each of theirs among ours, all of them
 *            one after another */
#include "graph/eval.h"
#include "graph/unroll.h"
#include "torch/same_int.h"

#include <string.h>

/* --- tensors the tasks are given ---------------------------------------------------------- */

typedef struct Given {
    uint32_t source; /* output of the source graph */
    const char *name;
    DType drawn;
    Shape shape;
    bool looked_at; /* a condition rests on it */
    bool paired;
} Given;

typedef struct Side {
    const TorchTask *task;
    VEC(Given) given;
    UnrollLeaf *leaves; /* by source */
    Tensor **drawn;     /* by source; NULL: not drawn */
    Tensor **results;   /* expressions of each output */
} Side;

static bool is_whole(DType d) { return dtype_is_int(d) || d == DT_BOOL; }

/* The dtype it was drawn in, where only a cast to float32 stands between. */
static DType drawn_dtype(const Graph *source, const Value *value)
{
    const Value *drawn = graph_value(source, source->outputs.at[value->source]);
    const Node *node = drawn->kind == VALUE_NODE ? &source->nodes.at[drawn->node] : NULL;
    if (value->dtype != DT_F32 || !node || node->op != OP_CAST)
        return value->dtype;
    DType from = graph_value(source, node->in[0])->dtype;
    return from == DT_F16 || from == DT_BF16 || is_whole(from) ? from : value->dtype;
}

static void add_given(Arena *arena, Side *side, const Value *value, bool looked_at)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < side->given.len; i++) {
        if (side->given.at[i].source == value->source) {
            side->given.at[i].looked_at |= looked_at;
            return;
        }
    }
    Given g = {.source = value->source,
               .name = value->name ? value->name : "",
               .drawn = drawn_dtype(side->task->graph->source, value),
               .shape = value->shape,
               .looked_at = looked_at};
    if (shape_count(g.shape, &count) && count == 1)
        g.shape = (Shape){0};
    vec_push(arena, &side->given, g);
}

static void find_given(Arena *arena, Side *side, const Graph *graph, bool looked_at)
{
    uint8_t *read = arena_alloc(arena, graph->values.len + 1);
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        for (uint32_t k = 0; k < graph->nodes.at[i].n_in; k++) {
            if (graph->nodes.at[i].in[k] != VALUE_NONE)
                read[graph->nodes.at[i].in[k]] = 1;
        }
    }
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        read[graph->outputs.at[i]] = 1;
    for (ValueId id = 0; id < graph->values.len; id++) {
        const Value *value = graph_value(graph, id);
        if (read[id] && value->kind != VALUE_NODE && value->kind != VALUE_CONST)
            add_given(arena, side, value, looked_at);
    }
}

static Side side_of(Arena *arena, const TorchTask *task)
{
    Side side = {.task = task};
    uint32_t n = task->graph->source->outputs.len;
    find_given(arena, &side, task->graph, false);
    if (task->conditions)
        find_given(arena, &side, task->conditions, true);
    side.leaves = arena_array(arena, UnrollLeaf, n + 1);
    side.drawn = arena_array(arena, Tensor *, n + 1);
    side.results = arena_array(arena, Tensor *, task->graph->outputs.len + 1);
    return side;
}

static void side_free(Side *side)
{
    for (uint32_t i = 0; i < side->task->graph->source->outputs.len; i++)
        tensor_free(side->drawn[i]);
    for (uint32_t i = 0; i < side->task->graph->outputs.len; i++)
        tensor_free(side->results[i]);
}

/* --- pairs -------------------------------------------------------------------------------- */

static bool alike(const Given *a, const Given *b, bool names)
{
    return !a->paired && !b->paired && a->drawn == b->drawn && shape_equal(a->shape, b->shape) &&
           (!names || strcmp(a->name, b->name) == 0);
}

/* How tensors of the two files are paired; where integers are not, each file has those it draws. */
typedef enum Pairing { PAIR_BY_NAME, PAIR_BY_ORDER, PAIR_NO_INTEGERS, PAIRINGS } Pairing;

static void pair_up(Side *a, Side *b, Pairing how, uint32_t *number)
{
    bool names = how == PAIR_BY_NAME;
    for (uint32_t i = 0; i < a->given.len; i++) {
        for (uint32_t k = 0; k < b->given.len; k++) {
            Given *x = &a->given.at[i], *y = &b->given.at[k];
            if (!alike(x, y, names) || (how == PAIR_NO_INTEGERS && is_whole(x->drawn)))
                continue;
            x->paired = y->paired = true;
            a->leaves[x->source] = (UnrollLeaf){.tensor = *number, .drawn = x->drawn};
            b->leaves[y->source] = (UnrollLeaf){.tensor = (*number)++, .drawn = y->drawn};
            if (is_whole(x->drawn) && (x->looked_at || y->looked_at))
                x->looked_at = y->looked_at = true;
        }
    }
}

/* --- drawing ------------------------------------------------------------------------------ */

/* The part of the source graph that makes one tensor. */
static const Graph *source_of(Arena *arena, const Side *side, uint32_t source)
{
    Graph view = *side->task->graph->source;
    ValueId id = view.outputs.at[source];
    memset(&view.outputs, 0, sizeof view.outputs);
    vec_push(arena, &view.outputs, id);
    return graph_prune(arena, &view);
}

static bool is_fixed(const Graph *source)
{
    for (uint32_t i = 0; i < source->nodes.len; i++) {
        if (source->nodes.at[i].op == OP_RANDOM)
            return false;
    }
    return true;
}

static bool draw(Arena *arena, Side *side, uint32_t source, uint64_t seed)
{
    Diag diag = diag_make(arena, "", (Str){0});
    EvalOptions options = {.seed = seed, .memory = INT64_C(1) << 30};
    return side->drawn[source] || graph_eval(source_of(arena, side, source), NULL, NULL, &options,
                                             &side->drawn[source], &diag);
}

/* Integers that a condition rests on; of what the other file does not have, integers, numbers and
 * what is the same in every run. The rest stands for itself. */
static bool pin_given(Arena *arena, Side *side, uint64_t seed, uint32_t *number, bool *pinned)
{
    for (uint32_t i = 0; i < side->given.len; i++) {
        const Given *g = &side->given.at[i];
        bool whole = is_whole(g->drawn), fixed = false;
        if (!g->paired)
            side->leaves[g->source] = (UnrollLeaf){.tensor = (*number)++, .drawn = g->drawn};
        if (!g->paired && !whole && g->shape.rank > 0) {
            fixed = is_fixed(source_of(arena, side, g->source));
            if (!fixed)
                continue;
        }
        if (g->paired && !(whole && g->looked_at))
            continue;
        if (!draw(arena, side, g->source, seed))
            return false;
        side->leaves[g->source].drawn = side->drawn[g->source]->dtype;
        side->leaves[g->source].pinned = side->drawn[g->source];
        *pinned = *pinned || !fixed;
    }
    return true;
}

/* Pairs that are pinned hold the same values: ours takes theirs, unless it looked at its own. */
static bool agree_pins(Side *ours, Side *theirs)
{
    for (uint32_t i = 0; i < ours->given.len; i++) {
        UnrollLeaf *a = &ours->leaves[ours->given.at[i].source];
        for (uint32_t k = 0; k < theirs->given.len && a->pinned; k++) {
            const UnrollLeaf *b = &theirs->leaves[theirs->given.at[k].source];
            if (!ours->given.at[i].paired || !theirs->given.at[k].paired || !b->pinned ||
                a->tensor != b->tensor)
                continue;
            if (ours->task->conditions && !tensor_equal(a->pinned, b->pinned))
                return false;
            a->pinned = b->pinned;
            break;
        }
    }
    return true;
}

/* --- conditions --------------------------------------------------------------------------- */

static bool assume(Exprs *x, const Side *side, int64_t budget, bool *assumed, bool *too_large)
{
    const Graph *g = side->task->conditions;
    if (!g)
        return true;
    Tensor **seen = heap_alloc((g->outputs.len + 1) * sizeof *seen);
    bool ok = unroll_graph(x, g, side->leaves, budget, seen);
    *too_large = !ok;
    for (uint32_t i = 0; ok && i < g->outputs.len; i++) {
        const Value *value = graph_value(g, g->outputs.at[i]);
        Tensor *found = tensor_new_raw(value->dtype, value->shape);
        const void *data = side->task->outcomes[i];
        ok = found != NULL;
        if (found && data)
            memcpy(found->at, data, (size_t)found->count * dtype_bytes(found->dtype));
        for (int64_t k = 0; ok && k < found->count; k++) {
            ExprId id = (ExprId)TENSOR_AT(seen[i], int64_t)[k];
            if (!data && expr_is_const(x, id))
                continue;
            ok = data && expr_pin(x, id, expr_const_from(x, found, k));
            *assumed = true;
        }
        tensor_free(found);
    }
    for (uint32_t i = 0; i < g->outputs.len; i++)
        tensor_free(seen[i]);
    heap_free(seen);
    return ok;
}

/* --- results ------------------------------------------------------------------------------ */

static ExprId before_cast(const Exprs *x, ExprId id)
{
    const Expr *e = expr_at(x, id);
    return e->form == EXPR_ELEM && e->op == OP_CAST ? e->arg[0] : id;
}

static bool same_number(const Exprs *x, ExprId a, ExprId b)
{
    return expr_is_const(x, a) && expr_is_const(x, b) && expr_at(x, a)->dtype != DT_C64 &&
           expr_at(x, b)->dtype != DT_C64 && expr_number(x, a) == expr_number(x, b);
}

/* `loose`: one of them, or both, without its last cast. */
static bool equal_element(const Exprs *x, ExprId a, ExprId b, bool loose)
{
    if (a == b || !loose)
        return a == b;
    ExprId inner = before_cast(x, a), other = before_cast(x, b);
    return inner == b || a == other || inner == other || same_number(x, a, b);
}

static bool equal_result(const Exprs *x, const Tensor *a, const Tensor *b, bool loose)
{
    bool ok = a->count == b->count && (loose || shape_equal(a->shape, b->shape));
    for (int64_t i = 0; ok && i < a->count; i++)
        ok = equal_element(x, (ExprId)TENSOR_AT(a, int64_t)[i], (ExprId)TENSOR_AT(b, int64_t)[i],
                           loose);
    return ok;
}

static bool equal_all(const Exprs *x, const Side *ours, const Side *theirs, bool loose)
{
    uint32_t n = ours->task->graph->outputs.len;
    bool ok = n == theirs->task->graph->outputs.len;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = equal_result(x, ours->results[i], theirs->results[i], loose);
    return ok;
}

static bool equal_among(const Exprs *x, const Side *ours, const Side *theirs)
{
    uint32_t n = theirs->task->graph->outputs.len, found = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < ours->task->graph->outputs.len; k++) {
            if (equal_result(x, ours->results[k], theirs->results[i], true)) {
                found++;
                break;
            }
        }
    }
    return n > 0 && found == n;
}

/* A list of results against one that holds them all, one after another. */
static bool equal_in_a_row(const Exprs *x, const Side *ours, const Side *theirs)
{
    uint32_t na = ours->task->graph->outputs.len, nb = theirs->task->graph->outputs.len;
    uint32_t a = 0, b = 0;
    int64_t i = 0, k = 0;
    for (;;) {
        while (a < na && i == ours->results[a]->count)
            a++, i = 0;
        while (b < nb && k == theirs->results[b]->count)
            b++, k = 0;
        if (a == na || b == nb)
            return a == na && b == nb;
        if (!equal_element(x, (ExprId)TENSOR_AT(ours->results[a], int64_t)[i++],
                           (ExprId)TENSOR_AT(theirs->results[b], int64_t)[k++], true))
            return false;
    }
}

static TorchSame compare_results(const Exprs *x, const Side *ours, const Side *theirs)
{
    if (equal_all(x, ours, theirs, false))
        return TORCH_ARRANGED;
    if (equal_all(x, ours, theirs, true) || equal_in_a_row(x, ours, theirs))
        return TORCH_TYPED;
    return equal_among(x, ours, theirs) ? TORCH_PART : TORCH_DIFFERENT;
}

/* --- all ---------------------------------------------------------------------------------- */

static bool try_pairs(Arena *arena, const TorchTask *ours, const TorchTask *theirs,
                      const TorchSameHow *how, Pairing pairing, TorchSameAnswer *answer)
{
    Side a = side_of(arena, ours), b = side_of(arena, theirs);
    Exprs *x = exprs_new(arena);
    uint32_t number = 0;
    bool pinned = false, assumed = false;
    if (pairing == PAIR_BY_NAME)
        pair_up(&a, &b, PAIR_BY_NAME, &number);
    pair_up(&a, &b, pairing == PAIR_BY_NAME ? PAIR_BY_ORDER : pairing, &number);
    if (pin_given(arena, &a, how->seed, &number, &pinned) &&
        pin_given(arena, &b, how->seed, &number, &pinned) && agree_pins(&a, &b) &&
        assume(x, &b, how->budget, &assumed, &answer->too_large) &&
        assume(x, &a, how->budget, &assumed, &answer->too_large)) {
        if (unroll_graph(x, ours->graph, a.leaves, how->budget, a.results) &&
            unroll_graph(x, theirs->graph, b.leaves, how->budget, b.results))
            answer->same = compare_results(x, &a, &b);
        else
            answer->too_large = true;
    }
    side_free(&a);
    side_free(&b);
    exprs_free(x);
    answer->by_element = answer->same != TORCH_DIFFERENT;
    answer->at_values = answer->by_element && (pinned || assumed);
    return answer->by_element;
}

void same_by_element(Arena *arena, const TorchTask *ours, const TorchTask *theirs,
                     const TorchSameHow *how, TorchSameAnswer *answer)
{
    if (!ours->graph->source || !theirs->graph->source)
        return;
    for (Pairing p = PAIR_BY_NAME; p < PAIRINGS && !answer->too_large; p++) {
        if (try_pairs(arena, ours, theirs, how, p, answer))
            return;
    }
}
