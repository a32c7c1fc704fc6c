/* TPipe, TQue, TQueBind and TBuf as the twin's headers have them (twin/include/acraft/pipe.h):
 * buffers one after the other, and the flags that hand-overs are. In: queue statements. Out:
 * records. */
#include "emit/sim_int.h"

enum { NO_EVENT = -1, MOST_REMEMBERED = 64 };

static uint32_t align32(uint32_t bytes) { return (bytes + 31u) / 32u * 32u; }

static void put_queue_flag(SimCoreRun *c, uint16_t op, uint8_t event, int32_t id, uint32_t file,
                           uint32_t line)
{
    esim_put_flag(c, op, event, id, REC_FROM_QUEUE, file, line, 0);
}

static int8_t take_event(SimCoreRun *c, uint8_t event)
{
    int32_t id = esim_free_event(c, event);
    c->events[event] = (uint16_t)(c->events[event] | 1u << id);
    return (int8_t)id;
}

static void drop_event(SimCoreRun *c, uint8_t event, int32_t id)
{
    c->events[event] = (uint16_t)(c->events[event] & ~(1u << id));
}

/* ---- opening ---- */

/* Buffers of the other role's memories are set up, and nobody is told. */
static bool has_memory(const SimCoreRun *c, uint8_t space)
{
    return c->aic ? space != NPU_UB : space == NPU_UB;
}

static void put_init(SimCoreRun *c, const SimBuffer *b, const SimQueue *q, uint32_t count,
                     uint8_t to, uint32_t depth)
{
    if (!has_memory(c, q->space))
        return;
    Record *r = esim_put_at(c, NPU_BUFFER_INIT, b->file, b->line, 0);
    r->operand[0] = esim_operand(
        (SimTensor){.address = q->address, .bytes = q->bytes, .space = q->space}, 0, 0);
    r->n[0] = q->id;
    r->n[1] = q->position;
    r->n[2] = count;
    r->n[3] = q->storage == ASC_TBUF;
    r->n[4] = to;
    r->n[5] = depth;
}

/* The pipes that fill and empty a tile of the cube's memories, in the order of IrMemory from L1
 * on. */
static const struct {
    uint8_t space, position, to, enque, release;
} cube_memories[] = {
    [IR_L1 - IR_L1] = {NPU_L1, NPU_POS_A1, NPU_POS_A1, EV_MTE2_MTE1, EV_MTE1_MTE2},
    [IR_L0A - IR_L1] = {NPU_L0A, NPU_POS_A2, NPU_POS_A2, EV_MTE1_M, EV_M_MTE1},
    [IR_L0B - IR_L1] = {NPU_L0B, NPU_POS_B2, NPU_POS_B2, EV_MTE1_M, EV_M_MTE1},
    [IR_L0C - IR_L1] = {NPU_L0C, NPU_POS_CO1, NPU_POS_CO2, EV_M_FIX, EV_FIX_M},
};

/* Position, target position and events by what the queue joins. */
static uint8_t set_kind(SimQueue *q, IrMemory memory)
{
    q->space = NPU_UB;
    if (memory >= IR_L1 && memory <= IR_L0C) {
        q->space = cube_memories[memory - IR_L1].space;
        q->position = cube_memories[memory - IR_L1].position;
        q->enque = cube_memories[memory - IR_L1].enque;
        q->release = cube_memories[memory - IR_L1].release;
        return q->storage == ASC_TBUF ? q->position : cube_memories[memory - IR_L1].to;
    }
    switch (q->storage) {
    case ASC_QUE_IN:
        q->position = NPU_POS_VECIN;
        q->enque = EV_MTE2_V;
        q->release = EV_V_MTE2;
        return NPU_POS_VECIN;
    case ASC_QUE_OUT:
        q->position = NPU_POS_VECOUT;
        q->enque = EV_V_MTE3;
        q->release = EV_MTE3_V;
        return NPU_POS_GM;
    case ASC_QUE_BIND:
        q->position = NPU_POS_VECOUT;
        q->enque = EV_MTE2_MTE3;
        q->release = EV_MTE3_MTE2;
        return NPU_POS_VECOUT;
    default: q->position = NPU_POS_VECCALC; return NPU_POS_VECCALC;
    }
}

