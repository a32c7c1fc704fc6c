/* Host code does the same every time it is called. In: a call and what it did. Out: a verdict where a
 * second call in the same process does otherwise: a result that is kept and given back for ever, work
 * that is done once. Each call is judged in a process of its own, so that alone would not show it.
 *
 * What is prepared once (streams, tiling data on the device) may be kept: the same kernels must be launched
 * again on the same arguments, what they had must be written over in the same way, and what comes back must
 * be memory of the second call or an argument. */
#include "eval/device.h"

#include <string.h>

static bool is_launch(const TwinEvent *e)
{
    return e->kind == BIND_OPERATOR || e->kind == BIND_KERNEL;
}

/* ---- what counts ---- */

static uint64_t written_by(const TwinEvent *e)
{
    switch (e->kind) {
    case BIND_COPY:
    case BIND_FILL: return e->to.address;
    case BIND_SET:
    case BIND_WRITE:
    case BIND_MOVE: return e->address;
    default: return 0;
    }
}

/* The allocation of this call that holds the address, else the address itself. */
static uint64_t base_of(const TwinEvents *events, uint64_t address)
{
    for (uint32_t i = 0; i < events->len; i++) {
        const TwinEvent *e = &events->at[i];
        if (e->kind == BIND_ALLOC && address - e->address < (e->bytes ? e->bytes : 1))
            return e->address;
    }
    return address;
}

static bool is_given(const TwinEvents *events, const TwinValue *v, bool kernel, uint64_t base)
{
    for (uint32_t i = 0; v->kind == BIND_LIST && i < v->count; i++)
        if (is_given(events, &v->list[i], kernel, base))
            return true;
    return (v->kind == BIND_TENSOR && base_of(events, v->view.address) == base) ||
           (v->kind == BIND_INT && kernel && base_of(events, (uint64_t)v->i) == base);
}

/* Event `at` writes over memory that an earlier launch had: it changes a result. */
static bool changes_result(const TwinEvents *events, uint32_t at)
{
    uint64_t address = written_by(&events->at[at]);
    uint64_t base = address ? base_of(events, address) : 0;
    for (uint32_t i = 0; base && i < at; i++) {
        const TwinEvent *e = &events->at[i];
        for (uint32_t k = 0; is_launch(e) && e->args && k < e->count; k++)
            if (is_given(events, &e->args[k], e->kind == BIND_KERNEL, base))
                return true;
    }
    return false;
}

static const TwinEvent *next_step(const TwinEvents *events, uint32_t *at)
{
    while (*at < events->len && !is_launch(&events->at[*at]) && !changes_result(events, *at))
        ++*at;
    return *at < events->len ? &events->at[(*at)++] : NULL;
}

/* ---- arguments ---- */

/* What both calls were given stays where it was; memory of their own has another place each time. */
static bool same_place(EvalDevice *d, uint64_t a, uint64_t b)
{
    const EvalRoom *x = eval_device_at(d, a), *y = eval_device_at(d, b);
    return a == b || !((x && x->given) || (y && y->given));
}

static bool same_shape(const TwinView *a, const TwinView *b)
{
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank && i < BIND_MOST_RANK; i++)
        same = a->size[i] == b->size[i] && a->stride[i] == b->stride[i];
    return same;
}

/* Structs by value are equal but for addresses in them: words from `own` on are memory of a call. */
static bool same_bytes(EvalDevice *d, uint64_t own, Str a, Str b)
{
    if (a.len != b.len)
        return false;
    for (size_t at = 0; at < a.len; at += 8) {
        uint64_t x = 0, y = 0;
        size_t n = a.len - at < 8 ? a.len - at : 8;
        memcpy(&x, a.at + at, n);
        memcpy(&y, b.at + at, n);
        if (x != y && !(x >= own && y >= own && same_place(d, x, y)))
            return false;
    }
    return true;
}

