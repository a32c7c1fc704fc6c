/* The queue framework's bookkeeping: TPipe, InitBuffer, Alloc/En/De/Free, and what is left at the
 * end. A buffer is a row of slots; each slot goes free -> allocated -> queued -> dequeued -> free. */
#include "base/dtype.h"
#include "sim/sim_int.h"

static SimBuffer *find(CoreState *core, uint32_t id)
{
    for (uint32_t i = 0; i < core->buffers.len; i++)
        if (core->buffers.at[i].id == id)
            return &core->buffers.at[i];
    return NULL;
}

static SimBuffer *known(Step *s)
{
    SimBuffer *b = find(s->core, s->r->n[0]);
    if (!b)
        sim_report(s, SIM_FAULT_WRONG_QUEUE, "queue %u was never given buffers by InitBuffer",
                   s->r->n[0]);
    return b;
}

/* The slot a tensor lies in, or -1. */
static int slot_of(const SimBuffer *b, uint64_t address)
{
    if (b->bytes == 0 || rec_space(address) != rec_space(b->address) || address < b->address)
        return -1;
    uint64_t slot = (address - b->address) / b->bytes;
    return slot < b->slots ? (int)slot : -1;
}

/* --- TPipe and InitBuffer --- */

static bool pipe_open(Step *s)
{
    if (s->core->pipes_open++ > 0)
        sim_report(s, SIM_FAULT_TWO_PIPES, "a TPipe is made while another lives on this core");
    return true;
}

static bool pipe_close(Step *s)
{
    CoreState *core = s->core;
    queue_finish(s);
    if (core->pipes_open)
        core->pipes_open--;
    core->buffers.len = 0;
    core->buffer_count = 0;
    memset(core->outstanding, 0, sizeof core->outstanding);
    memset(core->space_used, 0, sizeof core->space_used);
    return true;
}

/* Part of a buffer may lie past the end: the device only minds when it is touched. */
static void forget(const Step *s, SimMemory *m, uint64_t from, uint64_t bytes)
{
    uint64_t room = from < m->bytes ? m->bytes - from : 0;
    sim_forget(s->sim, m, from, bytes < room ? bytes : room);
}

static void check_fits(Step *s, const SimBuffer *b, const SimMemory *m)
{
    uint64_t from = rec_byte(b->address), to = from + (uint64_t)b->bytes * b->slots;
    uint32_t space = rec_space(b->address);
    if (to <= m->bytes)
        return;
    sim_report_range(s, SIM_FAULT_UB_TOO_LARGE, (SimRange){space, true, from, to},
                     "%u buffers of %u bytes at %s byte %llu; that memory has %llu, %llu too few",
                     b->slots, b->bytes, npu_space_name(space), (unsigned long long)from,
                     (unsigned long long)m->bytes, (unsigned long long)(to - m->bytes));
}

