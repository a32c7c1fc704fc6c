/* Sizes at which a Craft text decides what it decided in no case. In: a candidate that was right in the cases before. Out:
 * further cases, judged with values.
 *
 *     cases so far ──▶ what their sizes decided, and what lacks for another outcome (ir/decide.h)
 *     sizes        ──▶ each size of each case, moved by what lacks; numbers that the text names; some drawn by it
 *     walked without data; those that decide most that is new are judged, until nothing is new: each on drawn
 *     inputs, and with what no draw contains among them
 *
 * So `cols % 16 == 5` or `rows > 5000` is judged at a size where it holds, whatever the numbers are. */
#include "eval/time.h"

#include "base/rng.h"
#include "loop/bench_judge_int.h"
#include <math.h>

/* Many times what honest programs take: one that needs more is not seen through (`judge_reached`). */
enum { MOST_WALKS = 2000, MOST_CASES = 16, MOST_GAPS = 256, DRAWN = 24, MOST_KNOBS = 8 };
static const int64_t most_bytes = INT64_C(32) << 20;

typedef struct ReachBase {
    const TorchSet *sets;
    IrDecisions *decided;
} ReachBase;

typedef struct Reach {
    Judging *j;
    const EvalTimer *timer;
    const Graph *full;
    VEC(IrDecisions *) seen; /* in the cases so far */
    VEC(ReachBase) bases;    /* sizes to move from: those of the cases, and lines */
    uint32_t knobs, walks;
    bool *fixed;   /* by knob: it is not moved */
    bool too_many; /* the limits ended the search */
} Reach;

typedef struct Reached {
    CaseSpec spec;
    IrDecisions *decided;
    uint32_t fresh;    /* outcomes that no case had */
    uint32_t branches; /* those of conditions among them */
    int64_t bytes;
    bool is_none; /* the task has no right answer at these sizes */
} Reached;
typedef VEC(Reached) Reacheds;

static bool same_sets(const TorchSet *a, const TorchSet *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].value != b[i].value)
            return false;
    return true;
}

/* ---- sizes ---- */

static CaseSpec with_sets(const Reach *r, const TorchSet *sets)
{
    return (CaseSpec){.name = "reach",
                      .scale = SCALE_FULL,
                      .listed = -1,
                      .seed = text_seed(&r->j->judged->candidate, r->j->spec->seed + 3),
                      .sets = sets,
                      .n_sets = r->knobs};
}

/* Bytes of the case; 0: there is none of these sizes. */
static int64_t bytes_of(const Reach *r, const TorchSet *sets)
{
    CaseSpec c = with_sets(r, sets);
    int64_t bytes;
    return sizes_with(r->j->task, r->full, &c, &bytes) ? bytes : 0;
}

/* One size becomes another; together with those of its value where it does not go alone, and with all others small
 * where that is too large. */
static TorchSet *moved(const Reach *r, const TorchSet *base, uint32_t knob, int64_t value,
                       int64_t *bytes)
{
    enum { ALONE, EQUALS, SMALL, WAYS, FEW = 3 };
    TorchSet *sets = arena_array(r->j->arena, TorchSet, r->knobs + 1);
    for (int way = 0; way < WAYS; way++) {
        for (uint32_t i = 0; i < r->knobs; i++) {
            bool with = i == knob || (way == EQUALS && base[i].value == base[knob].value);
            bool small = way == SMALL && !r->fixed[i] && base[i].value > FEW;
            sets[i] = (TorchSet){base[i].name, with ? value : small ? FEW : base[i].value};
        }
        *bytes = bytes_of(r, sets);
        if (*bytes > 0 && *bytes <= most_bytes)
            return sets;
    }
    return NULL;
}

/* ---- walks ---- */

