/* Indices over their whole range. In: a task with integer inputs that are drawn from a range which a size decides (words of a
 * vocabulary, classes). Out: a case with this size as at full size, or as large as memory allows, and all
 * others small: an index that wraps, or is kept in too few bits, is wrong there. */
#include "loop/bench_judge_int.h"

enum { FEW = 3, MOST_KNOBS = 8 };
static const int64_t most_bytes = INT64_C(64) << 20;

typedef struct Ranged {
    Judging *j;
    const TorchTask *full;
    const TorchTask *small;
    TorchSet *sets; /* of the case */
    uint32_t n;
} Ranged;

/* The widest range of an integer input. */
static int64_t widest(const Graph *g)
{
    int64_t most = 0, lo, hi;
    for (uint32_t i = 0; i < g->inputs.len; i++)
        if (graph_drawn_range(g, i, &lo, &hi) && hi - lo > most)
            most = hi - lo;
    return most;
}

static int64_t range_with(const Ranged *r, int64_t *bytes)
{
    Arena arena = {0};
    const JudgeTask *task = r->j->task;
    Diag quiet = diag_make(&arena, task->path, task->source);
    TorchOptions options = {.seed = r->j->spec->seed, .sets = r->sets, .n_sets = r->n};
    TorchTask *read = torch_read(&arena, task->path, task->source, &options, &quiet);
    bool ok = read && read->in_range && !graph_any_empty(read->graph) &&
              torch_same_operator(r->full->graph, read->graph) && sizes_bytes(read->graph, bytes);
    int64_t range = ok ? widest(read->graph) : 0;
    arena_drop(&arena);
    return range;
}

static bool is_fixed(const TorchKnob *k) { return k->deep || k->original < 8; }

/* Every size but this one as in the first case, or small; this one, and those of its value in the file, as large as
 * it can be. */
static bool widen(Ranged *r, uint32_t knob, bool equals, bool small)
{
    int64_t bytes, original = r->small->knobs.at[knob].original;
    for (int64_t value = original; value > r->small->knobs.at[knob].value; value = value / 4 * 3) {
        for (uint32_t i = 0; i < r->n; i++) {
            const TorchKnob *k = &r->small->knobs.at[i];
            bool with = i == knob || (equals && k->original == original);
            bool less = small && !is_fixed(k) && k->value > FEW;
            r->sets[i] = (TorchSet){k->name, with ? value : less ? FEW : k->value};
        }
        if (range_with(r, &bytes) > widest(r->small->graph) && bytes <= most_bytes)
            return true;
    }
    return false;
}

static bool widen_any(Ranged *r)
{
    for (uint32_t k = 0; k < r->n; k++)
        for (int way = 0; way < 4; way++)
            if (!is_fixed(&r->small->knobs.at[k]) && widen(r, k, way & 2, !(way & 1)))
                return true;
    return false;
}

void judge_indices(Judging *j, const CaseSpec *first)
{
    Diag said = diag_make(j->arena, j->task->path, j->task->source);
    TorchOptions options, own = {.seed = j->spec->seed};
    Ranged r = {.j = j};
    if (j->cases->lines.len || j->spec->own_sizes || first->n_sets)
        return;
    r.small = case_read(j->arena, j->task, first, j->cases, &options, &said);
    r.full = torch_read(j->arena, j->task->path, j->task->source, &own, &said);
    if (!r.small || !r.full || r.small->knobs.len > MOST_KNOBS || !widest(r.small->graph) ||
        widest(r.full->graph) <= widest(r.small->graph))
        return;
    r.n = r.small->knobs.len;
    r.sets = arena_array(j->arena, TorchSet, r.n + 1);
    if (!widen_any(&r))
        return;
    CaseSpec c = {.name = "indices", .scale = SCALE_FULL, .seed = j->spec->seed, .listed = -1};
    c.sets = r.sets;
    c.n_sets = r.n;
    c.strew = strew_all(STREW_BIT(ENDS));
    if (case_ready(j->cache, j->spec, j->task, &c)->status == VERDICT_OK)
        judge_case(j, &c);
}