static uint32_t add_capped(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static bool buffer_init(Step *s)
{
    const Record *r = s->r;
    CoreState *core = s->core;
    SimBuffer b = {.id = r->n[0],
                   .position = r->n[1],
                   .slots = r->n[2],
                   .depth = r->n[5],
                   .queue = r->n[3] == 0,
                   .address = r->operand[0].address,
                   .bytes = r->operand[0].bytes,
                   .file = r->file,
                   .line = r->line};
    uint32_t space = rec_space(b.address);
    if (b.position >= NPU_POS_COUNT || space >= NPU_SPACE_COUNT) {
        sim_report(s, SIM_FAULT_BAD_RECORD, "InitBuffer of %u buffers", b.slots);
        return false;
    }
    if (b.bytes == 0 || b.slots == 0)
        sim_report(s, SIM_FAULT_BUFFER_SIZE, "%u buffers of %u bytes", b.slots, b.bytes);
    core->buffer_count = add_capped(core->buffer_count, b.slots);
    if (core->buffer_count > SIM_MAX_SLOTS)
        sim_report(s, SIM_FAULT_TOO_MANY_BUFFERS, "%u buffers so far", core->buffer_count);
    if (b.slots > SIM_MAX_SLOTS)
        b.slots = SIM_MAX_SLOTS;
    if (space == NPU_GM)
        return true;
    /* A buffer in a memory of the other core type is idle until something touches it. */
    SimMemory *m = &core->memory[space];
    if (m->bytes) {
        check_fits(s, &b, m);
        forget(s, m, rec_byte(b.address), (uint64_t)b.bytes * b.slots);
    }
    SimBuffer *old = find(core, b.id);
    if (old) {
        *old = b;
        return true;
    }
    if (core->buffers.len >= SIM_MAX_BUFFERS) {
        sim_report(s, SIM_FAULT_BAD_RECORD, "more than %d buffers", SIM_MAX_BUFFERS);
        return false;
    }
    vec_push(&s->sim->arena, &core->buffers, b);
    return true;
}

/* --- the four calls --- */

static void touch(Step *s, SimSlot *slot, enum SlotState state)
{
    slot->state = (uint8_t)state;
    slot->line = s->r->line;
    slot->file = s->r->file;
}

static bool any_free(const SimBuffer *b)
{
    for (uint32_t i = 0; i < b->slots; i++)
        if (b->slot[i].state == SLOT_FREE)
            return true;
    return false;
}

/* Where a tensor was last used; else the last queue call on it. */
static SimSpot last_use(const CoreState *core, const SimBuffer *b, const SimSlot *slot)
{
    uint64_t at = b->address + (uint64_t)(slot - b->slot) * b->bytes;
    const Record *r = history_last_use(core, at, b->bytes);
    return r ? spot_of(core, r) : (SimSpot){sim_name(core, slot->file), slot->line};
}

/* The first slot in this state; NULL: none. */
static const SimSlot *slot_in(const SimBuffer *b, enum SlotState state)
{
    for (uint32_t i = 0; i < b->slots; i++)
        if (b->slot[i].state == state)
            return &b->slot[i];
    return NULL;
}

/* Tensors that were dequeued and never freed are the cause; AllocTensor is only where it shows. */
static void report_full(Step *s, const SimBuffer *b)
{
    const SimSlot *kept = slot_in(b, SLOT_TAKEN);
    SimFault fault = {.code = SIM_FAULT_QUEUE_FULL};
    const char *position = npu_position_name(b->position);
    if (sim_repeats_fault(s, fault))
        return;
    if (!kept) {
        const SimSlot *queued = slot_in(b, SLOT_QUEUED);
        sim_report_fault(s, fault, "all %u buffers of this %s queue are in use; %s at line %u",
                         b->slots, position,
                         queued ? "one is still enqueued since EnQue" : "one was allocated",
                         (queued ? queued : &b->slot[0])->line);
        return;
    }
    SimSpot spot = last_use(s->core, b, kept);
    fault.file = spot.file;
    fault.line = spot.line;
    fault.before[0] = kept->line;
    sim_report_fault(s, fault,
                     "the tensor of this %s queue that DeQue gave at line %u is last used here and "
                     "never freed; all %u buffers are in use at the AllocTensor of line %u",
                     position, kept->line, b->slots, s->r->line);
}

/* The buffers of the queue have 0 bytes. The fault names InitBuffer, which was given that length. */
static void report_no_bytes(Step *s, const SimBuffer *b)
{
    SimFault fault = {.code = SIM_FAULT_TENSOR_BOUNDS, .line = b->line};
    fault.file = sim_name(s->core, b->file);
    sim_report_fault(s, fault, "a tensor of a queue whose buffers are made here with 0 bytes");
}

static bool queue_alloc(Step *s)
{
    SimBuffer *b = known(s);
    if (!b)
        return true;
    int at = slot_of(b, s->r->operand[0].address);
    if (!any_free(b) || (at >= 0 && b->slot[at].state != SLOT_FREE)) {
        report_full(s, b);
        return false;
    }
    if (at < 0 && !b->bytes) {
        report_no_bytes(s, b);
        return true;
    }
    if (at < 0) {
        sim_report(s, SIM_FAULT_WRONG_QUEUE, "the tensor lies outside the queue's buffers");
        return true;
    }
    touch(s, &b->slot[at], SLOT_ALLOCATED);
    if (++s->core->outstanding[b->position] > 8)
        sim_report(s, SIM_FAULT_TOO_MANY_TENSORS, "%u tensors are allocated on %s",
                   s->core->outstanding[b->position], npu_position_name(b->position));
    SimMemory *m = &s->core->memory[rec_space(b->address)];
    if (m->bytes)
        forget(s, m, rec_byte(b->address) + (uint64_t)at * b->bytes, b->bytes);
    return true;
}

static bool queue_push(Step *s)
{
    SimBuffer *b = known(s);
    int at = b ? slot_of(b, s->r->operand[0].address) : -1;
    if (!b)
        return true;
    if (at < 0 || b->slot[at].state == SLOT_FREE || b->slot[at].state == SLOT_QUEUED) {
        sim_report(s, SIM_FAULT_WRONG_QUEUE, "the tensor was not allocated from this %s queue",
                   npu_position_name(b->position));
        return true;
    }
    if (b->depth && b->queued >= b->depth && b->queued >= b->slots)
        sim_report(s, SIM_FAULT_QUEUE_DEPTH, "%u tensors wait in a queue of depth %u", b->queued,
                   b->depth);
    touch(s, &b->slot[at], SLOT_QUEUED);
    if (b->queued < SIM_MAX_SLOTS)
        b->fifo[b->queued++] = (uint16_t)at;
    return true;
}

static void report_empty(Step *s, const SimBuffer *b)
{
    const SimSlot *left = slot_in(b, SLOT_ALLOCATED);
    SimFault fault = {.code = SIM_FAULT_QUEUE_EMPTY};
    const char *position = npu_position_name(b->position);
    if (sim_repeats_fault(s, fault))
        return;
    if (!left) {
        sim_report_fault(s, fault, "nothing was enqueued in this %s queue", position);
        return;
    }
    SimSpot spot = last_use(s->core, b, left);
    fault.file = spot.file;
    fault.line = spot.line;
    fault.before[0] = left->line;
    sim_report_fault(s, fault,
                     "the tensor that AllocTensor gave at line %u is last used here and never "
                     "enqueued; the DeQue of line %u finds nothing in this %s queue",
                     left->line, s->r->line, position);
}

static bool queue_pop(Step *s)
{
    SimBuffer *b = known(s);
    if (!b)
        return true;
    if (b->queued == 0) {
        report_empty(s, b);
        return false;
    }
    touch(s, &b->slot[b->fifo[0]], SLOT_TAKEN);
    b->queued--;
    memmove(b->fifo, b->fifo + 1, b->queued * sizeof *b->fifo);
    return true;
}

/* A tensor knows its own buffer: another queue of the same position gives it back all the same. */
static SimBuffer *owner_of(Step *s, const SimBuffer *through, int *at)
{
    for (uint32_t i = 0; i < s->core->buffers.len; i++) {
        SimBuffer *b = &s->core->buffers.at[i];
        *at = b->queue && b->position == through->position ? slot_of(b, s->r->operand[0].address)
                                                           : -1;
        if (*at >= 0)
            return b;
    }
    return NULL;
}

static bool queue_free(Step *s)
{
    SimBuffer *b = known(s);
    int at = b ? slot_of(b, s->r->operand[0].address) : -1;
    if (!b)
        return true;
    SimBuffer *owner = at < 0 ? owner_of(s, b, &at) : NULL;
    if (owner) {
        sim_report(s, SIM_FAULT_OTHER_QUEUE, "it lies in the buffers of another %s queue",
                   npu_position_name(b->position));
        b = owner;
    }
    if (at < 0 && !b->bytes)
        return true; /* reported when it was dequeued */
    if (at < 0) {
        sim_report(s, SIM_FAULT_WRONG_QUEUE, "the tensor does not lie in this %s queue's buffers",
                   npu_position_name(b->position));
        return true;
    }
    if (b->slot[at].state == SLOT_FREE || b->slot[at].state == SLOT_QUEUED) {
        sim_report(s, SIM_FAULT_DOUBLE_FREE, "the tensor is %s, since line %u",
                   b->slot[at].state == SLOT_FREE ? "free already" : "still in the queue",
                   b->slot[at].line);
        return true;
    }
    touch(s, &b->slot[at], SLOT_FREE);
    if (s->core->outstanding[b->position])
        s->core->outstanding[b->position]--;
    return true;
}

/* --- the end of a core, or of a TPipe --- */

/* Whether nothing was put into a tensor since AllocTensor: some kernels take the next one ahead. */
static bool is_unused(const Step *s, const SimBuffer *b, const SimSlot *slot)
{
    const SimMemory *m = &s->core->memory[rec_space(b->address)];
    uint64_t from = rec_byte(b->address) + (uint64_t)(slot - b->slot) * b->bytes;
    if (slot->state != SLOT_ALLOCATED || !m->known || from + b->bytes > m->bytes)
        return false;
    for (uint32_t i = 0; i < b->bytes; i++)
        if (memory_known(m, from + i, 1))
            return false;
    return true;
}

static void finish_slot(Step *s, const SimBuffer *b, const SimSlot *slot)
{
    if (slot->state == SLOT_FREE)
        return;
    Record place = {.op = slot->state == SLOT_QUEUED ? NPU_QUEUE_PUSH : NPU_QUEUE_ALLOC,
                    .file = slot->file,
                    .line = slot->line};
    Step at = {.sim = s->sim, .core = s->core, .r = &place, .core_index = s->core_index};
    bool queued = slot->state == SLOT_QUEUED, unused = !queued && is_unused(s, b, slot);
    SimSpot spot = queued || unused ? (SimSpot){0} : last_use(s->core, b, slot);
    SimFault fault = {.code = queued   ? SIM_FAULT_STILL_QUEUED
                              : unused ? SIM_FAULT_UNUSED_TENSOR
                                       : SIM_FAULT_LEAK,
                      .file = spot.file,
                      .line = spot.line,
                      .before = {slot->line}};
    sim_report_fault(&at, fault, "a tensor of a %s queue, last %s here",
                     npu_position_name(b->position), spot.line ? "used" : "touched");
}

/* A flag that other turns of a loop waited for lacks the wait behind the loop: behind the last of those
 * that stand there. */
static void report_flag_left(Step *s, uint32_t from, uint32_t to, uint32_t id)
{
    const Record *last_wait = NULL;
    bool waited = false;
    for (uint32_t back = 0; back < history_len(s->core); back++) {
        const Record *r = history_at(s->core, back);
        if (r->op != NPU_WAIT_FLAG || r->flags & REC_FROM_QUEUE)
            continue;
        last_wait = last_wait ? last_wait : r;
        waited |= r->pipe == from && r->mode == to && r->n[0] == id;
    }
    bool behind = waited && last_wait->file == s->r->file && last_wait->line > s->r->line;
    SimSpot spot = behind ? spot_of(s->core, last_wait) : (SimSpot){0};
    sim_report_fault(
        s, (SimFault){.code = SIM_FAULT_FLAG_LEFT, .file = spot.file, .line = spot.line},
        "%s to %s, id %u%s", npu_pipe_name(from), npu_pipe_name(to), id,
        behind ? str_format(&s->sim->arena, ", set at line %u, is still set when the kernel ends",
                            s->r->line)
               : "");
}

static void finish_flags(Step *s)
{
    CoreState *core = s->core;
    for (uint32_t from = 0; from < NPU_PIPE_ALL; from++)
        for (uint32_t to = 0; to < NPU_PIPE_ALL; to++) {
            uint8_t left = 0;
            for (uint32_t id = 0; id < 8; id++)
                if (core->flag[from][to][id])
                    left = (uint8_t)(left | (core->flag_hand[from][to] & 1u << id));
            if (!left)
                continue;
            Record place = {.op = NPU_SET_FLAG,
                            .file = core->flag_file[from][to],
                            .line = core->flag_line[from][to]};
            Step at = {.sim = s->sim, .core = core, .r = &place, .core_index = s->core_index};
            report_flag_left(&at, from, to, (uint32_t)__builtin_ctz(left));
        }
}

void queue_finish(Step *s)
{
    for (uint32_t i = 0; i < s->core->buffers.len; i++) {
        const SimBuffer *b = &s->core->buffers.at[i];
        for (uint32_t k = 0; b->queue && k < b->slots; k++)
            finish_slot(s, b, &b->slot[k]);
    }
    s->core->buffers.len = 0;
    if (s->r->op == NPU_CORE_END)
        finish_flags(s);
}

static bool trap(Step *s)
{
    bool divides = s->r->mode == REC_TRAP_DIVISION;
    if (divides)
        sim_report(s, SIM_FAULT_ZERO_DIVISION, "scalar code divides by zero behind this call");
    else
        sim_report(s, SIM_FAULT_TRAPPED, "the kernel called Trap");
    return divides;
}

/* --- DumpTensor --- */

static bool dump(Step *s)
{
    const Record *r = s->r;
    uint32_t bits = npu_dtype_bits(r->dtype[1]), size = bits / 8, n = r->n[0];
    uint64_t address = r->operand[1].address, offset = rec_byte(address), inside;
    const uint8_t *at = NULL;
    if (size == 0 || n > (1u << 16)) {
        sim_report(s, SIM_FAULT_BAD_COUNT, "DumpTensor of %u elements", n);
        return false;
    }
    if (rec_space(address) == NPU_GM) {
        SimGm *gm = sim_gm_range(s, address, (uint64_t)n * size, false, &offset, &inside);
        at = gm ? gm->memory.at : NULL;
        n = gm ? (uint32_t)(inside / size) : 0;
    } else {
        SimMemory *m = sim_local(s, 1, ~0u);
        at = m && sim_local_range(s, 1, m, offset, (uint64_t)n * size, false) ? m->at : NULL;
    }
    Buf *out = &s->sim->printed;
    if (s->sim->config.no_data)
        return true;
    if (!at)
        return false;
    if (out->len > (1u << 20))
        return true;
    buf_printf(out, "DumpTensor: desc=%u, block=%u, dtype=%s, elements=%u\n[", r->n[1],
               s->core->pub.block, npu_dtype_text(r->dtype[1]), n);
    for (uint32_t i = 0; i < n; i++) {
        _Alignas(8) uint8_t value[8];
        memcpy(value, at + offset + (uint64_t)i * size, size);
        buf_puts(out, i ? ", " : "");
        buf_double(out, dtype_load((DType)r->dtype[1], value, 0));
    }
    buf_puts(out, "]\n");
    return true;
}

bool exec_queue(Step *s)
{
    switch (s->r->op) {
    case NPU_PIPE_OPEN: return pipe_open(s);
    case NPU_PIPE_CLOSE: return pipe_close(s);
    case NPU_BUFFER_INIT: return buffer_init(s);
    case NPU_QUEUE_ALLOC: return queue_alloc(s);
    case NPU_QUEUE_PUSH: return queue_push(s);
    case NPU_QUEUE_POP: return queue_pop(s);
    case NPU_QUEUE_FREE: return queue_free(s);
    case NPU_DUMP: return dump(s);
    case NPU_TRAP: return trap(s);
    case NPU_UNSUPPORTED:
        sim_report(s, SIM_FAULT_UNSUPPORTED, "%s", sim_name(s->core, s->r->api));
        return false;
    default: return true;
    }
}
