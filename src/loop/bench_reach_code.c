/* Sizes at which AscendC text, its host code or its Python model go where they went in no case. In: a candidate that was right in
 * the cases before. Out: further cases, judged with values.
 *
 *     comparisons of the cases so far ──▶ what the first number lacks to be the second (twin/rt/watch_code.h)
 *     integers of the Python model    ──▶ sizes, and remainders with a divisor
 *     the sizes that most of these ask for come first, equals in an order that the text's own seed draws;
 *     three that bring nothing new, or eight that constants ask for, are the last
 *     then the same from the largest case: what was equal at small sizes only may mean something else at large ones
 *
 * A size moved by what lacks makes `n == 7777`, `n % 16 == 5` and `n > 100000` true: each moves with the size. */
#include "base/rng.h"
#include "loop/bench_judge_int.h"

#include <math.h>

enum {
    MOST_RUNS = 24,
    MOST_LARGE_RUNS = 14,
    MOST_RUNS_AFTER = 8,
    MOST_DRY = 3,
    MOST_CONSTANT_DRY = 8,
    MOST_LOOKS = 200
};
enum { MOST_KNOBS = 8, MOST_GAPS = 64, MOST_NUMBERS = 24, CONSTANT_VOTES = 3 };
enum { LARGE_BYTES = 8192 }; /* of a case from which comparisons are sought once more */
static const int64_t most_bytes = INT64_C(32) << 20;

typedef struct Wish {
    const TorchSet *sets;
    uint32_t votes;
    uint64_t order; /* among those of equal votes: no text can foresee it */
} Wish;

typedef struct Search {
    Judging *j;
    const Graph *full;
    VEC(const TorchSet *) bases; /* sizes of the cases that were judged */
    VEC(struct TwinSeen *) seen; /* where the code went in them */
    VEC(int64_t) bytes;          /* of these cases */
    VEC(const TorchSet *) tried; /* sizes that were tried before */
    VEC(uint64_t) handled;       /* comparisons that chose sizes in this turn */
    VEC(Wish) wishes;            /* of this turn */
    bool large;                  /* comparisons are sought from the largest case */
    uint32_t knobs;
    bool *fixed;
} Search;

static bool same_sets(const TorchSet *a, const TorchSet *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].value != b[i].value)
            return false;
    return true;
}

static CaseSpec with_sets(const Search *s, const TorchSet *sets)
{
    return (CaseSpec){.name = str_format(s->j->arena, "reach%u", s->j->done.len),
                      .scale = SCALE_FULL,
                      .listed = -1,
                      .seed = text_seed(&s->j->judged->candidate, s->j->spec->seed + 3),
                      .sets = sets,
                      .n_sets = s->knobs};
}

static void wish(Search *s, const TorchSet *base, uint32_t knob, int64_t value, uint32_t votes)
{
    TorchSet *sets = arena_array(s->j->arena, TorchSet, s->knobs + 1);
    if (value < 1 || value == base[knob].value || value > (int64_t)1 << 24)
        return;
    for (uint32_t i = 0; i < s->knobs; i++)
        sets[i] = (TorchSet){base[i].name, i == knob ? value : base[i].value};
    for (uint32_t i = 0; i < s->bases.len; i++)
        if (same_sets(s->bases.at[i], sets, s->knobs))
            return;
    for (uint32_t i = 0; i < s->tried.len; i++)
        if (same_sets(s->tried.at[i], sets, s->knobs))
            return;
    for (uint32_t i = 0; i < s->wishes.len; i++)
        if (same_sets(s->wishes.at[i].sets, sets, s->knobs)) {
            s->wishes.at[i].votes += votes;
            return;
        }
    uint64_t order = rng_u64(text_seed(&s->j->judged->candidate, 5), knob, (uint64_t)value);
    vec_push(s->j->arena, &s->wishes, ((Wish){sets, votes, order}));
}

/* ---- what asks for sizes ---- */

static bool is_handled(Search *s, uint64_t place)
{
    for (uint32_t i = 0; i < s->handled.len; i++)
        if (s->handled.at[i] == place)
            return true;
    vec_push(s->j->arena, &s->handled, place);
    return false;
}

/* Where the comparison is with a constant its other number moves; else it may be either. */
static void wish_gap(Search *s, const TorchSet *base, const EvalGap *g, uint32_t votes)
{
    int64_t step = g->gap > 0 ? 1 : -1;
    for (uint32_t k = 0; k < s->knobs; k++) {
        if (s->fixed[k])
            continue;
        wish(s, base, k, base[k].value + g->gap, votes);
        if (g->beyond)
            wish(s, base, k, base[k].value + g->gap + step, votes);
        if (!g->constant)
            wish(s, base, k, base[k].value - g->gap, votes);
    }
}