/* tops: first free byte of each memory. */
static void init_buffer(SimCoreRun *c, const SimBuffer *b, SimQueue *q, uint32_t *tops)
{
    uint32_t bytes = align32((uint32_t)esim_value(c, b->bytes).i);
    *q = (SimQueue){.storage = b->storage, .id = c->next_buffer++, .bytes = bytes};
    uint8_t to = set_kind(q, b->memory);
    uint32_t top = tops[q->space];
    q->address = top;
    if (b->storage == ASC_TBUF) {
        put_init(c, b, q, 1, to, 0);
        tops[q->space] += bytes;
        return;
    }
    uint32_t count = (uint8_t)esim_value(c, b->depth).i;
    bool ahead = q->space == NPU_UB && b->storage != ASC_QUE_OUT && b->ahead;
    put_init(c, b, q, count, to, ahead ? 2 : 1);
    q->count = count < SIM_QUEUE_SLOTS ? count : SIM_QUEUE_SLOTS;
    for (uint32_t i = 0; i < q->count; i++)
        q->slot[i] = (SimSlot){.free_event = NO_EVENT,
                               .full_event = NO_EVENT,
                               .address = top + i * bytes,
                               .bytes = bytes};
    tops[q->space] += count * bytes;
}

/* The matrix classes count on these being up from the start. */
enum { MATMUL_EVENTS = 3 };

static void put_matmul_flags(SimCoreRun *c, uint16_t op, uint32_t file, uint32_t line)
{
    for (int32_t id = 0; c->aic && id < MATMUL_EVENTS; id++)
        put_queue_flag(c, op, EV_M_MTE1, id, file, line);
}

void esim_open_pipe(SimCoreRun *c)
{
    const EmitSim *sim = c->run->of;
    uint32_t line = sim->lines.entry.line, file = esim_file(sim, sim->lines.entry);
    uint32_t tops[NPU_SPACE_COUNT] = {0};
    c->pipe_id = c->next_pipe++;
    esim_put_at(c, NPU_PIPE_OPEN, file, line, 0)->n[0] = c->pipe_id;
    for (int i = 0; i < SIM_EVENTS; i++)
        c->events[i] = 0;
    put_matmul_flags(c, NPU_SET_FLAG, file, line);
    if (c->aic)
        c->events[EV_M_MTE1] = (1u << MATMUL_EVENTS) - 1;
    c->queue_count = c->kernel->buffers.len;
    for (uint32_t i = 0; i < c->queue_count; i++)
        init_buffer(c, &c->kernel->buffers.at[i], &c->queues[i], tops);
}

/* The destructor: flags of free buffers are waited for, everything ends; at the place of the
 * last call. */
void esim_close_pipe(SimCoreRun *c)
{
    uint32_t file = c->last_file, line = c->last_line, seen = 0;
    for (uint32_t i = 0; i < c->queue_count; i++) {
        SimQueue *q = &c->queues[i];
        for (uint32_t k = 0; q->storage != ASC_TBUF && k < q->count && seen < MOST_REMEMBERED;
             k++, seen++) {
            SimSlot *s = &q->slot[k];
            if (s->free_event == NO_EVENT || s->state != SLOT_FREE)
                continue;
            put_queue_flag(c, NPU_WAIT_FLAG, q->release, s->free_event, file, line);
            s->free_event = NO_EVENT;
        }
    }
    put_matmul_flags(c, NPU_WAIT_FLAG, file, line);
    esim_put_at(c, NPU_BARRIER, file, line, 0)->mode = NPU_PIPE_ALL;
    esim_put_at(c, NPU_PIPE_CLOSE, file, line, 0)->n[0] = c->pipe_id;
}

/* ---- TBuf ---- */

void esim_buffer_get(SimCoreRun *c, const SimIns *s)
{
    const SimQueue *q = &c->queues[c->kernel->k->locals.at[s->local].buffer];
    SimTensor t = {.address = q->address, .bytes = q->bytes, .space = q->space};
    c->locals[s->local] = t;
    if (!has_memory(c, q->space))
        return;
    Record *r = esim_put(c, s, NPU_BUFFER_GET);
    r->operand[0] = esim_operand(t, 0, 0);
    r->n[0] = q->id;
}

/* ---- queues ---- */

static void note_queue(SimCoreRun *c, const SimIns *s, const SimQueue *q, uint16_t op,
                       RecordOperand tensor)
{
    Record *r = esim_put(c, s, op);
    r->operand[0] = tensor;
    r->n[0] = q->id;
    r->n[1] = q->position;
}

