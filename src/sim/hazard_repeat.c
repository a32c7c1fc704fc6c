/* Hazards of records that repeat: what lies on chip is not looked at again.
 *
 * Between the begin of one period and the next every counter of a core (instructions given and
 * finished, numbers kept with spans) either stood still or moved on by what its pipe was given. Then
 * the next period finds the same: an access of this period is younger than any clock that stood still, so
 * nothing that was ordered by such a clock is touched; a clock that moves stays ahead of accesses that
 * stood still. A period with a finding is never passed over (memo.c), so an unordered pair cannot
 * become an ordered one unseen either. After n periods a counter stands n times its step further on.
 * GM is looked at every time, with the clock the pipe had at that record, n steps further on. */
#include "sim/hazard_int.h"

/* The clock of a pipe where a record of the period touches GM. */
typedef struct GmLook {
    Clock pipe;
    uint32_t when; /* 0: it does not */
} GmLook;

struct HazardRepeat {
    HazardCore before; /* at the begin of the last period, with spans of its own */
    uint32_t period, slot, pass;
    GmLook *look[2]; /* by record: of the last period and of the one before */
    uint32_t cap;
};

static HazardCore *core_of(void *context, uint32_t core)
{
    return &((Hazard *)context)->core[core];
}

static void drop_spans(HazardRepeat *p)
{
    for (uint32_t space = 0; space < NPU_SPACE_COUNT; space++)
        spans_close(&p->before.spans[space]);
}

static void drop(HazardRepeat *p)
{
    drop_spans(p);
    for (int i = 0; i < 2; i++) {
        heap_free(p->look[i]);
        p->look[i] = NULL;
    }
    p->cap = p->period = 0;
}

static void copy_spans(Spans *to, const Spans *from)
{
    size_t bytes = from->len * spans_stride(from->readers);
    *to = *from;
    if (!from->at)
        return;
    to->cap = from->len;
    to->at = heap_alloc(bytes);
    memcpy(to->at, from->at, bytes);
}

static void keep_state(HazardCore *core)
{
    HazardRepeat *p = core->repeat;
    drop_spans(p);
    p->before = *core;
    for (uint32_t space = 0; space < NPU_SPACE_COUNT; space++)
        copy_spans(&p->before.spans[space], &core->spans[space]);
    p->slot = 0;
}

/* --- looking at two periods --- */

static void begin(void *context, uint32_t index, uint32_t period)
{
    HazardCore *core = core_of(context, index);
    if (!core->repeat)
        core->repeat = heap_alloc(sizeof *core->repeat);
    HazardRepeat *p = core->repeat;
    for (int i = 0; i < 2 && p->cap < period; i++) {
        heap_free(p->look[i]);
        p->look[i] = heap_alloc(period * sizeof(GmLook));
    }
    p->cap = period > p->cap ? period : p->cap;
    p->period = period;
    p->pass = 0;
    memset(p->look[0], 0, period * sizeof(GmLook));
    keep_state(core);
}

void hazard_repeat_note(HazardCore *core, uint8_t pipe, uint32_t when)
{
    HazardRepeat *p = core->repeat;
    if (p && p->period && p->slot < p->period)
        p->look[p->pass][p->slot] = (GmLook){core->pipe[pipe], when};
}

static void seen(void *context, uint32_t index)
{
    HazardRepeat *p = core_of(context, index)->repeat;
    if (p)
        p->slot++;
}

static bool moved(uint32_t now, uint32_t before, uint32_t step)
{
    return now == before || now - before == step;
}

static bool clock_moved(const Clock *now, const Clock *before, const Clock *step)
{
    for (int p = 0; p < PIPES; p++)
        if (!moved(now->done[p], before->done[p], step->done[p]))
            return false;
    return true;
}

static bool access_moved(const SpanAccess *now, const SpanAccess *before, const Clock *step)
{
    SpanAccess a = *now;
    a.when = before->when;
    return memcmp(&a, before, sizeof a) == 0 &&
           moved(now->when, before->when, now->pipe < PIPES ? step->done[now->pipe] : 0);
}

static bool spans_moved(const Spans *now, const Spans *before, const Clock *step)
{
    if (now->len != before->len || now->readers != before->readers)
        return false;
    for (uint32_t i = 0; now->at && i < now->len; i++) {
        const Span *a = spans_get(now, i), *b = spans_get(before, i);
        bool same = a->from == b->from && access_moved(&a->writer, &b->writer, step);
        for (uint32_t k = 0; same && k < now->readers; k++)
            same = access_moved(&a->reader[k], &b->reader[k], step);
        if (!same)
            return false;
    }
    return true;
}