/* Each comparison from the smallest case that has it. */
static void wish_gaps(Search *s)
{
    EvalGap gaps[MOST_GAPS];
    EvalRuns runs = {s->seen.at, s->seen.len, s->seen.at, s->seen.len};
    bool *done = arena_array(s->j->arena, bool, s->bases.len + 1);
    for (uint32_t turn = 0; turn < s->bases.len; turn++) {
        uint32_t of = s->bases.len;
        for (uint32_t i = 0; i < s->bases.len; i++)
            if (!done[i] && (of == s->bases.len || s->bytes.at[i] < s->bytes.at[of]))
                of = i;
        done[of] = true;
        uint32_t n = eval_seen_gaps(s->seen.at[of], &runs, gaps, MOST_GAPS);
        for (uint32_t i = 0; i < n; i++)
            if (!is_handled(s, gaps[i].place))
                wish_gap(s, s->bases.at[of], &gaps[i], gaps[i].constant ? CONSTANT_VOTES : 1);
    }
}

/* What is compared may go by a part, or a multiple, of a size: two cases that differ in nothing else tell how it goes,
 * and so where both numbers meet. */
static void wish_where_they_meet(Search *s, uint32_t of, const EvalGap *g, uint32_t other,
                                 const EvalGap *h)
{
    uint32_t knob = s->knobs;
    for (uint32_t k = 0; k < s->knobs; k++)
        if (s->bases.at[of][k].value != s->bases.at[other][k].value) {
            if (knob < s->knobs)
                return;
            knob = k;
        }
    if (knob == s->knobs || s->fixed[knob] || g->gap == h->gap)
        return;
    int64_t a = s->bases.at[of][knob].value, b = s->bases.at[other][knob].value;
    double per = (double)(h->gap - g->gap) / (double)(b - a);
    double at = (double)a - (double)g->gap / per;
    if (fabs(per) == 1 || at < 1 || at > (double)((int64_t)1 << 24))
        return;
    uint32_t votes = s->tried.len % 2 ? 3 * CONSTANT_VOTES
                                      : CONSTANT_VOTES; /* by turns with gaps */
    wish(s, s->bases.at[of], knob, (int64_t)ceil(at), votes + 1);
    wish(s, s->bases.at[of], knob, (int64_t)ceil(at + 1 / fabs(per)), votes);
}

/* With the smallest case that has the comparison: what is far apart tells the slope best. */
static void wish_by_slope(Search *s, uint32_t of, const EvalGap *g, const EvalRuns *runs)
{
    EvalGap others[MOST_GAPS], found = {0};
    uint32_t least = of;
    for (uint32_t i = 0; i < s->bases.len; i++) {
        uint32_t n = s->bytes.at[i] < s->bytes.at[least]
                         ? eval_seen_gaps(s->seen.at[i], runs, others, MOST_GAPS)
                         : 0;
        for (uint32_t k = 0; k < n; k++)
            if (others[k].place == g->place) {
                found = others[k];
                least = i;
            }
    }
    if (least != of)
        wish_where_they_meet(s, of, g, least, &found);
}

/* Each comparison from the largest case, where it was equal in none of its size: two conditions may have to hold at
 * once, of which one is that the size is large. */
static void wish_gaps_of_large(Search *s)
{
    EvalGap gaps[MOST_GAPS];
    VEC(struct TwinSeen *) had = {0};
    uint32_t of = 0;
    for (uint32_t i = 1; i < s->bases.len; i++)
        of = s->bytes.at[i] > s->bytes.at[of] ? i : of;
    if (s->bytes.at[of] < LARGE_BYTES)
        return;
    for (uint32_t i = 0; i < s->bases.len; i++)
        if (s->bytes.at[i] > s->bytes.at[of] / 4)
            vec_push(s->j->arena, &had, s->seen.at[i]);
    EvalRuns runs = {s->seen.at, s->seen.len, had.at, had.len};
    uint32_t n = eval_seen_gaps(s->seen.at[of], &runs, gaps, MOST_GAPS);
    for (uint32_t i = 0; i < n; i++) {
        wish_gap(s, s->bases.at[of], &gaps[i], gaps[i].constant ? 2 * CONSTANT_VOTES : 1);
        if (gaps[i].constant)
            wish_by_slope(s, of, &gaps[i], &runs);
    }
}

