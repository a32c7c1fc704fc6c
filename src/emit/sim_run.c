/* One core runs a path's kernels. In: the code of the kernels, the launch. Out: records, as many
 * as are asked for. */
#include "emit/sim_int.h"

#include <string.h>

/* ---- kernels of the path ---- */

static void set_members(SimCoreRun *c, const SimStage *stage)
{
    const SimKernel *k = stage->kernel;
    memset(c->slots, 0, k->slots * sizeof *c->slots);
    for (uint32_t i = 0; i < k->constants.len; i++)
        c->slots[k->constants.at[i].slot] = k->constants.at[i].value;
    for (uint32_t i = 0; i < k->k->members.len; i++)
        c->slots[k->k->members.at[i]] = stage->members[i];
    esim_run_steps(c, k->setup.at, 0, k->setup.len);
}

/* Large tensors pass L2 by. */
static void set_hints(SimCoreRun *c)
{
    const SimKernel *k = c->kernel;
    memset(c->bypass, 0, k->tensors * sizeof *c->bypass);
    for (uint32_t i = 0; i < k->streams.len; i++) {
        const SimStream *s = &k->streams.at[i];
        int64_t bytes = esim_value(c, s->bytes).i, all = esim_value(c, s->together).i;
        if (all > s->least && (!s->most || bytes <= s->most))
            c->bypass[s->tensor] = true;
    }
}

static void start_stage(SimCoreRun *c)
{
    const SimStage *stage = &c->run->stages[c->stage];
    c->kernel = stage->kernel;
    c->in_stage = true;
    c->depth = 0;
    c->pc = c->kernel->entry;
    set_members(c, stage);
    memset(c->locals, 0, c->kernel->locals * sizeof *c->locals);
    set_hints(c);
    esim_open_pipe(c);
}

/* kinds: cores of both kinds meet, else those of one. */
static void put_sync_all(SimCoreRun *c, uint32_t file, uint32_t line, bool kinds)
{
    esim_put_at(c, NPU_BARRIER, file, line, 0)->mode = NPU_PIPE_ALL;
    esim_put_at(c, NPU_SYNC_ALL, file, line, 0)->mode = kinds;
}

static bool takes_part(const SimCoreRun *c, const SimStage *stage)
{
    const IrKernel *k = stage->kernel->k->source;
    bool both = k->has_cube && k->has_vector;
    bool role = !asc_is_mixed(c->run->of->p) || both || k->has_cube == c->aic;
    return role && (stage->cores < 0 || esim_block(c, k) < stage->cores);
}

/* The next kernel of the path that this core takes part in; the cores synchronise before each but the
 * first. */
static void next_stage(SimCoreRun *c)
{
    const EmitSim *sim = c->run->of;
    uint32_t line = sim->lines.entry.line, file = esim_file(sim, sim->lines.entry);
    while (++c->stage < c->run->path->launches.len) {
        if (c->stage > 0)
            put_sync_all(c, file, line, asc_is_mixed(sim->p));
        if (!takes_part(c, &c->run->stages[c->stage]))
            continue;
        start_stage(c);
        return;
    }
    esim_end_record(c);
    c->state = CORE_ENDED;
}

static void end_stage(SimCoreRun *c)
{
    esim_close_pipe(c);
    c->in_stage = false;
}

/* ---- copies, scalars, registers ---- */

static uint32_t word(SimCoreRun *c, SimExpr e, uint32_t otherwise)
{
    return e.given ? (uint32_t)esim_value(c, e).i : otherwise;
}

static RecordOperand ref_operand(SimCoreRun *c, const SimRef *r)
{
    if (r->global)
        return (RecordOperand){.address = esim_global_ref(c, r)};
    return esim_operand(esim_local_ref(c, r), 0, 0);
}

static uint16_t copy_op(const SimIns *s)
{
    if (s->form == ASC_COPY_PAD)
        return s->inward ? NPU_PAD_GM_UB : NPU_PAD_UB_GM;
    return s->inward ? NPU_COPY_GM_UB : NPU_COPY_UB_GM;
}

