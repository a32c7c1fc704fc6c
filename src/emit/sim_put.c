/* Records as the twin's headers write them (twin/include/acraft: emit.h, tensor.h). In: a core.
 * Out: records after those that wait. */
#include "emit/sim_int.h"

#include "base/rng.h"
#include "sim/place.h"
#include <string.h>

static const struct {
    uint8_t from, to;
} pipes[SIM_EVENTS] = {
    [EV_MTE2_MTE1] = {NPU_PIPE_MTE2, NPU_PIPE_MTE1},
    [EV_MTE1_MTE2] = {NPU_PIPE_MTE1, NPU_PIPE_MTE2},
    [EV_MTE1_M] = {NPU_PIPE_MTE1, NPU_PIPE_M},
    [EV_M_MTE1] = {NPU_PIPE_M, NPU_PIPE_MTE1},
    [EV_M_FIX] = {NPU_PIPE_M, NPU_PIPE_FIX},
    [EV_FIX_M] = {NPU_PIPE_FIX, NPU_PIPE_M},
    [EV_FIX_MTE2] = {NPU_PIPE_FIX, NPU_PIPE_MTE2},
    [EV_MTE2_V] = {NPU_PIPE_MTE2, NPU_PIPE_V},
    [EV_V_MTE2] = {NPU_PIPE_V, NPU_PIPE_MTE2},
    [EV_MTE3_V] = {NPU_PIPE_MTE3, NPU_PIPE_V},
    [EV_V_MTE3] = {NPU_PIPE_V, NPU_PIPE_MTE3},
    [EV_MTE3_MTE2] = {NPU_PIPE_MTE3, NPU_PIPE_MTE2},
    [EV_MTE2_MTE3] = {NPU_PIPE_MTE2, NPU_PIPE_MTE3},
    [EV_S_V] = {NPU_PIPE_S, NPU_PIPE_V},
    [EV_V_S] = {NPU_PIPE_V, NPU_PIPE_S},
    [EV_S_MTE2] = {NPU_PIPE_S, NPU_PIPE_MTE2},
    [EV_MTE2_S] = {NPU_PIPE_MTE2, NPU_PIPE_S},
    [EV_S_MTE3] = {NPU_PIPE_S, NPU_PIPE_MTE3},
    [EV_MTE3_S] = {NPU_PIPE_MTE3, NPU_PIPE_S},
};

/* ---- room ---- */

static Record *append_record(SimCoreRun *c)
{
    if (c->out_len == c->out_cap) {
        uint32_t cap = c->out_cap ? 2 * c->out_cap : 256;
        c->out = heap_grow(c->out, c->out_cap * sizeof(Record), cap * sizeof(Record));
        c->out_cap = cap;
    }
    Record *r = &c->out[c->out_len++];
    memset(r, 0, sizeof *r);
    return r;
}

/* A call that is run again leaves out what it wrote before. */
static Record *next_record(SimCoreRun *c)
{
    c->written++;
    if (c->written > c->skip)
        return append_record(c);
    memset(&c->left_out, 0, sizeof c->left_out);
    return &c->left_out;
}

/* ---- names ---- */

static void announce_name(SimCoreRun *c, uint32_t name)
{
    const char *text = c->run->of->names[name];
    size_t length = strlen(text);
    c->name_ids[name] = ++c->name_count;
    do {
        RecordText t = {.op = REC_TEXT, .kind = REC_TEXT_NAME, .id = c->name_count};
        size_t part = length < REC_TEXT_BYTES ? length : REC_TEXT_BYTES;
        t.more = part < length;
        t.length = (uint16_t)part;
        memcpy(t.text, text, part);
        memcpy(append_record(c), &t, sizeof t);
        text += part;
        length -= part;
    } while (length > 0);
}

static uint16_t name_id(SimCoreRun *c, uint32_t name)
{
    if (name && !c->name_ids[name])
        announce_name(c, name);
    return name ? c->name_ids[name] : 0;
}

/* ---- records ---- */

Record *esim_put_at(SimCoreRun *c, uint16_t op, uint32_t file, uint32_t line, uint32_t api)
{
    uint16_t file_id = name_id(c, file), api_id = name_id(c, api);
    Record *r = next_record(c);
    r->op = op;
    r->pipe = c->run->of->pipes[op];
    r->api = api_id;
    r->file = file_id;
    r->line = line;
    c->last_file = file;
    c->last_line = line;
    return r;
}

Record *esim_put(SimCoreRun *c, const SimIns *s, uint16_t op)
{
    return esim_put_at(c, op, s->file, s->line, s->api_name);
}