static bool is_size(double x) { return x >= 2 && x <= 1e6 && x == floor(x); }

/* A model in Python is read, not run: what it compares is among its integers. */
static void wish_numbers(Search *s, Str python)
{
    enum { VOTES = 4 };
    double numbers[MOST_NUMBERS];
    uint32_t n = text_numbers(python, numbers, 0, MOST_NUMBERS);
    for (uint32_t k = 0; k < s->knobs; k++)
        for (uint32_t i = 0; i < n && !s->fixed[k]; i++) {
            if (!is_size(numbers[i]))
                continue;
            wish(s, s->bases.at[0], k, (int64_t)numbers[i], VOTES + 1);
            wish(s, s->bases.at[0], k, (int64_t)numbers[i] + 1, VOTES);
            for (uint32_t r = 0; r < n; r++)
                if (numbers[r] > 0 && numbers[r] < numbers[i])
                    wish(s, s->bases.at[0], k, (int64_t)(numbers[i] + numbers[r]), VOTES);
        }
}

/* What the model compares comes before all else: nothing but a size decides it. */
static void wish_of_model(void *context, const TorchSet *base, uint32_t knob, int64_t value)
{
    enum { VOTES = 12 };
    wish(context, base, knob, value, VOTES);
}

/* ---- the whole ---- */

static bool add_base(Search *s, uint32_t of)
{
    const CaseSpec *c = &s->j->done.at[of];
    Diag said = diag_make(s->j->arena, s->j->task->path, s->j->task->source);
    TorchOptions options;
    TorchTask *read = case_read(s->j->arena, s->j->task, c, s->j->cases, &options, &said);
    if (!read || (s->bases.len && read->knobs.len != s->knobs))
        return false;
    TorchSet *sets = arena_array(s->j->arena, TorchSet, read->knobs.len + 1);
    for (uint32_t i = 0; i < read->knobs.len; i++)
        sets[i] = (TorchSet){read->knobs.at[i].name, read->knobs.at[i].value};
    if (!s->bases.len) {
        s->knobs = read->knobs.len;
        s->fixed = arena_array(s->j->arena, bool, s->knobs + 1);
        for (uint32_t i = 0; i < s->knobs; i++)
            s->fixed[i] = read->knobs.at[i].deep || read->knobs.at[i].original < 8;
    }
    vec_push(s->j->arena, &s->bases, (const TorchSet *)sets);
    vec_push(s->j->arena, &s->seen, s->j->seen.at[of]);
    int64_t bytes = 0;
    vec_push(s->j->arena, &s->bytes, sizes_bytes(read->graph, &bytes) ? bytes : INT64_MAX);
    return true;
}

static const Wish *best_wish(const Search *s)
{
    const Wish *best = NULL;
    for (uint32_t i = 0; i < s->wishes.len; i++) {
        const Wish *w = &s->wishes.at[i];
        if (!best || w->votes > best->votes || (w->votes == best->votes && w->order < best->order))
            best = w;
    }
    return best;
}

/* Judges the size; false: it is none. `fresh` says whether the code went anywhere new. */
static bool judge_wish(Search *s, const Wish *w, bool *fresh)
{
    CaseSpec c = with_sets(s, w->sets);
    int64_t bytes;
    uint32_t before = s->j->done.len;
    vec_push(s->j->arena, &s->tried, w->sets);
    if (!sizes_with(s->j->task, s->full, &c, &bytes) || bytes > most_bytes ||
        case_ready(s->j->cache, s->j->spec, s->j->task, &c)->status != VERDICT_OK)
        return false;
    judge_case(s->j, &c);
    case_forget(s->j->cache, case_ready(s->j->cache, s->j->spec, s->j->task, &c));
    *fresh = s->j->done.len > before &&
             eval_seen_new(s->j->seen.at[before], s->seen.at, s->seen.len) > 0;
    if (*fresh)
        judge_strewn(s->j, c);
    if (s->j->done.len > before)
        add_base(s, before);
    return true;
}

/* What is asked for now: a comparison that has had all its outcomes asks for nothing more. */
static void make_wishes(Search *s)
{
    const EvalText *model = eval_candidate_model(&s->j->judged->candidate);
    s->wishes.len = s->handled.len = 0;
    if (s->large)
        wish_gaps_of_large(s);
    else
        wish_gaps(s);
    if (model && !s->large) {
        wish_numbers(s, model->text);
        reach_model(s->j, s->bases.at, s->bases.len, s->knobs, s->fixed, wish_of_model, s);
    }
}

