/* The launch after a launch. Variables of a kernel's text outside functions (or static inside) lie in GM on
 * the device: the next launch finds what the last one left there, in every core. Here each launch starts
 * from the program's own image, so that a kernel that is right only the first time would pass.
 * In: a launch that ended well and the bytes of such variables that its cores have changed. Out: a failed
 * verdict where another launch, on other inputs, gives or leaves something else when it starts from those
 * bytes (or from what a launch of another case left) than when it starts afresh. A counter of launches leaves
 * something else every time, whatever it is counted for. */
#include "twin/run_int.h"

#include "base/rng.h"
#include <string.h>

/* Bytes of all tensors up to which more launches are made. */
#define SECOND_MOST (1ull << 30)

static bool is_in_place(const TwinTensor *t) { return t->fd > 0 && t->role == SIM_INOUT; }

void twin_second_save(Launched *l, const LaunchSpec *spec)
{
    const TwinLaunch *launch = spec->launch;
    l->saved = arena_array(l->arena, uint8_t *, launch->tensor_count + 1);
    for (uint32_t i = 0; !spec->time_only && i < launch->tensor_count; i++) {
        const TwinTensor *t = &launch->tensors[i];
        if (is_in_place(t) && t->bytes && l->kernel->variables.len)
            l->saved[i] = memcpy(heap_alloc(t->bytes), t->data, t->bytes);
    }
}

void twin_second_drop(Launched *l)
{
    for (uint32_t i = 0; l->memory.of && l->saved && i < l->memory.of->tensor_count; i++)
        heap_free(l->saved[i]);
    l->saved = NULL;
}

/* ---- other inputs ---- */

/* Each word is one of the tensor's own, drawn anew: no value comes in that the task could not have. */
static void draw_words(uint8_t *to, const uint8_t *from, size_t bytes, uint64_t stream)
{
    enum { WORD = 8 };
    size_t words = bytes / WORD;
    memcpy(to, from, bytes);
    for (size_t i = 0; i < words; i++)
        memcpy(to + WORD * i, from + WORD * (size_t)rng_range(1, stream, i, 0, (int64_t)words),
               WORD);
}

/* The launch's tensors in memory of their own, with their values or with others. What is written only
 * starts with bytes that no result has. */
static TwinTensor *copy_tensors(const Launched *l, bool others)
{
    const TwinLaunch *launch = l->memory.of;
    TwinTensor *copy = arena_array(l->arena, TwinTensor, launch->tensor_count + 1);
    for (uint32_t i = 0; i < launch->tensor_count; i++) {
        const TwinTensor *t = &launch->tensors[i];
        const uint8_t *from = l->saved[i] ? l->saved[i] : t->data;
        copy[i] = *t;
        copy[i].fd = 0;
        copy[i].data = heap_alloc(t->bytes + 1);
        if (t->role != SIM_IN && t->role != SIM_INOUT)
            memset(copy[i].data, 0xA5, t->bytes);
        else if (others)
            draw_words(copy[i].data, from, t->bytes, i);
        else
            memcpy(copy[i].data, from, t->bytes);
    }
    return copy;
}

static void free_tensors(TwinTensor *copy, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        heap_free(copy[i].data);
}

/* ---- launches ---- */

static uint32_t faults_of(const SimAnswer *answer)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < answer->faults.len; i++)
        count += sim_fault_row(answer->faults.at[i].code)->kind != SIM_KIND_WARNING;
    return count;
}

/* False: there was no such launch, through no fault of the kernel's. */
static bool launch_from(const Launched *first, LaunchSpec spec, const TwinLeft *left, Launched *l)
{
    Verdict own = verdict_make();
    *l = twin_launched_make(first->arena, first->kernel, first->options);
    spec.left = left;
    return twin_launched_simulate(l, &spec, (Simulation){0}, NULL, &own);
}

static bool same_outputs(const Launched *a, const Launched *b)
{
    const TwinLaunch *launch = a->memory.of;
    bool same = true, kept;
    for (uint32_t i = 0; same && i < launch->tensor_count; i++)
        if (launch->tensors[i].role != SIM_IN && launch->tensors[i].bytes)
            same = memcmp(twin_memory_tensor(&a->memory, i, &kept),
                          twin_memory_tensor(&b->memory, i, &kept), launch->tensors[i].bytes) == 0;
    return same;
}

/* ---- what they leave ---- */

static const RecordLeft *piece_at(const TwinLeft *left, int role, uint64_t address)
{
    for (uint32_t i = 0; i < left->of[role].len; i++)
        if (left->of[role].at[i].address == address)
            return &left->of[role].at[i];
    return NULL;
}

/* What a core has changed of a piece. Cores tell theirs in much the same order: *hint is where it may stand. */
static const RecordLeft *change_of(const CoreLefts *each, const CoreLeft *like, uint32_t *hint)
{
    for (uint32_t n = 0; n < each->len; n++) {
        uint32_t i = (*hint + n) % each->len;
        if (each->at[i].core != like->core || each->at[i].piece.address != like->piece.address)
            continue;
        *hint = i + 1;
        return &each->at[i].piece;
    }
    return NULL;
}

static bool has_bit(uint64_t bits, uint32_t k) { return bits >> k & 1; }

/* What the core changed when it started from what was left, it changed to the same when it started afresh. */
static bool changed_afresh(const RecordLeft *later, const RecordLeft *fresh)
{
    bool same = true;
    for (uint32_t k = 0; k < REC_LEFT_BYTES && same; k++) {
        bool made = fresh && has_bit(fresh->changed, k);
        if (has_bit(later->changed, k))
            same = made != has_bit(later->back, k) && (!made || fresh->byte[k] == later->byte[k]);
    }
    return same;
}