static bool same_argument(EvalDevice *d, uint64_t own, bool kernel, const TwinValue *a,
                          const TwinValue *b)
{
    bool same = a->kind == b->kind && a->count == b->count;
    for (uint32_t i = 0; same && a->kind == BIND_LIST && i < a->count; i++)
        same = same_argument(d, own, kernel, &a->list[i], &b->list[i]);
    if (!same)
        return false;
    switch (a->kind) {
    case BIND_TENSOR:
        return same_place(d, a->view.address, b->view.address) && same_shape(&a->view, &b->view);
    case BIND_INT: return kernel ? same_place(d, (uint64_t)a->i, (uint64_t)b->i) : a->i == b->i;
    case BIND_BOOL: return a->i == b->i;
    case BIND_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case BIND_TEXT: return same_bytes(d, own, a->text, b->text);
    default: return true;
    }
}

static bool same_launch(EvalDevice *d, uint64_t own, const TwinEvent *a, const TwinEvent *b)
{
    bool same = a->kind == b->kind && strcmp(a->name, b->name) == 0 && a->blocks == b->blocks &&
                a->count == b->count;
    for (uint32_t i = 0; same && a->args && b->args && i < a->count; i++)
        same = same_argument(d, own, a->kind == BIND_KERNEL, &a->args[i], &b->args[i]);
    return same;
}

static bool same_write(EvalDevice *d, const TwinEvent *a, const TwinEvent *b)
{
    return a->kind == b->kind && same_place(d, written_by(a), written_by(b)) &&
           a->bytes == b->bytes && a->fill == b->fill && a->data.len == b->data.len &&
           memcmp(&a->value, &b->value, sizeof a->value) == 0 && same_shape(&a->to, &b->to) &&
           same_shape(&a->of, &b->of);
}

static bool same_steps(EvalDevice *d, uint64_t own, const TwinEvents *a, const TwinEvents *b)
{
    uint32_t i = 0, k = 0;
    for (;;) {
        const TwinEvent *x = next_step(a, &i), *y = next_step(b, &k);
        if (!x || !y)
            return x == y;
        if (is_launch(x) != is_launch(y) ||
            !(is_launch(x) ? same_launch(d, own, x, y) : same_write(d, x, y)))
            return false;
    }
}

static bool is_new(EvalDevice *d, const TwinEvents *events, const TwinValue *v)
{
    bool good = true;
    for (uint32_t i = 0; v->kind == BIND_LIST && i < v->count; i++)
        good = good && is_new(d, events, &v->list[i]);
    if (v->kind != BIND_TENSOR)
        return good;
    for (uint32_t i = 0; i < events->len; i++) {
        const TwinEvent *e = &events->at[i];
        uint64_t bytes = e->bytes ? e->bytes : 1;
        if (e->kind == BIND_ALLOC && v->view.address >= e->address &&
            v->view.address - e->address < bytes)
            return true;
    }
    const EvalRoom *room = eval_device_at(d, v->view.address);
    return room && room->given;
}

bool eval_host_forgets(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                       const TwinBindDone *done)
{
    EvalJudge *j = host->j;
    TwinBindCall twice = *call;
    TwinBindDone again;
    Verdict aside = verdict_make();
    if (eval_host_is_theirs(j) || strcmp(call->function, "main") == 0 || !call->function[0])
        return true;
    twice.twice = true;
    if (!twin_binding_call(j->arena, host->binding, &twice, &j->twin, &again, &aside))
        return eval_judge_fail(
            j, aside.status, STAGE_RUN,
            str_format(j->arena, "its second call in one process: %s", aside.reason));
    if (again.waits || !same_steps(d, call->first_address, &done->events, &again.events) ||
        !is_new(d, &again.events, &again.result))
        return eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                               "a second call in the same process does not do the work again");
    return !again.counts ||
           eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                           "called again with the same arguments, host code compares other "
                           "numbers: it counts its calls, or goes by a clock");
}