/* Judges wished sizes until too many in a row reach nothing new. True: the runs were used up
 * while the last one still reached something new. */
static bool judge_wishes(Search *s, uint32_t most)
{
    uint32_t runs = 0, dry = 0, looks = 0;
    bool fresh = false, is_constant = true;
    while (runs < most && (s->large || dry < (is_constant ? MOST_CONSTANT_DRY : MOST_DRY)) &&
           looks++ < MOST_LOOKS && s->j->judged->status == VERDICT_OK) {
        make_wishes(s);
        const Wish *w = best_wish(s);
        fresh = false;
        if (!w)
            return false;
        is_constant = w->votes >= CONSTANT_VOTES;
        if (!judge_wish(s, w, &fresh))
            continue;
        runs++;
        dry = fresh ? 0 : dry + 1;
    }
    return runs == most && fresh;
}

/* ---- sizes that nothing asks for ---- */

/* All sizes one odd square number: where two sizes are equal, or their product is a square, no comparison with a
 * number tells it. */
static void judge_coincidence(Search *s)
{
    static const int64_t squares[] = {961, 121, 25};
    static const int64_t most = (int64_t)1 << 20;
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++) {
        TorchSet *sets = arena_array(s->j->arena, TorchSet, s->knobs + 1);
        int64_t bytes;
        bool fresh;
        for (uint32_t k = 0; k < s->knobs; k++)
            sets[k] = (TorchSet){s->bases.at[0][k].name,
                                 s->fixed[k] ? s->bases.at[0][k].value : squares[i]};
        CaseSpec c = with_sets(s, sets);
        Wish w = {.sets = sets};
        if (sizes_with(s->j->task, s->full, &c, &bytes) && bytes <= most &&
            judge_wish(s, &w, &fresh))
            return;
    }
}

/* A tiling function is cheap to call: it is called at many sizes, and those where it goes where it went nowhere
 * so far are judged. */
static bool judge_scanned(Search *s)
{
    enum { MOST = 16, MOST_JUDGED = 8, ODD = 1 };
    EvalSize sizes[MOST];
    struct TwinScan *scan = eval_scan_make(s->j->arena, s->seen.at, s->seen.len);
    uint32_t of = s->bases.len > ODD ? ODD : 0, judged = 0;
    CaseSpec c = with_sets(s, s->bases.at[of]);
    judge_scan(s->j, &c, scan);
    uint32_t n = eval_scan_sizes(scan, sizes, MOST);
    bool any = false;
    for (uint32_t i = 0; i < n && judged < MOST_JUDGED && s->j->judged->status == VERDICT_OK; i++)
        for (uint32_t k = 0; k < s->knobs; k++) {
            bool fresh = false;
            s->wishes.len = 0;
            if (!s->fixed[k] && s->bases.at[of][k].value == sizes[i].from)
                wish(s, s->bases.at[of], k, sizes[i].to, 1);
            const Wish *w = best_wish(s);
            judged += w && judge_wish(s, w, &fresh);
            any |= fresh;
        }
    return any;
}

static void judge_all_wishes(Search *s)
{
    judge_coincidence(s);
    if (s->j->judged->status != VERDICT_OK)
        return;
    bool more = judge_wishes(s, MOST_RUNS);
    s->large = true;
    if (s->j->judged->status == VERDICT_OK && !more)
        judge_wishes(s, MOST_LARGE_RUNS);
    if (more && s->j->judged->status == VERDICT_OK)
        judge_leave_unseen(s->j, "its code goes by more sizes than a search for cases can follow");
    if (s->j->judged->status != VERDICT_OK || more ||
        !eval_form_tiles(s->j->judged->candidate.form))
        return;
    s->large = false;
    if (judge_scanned(s) && s->j->judged->status == VERDICT_OK)
        judge_wishes(s, MOST_RUNS_AFTER); /* what is compared there alone */
}

void judge_reach_code(Judging *j)
{
    Search s = {.j = j};
    TorchOptions own = {.seed = j->spec->seed};
    Diag said = diag_make(j->arena, j->task->path, j->task->source);
    TorchTask *full = torch_read(j->arena, j->task->path, j->task->source, &own, &said);
    if (!full || j->spec->own_sizes || j->spec->only > 0 || j->cases->lines.len)
        return;
    s.full = full->graph;
    for (uint32_t i = 0; i < j->done.len; i++)
        if (!strew_any(&j->done.at[i].strew) || !s.bases.len)
            add_base(&s, i);
    if (!s.bases.len || !s.knobs || s.knobs > MOST_KNOBS)
        return;
    judge_all_wishes(&s);
}