static void put_copy(SimCoreRun *c, const SimIns *s)
{
    uint32_t rows = (uint16_t)word(c, s->e[SE_ROWS], 1), len = word(c, s->e[SE_LEN], 0);
    uint32_t src_gap = word(c, s->e[SE_SRC_GAP], 0), dst_gap = word(c, s->e[SE_DST_GAP], 0);
    const SimRef *gm = s->inward ? &s->a : &s->dst;
    Record *r = esim_put(c, s, copy_op(s));
    r->dtype[0] = r->dtype[1] = r->dtype[2] = s->dst.dtype;
    r->flags = c->bypass[gm->id] ? REC_L2_BYPASS : 0;
    r->operand[0] = ref_operand(c, &s->dst);
    r->operand[1] = ref_operand(c, &s->a);
    r->n[0] = rows;
    if (s->form == ASC_COPY_PLAIN) {
        r->n[0] = 1;
        r->n[1] = (uint32_t)((uint64_t)len * s->dst.bytes);
    } else if (s->form == ASC_COPY_STRIDED) {
        r->n[1] = (uint16_t)len * 32u;
        r->n[2] = (uint16_t)src_gap * 32u;
        r->n[3] = (uint16_t)dst_gap * 32u;
    } else {
        r->n[1] = len;
        r->n[2] = s->inward ? src_gap : src_gap * 32u;
        r->n[3] = s->inward ? dst_gap * 32u : dst_gap;
    }
    if (s->form == ASC_COPY_PAD && s->inward && s->e[SE_PAD].given) {
        r->n[4] = (uint32_t)(uint8_t)word(c, s->e[SE_RIGHT], 0) << 16;
        r->mode = 1;
        r->scalar = esim_bits_as(esim_value(c, s->e[SE_PAD]), s->e[SE_PAD].is_float,
                                 (DType)s->dst.dtype);
    }
}

/* 1 + bytes after the tensor's last whole block; 0: inside. */
static uint32_t behind(const SimCoreRun *c, const SimRef *r, uint32_t offset)
{
    uint64_t bytes = c->locals[r->id].bytes, at = (uint64_t)offset * r->bytes;
    uint64_t end = (bytes + 31) / 32 * 32;
    return bytes && at >= end ? (uint32_t)(at - end + 1) : 0;
}

static RecordOperand element_operand(SimCoreRun *c, const SimRef *r, uint32_t *past)
{
    *past = 0;
    if (r->global)
        return (RecordOperand){.address = esim_global_ref(c, r)};
    uint32_t offset = word(c, r->offset, 0);
    SimTensor t = esim_tensor_at(c->locals[r->id], offset, r->bytes);
    *past = behind(c, r, offset);
    return (RecordOperand){.address = rec_address(NPU_UB, t.address), .bytes = t.bytes};
}

static bool get_element(SimCoreRun *c, const SimIns *s)
{
    uint32_t past;
    RecordOperand from = element_operand(c, &s->a, &past);
    Record *r = esim_put(c, s, s->a.global ? NPU_GLOBAL_GET : NPU_LOCAL_GET);
    uint64_t bits;
    r->dtype[1] = s->a.dtype;
    r->n[1] = past;
    r->operand[1] = from;
    if (!esim_read(c, (SimRead){SIM_READ_ELEMENT, from.address, s->a.bytes}, &bits))
        return false;
    c->slots[s->var] = esim_element_value(bits, (DType)s->a.dtype, s->type);
    return true;
}

static void put_element(SimCoreRun *c, const SimIns *s)
{
    uint32_t past;
    uint64_t bits = esim_bits_as(esim_value(c, s->e[0]), s->e[0].is_float, (DType)s->dst.dtype);
    RecordOperand to = element_operand(c, &s->dst, &past);
    Record *r = esim_put(c, s, s->dst.global ? NPU_GLOBAL_SET : NPU_LOCAL_SET);
    r->dtype[0] = s->dst.dtype;
    r->n[1] = past;
    r->operand[0] = to;
    r->scalar = bits;
}

static void put_order(SimCoreRun *c, const SimIns *s)
{
    int32_t id = esim_free_event(c, s->event);
    esim_put_flag(c, NPU_SET_FLAG, s->event, id, 0, s->file, s->line, 0);
    esim_put_flag(c, NPU_WAIT_FLAG, s->event, id, 0, s->file, s->line + 1, 0);
}

static void put_atomic(SimCoreRun *c, const SimIns *s)
{
    c->atomic.on = s->atomic != IR_PLAIN;
    if (c->atomic.on) {
        c->atomic.kind = (uint8_t)s->atomic;
        c->atomic.dtype = (uint8_t)s->type;
    }
    uint64_t kind = c->atomic.on ? c->atomic.kind : REC_ATOMIC_NONE;
    Record *r = esim_put(c, s, NPU_SET_REGISTER);
    r->mode = REC_REG_ATOMIC;
    r->scalar = kind | (uint64_t)c->atomic.dtype << 8;
}

