/* Synchronisation as far as values and hangs go: flags between pipes, flags between cores,
 * SyncAll. Whether the flags order what they should is the hazard checker's business. */
#include "sim/sim_int.h"

/* --- flags inside a core --- */

static bool pipe_here(const CoreState *core, uint32_t pipe)
{
    if (pipe == NPU_PIPE_S || pipe == NPU_PIPE_MTE2 || pipe == NPU_PIPE_MTE3)
        return true;
    return pipe < NPU_PIPE_ALL && core->pub.aic == (pipe != NPU_PIPE_V);
}

static bool flag_ok(Step *s)
{
    const Record *r = s->r;
    if (r->mode < NPU_PIPE_ALL && r->pipe < NPU_PIPE_ALL && r->n[0] < 8 && r->pipe != r->mode &&
        pipe_here(s->core, r->pipe) && pipe_here(s->core, r->mode))
        return true;
    sim_report(s, SIM_FAULT_BAD_EVENT, "%s to %s, id %u, on a %s core", npu_pipe_name(r->pipe),
               npu_pipe_name(r->mode), r->n[0], s->core->pub.aic ? "cube" : "vector");
    return false;
}

static void set_flag(Step *s)
{
    const Record *r = s->r;
    uint8_t bit = (uint8_t)(1u << r->n[0]), *count = &s->core->flag[r->pipe][r->mode][r->n[0]];
    uint8_t *hand = &s->core->flag_hand[r->pipe][r->mode];
    if (*count > 0)
        sim_report(s, SIM_FAULT_SET_TWICE, "%s to %s, id %u, was set at line %u already",
                   npu_pipe_name(r->pipe), npu_pipe_name(r->mode), r->n[0],
                   s->core->flag_line[r->pipe][r->mode]);
    if (*count == 1)
        s->core->set_twice++;
    if (*count < UINT8_MAX)
        ++*count;
    *hand = (uint8_t)(r->flags & REC_FROM_QUEUE ? *hand & ~bit : *hand | bit);
    s->core->flag_line[r->pipe][r->mode] = r->line;
    s->core->flag_file[r->pipe][r->mode] = r->file;
}

/* What the source pipe did since the flag was last set: behind it a SetFlag is missing. NULL: nothing, so
 * it is the wait that is too many. */
static const Record *not_followed_by_set(const Step *s)
{
    const Record *r = s->r;
    SimAccess access[SIM_ACCESS_MOST];
    for (uint32_t back = 0; back < history_len(s->core); back++) {
        const Record *past = history_at(s->core, back);
        if (past->pipe != r->pipe)
            continue;
        if (past->op == NPU_SET_FLAG && past->mode == r->mode && past->n[0] == r->n[0])
            return NULL;
        if (sim_accesses(past, s->core->va, access))
            return past;
    }
    return NULL;
}

static void report_never_set(Step *s)
{
    if (sim_repeats_fault(s, (SimFault){.code = SIM_FAULT_WAIT_NEVER_SET}))
        return;
    const Record *r = s->r, *last = not_followed_by_set(s);
    SimSpot spot = spot_of(s->core, last);
    sim_report_fault(
        s, (SimFault){.code = SIM_FAULT_WAIT_NEVER_SET, .file = spot.file, .line = spot.line},
        "the flag %s_%s, id %u, is not set%s", npu_pipe_name(r->pipe), npu_pipe_name(r->mode),
        r->n[0],
        last
            ? str_format(&s->sim->arena,
                         " behind this instruction of %s, but the WaitFlag of line %u waits for it",
                         npu_pipe_name(r->pipe), r->line)
            : "");
}

static void wait_flag(Step *s)
{
    const Record *r = s->r;
    uint8_t *count = &s->core->flag[r->pipe][r->mode][r->n[0]];
    if (*count == 0) {
        report_never_set(s);
        return;
    }
    if (--*count == 1)
        s->core->set_twice--;
}

static void barrier(Step *s)
{
    if (s->r->mode >= NPU_PIPE_COUNT)
        sim_report(s, SIM_FAULT_BAD_EVENT, "barrier of pipe %u", s->r->mode);
    else if (s->r->mode == NPU_PIPE_ALL && s->core->set_twice)
        sim_report(s, SIM_FAULT_BARRIER_HANG, "%u flags stand at two or more", s->core->set_twice);
}