static IrDecisions *walk(Reach *r, const TorchSet *sets, int64_t bytes, Reacheds *list)
{
    Reached one = {.spec = with_sets(r, sets), .bytes = bytes};
    for (uint32_t i = 0; i < list->len; i++)
        if (same_sets(list->at[i].spec.sets, sets, r->knobs))
            return list->at[i].decided;
    r->walks++;
    one.decided = full_decisions(r->j, r->timer, &one.spec);
    if (one.decided)
        vec_push(r->j->arena, list, one);
    return one.decided;
}

static IrDecisions *walk_moved(Reach *r, const TorchSet *base, uint32_t knob, int64_t value,
                               Reacheds *list)
{
    int64_t bytes;
    r->too_many |= r->walks >= MOST_WALKS;
    if (r->too_many || value < 1 || value == base[knob].value)
        return NULL;
    TorchSet *sets = moved(r, base, knob, value, &bytes);
    return sets ? walk(r, sets, bytes, list) : NULL;
}

/* The size at which nothing lacks, by the slope between two; first as if it moved with the size. */
static void walk_root(Reach *r, const ReachBase *base, uint32_t knob, const IrGap *g,
                      Reacheds *list)
{
    enum { STEPS = 10 };
    int64_t at = base->sets[knob].value, next = at + 1;
    double gap = g->gap;
    for (int64_t by = -1; by <= 1; by++)
        if (fabs(gap) < 1e7)
            walk_moved(r, base->sets, knob, at + (int64_t)gap + by, list);
    for (int i = 0; i < STEPS; i++) {
        IrDecisions *there = walk_moved(r, base->sets, knob, next, list);
        double now = there ? ir_decided_gap(there, g) : 0, step = now - gap;
        if (now == 0 || step == 0)
            return;
        double move = rint(-now * (double)(next - at) / step);
        at = next;
        gap = now;
        if (!(fabs(move) >= 1 && fabs(move) < 1e7))
            return;
        next += (int64_t)move;
    }
}

static void walk_gaps(Reach *r, uint32_t of, Reacheds *list)
{
    IrGap gaps[MOST_GAPS];
    ReachBase base = r->bases.at[of];
    uint32_t n = ir_decided_gaps(eval_timer_program(r->timer), base.decided, r->seen.at,
                                 r->seen.len, gaps, MOST_GAPS);
    r->too_many |= n == MOST_GAPS;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < r->knobs; k++)
            if (!r->fixed[k])
                walk_root(r, &base, k, &gaps[i], list);
}

/* One size alone, all others 1: there a program that sees the tensor as one row counts this size. */
static void add_lines(Reach *r, Reacheds *list)
{
    enum { LENGTH = 96 };
    for (uint32_t k = 0; k < r->knobs; k++) {
        TorchSet *sets = arena_array(r->j->arena, TorchSet, r->knobs + 1);
        for (uint32_t i = 0; i < r->knobs; i++)
            sets[i] = (TorchSet){r->bases.at[0].sets[i].name, i == k ? LENGTH
                                                              : r->fixed[i]
                                                                  ? r->bases.at[0].sets[i].value
                                                                  : 1};
        int64_t bytes = r->fixed[k] ? 0 : bytes_of(r, sets);
        uint32_t before = list->len;
        if (bytes)
            walk(r, sets, bytes, list);
        if (list->len > before)
            vec_push(r->j->arena, &r->bases, ((ReachBase){sets, vec_last(list).decided}));
    }
}

/* Numbers that the text names as sizes, one more than they, and one more than twice: there a second tile begins. */
static void walk_named(Reach *r, Reacheds *list)
{
    enum { MOST_NUMBERS = 24 };
    double numbers[MOST_NUMBERS];
    uint32_t n = text_numbers(r->j->judged->candidate.texts.at[0].text, numbers, 0, MOST_NUMBERS);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < r->knobs; k++) {
            int64_t size = (int64_t)numbers[i];
            if (r->fixed[k] || !(numbers[i] >= 2 && numbers[i] <= 1e6) ||
                (double)size != numbers[i])
                continue;
            walk_moved(r, r->bases.at[0].sets, k, size, list);
            walk_moved(r, r->bases.at[0].sets, k, size + 1, list);
            walk_moved(r, r->bases.at[0].sets, k, 2 * size + 1, list);
        }
}

