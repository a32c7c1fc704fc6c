/* Sizes between small and full. In: a task at full size. Out: sizes with inner axes as they are there and
 * fewer of the outer ones, so that what a kernel does for a row or a tile is what it does at full size.
 *
 * The constants of the file (knobs) are halved one after the other, a given one first, and that one a given
 * number of times at most, then the others in the order of the file, each down to two, until all values fit. */
#include "loop/bench_judge_int.h"

static bool add_bytes(const Graph *graph, const ValueId *ids, uint32_t n, int64_t *bytes)
{
    for (uint32_t i = 0; i < n; i++) {
        const Value *v = graph_value(graph, ids[i]);
        int64_t one;
        if (!shape_bytes(v->shape, v->dtype, &one) || __builtin_add_overflow(*bytes, one, bytes))
            return false;
    }
    return true;
}

bool sizes_bytes(const Graph *graph, int64_t *bytes)
{
    *bytes = 0;
    return add_bytes(graph, graph->inputs.at, graph->inputs.len, bytes) &&
           add_bytes(graph, graph->params.at, graph->params.len, bytes) &&
           add_bytes(graph, graph->outputs.at, graph->outputs.len, bytes);
}

bool sizes_with(const JudgeTask *task, const Graph *full, const CaseSpec *c, int64_t *bytes)
{
    Arena arena = {0};
    Diag quiet = diag_make(&arena, task->path, task->source);
    TorchOptions options = {.seed = c->seed, .sets = c->sets, .n_sets = c->n_sets};
    TorchTask *read = torch_read(&arena, task->path, task->source, &options, &quiet);
    bool ok = read && read->in_range && !graph_any_empty(read->graph) &&
              torch_same_operator(full, read->graph) && sizes_bytes(read->graph, bytes);
    arena_drop(&arena);
    return ok;
}

static int64_t halved(int64_t value) { return value % 2 ? value / 2 + 1 : value / 2; }

typedef struct Shrinking {
    const JudgeTask *task;
    const Graph *full;
    TorchSet *sets;
    CaseSpec *c;
    int64_t now, want;
} Shrinking;

/* Halves the knob, with all of its value where it does not go alone. False: it did not help. */
static bool shrink_one(Shrinking *s, uint32_t knob, bool equals)
{
    enum { LEAST = 2 };
    int64_t value = s->sets[knob].value, bytes;
    if (halved(value) < LEAST)
        return false;
    for (uint32_t i = 0; i < s->c->n_sets; i++)
        if (i == knob || (equals && s->sets[i].value == value))
            s->sets[i].value = halved(value);
    if (sizes_with(s->task, s->full, s->c, &bytes) && bytes < s->now) {
        s->now = bytes;
        return true;
    }
    for (uint32_t i = 0; i < s->c->n_sets; i++)
        if (i == knob || (equals && s->sets[i].value == halved(value)))
            s->sets[i].value = value;
    return false;
}

static void shrink_knob(Shrinking *s, uint32_t knob, uint32_t most)
{
    while (most-- > 0 && s->now > s->want &&
           (shrink_one(s, knob, false) || shrink_one(s, knob, true)))
        ;
}

enum { ANY_NUMBER = 64, MOST_HALVINGS = 10 };

uint32_t sizes_variants(const TorchTask *full)
{
    uint32_t n = full->knobs.len;
    return n > 1 ? n * (1 + MOST_HALVINGS) : n;
}

bool sizes_within(Arena *arena, const JudgeTask *task, const TorchTask *full, int64_t bytes,
                  uint32_t variant, CaseSpec *c)
{
    uint32_t n = full->knobs.len, first = n ? variant % n : 0;
    uint32_t halvings = n && variant / n ? variant / n : ANY_NUMBER;
    Shrinking s = {.task = task,
                   .full = full->graph,
                   .sets = arena_array(arena, TorchSet, n + 1),
                   .c = c,
                   .want = bytes};
    *c = (CaseSpec){
        .name = "like-full", .scale = SCALE_FULL, .listed = -1, .sets = s.sets, .n_sets = n};
    for (uint32_t i = 0; i < n; i++)
        s.sets[i] = (TorchSet){full->knobs.at[i].name, full->knobs.at[i].value};
    if (variant >= sizes_variants(full) || !sizes_with(task, full->graph, c, &s.now))
        return false;
    shrink_knob(&s, first, halvings);
    for (uint32_t i = 0; i < n; i++)
        if (i != first)
            shrink_knob(&s, i, ANY_NUMBER);
    return s.now <= bytes;
}