/* --- flags between cores: counters, raised when every partner has set --- */

static uint32_t per_block(const Sim *sim)
{
    return sim->config.kind == SIM_MIX_1_2 ? 3 : sim->config.kind == SIM_MIX_1_1 ? 2 : 1;
}

/* Whether core `other` belongs to the group that must set before `core`'s flag is raised. */
static bool same_group(const Sim *sim, uint32_t core, uint32_t other, uint32_t mode)
{
    const SimCore *a = &sim->core[core].pub, *b = &sim->core[other].pub;
    if (a->aic != b->aic)
        return false;
    return mode == 0 || a->block == b->block;
}

static void raise_flag(Step *s, CoreState *core, uint32_t flag)
{
    if (core->cross_ready[flag] < 15)
        core->cross_ready[flag]++;
    else
        sim_report(s, SIM_FAULT_CROSS_OVERFLOW, "flag %u of block %u is raised 16 times unread",
                   flag, core->pub.block);
}

/* Who is told when the group of `core` is complete: itself, or in mode 2 the other core type. */
static void deliver(Step *s, uint32_t core, uint32_t mode, uint32_t flag)
{
    Sim *sim = s->sim;
    uint32_t from = mode == 0 ? 0 : core - core % per_block(sim);
    uint32_t to = mode == 0 ? sim->cores : from + per_block(sim);
    for (uint32_t i = from; i < to; i++) {
        bool group = same_group(sim, core, i, mode);
        if (mode == 2 ? sim->core[i].pub.aic != sim->core[core].pub.aic : group)
            raise_flag(s, &sim->core[i], flag);
        if (group)
            sim->core[i].cross_sent[mode][flag]--;
    }
}

static bool group_complete(const Sim *sim, uint32_t core, uint32_t mode, uint32_t flag)
{
    uint32_t from = mode == 0 ? 0 : core - core % per_block(sim);
    uint32_t to = mode == 0 ? sim->cores : from + per_block(sim);
    for (uint32_t i = from; i < to; i++)
        if (same_group(sim, core, i, mode) && sim->core[i].cross_sent[mode][flag] == 0)
            return false;
    return true;
}

static bool cross_ok(Step *s)
{
    if (s->r->n[0] < 16 && s->r->mode < 3)
        return true;
    sim_report(s, SIM_FAULT_BAD_EVENT,
               "cross-core mode %u, flag %u; modes are 0 to 2, flags 0 to 15", s->r->mode,
               s->r->n[0]);
    return false;
}

static bool cross_set(Step *s)
{
    uint32_t flag = s->r->n[0], mode = s->r->mode;
    if (!cross_ok(s))
        return true;
    uint16_t *sent = &s->core->cross_sent[mode][flag];
    if (*sent >= 15) {
        sim_report(s, SIM_FAULT_CROSS_OVERFLOW, "flag %u is set %u times without a wait", flag,
                   *sent);
        return true;
    }
    ++*sent;
    if (group_complete(s->sim, s->core_index, mode, flag))
        deliver(s, s->core_index, mode, flag);
    return true;
}

/* --- waiting --- */

static bool reached(const Sim *sim, uint32_t core, uint32_t which, uint64_t calls)
{
    for (uint32_t i = 0; i < sim->cores; i++) {
        bool counts = which == 1 || sim->core[i].pub.aic == sim->core[core].pub.aic;
        if (counts && sim->core[i].sync_calls[which] < calls)
            return false;
    }
    return true;
}

bool sync_ready(const Sim *sim, uint32_t core)
{
    const CoreState *c = &sim->core[core];
    if (c->wait == WAIT_CROSS)
        return c->cross_ready[c->wait_flag] > 0;
    if (c->wait == WAIT_ALL)
        return reached(sim, core, c->wait_mode, c->sync_calls[c->wait_mode]);
    return true;
}

