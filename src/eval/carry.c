/* Host code carries elements and decides sizes; it computes nothing. In: what it did and the elements
 * it has read. Out: a verdict where it made values of its own.
 *
 *     files      hold what a copy of a kernel's result gave
 *     the device gets what was read, or at most 1 KiB that host code makes: tiling data, arguments
 *     decisions  are the same when every byte it reads is another: it is called twice more with them
 *
 * The binding of a benchmark's own clone is not the candidate's and may do as it likes. */
#include "eval/device.h"

#include "base/rng.h"
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { MOST_MADE = 1024, ONE_NUMBER = 8 };

static bool is_uniform(Str s) { return s.len < 2 || memcmp(s.at, s.at + 1, s.len - 1) == 0; }

static bool is_read(const TwinEvent *e) { return e->kind == BIND_READ || e->kind == BIND_FILE; }

/* Calls fn for every answer that came before event `at`, and may be carried there: into files, only
 * what a kernel has made. True: fn returned true for one. */
typedef bool (*AnswerTest)(Str answer, uint32_t number, void *context);

static bool any_answer(EvalDevice *d, const TwinBindCall *call, const TwinEvents *events,
                       uint32_t at, AnswerTest test, void *context)
{
    for (uint32_t k = 0, n = 0; k < at && n < call->answers.len; k++) {
        if (!is_read(&events->at[k]))
            continue;
        const EvalRoom *room = eval_device_at(d, events->at[k].address);
        bool from_device = events->at[k].kind == BIND_READ && room && room->by_kernel;
        if ((events->at[at].kind != BIND_OUTPUT || from_device) &&
            test(call->answers.at[n], n, context))
            return true;
        n++;
    }
    return false;
}

static bool holds(Str answer, uint32_t number, void *context)
{
    (void)number;
    return str_find(answer, *(const Str *)context) >= 0;
}

/* Whether the bytes of event `at` stand in an answer. */
static bool is_carried(EvalDevice *d, const TwinBindCall *call, const TwinEvents *events,
                       uint32_t at)
{
    Str data = events->at[at].data;
    return any_answer(d, call, events, at, holds, &data);
}

/* ---- bytes ---- */

/* The bytes of the numbers and structs that a launch passes by value. */
static uint64_t argument_bytes(const TwinEvent *e)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; e->kind == BIND_KERNEL && e->args && i < e->count; i++)
        bytes += e->args[i].kind == BIND_TEXT ? e->args[i].text.len : 0;
    return bytes;
}

static bool makes_little(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                         const TwinBindDone *done)
{
    EvalJudge *j = host->j;
    bool given = false;
    uint64_t made = 0;
    for (uint32_t i = 0; i < done->events.len; i++) {
        const TwinEvent *e = &done->events.at[i];
        given = given || is_read(e);
        made += given ? argument_bytes(e) : 0;
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

/* Every byte is another, drawn anew: nothing of the answer is left that host code could undo, and no
 * sign, exponent or small integer stays what it was. */
static Str altered(Arena *arena, Str answer, uint64_t secret, uint32_t number)
{
    Str copy = str_copy(arena, answer);
    char *at = (char *)(uintptr_t)copy.at;
    for (size_t i = 0; i < copy.len; i++) {
        uint8_t drawn = (uint8_t)(rng_u64(secret, number, i / 8) >> (8 * (i % 8)));
        at[i] = (char)drawn;
    }
    return copy;
}

/* One number, to be handed on. */
static bool may_decide(EvalDevice *d, const TwinEvent *e, Str answer)
{
    const EvalRoom *room = e->kind == BIND_READ ? eval_device_at(d, e->address) : NULL;
    return (room ? room->memory.bytes : answer.len) <= ONE_NUMBER;
}

/* False: nothing was altered. */
static bool alter_answers(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                          const TwinEvents *events, uint64_t secret, TwinBindCall *other)
{
    bool any = false;
    uint32_t n = 0;
    other->answers.at = NULL;
    other->answers.len = other->answers.cap = 0;
    for (uint32_t i = 0; i < events->len && n < call->answers.len; i++) {
        const TwinEvent *e = &events->at[i];
        if (!is_read(e))
            continue;
        Str answer = call->answers.at[n];
        if (!may_decide(d, e, answer)) {
            answer = altered(host->j->arena, answer, secret, n);
            any = true;
        }
        n++;
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

/* Bytes of both calls, from the same place of the same answer: which bytes to carry is a decision,
 * too. */
typedef struct Carried {
    Str data, other;
    const TwinBindCall *call;
} Carried;

static bool holds_both(Str answer, uint32_t number, void *context)
{
    const Carried *c = context;
    Str other = c->call->answers.at[number];
    for (size_t from = 0; from + c->data.len <= answer.len;) {
        ptrdiff_t at = str_find(str_slice(answer, from, answer.len), c->data);
        if (at < 0)
            return false;
        from += (size_t)at;
        if (from + c->other.len <= other.len &&
            memcmp(other.at + from, c->other.at, c->other.len) == 0)
            return true;
        from++;
    }
    return false;
}

static bool same_course(EvalDevice *d, const TwinBindCall *call, const TwinBindDone *done,
                        const TwinBindCall *other, const TwinBindDone *again)
{
    bool same = done->events.len == again->events.len && !again->waits &&
                same_value(&done->result, &again->result);
    for (uint32_t i = 0; same && i < done->events.len; i++) {
        const TwinEvent *a = &done->events.at[i], *b = &again->events.at[i];
        Carried both = {.data = a->data, .other = b->data, .call = other};
        same = same_event(a, b) && (str_equal(a->data, b->data) ||
                                    any_answer(d, call, &done->events, i, holds_both, &both));
    }
    return same;
}

/* A seed that no text can know. */
static uint64_t draw_secret(void)
{
    uint64_t secret = 0;
    if (getrandom(&secret, sizeof secret, 0) != (ssize_t)sizeof secret)
        secret = (uint64_t)time(NULL) * 0x9E3779B97F4A7C15ull;
    return secret;
}

enum { DRAWS = 2 };

/* With other elements, twice, host code does the same. */
static bool decides_alike(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                          const TwinBindDone *done)
{
    EvalJudge *j = host->j;
    for (int draw = 0; draw < DRAWS; draw++) {
        TwinBindCall other = *call;
        TwinBindDone again;
        Verdict aside = verdict_make();
        if (!alter_answers(host, d, call, &done->events, draw_secret(), &other))
            return true;
        if (!twin_binding_call(j->arena, host->binding, &other, &j->twin, &again, &aside) ||
            !same_course(d, call, done, &other, &again))
            return eval_judge_fail(
                j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                "host code computes: what it hands on depends on the elements it reads");
    }
    return true;
}

bool eval_host_carries(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                       const TwinBindDone *done)
{
    return eval_host_is_theirs(host->j) ||
           (makes_little(host, d, call, done) && decides_alike(host, d, call, done));
}