/* What it changed when it started afresh, and not now, was left so. */
static bool was_left(const RecordLeft *fresh, const RecordLeft *later, const RecordLeft *left)
{
    bool same = true;
    for (uint32_t k = 0; k < REC_LEFT_BYTES && same; k++)
        if (has_bit(fresh->changed, k) && !(later && has_bit(later->changed, k)))
            same = left && has_bit(left->changed, k) && left->byte[k] == fresh->byte[k];
    return same;
}

/* Where what a core leaves does not depend on what it finds, the launch after this one, and all that follow,
 * do as these two do. What it leaves alone may stay as it is. */
static bool leaves_the_same(const Launched *fresh, const Launched *later, const TwinLeft *left)
{
    const CoreLefts *a = &fresh->answer.each, *b = &later->answer.each;
    bool same = a->len < CORE_LEFTS_MOST && b->len < CORE_LEFTS_MOST;
    uint32_t hint = 0;
    for (uint32_t i = 0; i < b->len && same; i++)
        same = changed_afresh(&b->at[i].piece, change_of(a, &b->at[i], &hint));
    hint = 0;
    for (uint32_t i = 0; i < a->len && same; i++) {
        const RecordLeft *mine = &a->at[i].piece, *now = change_of(b, &a->at[i], &hint);
        same = was_left(mine, now, piece_at(left, 0, mine->address)) ||
               was_left(mine, now, piece_at(left, 1, mine->address));
    }
    return same;
}

static bool does_the_same(const Launched *fresh, const LaunchSpec *spec, const TwinLeft *left)
{
    Launched l;
    bool made = launch_from(fresh, *spec, left, &l);
    bool same = !made || (l.answer.feed.end == FEED_DONE &&
                          faults_of(&l.answer) <= faults_of(&fresh->answer) &&
                          same_outputs(fresh, &l) && leaves_the_same(fresh, &l, left));
    twin_launched_close(&l);
    return same;
}

/* ---- what launches of other cases left ---- */

static uint64_t hash_program(const TwinKernel *kernel)
{
    return twin_seen_program(kernel->exe[0]) * 3 ^ twin_seen_program(kernel->exe[1]);
}

static TwinKeptProgram *kept_of(TwinKept *kept, uint64_t program)
{
    for (uint32_t i = 0; kept && i < kept->programs.len; i++)
        if (kept->programs.at[i].program == program)
            return &kept->programs.at[i];
    return NULL;
}

static void keep(TwinKept *kept, uint64_t program, const TwinLeft *left)
{
    TwinKeptProgram *has = kept_of(kept, program), fresh = {.program = program};
    if (!kept)
        return;
    for (int role = 0; role < 2; role++)
        for (uint32_t i = 0; i < left->of[role].len; i++)
            vec_push(kept->arena, &fresh.left.of[role], left->of[role].at[i]);
    if (has)
        *has = fresh;
    else
        vec_push(kept->arena, &kept->programs, fresh);
}

/* ---- all of it ---- */

static const char *names_of(const Launched *l)
{
    enum { SOME = 3 };
    Buf out = {0};
    for (uint32_t i = 0; i < l->kernel->variables.len && i < SOME; i++)
        buf_printf(&out, "%s'%s'", i ? ", " : "", l->kernel->variables.at[i]);
    const char *text = str_format(l->arena, "%s%s", out.len ? out.at : "a variable",
                                  l->kernel->variables.len > SOME ? " and more" : "");
    buf_free(&out);
    return text;
}

/* A launch that starts afresh, on other inputs where it goes well with them. False: none was made. */
static bool launch_afresh(const Launched *first, LaunchSpec *spec, TwinLaunch *launch,
                          Launched *fresh)
{
    for (int others = 1; others >= 0; others--) {
        launch->tensors = copy_tensors(first, others);
        if (launch_from(first, *spec, NULL, fresh) && fresh->answer.feed.end == FEED_DONE &&
            !faults_of(&fresh->answer))
            return true;
        twin_launched_close(fresh);
        free_tensors(launch->tensors, launch->tensor_count);
    }
    return false;
}

static void compare_launches(const Launched *first, LaunchSpec spec, Verdict *verdict)
{
    const TwinLeft *own = &first->answer.left;
    uint64_t program = hash_program(first->kernel);
    TwinKept *kept = first->options->kept;
    const TwinKeptProgram *earlier = kept_of(kept, program);
    TwinLaunch launch = *spec.launch;
    Launched fresh;
    spec.launch = &launch;
    if (!launch_afresh(first, &spec, &launch, &fresh))
        return;
    if (!does_the_same(&fresh, &spec, own) ||
        (earlier && !does_the_same(&fresh, &spec, &earlier->left)))
        verdict_fail(verdict, VERDICT_NOT_COMPUTED, STAGE_RUN,
                     str_format(first->arena,
                                "right on its first launch only: the next one finds what this one "
                                "left in %s, and gives or leaves something else",
                                names_of(first)));
    keep(kept, program, own);
    twin_launched_close(&fresh);
    free_tensors(launch.tensors, launch.tensor_count);
}

void twin_second_launch(Launched *first, LaunchSpec spec, Verdict *verdict)
{
    const TwinLeft *left = &first->answer.left;
    if (verdict->status != VERDICT_OK || (!left->of[0].len && !left->of[1].len))
        return;
    if (left->of[0].len == REC_LEFT_MOST || left->of[1].len == REC_LEFT_MOST) {
        verdict_fail(verdict, VERDICT_UNSUPPORTED, STAGE_RUN,
                     "the kernel changes more than 256 KiB of variables, which outlive a launch");
        return;
    }
    if (twin_memory_bytes(&first->memory) <= SECOND_MOST)
        compare_launches(first, spec, verdict);
}