static void walk_drawn(Reach *r, Reacheds *list)
{
    enum { MOST_SIZE = 512 };
    uint64_t seed = text_seed(&r->j->judged->candidate, r->j->spec->seed + 4);
    for (uint32_t i = 0; i < DRAWN; i++) {
        uint64_t x = rng_u64(seed, 0x7265, i);
        uint32_t k = (uint32_t)((x >> 40) % r->knobs);
        if (!r->fixed[k])
            walk_moved(r, r->bases.at[i % r->bases.len].sets, k, 1 + (int64_t)(x % MOST_SIZE),
                       list);
    }
}

/* Each size of a case one, two, ... more, all others the same or a little more: there conditions hold together that other
 * sizes fulfil singly. */
static void sweep(Reach *r, const TorchSet *base, Reacheds *list)
{
    enum { LENGTH = 96, SHIFTS = 5 };
    for (int64_t shift = 0; shift < (r->knobs > 1 ? SHIFTS : 1); shift++)
        for (uint32_t k = 0; k < r->knobs; k++) {
            TorchSet *sets = arena_array(r->j->arena, TorchSet, r->knobs + 1);
            for (uint32_t i = 0; i < r->knobs; i++)
                sets[i] = (TorchSet){base[i].name,
                                     base[i].value + (i == k || r->fixed[i] ? 0 : shift)};
            for (int64_t more = 1; more <= LENGTH && !r->fixed[k]; more++)
                if (r->walks + 1 < MOST_WALKS)
                    walk_moved(r, sets, k, sets[k].value + more, list);
        }
}

/* The first case and the last one that is small enough. */
static void walk_swept(Reach *r, Reacheds *list)
{
    enum { LEAST = 256, MOST = 1 << 20 };
    uint32_t n = r->bases.len, first = n, last = n;
    for (uint32_t i = 0; i < n; i++) {
        int64_t bytes = bytes_of(r, r->bases.at[i].sets);
        if (bytes < LEAST || bytes > MOST)
            continue;
        first = first == n ? i : first;
        last = i;
    }
    if (first < n)
        sweep(r, r->bases.at[first].sets, list);
    if (last != first)
        sweep(r, r->bases.at[last].sets, list);
}

/* ---- the whole ---- */

static bool add_base(Reach *r, const CaseSpec *c)
{
    Diag said = diag_make(r->j->arena, r->j->task->path, r->j->task->source);
    TorchOptions options;
    TorchTask *read = case_read(r->j->arena, r->j->task, c, r->j->cases, &options, &said);
    IrDecisions *decided = read ? full_decisions(r->j, r->timer, c) : NULL;
    if (!decided || (r->bases.len && read->knobs.len != r->knobs))
        return false;
    TorchSet *sets = arena_array(r->j->arena, TorchSet, read->knobs.len + 1);
    for (uint32_t i = 0; i < read->knobs.len; i++)
        sets[i] = (TorchSet){read->knobs.at[i].name, read->knobs.at[i].value};
    if (!r->bases.len) {
        r->knobs = read->knobs.len;
        r->fixed = arena_array(r->j->arena, bool, r->knobs + 1);
        for (uint32_t i = 0; i < r->knobs; i++)
            r->fixed[i] = read->knobs.at[i].deep || read->knobs.at[i].original < 8;
    }
    vec_push(r->j->arena, &r->bases, ((ReachBase){sets, decided}));
    vec_push(r->j->arena, &r->seen, decided);
    return true;
}