/* ---- the interpreter ---- */

/* False: it waits for a value, and is run again when that is there. */
static bool run_ins(SimCoreRun *c, const SimIns *s)
{
    switch (s->kind) {
    case SIN_SET: {
        SimValue v = s->e[0].given ? esim_value(c, s->e[0]) : (SimValue){.i = 0};
        c->slots[s->var] = s->e[0].given ? esim_convert(v, s->e[0].is_float, s->type) : v;
        return true;
    }
    case SIN_JUMP: c->pc = s->target - 1; return true;
    case SIN_JUMP_IF_NOT:
        if (!esim_value(c, s->e[0]).i)
            c->pc = s->target - 1;
        return true;
    case SIN_LOOP_TEST:
        if (c->slots[s->var].i >= esim_value(c, s->e[0]).i)
            c->pc = s->target - 1;
        return true;
    case SIN_LOOP_NEXT:
        c->slots[s->var].i += esim_value(c, s->e[0]).i;
        c->pc = s->target - 1;
        return true;
    case SIN_RUN:
        if (c->depth == SIM_RETURNS)
            panic("functions of kernel %s call each other without end", c->kernel->k->name);
        c->returns[c->depth++] = c->pc;
        c->pc = s->target - 1;
        return true;
    case SIN_RETURN:
        if (c->depth)
            c->pc = c->returns[--c->depth];
        else
            end_stage(c);
        return true;
    case SIN_BUFFER_GET: esim_buffer_get(c, s); return true;
    case SIN_CALL: return esim_call(c, s);
    case SIN_COPY: put_copy(c, s); return true;
    case SIN_ALLOC:
    case SIN_ENQUE:
    case SIN_DEQUE:
    case SIN_FREE:
        if (!esim_queue_ins(c, s))
            c->state = CORE_GAVE_UP;
        return true;
    case SIN_GET: return get_element(c, s);
    case SIN_PUT: put_element(c, s); return true;
    case SIN_FLAG: put_order(c, s); return true;
    case SIN_BARRIER: esim_put_barrier(c, s, s->pipe); return true;
    case SIN_ATOMIC: put_atomic(c, s); return true;
    case SIN_CLEAN:
        esim_put(c, s, NPU_CACHE_CLEAN)->operand[0].address = esim_global_ref(c, &s->a);
        return true;
    case SIN_SYNC_ALL: put_sync_all(c, s->file, s->line, false); return true;
    case SIN_CUBE: esim_cube(c, s); return true;
    case SIN_ROLE:
        if ((s->core == IR_CORE_CUBE) != c->aic)
            c->pc = s->target - 1;
        return true;
    }
    return true;
}

enum { MOST_IDLE = 1 << 26 }; /* instructions without a record: a loop that waits for values */

void esim_core_fill(SimCoreRun *c, uint32_t want)
{
    uint32_t idle = 0, had = 0;
    if (c->out_at == c->out_len)
        c->out_at = c->out_len = 0;
    while (c->state == CORE_RUNS && c->out_len - c->out_at < want) {
        if (!c->in_stage) {
            c->written = 0;
            next_stage(c);
            continue;
        }
        c->written = 0;
        c->log_at = 0;
        if (!run_ins(c, &c->kernel->ins.at[c->pc])) {
            c->skip = c->written;
            return;
        }
        c->skip = c->log_len = 0;
        c->pc++;
        idle = c->out_len == had ? idle + 1 : 0;
        had = c->out_len;
        if (idle > MOST_IDLE)
            c->state = CORE_TRAPPED;
    }
}

void esim_core_answer(SimCoreRun *c, uint64_t bits)
{
    if (c->log_len < SIM_LOG)
        c->log[c->log_len++] = bits;
    c->state = CORE_RUNS;
}

void esim_core_start(SimCoreRun *c, EmitSimRun *run, uint32_t core)
{
    SimCoreRun fresh = {.run = run,
                        .core = core,
                        .stage = UINT32_MAX,
                        .slots = c->slots,
                        .locals = c->locals,
                        .bypass = c->bypass,
                        .queues = c->queues,
                        .next_pipe = 1,
                        .next_buffer = 1,
                        .atomic = {.kind = REC_ATOMIC_ADD},
                        .out = c->out,
                        .out_cap = c->out_cap};
    *c = fresh;
}
