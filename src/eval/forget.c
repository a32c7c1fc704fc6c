/* Host code does the same every time it is called. In: a call and what it did. Out: a verdict where a
 * second call in the same process does otherwise: a result that is kept and given back for ever, work
 * that is done once. Each call is judged in a process of its own, so that alone would not show it.
 *
 * What is prepared once (streams, tiling data on the device) may be kept: the same kernels must be launched
 * again, and what comes back must be memory of the second call or an argument. */
#include "eval/device.h"

#include <string.h>

static bool is_launch(const TwinEvent *e)
{
    return e->kind == BIND_OPERATOR || e->kind == BIND_KERNEL;
}

static const TwinEvent *next_launch(const TwinEvents *events, uint32_t *at)
{
    while (*at < events->len && !is_launch(&events->at[*at]))
        ++*at;
    return *at < events->len ? &events->at[(*at)++] : NULL;
}

static bool same_launches(const TwinEvents *a, const TwinEvents *b)
{
    uint32_t i = 0, k = 0;
    for (;;) {
        const TwinEvent *x = next_launch(a, &i), *y = next_launch(b, &k);
        if (!x || !y)
            return x == y;
        if (strcmp(x->name, y->name) != 0 || x->blocks != y->blocks || x->count != y->count)
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
    if (!again.waits && same_launches(&done->events, &again.events) &&
        is_new(d, &again.events, &again.result))
        return true;
    return eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                           "a second call in the same process does not do the work again");
}