static SimTensor slot_tensor(const SimQueue *q, uint32_t slot)
{
    return (SimTensor){.address = q->slot[slot].address,
                       .bytes = q->slot[slot].bytes,
                       .space = q->space,
                       .slot = (uint8_t)slot};
}

static bool alloc_tensor(SimCoreRun *c, const SimIns *s, SimQueue *q)
{
    for (uint32_t tries = 0; tries < q->count; tries++) {
        uint32_t at = q->cursor;
        SimSlot *slot = &q->slot[at];
        q->cursor = (q->cursor + 1) % q->count;
        if (slot->state != SLOT_FREE)
            continue;
        slot->state = SLOT_OCCUPIED;
        if (slot->free_event != NO_EVENT) {
            put_queue_flag(c, NPU_WAIT_FLAG, q->release, slot->free_event, s->file, s->line);
            drop_event(c, q->release, slot->free_event);
            slot->free_event = NO_EVENT;
        }
        c->locals[s->local] = slot_tensor(q, at);
        note_queue(c, s, q, NPU_QUEUE_ALLOC, esim_operand(c->locals[s->local], 0, 0));
        return true;
    }
    if (q->count)
        note_queue(c, s, q, NPU_QUEUE_ALLOC, esim_operand(slot_tensor(q, q->cursor), 0, 0));
    return false;
}

static uint8_t hand_event(const SimQueue *q, AscHand hand)
{
    return hand == ASC_HAND_IN ? EV_MTE2_V : hand == ASC_HAND_OUT ? EV_V_MTE3 : q->enque;
}

static void enque_tensor(SimCoreRun *c, const SimIns *s, SimQueue *q)
{
    SimTensor t = c->locals[s->local];
    uint8_t event = hand_event(q, s->hand);
    SimSlot *slot = &q->slot[t.slot];
    note_queue(c, s, q, NPU_QUEUE_PUSH, esim_operand(t, 0, 0));
    slot->state = SLOT_ENQUED;
    slot->full_event = take_event(c, event);
    put_queue_flag(c, NPU_SET_FLAG, event, slot->full_event, s->file, s->line);
    q->waiting[q->tail] = t.slot;
    q->tail = (q->tail + 1) % SIM_WAITING;
    q->used++;
}

static bool deque_tensor(SimCoreRun *c, const SimIns *s, SimQueue *q)
{
    uint8_t event = hand_event(q, s->hand);
    if (q->used == 0) {
        note_queue(c, s, q, NPU_QUEUE_POP, (RecordOperand){0});
        return false;
    }
    uint32_t at = q->waiting[q->head];
    SimSlot *slot = &q->slot[at];
    q->head = (q->head + 1) % SIM_WAITING;
    q->used--;
    c->locals[s->local] = slot_tensor(q, at);
    note_queue(c, s, q, NPU_QUEUE_POP, esim_operand(c->locals[s->local], 0, 0));
    if (slot->full_event != NO_EVENT) {
        put_queue_flag(c, NPU_WAIT_FLAG, event, slot->full_event, s->file, s->line);
        drop_event(c, event, slot->full_event);
        slot->full_event = NO_EVENT;
        slot->state = SLOT_DEQUED;
    }
    return true;
}

static void free_tensor(SimCoreRun *c, const SimIns *s, SimQueue *q)
{
    SimTensor t = c->locals[s->local];
    SimSlot *slot = &q->slot[t.slot];
    note_queue(c, s, q, NPU_QUEUE_FREE, esim_operand(t, 0, 0));
    if (slot->state != SLOT_FREE) {
        slot->free_event = take_event(c, q->release);
        put_queue_flag(c, NPU_SET_FLAG, q->release, slot->free_event, s->file, s->line);
    }
    slot->state = SLOT_FREE;
}

bool esim_queue_ins(SimCoreRun *c, const SimIns *s)
{
    SimQueue *q = &c->queues[c->kernel->k->locals.at[s->local].buffer];
    switch (s->kind) {
    case SIN_ALLOC: return alloc_tensor(c, s, q);
    case SIN_DEQUE: return deque_tensor(c, s, q);
    case SIN_ENQUE: enque_tensor(c, s, q); return true;
    default: free_tensor(c, s, q); return true;
    }
}
