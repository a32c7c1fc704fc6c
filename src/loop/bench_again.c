/* The case `again`. In: a candidate that was right in the cases before. Out: its first case once more, on inputs that its own
 * text decides: their seed, and among them what no draw contains (graph/strew.h).
 *
 * Not every task takes every kind for every input: the logarithm of a zero is none. So kinds that are too
 * much for all inputs are tried for each of them, and what a task took is tried first for the next candidate. */
#include "loop/bench_judge_int.h"

#include "base/hash.h"
#include <math.h>

uint64_t text_seed(const EvalCandidate *c, uint64_t seed)
{
    for (uint32_t i = 0; i < c->texts.len; i++)
        seed = seed * UINT64_C(0x9e3779b97f4a7c15) ^
               hash64(c->texts.at[i].text.at, c->texts.at[i].text.len);
    return seed >> 2; /* as a database holds it */
}

/* The suite, or the user, says what the inputs are. */
static bool was_asked(const JudgeSpec *spec)
{
    return spec->own_sizes || spec->only > 0 || spec->rule != RULE_ACRAFT;
}

/* Numbers of task and text. */
static void name_numbers(Judging *j, const Graph *graph, Strew *strew)
{
    enum { MOST = 256, OF_TASK = 64 };
    double *numbers = arena_array(j->arena, double, MOST);
    uint32_t n = graph_numbers(graph, numbers, OF_TASK);
    for (uint32_t i = 0; i < j->judged->candidate.texts.len; i++)
        n = text_numbers(j->judged->candidate.texts.at[i].text, numbers, n, MOST);
    strew->numbers = numbers;
    strew->number_count = n;
}

static bool takes(Judging *j, CaseSpec *c, const Strew *strew)
{
    c->strew = *strew;
    const CaseReady *ready = case_ready(j->cache, j->spec, j->task, c);
    if (ready->status == VERDICT_OK)
        return true;
    case_forget(j->cache, ready);
    return false;
}

/* Numbers far from others are kept apart: next to them small errors are none; so is what is no number. */
enum {
    FAR_KINDS = STREW_BIT(FAR) | STREW_BIT(FARTHER) | STREW_BIT(BEYOND),
    INFINITE_KINDS = STREW_BIT(ABOVE) | STREW_BIT(BELOW) | STREW_BIT(TINY) | STREW_BIT(ZERO) |
                     STREW_BIT(ALL_ABOVE) | STREW_BIT(ALL_BELOW),
    SPECIAL_KINDS = INFINITE_KINDS | STREW_BIT(NAN) | STREW_BIT(MINUS) | STREW_BIT(HUGE),
    NEAR_KINDS = (1u << STREW_KINDS) - 1 - FAR_KINDS - SPECIAL_KINDS - STREW_BIT(EDGES)
};

/* Kind after kind, for all inputs or, where that is too much, for those that bear it. */
static void find_kinds(Judging *j, CaseSpec *c, Strew *strew, unsigned kinds, uint32_t inputs)
{
    enum { MOST_INPUTS = 8 };
    for (int k = 0; k < STREW_KINDS; k++) {
        Strew more = *strew;
        if (!(kinds >> k & 1))
            continue;
        more.inputs[k] = ~UINT64_C(0);
        if (takes(j, c, &more)) {
            *strew = more;
            continue;
        }
        for (uint32_t i = 0; inputs > 1 && i < inputs && i < MOST_INPUTS; i++) {
            more = *strew;
            more.inputs[k] |= UINT64_C(1) << i;
            if (takes(j, c, &more))
                *strew = more;
        }
    }
}

static void strew_inputs(Judging *j, CaseSpec *c, const Graph *graph)
{
    const Strew *known = case_strew_known(j->cache, j->task);
    Strew strew = known ? *known : strew_all(NEAR_KINDS);
    uint32_t inputs = graph->inputs.len; /* the graph may go when other cases come */
    name_numbers(j, graph, &strew);
    if (!takes(j, c, &strew)) {
        for (int k = 0; k < STREW_KINDS; k++)
            strew.inputs[k] = 0;
        find_kinds(j, c, &strew, NEAR_KINDS, inputs);
    }
    case_strew_keep(j->cache, j->task, &strew);
    c->strew = strew_any(&strew) ? strew : (Strew){0};
}

static const int64_t most_again = INT64_C(256) << 20;

void judge_again(Judging *j, const CaseSpec *first)
{
    const CaseReady *ready = case_ready(j->cache, j->spec, j->task, first);
    Probe probe = ready->ref.probe;
    CaseSpec c = *first;
    if (ready->bytes > most_again)
        return;
    c.name = "again";
    c.seed = text_seed(&j->judged->candidate, first->seed + 1);
    c.probe = &probe;
    if (!was_asked(j->spec) && ready->ref.steady) {
        strew_inputs(j, &c, ready->ref.graph);
        j->strew = c.strew;
    }
    judge_case(j, &c);
    case_forget(j->cache, case_ready(j->cache, j->spec, j->task, &c));
}

static void judge_once_more(Judging *j, CaseSpec c, const char *name, const Strew *strew)
{
    uint32_t before = j->done.len;
    c.name = str_format(j->arena, "%s-%s", c.name, name);
    c.strew = *strew;
    if (j->judged->status != VERDICT_OK || !strew_any(strew))
        return;
    const CaseReady *ready = case_ready(j->cache, j->spec, j->task, &c);
    if (ready->status == VERDICT_OK)
        judge_case(j, &c);
    case_forget(j->cache, case_ready(j->cache, j->spec, j->task, &c));
    if (j->done.len > before) /* its sizes stand there already */
        j->done.len = j->seen.len = before;
}

