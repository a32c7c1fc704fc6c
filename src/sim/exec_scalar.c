/* The scalar unit: element reads and writes of tensors, raw pointers, special registers,
 * DumpTensor. Core processes see no memory: what a kernel reads goes back through its view. */
#include "base/dtype.h"
#include "sim/sim_int.h"

/* Whether an element `past` bytes behind its tensor's last block (counted from 1) lies outside the buffer
 * that holds the tensor. Where no buffer of InitBuffer is known to hold it, nothing is reported. */
static bool leaves_buffer(const CoreState *core, uint64_t address, uint32_t past, uint32_t size)
{
    uint64_t at = rec_byte(address), inside = at - past; /* the tensor's last byte */
    for (uint32_t i = core->buffers.len; past <= at && i-- > 0;) {
        const SimBuffer *b = &core->buffers.at[i];
        uint64_t from = rec_byte(b->address), all = (uint64_t)b->bytes * b->slots;
        if (rec_space(b->address) != rec_space(address) || inside < from || inside >= from + all)
            continue;
        uint64_t slot = (inside - from) / b->bytes;
        return at + size > from + (slot + 1) * b->bytes;
    }
    return false;
}

/* Inside its buffer an element behind the tensor hits nobody else's bytes: kernels that took a part of a
 * buffer do it knowingly, so that is only a warning. */
static void report_past(Step *s, int operand, uint32_t size, bool write)
{
    uint64_t address = s->r->operand[operand].address, at = rec_byte(address);
    uint32_t past = s->r->n[1];
    bool leaves = leaves_buffer(s->core, address, past, size);
    sim_report_range(s, leaves ? SIM_FAULT_TENSOR_BOUNDS : SIM_FAULT_ELEMENT_PAST,
                     (SimRange){rec_space(address), write, at, at + size},
                     leaves
                         ? "the element lies %u bytes behind the tensor's last block, outside its "
                           "buffer"
                         : "the element lies %u bytes behind the tensor's last block",
                     past - 1);
}

static void report_unwritten(Step *s, int operand, uint32_t size)
{
    uint64_t address = s->r->operand[operand].address, at = rec_byte(address);
    if (sim_repeats_fault(s, (SimFault){.code = SIM_FAULT_UNINITIALISED}))
        return;
    SimSpot spot = spot_undefined(s, address, size);
    bool elsewhere = spot.line && spot.line != s->r->line;
    sim_report_fault(s,
                     (SimFault){.code = SIM_FAULT_UNINITIALISED,
                                .range = {{rec_space(address), false, at, at + size}},
                                .file = spot.file,
                                .line = spot.line},
                     "%s",
                     elsewhere ? str_format(&s->sim->arena,
                                            "line %u reads an element that nobody wrote; "
                                            "its tensor is filled here, as far as it is",
                                            s->r->line)
                               : "reads an element that nobody wrote");
}

static void answer(Step *s, uint64_t address, const uint8_t *from, uint64_t bytes)
{
    RecordView *view = s->core->pub.view;
    if (s->sim->config.no_data)
        return;
    view->answer_at = address;
    view->answer_bytes = (uint32_t)bytes;
    if (bytes)
        memcpy(view->answer, from, bytes);
}

/* `value`: what a store writes. */
static bool local_access(Step *s, int operand, uint32_t size, bool write, const void *value)
{
    SimMemory *m = sim_local(s, operand, 1u << NPU_UB | 1u << NPU_L1 | 1u << NPU_L0C);
    uint64_t address = s->r->operand[operand].address, at = rec_byte(address);
    if (!m || !sim_aligned(s, operand, size) || !sim_local_range(s, operand, m, at, size, write))
        return false;
    if (s->r->n[1])
        report_past(s, operand, size, write);
    if (write) {
        memcpy(m->at + at, value, size);
        memory_set_known(m, at, size, true);
    } else {
        answer(s, address, m->at + at, size);
        if (!memory_known(m, at, size))
            report_unwritten(s, operand, size);
    }
    sim_count(s, 0, write ? 0 : size, write ? size : 0);
    return true;
}

/* How many bytes from `offset` on go back: those requested, more in a long run over an input. */
static uint64_t answer_bytes(Step *s, const SimGm *gm, uint64_t offset, uint64_t bytes)
{
    CoreState *c = s->core;
    uint64_t address = gm->region.base + offset;
    c->run_bytes = address == c->run_next ? c->run_bytes + bytes : bytes;
    c->run_next = address + bytes;
    uint64_t ahead = c->run_bytes / REC_AHEAD_SHARE, left = gm->region.bytes - offset;
    bool fixed = gm->region.role == SIM_IN || gm->region.role == SIM_TILING;
    if (!fixed || ahead < REC_AHEAD_LEAST)
        return bytes;
    ahead = ahead < REC_ANSWER_BYTES ? ahead : REC_ANSWER_BYTES;
    return ahead < left ? ahead : left;
}

