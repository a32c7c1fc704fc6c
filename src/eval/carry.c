/* Host code carries elements and decides sizes; it computes nothing. In: what it did and the elements
 * it has read on the way. Out: a verdict where it made values of its own.
 *
 *     files      hold what a copy of a kernel's result gave
 *     the device gets what was read, or at most 1 KiB that host code makes: tiling data and the like
 *     decisions  are the same when the numbers it reads are others: it is called once more with them
 *
 * The binding of a benchmark's own clone is not the candidate's and may do as it likes. */
#include "eval/device.h"

#include <string.h>

enum { MOST_MADE = 1024, ONE_NUMBER = 8 };

static bool is_uniform(Str s) { return s.len < 2 || memcmp(s.at, s.at + 1, s.len - 1) == 0; }

static bool is_read(const TwinEvent *e) { return e->kind == BIND_READ || e->kind == BIND_FILE; }

/* Whether the bytes of event `at` stand in an answer that came before it; for files, one that a kernel
 * has made. */
static bool is_carried(EvalDevice *d, const TwinBindCall *call, const TwinEvents *events,
                       uint32_t at)
{
    const TwinEvent *e = &events->at[at];
    for (uint32_t k = 0, n = 0; k < at && n < call->answers.len; k++) {
        if (!is_read(&events->at[k]))
            continue;
        const EvalRoom *room = eval_device_at(d, events->at[k].address);
        bool from_device = events->at[k].kind == BIND_READ && room && room->by_kernel;
        if (str_find(call->answers.at[n++], e->data) >= 0 &&
            (e->kind != BIND_OUTPUT || from_device))
            return true;
    }
    return false;
}

/* ---- bytes ---- */

static bool makes_little(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                         const TwinBindDone *done)
{
    EvalJudge *j = host->j;
    bool given = false;
    uint64_t made = 0;
    for (uint32_t i = 0; i < done->events.len; i++) {
        const TwinEvent *e = &done->events.at[i];
        given = given || is_read(e);
        if ((e->kind != BIND_OUTPUT && e->kind != BIND_WRITE) || !given)
            continue;
        bool carried = is_carried(d, call, &done->events, i);
        if (e->kind == BIND_OUTPUT && !carried)
            return eval_judge_fail(
                j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                str_format(j->arena,
                           "host code writes %s, which no copy of a kernel's result gave it",
                           e->name));
        made += carried || is_uniform(e->data) ? 0 : e->data.len;
    }
    return made <= MOST_MADE ||
           eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                           str_format(j->arena,
                                      "host code reads elements and copies %llu bytes of its own "
                                      "making to the device",
                                      (unsigned long long)made));
}

/* ---- decisions ---- */

/* Floating numbers become others of their size; what looks like a small integer, an infinity or a NaN
 * stays: lengths, indices and flags may decide. */
static Str altered(Arena *arena, Str answer)
{
    Str copy = str_copy(arena, answer);
    char *at = (char *)(uintptr_t)copy.at;
    size_t i = 0;
    for (; i + 4 <= copy.len; i += 4) {
        uint32_t word, exponent;
        memcpy(&word, at + i, sizeof word);
        exponent = word & 0x7f800000u;
        word ^= exponent && exponent != 0x7f800000u ? 0x00400040u : 0;
        memcpy(at + i, &word, sizeof word);
    }
    if (i + 2 <= copy.len) {
        uint16_t half;
        memcpy(&half, at + i, sizeof half);
        half = (uint16_t)(half ^ ((half & 0x7c00) && (half & 0x7c00) != 0x7c00 ? 0x0040 : 0));
        memcpy(at + i, &half, sizeof half);
    }
    return copy;
}

/* A tensor of one number may be read to be handed on; others are altered. False: nothing was. */
static bool alter_answers(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                          const TwinEvents *events, TwinBindCall *other)
{
    bool any = false;
    uint32_t n = 0;
    other->answers.at = NULL;
    other->answers.len = other->answers.cap = 0;
    for (uint32_t i = 0; i < events->len && n < call->answers.len; i++) {
        const TwinEvent *e = &events->at[i];
        if (!is_read(e))
            continue;
        Str answer = call->answers.at[n++];
        const EvalRoom *room = e->kind == BIND_READ ? eval_device_at(d, e->address) : NULL;
        if ((room ? room->memory.bytes : answer.len) > ONE_NUMBER) {
            Str changed = altered(host->j->arena, answer);
            any = any || !str_equal(changed, answer);
            answer = changed;
        }
        vec_push(host->j->arena, &other->answers, answer);
    }
    return any;
}

static bool same_view(const TwinView *a, const TwinView *b)
{
    bool same = a->address == b->address && a->offset == b->offset && a->dtype == b->dtype &&
                a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank && i < BIND_MOST_RANK; i++)
        same = a->size[i] == b->size[i] && a->stride[i] == b->stride[i];
    return same;
}

static bool same_value(const TwinValue *a, const TwinValue *b)
{
    bool same = a->kind == b->kind && a->i == b->i && memcmp(&a->f, &b->f, sizeof a->f) == 0 &&
                str_equal(a->text, b->text) && a->count == b->count &&
                (a->kind != BIND_TENSOR || same_view(&a->view, &b->view));
    for (uint32_t i = 0; same && a->kind == BIND_LIST && i < a->count; i++)
        same = same_value(&a->list[i], &b->list[i]);
    return same;
}

static bool same_event(const TwinEvent *a, const TwinEvent *b)
{
    bool same = a->kind == b->kind && strcmp(a->name ? a->name : "", b->name ? b->name : "") == 0 &&
                a->address == b->address && a->from == b->from && a->bytes == b->bytes &&
                a->blocks == b->blocks && a->fill == b->fill && a->count == b->count &&
                memcmp(&a->value, &b->value, sizeof a->value) == 0 && same_view(&a->to, &b->to) &&
                same_view(&a->of, &b->of) && a->data.len == b->data.len;
    for (uint32_t i = 0; same && a->args && i < a->count; i++)
        same = same_value(&a->args[i], &b->args[i]);
    return same;
}

static bool same_course(EvalDevice *d, const TwinBindCall *call, const TwinBindDone *done,
                        const TwinBindCall *other, const TwinBindDone *again)
{
    bool same = done->events.len == again->events.len && !again->waits &&
                same_value(&done->result, &again->result);
    for (uint32_t i = 0; same && i < done->events.len; i++) {
        const TwinEvent *a = &done->events.at[i], *b = &again->events.at[i];
        same = same_event(a, b) &&
               (str_equal(a->data, b->data) ||
                (is_carried(d, call, &done->events, i) && is_carried(d, other, &again->events, i)));
    }
    return same;
}

static bool decides_alike(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                          const TwinBindDone *done)
{
    EvalJudge *j = host->j;
    TwinBindCall other = *call;
    TwinBindDone again;
    Verdict aside = verdict_make();
    if (!alter_answers(host, d, call, &done->events, &other))
        return true;
    bool ran = twin_binding_call(j->arena, host->binding, &other, &j->twin, &again, &aside);
    if (ran && same_course(d, call, done, &other, &again))
        return true;
    return eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                           "host code computes: what it hands on depends on the elements it reads");
}

bool eval_host_carries(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                       const TwinBindDone *done)
{
    return eval_host_is_theirs(host->j) ||
           (makes_little(host, d, call, done) && decides_alike(host, d, call, done));
}