void judge_strewn(Judging *j, CaseSpec c)
{
    enum { MOST_FAR = 12 << 20 };
    int64_t bytes = case_ready(j->cache, j->spec, j->task, &c)->bytes;
    judge_once_more(j, c, "again", &j->strew);
    if (bytes <= MOST_FAR)
        judge_once_more(j, c, "far", &j->far);
}

/* One input after the other: where all are small at once, none is the larger one. */
void judge_edges(Judging *j, const CaseSpec *first)
{
    enum { MOST_EDGES = 4, MOST_BYTES = 16 << 20 };
    const CaseReady *ready = case_ready(j->cache, j->spec, j->task, first);
    Probe probe = ready->ref.probe;
    CaseSpec c = *first;
    if (was_asked(j->spec) || !ready->ref.steady || ready->bytes > MOST_BYTES)
        return;
    uint32_t inputs = ready->ref.graph->inputs.len;
    c.seed = text_seed(&j->judged->candidate, first->seed + 7);
    c.probe = &probe;
    for (uint32_t i = 0; i < inputs && i < MOST_EDGES; i++) {
        Strew strew = {0};
        strew.inputs[STREW_EDGES] = UINT64_C(1) << i;
        judge_once_more(j, c, str_format(j->arena, "edges%u", i), &strew);
    }
}

static bool names_far(const Strew *strew)
{
    for (uint32_t i = 0; i < strew->number_count; i++)
        if (fabs(strew->numbers[i]) > STREW_NEAR && fabs(strew->numbers[i]) <= STREW_MOST)
            return true;
    return false;
}

void judge_far(Judging *j, const CaseSpec *first)
{
    const CaseReady *ready = case_ready(j->cache, j->spec, j->task, first);
    Probe probe = ready->ref.probe;
    Strew strew = strew_all(FAR_KINDS);
    CaseSpec c = *first;
    uint32_t inputs = ready->ref.graph ? ready->ref.graph->inputs.len : 0;
    if (was_asked(j->spec) || !ready->ref.steady || ready->bytes > most_again)
        return;
    name_numbers(j, ready->ref.graph, &strew);
    c.name = "far";
    c.seed = text_seed(&j->judged->candidate, first->seed + 2);
    c.probe = &probe;
    if (!names_far(&strew))
        return;
    if (!takes(j, &c, &strew)) {
        for (int k = 0; k < STREW_KINDS; k++)
            strew.inputs[k] = 0;
        find_kinds(j, &c, &strew, FAR_KINDS, inputs);
    }
    if (!strew_any(&strew))
        return;
    j->far = c.strew = strew;
    judge_case(j, &c);
    case_forget(j->cache, case_ready(j->cache, j->spec, j->task, &c));
}

/* Infinities and zeros first, by themselves: what they turn into no number is left out. */
static void find_special(Judging *j, CaseSpec *c, Strew *strew, uint32_t inputs)
{
    find_kinds(j, c, strew, INFINITE_KINDS, inputs);
    find_kinds(j, c, strew, STREW_BIT(NAN) | STREW_BIT(HUGE), inputs);
}

void judge_special(Judging *j, const CaseSpec *first)
{
    const CaseReady *ready = case_ready(j->cache, j->spec, j->task, first);
    Probe probe = ready->ref.probe;
    Strew strew = {0};
    CaseSpec c = *first;
    if (was_asked(j->spec) || !ready->ref.steady || ready->bytes > most_again)
        return;
    uint32_t inputs = ready->ref.graph->inputs.len;
    c.name = "special";
    c.seed = text_seed(&j->judged->candidate, first->seed + 6);
    c.probe = &probe;
    find_special(j, &c, &strew, inputs);
    if (!strew_any(&strew) || !takes(j, &c, &strew))
        return;
    judge_case(j, &c);
    case_forget(j->cache, case_ready(j->cache, j->spec, j->task, &c));
}

/* Some input has numbers above 0 and none below. */
static bool any_positive(const EvalReference *ref)
{
    bool any = false;
    for (uint32_t i = 0; i < ref->in.n_inputs && !any; i++) {
        const Tensor *t = ref->in.inputs[i];
        bool below = false, part = false;
        for (int64_t k = 0; dtype_is_float(t->dtype) && k < t->count; k++) {
            double x = tensor_get(t, k);
            below = below || x < 0;
            part = part || x != floor(x);
        }
        any = part && !below;
    }
    return any;
}

void judge_minus(Judging *j, const CaseSpec *first)
{
    const CaseReady *ready = case_ready(j->cache, j->spec, j->task, first);
    Probe probe = ready->ref.probe;
    Strew strew = {0};
    CaseSpec c = *first;
    if (was_asked(j->spec) || !ready->ref.steady || ready->bytes > most_again ||
        !any_positive(&ready->ref))
        return;
    uint32_t inputs = ready->ref.graph->inputs.len;
    c.name = "minus";
    c.seed = text_seed(&j->judged->candidate, first->seed + 8);
    c.probe = &probe;
    find_kinds(j, &c, &strew, STREW_BIT(MINUS), inputs);
    if (!strew_any(&strew) || !takes(j, &c, &strew))
        return;
    judge_case(j, &c);
    case_forget(j->cache, case_ready(j->cache, j->spec, j->task, &c));
}