static bool gm_access(Step *s, int operand, uint64_t size, bool write, const void *value)
{
    uint64_t address = s->r->operand[operand].address, offset, inside;
    if (rec_space(address) != NPU_GM) {
        sim_report(s, SIM_FAULT_BAD_SPACE, "the address is not in GM");
        return false;
    }
    SimGm *gm = sim_gm_range(s, address, size, write, &offset, &inside);
    if (!gm)
        return false;
    if (write) {
        memcpy(gm->memory.at + offset, value, inside);
        memory_set_known(&gm->memory, offset, inside, true);
    } else {
        answer(s, address, gm->memory.at + offset,
               s->sim->config.no_data ? 0 : answer_bytes(s, gm, offset, inside));
        if (!memory_known(&gm->memory, offset, inside))
            sim_report_range(s, SIM_FAULT_GM_UNINITIALISED,
                             (SimRange){NPU_GM, false, rec_byte(address), rec_byte(address) + size},
                             "reads %s, which nobody wrote", sim_element_text(s->sim, gm, offset));
    }
    sim_count(s, 0, write ? 0 : size, write ? size : 0);
    return true;
}

static uint32_t access_size(Step *s, int which)
{
    uint32_t bits = npu_dtype_bits(s->r->dtype[which]);
    return bits < 8 ? 1 : bits / 8;
}

static bool raw_access(Step *s, int operand, bool write)
{
    uint64_t bytes = s->r->n[0];
    if (bytes == 0 || bytes > 16) {
        sim_report(s, SIM_FAULT_BAD_RECORD, "raw access of %llu bytes", (unsigned long long)bytes);
        return false;
    }
    return rec_space(s->r->operand[operand].address) == NPU_GM
               ? gm_access(s, operand, bytes, write, s->r->mask)
               : local_access(s, operand, (uint32_t)bytes, write, s->r->mask);
}

bool exec_scalar_access(Step *s)
{
    switch (s->r->op) {
    case NPU_LOCAL_GET: return local_access(s, 1, access_size(s, 1), false, NULL);
    case NPU_LOCAL_SET: return local_access(s, 0, access_size(s, 0), true, &s->r->scalar);
    case NPU_GLOBAL_GET: return gm_access(s, 1, access_size(s, 1), false, NULL);
    case NPU_GLOBAL_SET: return gm_access(s, 0, access_size(s, 0), true, &s->r->scalar);
    case NPU_RAW_LOAD: return raw_access(s, 1, false);
    case NPU_RAW_STORE: return raw_access(s, 0, true);
    default: sim_count(s, s->r->n[0], 0, 0); return true;
    }
}

static bool set_addresses(Step *s)
{
    if (s->r->n[0] > 7) {
        sim_report(s, SIM_FAULT_BAD_RECORD, "address list slot %u", s->r->n[0]);
        return false;
    }
    for (uint32_t i = 0; i < 4; i++)
        s->core->va[4 * s->r->n[0] + i] = s->r->operand[i].address;
    return true;
}

static bool set_atomic(Step *s)
{
    uint32_t how = s->r->scalar & 0xFF, dtype = s->r->scalar >> 8 & 0xFF;
    if (how >= REC_ATOMIC_COUNT || dtype >= NPU_DT_COUNT) {
        sim_report(s, SIM_FAULT_BAD_RECORD, "atomic mode %u", how);
        return false;
    }
    s->core->atomic = how;
    s->core->atomic_dtype = dtype;
    return true;
}

bool exec_register(Step *s)
{
    CoreState *c = s->core;
    const Record *r = s->r;
    switch (r->mode) {
    case REC_REG_MASK: return true;
    case REC_REG_ATOMIC: return set_atomic(s);
    case REC_REG_SATURATE: c->saturate = r->scalar & 1; return true;
    case REC_REG_DEQ_SCALE: c->deq_scale = r->scalar, c->deq_set = true; return true;
    case REC_REG_PAD_VALUE: c->pad_value = r->scalar, c->pad_set = true; return true;
    case REC_REG_COMPARE:
        memcpy(c->compare, r->mask, sizeof c->compare);
        memcpy(c->pub.view->compare, r->mask, sizeof c->compare);
        return true;
    case REC_REG_FMATRIX_A:
    case REC_REG_FMATRIX_B:
        c->fmatrix[r->mode - REC_REG_FMATRIX_A] = r->mask[0];
        c->fmatrix_pads[r->mode - REC_REG_FMATRIX_A] = r->scalar;
        return true;
    case REC_REG_LOAD3D_PAD: c->load3d_pad = r->scalar; return true;
    case REC_REG_HF32:
        c->hf32 = r->scalar & 1;
        c->hf32_to_zero = r->scalar >> 1 & 1;
        return true;
    case REC_REG_VA: return set_addresses(s);
    case REC_REG_CONTROL: c->pub.view->control = r->scalar; return true;
    default: sim_report(s, SIM_FAULT_BAD_RECORD, "register %u", r->mode); return false;
    }
}