static bool wait_here(Step *s, enum CoreWait wait, uint32_t mode, uint32_t flag)
{
    CoreState *c = s->core;
    c->wait = wait;
    c->wait_mode = mode;
    c->wait_flag = flag;
    c->wait_line = s->r->line;
    c->wait_file = s->r->file;
    if (!sync_ready(s->sim, s->core_index))
        return true;
    c->wait = WAIT_NOTHING;
    return false;
}

/* What hangs on the chip although all cores simulated here would arrive. */
static void check_sync_all(Step *s, uint32_t which)
{
    const SimConfig *config = &s->sim->config;
    uint32_t cores = config->kind == SIM_AIV ? config->chip->aiv : config->chip->aic;
    if (config->blocks > cores)
        sim_report(s, SIM_FAULT_CROSS_NEVER_SET,
                   "%u blocks are launched, %s runs %u at a time: the others start only when "
                   "these have ended, and cannot arrive",
                   config->blocks, config->chip->name, cores);
    if (config->no_scheduler && !s->r->n[0]) /* with a workspace: how many cores */
        sim_report(s, SIM_FAULT_NO_SCHEDULER, "the kernel is declared KERNEL_TYPE_%s_ONLY",
                   config->kind == SIM_AIC ? "AIC" : "AIV");
    if (which == 1 && (config->kind == SIM_AIV || config->kind == SIM_AIC))
        sim_report(s, SIM_FAULT_CROSS_NEVER_SET,
                   "SyncAll<false> also waits for %s cores, and this kernel has none",
                   config->kind == SIM_AIV ? "cube" : "vector");
}

/* SyncAll is seen again and again while it blocks: only its first sight counts as arrival. */
static bool sync_all_waits(Step *s)
{
    CoreState *c = s->core;
    uint32_t which = s->r->mode & 1;
    if (!c->arrived) {
        check_sync_all(s, which);
        c->arrived = true;
        c->sync_calls[which]++;
    }
    if (wait_here(s, WAIT_ALL, which, 0))
        return true;
    c->arrived = false;
    return false;
}

bool sync_must_wait(Step *s)
{
    const Record *r = s->r;
    if (r->op == NPU_SYNC_ALL)
        return sync_all_waits(s);
    return r->n[0] < 16 && wait_here(s, WAIT_CROSS, r->mode, r->n[0]);
}

static void list_missing(Buf *out, const Sim *sim, uint32_t core, uint32_t which)
{
    uint64_t calls = sim->core[core].sync_calls[which];
    enum { SHOWN = 4 };
    uint32_t missing = 0;
    for (uint32_t i = 0; i < sim->cores; i++) {
        const CoreState *c = &sim->core[i];
        bool counts = which == 1 || c->pub.aic == sim->core[core].pub.aic;
        if (!counts || c->sync_calls[which] >= calls)
            continue;
        if (missing++ < SHOWN)
            buf_printf(out, "%sblock %u%s", missing > 1 ? ", " : "", c->pub.block,
                       c->ended ? " (has ended)" : "");
    }
    if (missing > SHOWN)
        buf_printf(out, " and %u more", missing - SHOWN);
}

const char *sync_wait_text(Arena *arena, const Sim *sim, uint32_t core)
{
    const CoreState *c = &sim->core[core];
    Buf out = {0};
    buf_printf(&out, "block %u %s waits ", c->pub.block, c->pub.aic ? "(cube)" : "(vector)");
    if (c->wait == WAIT_CROSS) {
        buf_printf(&out, "for cross-core flag %u, which its partners never set", c->wait_flag);
    } else {
        buf_puts(&out, "in SyncAll for ");
        list_missing(&out, sim, core, c->wait_mode);
    }
    char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

bool exec_sync(Step *s)
{
    switch (s->r->op) {
    case NPU_SET_FLAG:
        if (flag_ok(s))
            set_flag(s);
        return true;
    case NPU_WAIT_FLAG:
        if (flag_ok(s))
            wait_flag(s);
        return true;
    case NPU_BARRIER: barrier(s); return true;
    case NPU_CROSS_SET: return cross_set(s);
    case NPU_CROSS_WAIT:
        if (cross_ok(s))
            s->core->cross_ready[s->r->n[0]]--;
        return true;
    default: return true;
    }
}
