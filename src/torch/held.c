/* Sizes that numbers of a task follow. In: a model file and what was read from it. Out: marks on the
 * sizes of inputs and parameters for which alone the graph holds.
 *
 *     y = x * (2.0 / x.numel())        the graph has a constant, right for this size of x only
 *
 * Each size of the file is set to another value, alone or with those of the same value, and the file
 * read again: where constants, attributes or operators then differ, the axes that differ are held. */
#include "torch/knob.h"

#include "graph/numbers.h"

enum { MOST_READS = 64 };

typedef struct Holder {
    Arena *arena;
    const char *path;
    const Py *module;
    const TorchOptions *options;
    KnobList knobs;
    Graph *graph;
    uint32_t reads;
} Holder;

static bool same_ranks(const Graph *a, const Graph *b)
{
    bool same = a->inputs.len == b->inputs.len && a->params.len == b->params.len;
    for (uint32_t i = 0; same && i < a->inputs.len; i++)
        same = graph_value(a, a->inputs.at[i])->shape.rank ==
               graph_value(b, b->inputs.at[i])->shape.rank;
    for (uint32_t i = 0; same && i < a->params.len; i++)
        same = graph_value(a, a->params.at[i])->shape.rank ==
               graph_value(b, b->params.at[i])->shape.rank;
    return same;
}

static void hold_axes(Value *v, const Value *other)
{
    for (int a = 0; a < v->shape.rank; a++)
        if (v->shape.dim[a] != other->shape.dim[a])
            v->held_axes |= UINT32_C(1) << a;
}

static void hold_differing(Graph *g, const Graph *other)
{
    for (uint32_t i = 0; i < g->inputs.len; i++)
        hold_axes(&g->values.at[g->inputs.at[i]], graph_value(other, other->inputs.at[i]));
    for (uint32_t i = 0; i < g->params.len; i++)
        hold_axes(&g->values.at[g->params.at[i]], graph_value(other, other->params.at[i]));
}

/* Reads with the sizes in hand. False: the file does not read so, or has other tensors. */
static bool read_other(Holder *h)
{
    Arena trial = {0};
    Diag diag = diag_make(&trial, h->path, (Str){0});
    h->reads++;
    knob_apply(h->arena, &h->knobs);
    TorchTask *task = torch_read_tree(&trial, h->path, h->module, &h->knobs, h->options, &diag);
    bool reads = task && same_ranks(h->graph, task->graph);
    if (reads && !graph_same_numbers(h->graph, task->graph))
        hold_differing(h->graph, task->graph);
    arena_drop(&trial);
    return reads;
}

static bool try_size(Holder *h, uint32_t which, int64_t value, bool equals)
{
    int64_t own = h->knobs.all.at[which].knob.value;
    int64_t *old = arena_array(h->arena, int64_t, h->knobs.all.len + 1);
    bool others = false;
    for (uint32_t i = 0; i < h->knobs.all.len; i++) {
        KnobEntry *e = &h->knobs.all.at[i];
        old[i] = e->knob.value;
        if (i == which || (equals && !e->deep && old[i] == own)) {
            e->knob.value = value;
            others = others || i != which;
        }
    }
    bool reads = (!equals || others) && h->reads < MOST_READS && read_other(h);
    for (uint32_t i = 0; i < h->knobs.all.len; i++)
        h->knobs.all.at[i].knob.value = old[i];
    return reads;
}

void torch_mark_held(Arena *arena, const char *path, Str source, const TorchOptions *options,
                     TorchTask *task)
{
    Diag diag = diag_make(arena, path, source);
    Holder h = {.arena = arena, .path = path, .options = options, .graph = task->graph};
    h.module = py_parse(arena, source, &diag);
    if (!h.module || !knob_list(arena, h.module, options, &h.knobs, &diag))
        return;
    for (uint32_t i = 0; i < h.knobs.all.len; i++) {
        const KnobEntry *e = &h.knobs.all.at[i];
        int64_t own = e->knob.value;
        const int64_t others[] = {own * 2, own / 2, own + 1};
        bool read = e->deep || own < 2 || own > INT64_MAX / 2;
        for (size_t k = 0; k < sizeof others / sizeof *others && !read; k++)
            read = try_size(&h, i, others[k], false) || try_size(&h, i, others[k], true);
    }
}
