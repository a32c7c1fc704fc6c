/* Sizes at which a candidate's Python model compares otherwise than in any case. In: sizes of the cases so far. Out: sizes
 * worth a case.
 *
 *     the model is read, not run, at the sizes of a case ──▶ what each comparison lacks to be equal (eval/walk.c)
 *     one size is moved until nothing lacks: by what lacks, then along the slope between two sizes
 *
 * So `n ** 2 == 17994564`, `n // 7 == 606` and `n % 97 == 31` are judged where they hold. */
#include "loop/bench_judge_int.h"

#include <math.h>

enum { STEPS = 14, MOST_WALKS = 400, MOST_PLACES = 64 };
static const double most_size = 16777216;

/* How a comparison lay in the cases so far. */
enum { LESS = 1, EQUAL = 2, MORE = 4 };
typedef struct Place {
    uint64_t place;
    unsigned outcomes;
} Place;

typedef struct ModelWalk {
    Judging *j;
    uint32_t knobs, walks;
    VEC(Place) places;
} ModelWalk;

static unsigned outcome(double gap) { return gap > 0 ? LESS : gap < 0 ? MORE : EQUAL; }

static EvalComparisons walk(ModelWalk *m, const TorchSet *base, uint32_t knob, int64_t value)
{
    Arena scratch = {0};
    EvalComparisons list = {0}, kept = {0};
    TorchSet *sets = arena_array(&scratch, TorchSet, m->knobs + 1);
    for (uint32_t i = 0; i < m->knobs; i++)
        sets[i] = (TorchSet){base[i].name, i == knob ? value : base[i].value};
    TorchOptions options = {.seed = m->j->spec->seed, .sets = sets, .n_sets = m->knobs};
    m->walks++;
    eval_model_walk(&scratch, &m->j->judged->candidate, m->j->task->path, m->j->task->source,
                    &options, &list);
    for (uint32_t i = 0; i < list.len; i++)
        vec_push(m->j->arena, &kept, list.at[i]);
    arena_drop(&scratch);
    return kept;
}

static Place *find_place(ModelWalk *m, uint64_t place)
{
    for (uint32_t i = 0; i < m->places.len; i++)
        if (m->places.at[i].place == place)
            return &m->places.at[i];
    if (m->places.len == MOST_PLACES)
        return NULL;
    vec_push(m->j->arena, &m->places, ((Place){place, 0}));
    return &vec_last(&m->places);
}

/* What the comparison lacks at this size; NaN: it is not reached there. */
static double gap_at(ModelWalk *m, const TorchSet *base, uint32_t knob, double size, uint64_t place)
{
    if (!(size >= 1 && size <= most_size) || m->walks >= MOST_WALKS)
        return (double)NAN;
    EvalComparisons list = walk(m, base, knob, (int64_t)size);
    for (uint32_t i = 0; i < list.len; i++)
        if (list.at[i].place == place)
            return list.at[i].gap;
    return (double)NAN;
}

/* A second size at which the gap is another one. */
static double other_size(ModelWalk *m, const TorchSet *base, uint32_t knob, const EvalCompared *c,
                         double *gap)
{
    double at = (double)base[knob].value, size = at + c->gap;
    const double tried[] = {fabs(c->gap) < most_size ? size : at, at + 1, rint(1.5 * at) + 1,
                            8 * at};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        *gap = gap_at(m, base, knob, tried[i], c->place);
        if (!isnan(*gap) && *gap != c->gap && tried[i] != at)
            return tried[i];
    }
    return 0;
}

static void find_root(ModelWalk *m, const TorchSet *base, uint32_t knob, const EvalCompared *c,
                      WishSize *wish, void *context)
{
    double before = (double)base[knob].value, gap_before = c->gap, gap;
    double at = other_size(m, base, knob, c, &gap);
    for (int step = 0; at > 0 && step < STEPS; step++) {
        if (outcome(gap) != outcome(c->gap))
            wish(context, base, knob, (int64_t)at);
        if (gap == 0 || gap == gap_before)
            return;
        double next = rint(at - gap * (at - before) / (gap - gap_before));
        if (next == at || next == before)
            next = at + (gap > 0 ? 1 : -1) * (gap_before > gap ? 1 : -1);
        before = at;
        gap_before = gap;
        at = next;
        gap = gap_at(m, base, knob, at, c->place);
        if (isnan(gap))
            return;
    }
}

void reach_model(Judging *j, const TorchSet *const *bases, uint32_t n, uint32_t knobs,
                 const bool *fixed, WishSize *wish, void *context)
{
    ModelWalk m = {.j = j, .knobs = knobs};
    EvalComparisons *lists = arena_array(j->arena, EvalComparisons, n + 1);
    for (uint32_t b = 0; b < n; b++) {
        lists[b] = walk(&m, bases[b], 0, bases[b][0].value);
        for (uint32_t i = 0; i < lists[b].len; i++) {
            Place *p = find_place(&m, lists[b].at[i].place);
            if (p)
                p->outcomes |= outcome(lists[b].at[i].gap);
        }
    }
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t i = 0; i < lists[b].len; i++) {
            const EvalCompared *c = &lists[b].at[i];
            Place *p = find_place(&m, c->place);
            if (!p || p->outcomes & EQUAL || !isfinite(c->gap))
                continue;
            for (uint32_t k = 0; k < knobs; k++)
                if (!fixed[k])
                    find_root(&m, bases[b], k, c, wish, context);
        }
}