/* Few elements show few errors, and many take long. */
static int64_t far_from_liked(int64_t bytes)
{
    const int64_t liked = INT64_C(2) << 20;
    return bytes > liked ? bytes - liked : liked - bytes;
}

/* Prefers the draw that covers more branches: nothing else covers those. */
static bool is_better(const Reached *a, const Reached *b)
{
    if (a->branches != b->branches)
        return a->branches > b->branches;
    if (a->fresh != b->fresh)
        return a->fresh > b->fresh;
    return far_from_liked(a->bytes) < far_from_liked(b->bytes);
}

static Reached *best_of(Reach *r, Reacheds *list)
{
    Reached *best = NULL;
    for (uint32_t i = 0; i < list->len; i++) {
        Reached *c = &list->at[i];
        if (c->is_none)
            continue;
        c->fresh = ir_decided_new(eval_timer_program(r->timer), c->decided, r->seen.at, r->seen.len,
                                  &c->branches);
        if (c->fresh && (!best || is_better(c, best)))
            best = c;
    }
    return best;
}

/* False: nothing is new anywhere, or it is not ok. */
static bool judge_best(Reach *r, Reacheds *list)
{
    Reached *best = best_of(r, list);
    if (!best)
        return false;
    best->spec.name = str_format(r->j->arena, "reach%u", r->j->done.len);
    if (case_ready(r->j->cache, r->j->spec, r->j->task, &best->spec)->status != VERDICT_OK) {
        best->is_none = true;
        return true;
    }
    judge_case(r->j, &best->spec);
    judge_strewn(r->j, best->spec);
    vec_push(r->j->arena, &r->seen, best->decided);
    vec_push(r->j->arena, &r->bases, ((ReachBase){best->spec.sets, best->decided}));
    case_forget(r->j->cache, case_ready(r->j->cache, r->j->spec, r->j->task, &best->spec));
    return r->j->judged->status == VERDICT_OK;
}

static void judge_reached(Reach *r)
{
    Reacheds list = {0};
    uint32_t from = 0, first = r->j->done.len;
    add_lines(r, &list);
    walk_named(r, &list);
    walk_drawn(r, &list);
    do {
        for (; from < r->bases.len; from++)
            walk_gaps(r, from, &list);
    } while (r->j->done.len - first < MOST_CASES && judge_best(r, &list));
    if (!r->too_many && r->walks < MOST_WALKS / 2 && r->j->judged->status == VERDICT_OK &&
        ir_decided_one_way(eval_timer_program(r->timer), r->seen.at, r->seen.len)) {
        walk_swept(r, &list);
        while (r->j->done.len - first < MOST_CASES && judge_best(r, &list))
            ;
    }
    const Reached *left = r->j->done.len - first >= MOST_CASES ? best_of(r, &list) : NULL;
    r->too_many |= left && left->branches;
    if (r->too_many && r->j->judged->status == VERDICT_OK)
        judge_leave_unseen(r->j, "its sizes decide more than a search for cases can follow");
}

void judge_reach(Judging *j)
{
    Reach r = {.j = j};
    Verdict v = verdict_make();
    EvalTimer *timer = NULL;
    if (!j->done.len || j->spec->own_sizes || j->spec->only > 0 || j->cases->lines.len ||
        !(timer = full_timer(j, &j->done.at[0], &v)))
        return;
    TorchOptions own = {.seed = j->spec->seed};
    Diag said = diag_make(j->arena, j->task->path, j->task->source);
    TorchTask *full = torch_read(j->arena, j->task->path, j->task->source, &own, &said);
    r.timer = timer;
    r.full = full ? full->graph : NULL;
    for (uint32_t i = 0; i < j->done.len; i++)
        if (!strew_any(&j->done.at[i].strew)) /* the same sizes once */
            add_base(&r, &j->done.at[i]);
    if (full && r.bases.len && r.knobs && r.knobs <= MOST_KNOBS)
        judge_reached(&r);
    eval_timer_close(timer);
}