void esim_put_flag(SimCoreRun *c, uint16_t op, uint8_t event, int32_t id, uint8_t flags,
                   uint32_t file, uint32_t line, uint32_t api)
{
    Record *r = esim_put_at(c, op, file, line, api);
    r->pipe = pipes[event].from;
    r->flags = flags;
    r->mode = pipes[event].to;
    r->n[0] = (uint32_t)id;
}

void esim_put_barrier(SimCoreRun *c, const SimIns *s, uint8_t pipe)
{
    esim_put(c, s, NPU_BARRIER)->mode = pipe;
}

int32_t esim_free_event(const SimCoreRun *c, uint8_t event)
{
    int32_t id = 0;
    while (id < 15 && (c->events[event] >> id & 1))
        id++;
    return id;
}

void esim_put_pair(SimCoreRun *c, const SimIns *s, uint8_t event)
{
    int32_t id = esim_free_event(c, event);
    esim_put_flag(c, NPU_SET_FLAG, event, id, REC_FROM_QUEUE, s->file, s->line, s->api_name);
    esim_put_flag(c, NPU_WAIT_FLAG, event, id, REC_FROM_QUEUE, s->file, s->line, s->api_name);
}

void esim_end_record(SimCoreRun *c) { next_record(c)->op = NPU_CORE_END; }

/* ---- operands ---- */

SimTensor esim_tensor_at(SimTensor t, uint64_t offset, uint32_t element)
{
    uint32_t bytes = (uint32_t)((uint64_t)(uint32_t)offset * element);
    SimTensor at = t;
    at.address += bytes;
    at.past = bytes > t.bytes || (bytes == t.bytes && bytes > 0);
    at.bytes = bytes < t.bytes ? t.bytes - bytes : 0;
    return at;
}

RecordOperand esim_operand(SimTensor t, uint32_t block, uint32_t repeat)
{
    return (RecordOperand){.address = rec_address(t.space, t.address),
                           .bytes = t.past ? 1 : t.bytes,
                           .block_stride = (uint16_t)block,
                           .repeat_stride = (uint16_t)repeat};
}

SimTensor esim_local_ref(SimCoreRun *c, const SimRef *r)
{
    SimTensor t = c->locals[r->id];
    if (!r->offset.given)
        return t;
    return esim_tensor_at(t, (uint64_t)esim_value(c, r->offset).i, r->bytes);
}

uint64_t esim_global_ref(SimCoreRun *c, const SimRef *r)
{
    uint64_t base = c->run->stages[c->stage].base[r->id];
    uint64_t offset = r->offset.given ? (uint64_t)esim_value(c, r->offset).i : 0;
    return rec_address(NPU_GM, base + offset * r->bytes);
}

/* ---- values that the scalar unit reads ---- */

/* Bytes of a memory that nobody filled: the twin's arbitrary words (memory.c, fill_arbitrary). */
static uint64_t arbitrary(const EmitSimRun *run, uint64_t stream, uint64_t at, uint32_t bytes)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        uint64_t word = rng_u64(run->seed, stream, (at + i) / 8);
        bits |= (word >> ((at + i) % 8 * 8) & 0xff) << (8 * i);
    }
    return bits;
}

static uint64_t known_bytes(const uint8_t *from, uint32_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, from, bytes);
    return bits;
}

/* Without values: an input's own bytes where it has some. */
static uint64_t arbitrary_gm(const EmitSimRun *run, uint64_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < run->placed_count; i++) {
        const SimPlaced *p = &run->placed[i];
        if (address < p->base || address - p->base + bytes > p->bytes)
            continue;
        uint64_t at = address - p->base;
        return p->data ? known_bytes(p->data + at, bytes)
                       : arbitrary(run, SIM_PATTERN_STREAM, at % run->pattern, bytes);
    }
    return 0;
}

/* Registers show the first words of the arbitrary UB, in the order of RecordView. */
static uint64_t arbitrary_read(const SimCoreRun *c, SimRead read)
{
    switch (read.kind) {
    case SIM_READ_ACCUMULATED: return arbitrary(c->run, NPU_UB, 0, 8);
    case SIM_READ_KEPT: return arbitrary(c->run, NPU_UB, 16, 8);
    default:
        return rec_space(read.address) == NPU_GM
                   ? arbitrary_gm(c->run, rec_byte(read.address), read.bytes)
                   : arbitrary(c->run, NPU_UB, rec_byte(read.address), read.bytes);
    }
}

bool esim_read(SimCoreRun *c, SimRead read, uint64_t *bits)
{
    if (c->run->time_only) {
        *bits = arbitrary_read(c, read);
        return true;
    }
    if (c->log_at < c->log_len) {
        *bits = c->log[c->log_at++];
        return true;
    }
    c->wanted = read;
    c->state = CORE_READS;
    return false;
}