static bool flags_moved(const HazardCore *now, const HazardCore *before, const Clock *step)
{
    if (memcmp(now->flags, before->flags, sizeof now->flags) != 0)
        return false;
    for (uint32_t from = 0; from < PIPES; from++)
        for (uint32_t to = 0; to < PIPES; to++)
            for (uint32_t id = 0; id < EVENTS; id++)
                for (uint32_t k = 0; k < now->flags[from][to][id]; k++)
                    if (!clock_moved(&now->flag[from][to][id][k], &before->flag[from][to][id][k],
                                     step))
                        return false;
    return true;
}

static Clock step_of(const HazardCore *now, const HazardCore *before)
{
    Clock step;
    for (int p = 0; p < PIPES; p++)
        step.done[p] = now->issued.done[p] - before->issued.done[p];
    return step;
}

static bool looks_moved(const HazardRepeat *p, const Clock *step)
{
    for (uint32_t i = 0; i < p->period; i++) {
        const GmLook *now = &p->look[p->pass][i], *before = &p->look[!p->pass][i];
        if ((now->when == 0) != (before->when == 0) ||
            !clock_moved(&now->pipe, &before->pipe, step))
            return false;
    }
    return true;
}

/* Twice, after each of two periods: the second time the looks at GM can be compared too. */
static bool same(void *context, uint32_t index, bool again)
{
    HazardCore *core = core_of(context, index);
    HazardRepeat *p = core->repeat;
    const HazardCore *before = &p->before;
    Clock step = step_of(core, before);
    bool moved_alike = !core->scalar_gm && core->atomic == before->atomic && p->slot == p->period &&
                       flags_moved(core, before, &step);
    for (int i = 0; moved_alike && i < PIPES; i++)
        moved_alike = clock_moved(&core->pipe[i], &before->pipe[i], &step);
    for (uint32_t space = 0; moved_alike && space < NPU_SPACE_COUNT; space++)
        moved_alike = spans_moved(&core->spans[space], &before->spans[space], &step);
    if (again)
        return moved_alike && looks_moved(p, &step);
    p->pass = 1;
    memset(p->look[1], 0, p->period * sizeof(GmLook));
    keep_state(core);
    return moved_alike;
}

/* --- passing over --- */

static Clock clock_after(const Clock *now, const Clock *before, uint32_t periods)
{
    Clock after;
    for (int p = 0; p < PIPES; p++)
        after.done[p] = now->done[p] + periods * (now->done[p] - before->done[p]);
    return after;
}

static void skip(void *context, uint32_t index, uint64_t periods, uint32_t slot, const Record *r)
{
    HazardCore *core = core_of(context, index);
    const HazardRepeat *p = core->repeat;
    const GmLook *now = &p->look[1][slot], *before = &p->look[0][slot];
    if (!now->when)
        return;
    uint32_t ahead = (uint32_t)periods + 1; /* the period kept last has passed before these */
    Clock own = core->pipe[r->pipe];
    core->pipe[r->pipe] = clock_after(&now->pipe, &before->pipe, ahead);
    hazard_look_gm(context, index, r, now->when + ahead * (now->when - before->when));
    core->pipe[r->pipe] = own;
}

static void access_after(SpanAccess *now, const SpanAccess *before, uint32_t periods)
{
    now->when += periods * (now->when - before->when);
}

static void spans_after(Spans *now, const Spans *before, uint32_t periods)
{
    for (uint32_t i = 0; now->at && i < now->len; i++) {
        Span *a = spans_get(now, i);
        const Span *b = spans_get(before, i);
        access_after(&a->writer, &b->writer, periods);
        for (uint32_t k = 0; k < now->readers; k++)
            access_after(&a->reader[k], &b->reader[k], periods);
    }
}

static void resume(void *context, uint32_t index, uint64_t whole)
{
    HazardCore *core = core_of(context, index);
    const HazardCore *before = &core->repeat->before;
    uint32_t n = (uint32_t)whole;
    Clock *flag = &core->flag[0][0][0][0];
    const Clock *old_flag = &before->flag[0][0][0][0];
    for (size_t i = 0; i < sizeof core->flag / sizeof *flag; i++)
        flag[i] = clock_after(&flag[i], &old_flag[i], n);
    for (int i = 0; i < PIPES; i++)
        core->pipe[i] = clock_after(&core->pipe[i], &before->pipe[i], n);
    core->issued = clock_after(&core->issued, &before->issued, n);
    core->pairs += whole * (core->pairs - before->pairs);
    core->inserted += whole * (core->inserted - before->inserted);
    for (uint32_t space = 0; space < NPU_SPACE_COUNT; space++)
        spans_after(&core->spans[space], &before->spans[space], n);
    drop(core->repeat);
}

void hazard_repeat_close(Hazard *h)
{
    for (uint32_t i = 0; i < h->cores; i++) {
        HazardRepeat *p = h->core[i].repeat;
        if (!p)
            continue;
        drop(p);
        heap_free(p);
    }
}

const SimRepeat hazard_repeat = {begin, seen, same, skip, resume};
