/* Bytes a record touches; see access.h. The shapes follow the exec_*.c of each form. */
#include "sim/access.h"
#include "npu/npu.h"

enum { BLOCK = 32, REPEAT = 256, FRACTAL = 512 };

static uint32_t element_bytes(uint8_t dtype)
{
    uint32_t bits = npu_dtype_bits(dtype);
    return bits < 8 ? 1 : bits / 8;
}

static bool has(const Record *r, int operand)
{
    return rec_space(r->operand[operand].address) != NPU_NOWHERE;
}

static SimAccess *add_access(SimAccess *out, uint32_t *n, const Record *r, int operand, bool write,
                             uint64_t bytes)
{
    uint64_t address = r->operand[operand].address;
    if (*n < SIM_ACCESS_MOST)
        ++*n;
    SimAccess *a = &out[*n - 1];
    *a = (SimAccess){.space = (uint8_t)rec_space(address),
                     .write = write,
                     .at = rec_byte(address),
                     .run = bytes,
                     .inner = 1,
                     .outer = 1};
    return a;
}

uint64_t sim_access_bytes(const SimAccess *a) { return a->run * a->inner * a->outer; }

/* --- vector forms --- */

static uint32_t operand_size(const Record *r, int operand)
{
    return element_bytes(r->dtype[operand < 3 ? operand : 2]);
}

SimRepeats sim_repeats(const Record *r)
{
    const NpuIsa *row = npu_isa(r->op);
    enum NpuForm form = row ? row->form : NPU_F_BOOK;
    uint32_t widest = element_bytes(r->dtype[form == NPU_F_COMPARE ? 1 : 0]);
    if (form == NPU_F_CAST || form == NPU_F_AXPY || form == NPU_F_TERNARY || form == NPU_F_BINARY) {
        uint32_t source = element_bytes(r->dtype[1]);
        widest = source > widest ? source : widest;
    }
    uint32_t per = widest < 2 ? 128 : REPEAT / widest;
    if (r->flags & REC_COUNTER) {
        uint64_t count = r->mask[0] > (1u << 20) ? 1u << 20 : r->mask[0];
        uint32_t repeats = (uint32_t)((count + per - 1) / per);
        return (SimRepeats){repeats, per, (uint32_t)(count - (repeats ? repeats - 1 : 0) * per),
                            widest};
    }
    uint32_t high = r->mask[1] && per > 64 ? 128 - (uint32_t)__builtin_clzll(r->mask[1]) : 0;
    uint32_t low = r->mask[0] ? 64 - (uint32_t)__builtin_clzll(r->mask[0]) : 0;
    uint32_t reach = high ? high : low;
    reach = reach > per ? per : reach;
    return (SimRepeats){reach ? r->n[0] & 0xFF : 0, reach, reach, widest};
}

/* An operand of a vector form, its blocks and repeats. */
static void add_vector(SimAccess *out, uint32_t *n, const Record *r, int operand, bool write,
                       SimRepeats reps, uint32_t size)
{
    if (reps.repeats == 0 || !has(r, operand))
        return;
    const RecordOperand *o = &r->operand[operand];
    uint64_t block = o->block_stride * (uint64_t)BLOCK, repeat = o->repeat_stride * (uint64_t)BLOCK;
    uint64_t bytes = (uint64_t)reps.elements * size;
    bool dense = block == BLOCK || bytes <= BLOCK;
    if (dense && (reps.repeats == 1 || repeat == bytes)) {
        uint64_t all = (uint64_t)(reps.repeats - 1) * bytes + (uint64_t)reps.last * size;
        add_access(out, n, r, operand, write, all);
        return;
    }
    if (reps.last != reps.elements && reps.repeats > 1) { /* the short last repeat apart */
        SimRepeats body = {reps.repeats - 1, reps.elements, reps.elements, reps.widest};
        SimRepeats tail = {1, reps.last, reps.last, reps.widest};
        add_vector(out, n, r, operand, write, body, size);
        uint32_t before = *n;
        add_vector(out, n, r, operand, write, tail, size);
        for (; before < *n; before++)
            out[before].at += (reps.repeats - 1) * repeat;
        return;
    }
    bytes = (uint64_t)reps.last * size;
    SimAccess *a = add_access(out, n, r, operand, write, dense ? bytes : BLOCK);
    a->outer = reps.repeats;
    a->outer_step = repeat;
    if (!dense && block) {
        a->inner = (uint32_t)((bytes + BLOCK - 1) / BLOCK);
        a->inner_step = block;
    }
}

static uint32_t elementwise(const Record *r, SimAccess *out, bool reads_dst, int operands)
{
    uint32_t n = 0;
    SimRepeats reps = sim_repeats(r);
    for (int i = 1; i < operands; i++)
        add_vector(out, &n, r, i, false, reps, operand_size(r, i));
    if (reads_dst)
        add_vector(out, &n, r, 0, false, reps, operand_size(r, 0));
    add_vector(out, &n, r, 0, true, reps, operand_size(r, 0));
    return n;
}

static uint32_t reduction(const Record *r, SimAccess *out)
{
    uint32_t n = 0, size = element_bytes(r->dtype[0]), bytes = size;
    SimRepeats reps = sim_repeats(r);
    add_vector(out, &n, r, 1, false, reps, size);
    if (reps.repeats == 0 || (r->op == NPU_REPEAT_SUM && r->mode == 1))
        return n;
    if (r->op == NPU_REPEAT_MAX || r->op == NPU_REPEAT_MIN)
        bytes = r->mode == REC_ONLY_VALUE ? size : r->mode == REC_ONLY_INDEX ? 4 : 2 * size;
    else if (r->op == NPU_PAIR_SUM)
        bytes = REPEAT / 2;
    else if (r->op != NPU_REPEAT_SUM)
        bytes = 8 * size;
    SimAccess *a = add_access(out, &n, r, 0, true, bytes);
    a->outer = reps.repeats;
    a->outer_step = (uint64_t)r->operand[0].repeat_stride * bytes;
    return n;
}

/* Compares read whole repeats; what they find behind a short tensor means nothing to anybody. */
static void cut_to_tensor(SimAccess *a, const RecordOperand *o)
{
    if (o->bytes && a->inner == 1 && a->outer == 1 && a->run > o->bytes)
        a->run = o->bytes;
}

static uint32_t comparison(const Record *r, SimAccess *out)
{
    uint32_t n = 0, size = element_bytes(r->dtype[1]);
    SimRepeats reps = sim_repeats(r);
    for (int i = 1; i < (r->op == NPU_COMPARE_SCALAR ? 2 : 3); i++) {
        uint32_t from = n;
        add_vector(out, &n, r, i, false, reps, size);
        if (n == from + 1)
            cut_to_tensor(&out[from], &r->operand[i]);
    }
    if (r->op != NPU_COMPARE_REGISTER && reps.repeats)
        add_access(out, &n, r, 0, true, (uint64_t)reps.repeats * (REPEAT / size / 8));
    return n;
}

static uint32_t selection(const Record *r, SimAccess *out)
{
    uint32_t n = elementwise(r, out, false, r->mode == NPU_SEL_SCALAR ? 2 : 3);
    SimRepeats reps = sim_repeats(r);
    uint64_t bits = r->mode == NPU_SEL_REGISTER ? 64 : (uint64_t)reps.repeats * reps.elements;
    if (has(r, 3) && reps.repeats)
        add_access(out, &n, r, 3, false, (bits + 7) / 8);
    return n;
}

static uint32_t gathering(const Record *r, SimAccess *out)
{
    uint32_t n = 0, size = element_bytes(r->dtype[0]);
    SimRepeats reps = sim_repeats(r);
    if (r->op == NPU_GATHER_MASK) {
        uint64_t per = r->flags & REC_COUNTER ? r->mask[0] & 0xFFFFF : REPEAT / size;
        SimAccess *a = add_access(out, &n, r, 1, false, per * size);
        a->outer = r->n[0] & 0xFF;
        a->outer_step = r->operand[1].repeat_stride * (uint64_t)BLOCK;
        if (r->mode == 0)
            add_access(out, &n, r, 2, false, (per + 7) / 8);
        add_access(out, &n, r, 0, true, per * size * (r->n[0] & 0xFF));
        return n;
    }
    uint64_t reach = r->operand[1].bytes;
    if (r->op == NPU_GATHER_BLOCK) {
        add_access(out, &n, r, 1, false, reach ? reach : BLOCK);
        add_access(out, &n, r, 2, false, 32ull * (r->n[0] & 0xFF));
        add_access(out, &n, r, 0, true, (uint64_t)REPEAT * (r->n[0] & 0xFF));
        return n;
    }
    add_access(out, &n, r, 1, false, reach ? reach : size);
    uint64_t positions = reps.repeats ? (reps.repeats - 1ull) * reps.elements + reps.last : 0;
    add_access(out, &n, r, 2, false, 4 * positions);
    add_vector(out, &n, r, 0, true, reps, size);
    return n;
}

static uint32_t lists(const Record *r, const uint64_t *va, SimAccess *out)
{
    uint32_t n = 0, repeats = r->n[0] & 0xFF;
    for (int slot = 0; va && slot < 32; slot++) {
        Record one = {0};
        one.operand[0].address = va[(slot + 16) % 32]; /* sources first */
        SimAccess *a = add_access(out, &n, &one, 0, slot >= 16, BLOCK);
        uint64_t step = r->operand[slot >= 16 ? 0 : 1].repeat_stride * (uint64_t)BLOCK;
        a->outer = repeats;
        a->outer_step = step;
        if (repeats == 1)
            a->at += step;
    }
    return n;
}

static uint32_t moving(const Record *r, const uint64_t *va, SimAccess *out)
{
    uint32_t n = 0, size = element_bytes(r->dtype[0]), repeats = r->n[0] & 0xFF;
    switch (r->op) {
    case NPU_COPY: return elementwise(r, out, false, 2);
    case NPU_TO_5HD: return lists(r, va, out);
    case NPU_TRANSPOSE:
        add_access(out, &n, r, 1, false, FRACTAL);
        add_access(out, &n, r, 0, true, FRACTAL);
        return n;
    default: {
        SimRepeats all = {repeats, REPEAT / size, REPEAT / size, size};
        add_access(out, &n, r, 1, false, 8ull * size * repeats);
        add_vector(out, &n, r, 0, true, all, size);
        return n;
    }
    }
}

static uint32_t sorting(const Record *r, SimAccess *out)
{
    uint32_t n = 0, repeats = r->n[0] & 0xFF;
    if (r->op == NPU_SORT32) {
        add_access(out, &n, r, 1, false, 32ull * element_bytes(r->dtype[0]) * repeats);
        add_access(out, &n, r, 2, false, 128ull * repeats);
        add_access(out, &n, r, 0, true, 256ull * repeats);
        return n;
    }
    if (r->op == NPU_MERGE_SORT || r->op == NPU_MERGE_SORT4) {
        uint64_t unit = r->op == NPU_MERGE_SORT ? 8 : 16, total = 0;
        for (int i = 0; i < 4; i++) {
            uint64_t bytes = r->mode >> i & 1 ? (r->n[1 + i] & 0xFFF) * unit : 0;
            Record one = *r;
            one.operand[0].address = i < 3 ? r->operand[i + 1].address
                                           : rec_address(NPU_UB, r->n[5]);
            if (bytes)
                add_access(out, &n, &one, 0, false, bytes * repeats);
            total += bytes;
        }
        add_access(out, &n, r, 0, true, total * repeats);
        return n;
    }
    bool concat = r->op == NPU_PROPOSAL_CONCAT, extract = r->op == NPU_PROPOSAL_EXTRACT;
    add_access(out, &n, r, 1, false, (concat ? 32ull : 256ull) * repeats);
    add_access(out, &n, r, 0, true, (extract ? 32ull : 256ull) * repeats);
    return n;
}

/* --- copies --- */

static uint64_t rounded(uint64_t bytes) { return (bytes + BLOCK - 1) / BLOCK * BLOCK; }

static uint32_t copying(const Record *r, SimAccess *out)
{
    uint32_t n = 0, count = r->n[0] & 0xFFF;
    uint64_t bytes = r->n[1], source = bytes + r->n[2], target = bytes + r->n[3], written = bytes;
    if (r->op == NPU_PAD_UB_GM)
        source = rounded(bytes) + r->n[2];
    if (r->op == NPU_PAD_GM_UB) {
        uint64_t pad = (r->n[4] & 0xFFFF) + (r->n[4] >> 16);
        written = rounded(bytes + pad * element_bytes(r->dtype[0]));
        target = written + r->n[3];
    } else if (r->op != NPU_PAD_UB_GM) {
        bytes -= bytes % BLOCK;
        written = bytes;
    }
    if (count == 0 || bytes == 0)
        return 0;
    SimAccess *a = add_access(out, &n, r, 1, false, bytes);
    a->outer = count;
    a->outer_step = source;
    a = add_access(out, &n, r, 0, true, written);
    a->outer = count;
    a->outer_step = target;
    for (uint32_t i = 0; i < n; i++)
        if (out[i].outer_step == out[i].run) {
            out[i].run *= out[i].outer;
            out[i].outer = 1;
        }
    return n;
}

static uint32_t to_nz(const Record *r, SimAccess *out)
{
    uint32_t n = 0, size = element_bytes(r->dtype[0]);
    uint32_t c0 = BLOCK / size, columns = (r->n[2] + c0 - 1) / c0;
    if (!r->n[0] || !r->n[1] || !r->n[2])
        return 0;
    SimAccess *a = add_access(out, &n, r, 1, false, (uint64_t)r->n[2] * size);
    a->inner = r->n[1];
    a->inner_step = (uint64_t)r->n[4] * size;
    a->outer = r->n[0];
    a->outer_step = (uint64_t)r->n[3] * size;
    a = add_access(out, &n, r, 0, true, BLOCK);
    bool dense = (r->mask[0] & 0xFFFFFFFF) == 1;
    a->run = dense ? (uint64_t)BLOCK * r->n[1] : BLOCK;
    a->inner = columns;
    a->inner_step = (uint64_t)r->n[5] * BLOCK;
    a->outer = dense ? r->n[0] : r->n[1];
    a->outer_step = dense ? (r->mask[0] >> 32) * size : (r->mask[0] & 0xFFFFFFFF) * BLOCK;
    return n;
}

/* --- the cube --- */

static uint32_t loading(const Record *r, SimAccess *out)
{
    uint32_t n = 0, size = element_bytes(r->dtype[0]);
    bool nibbles = npu_dtype_bits(r->dtype[0]) == 4;
    uint64_t fractals = r->op != NPU_LOAD_TRANSPOSE || size == 2 ? 1 : nibbles ? 4 : 2;
    if (r->op == NPU_FILL) {
        uint64_t unit = rec_space(r->operand[0].address) == NPU_L1 ? BLOCK : FRACTAL;
        SimAccess *a = add_access(out, &n, r, 0, true, r->n[1] * unit);
        a->outer = r->n[0];
        a->outer_step = (r->n[1] + (uint64_t)r->n[2]) * unit;
        return n;
    }
    if (r->op == NPU_LOAD3D) {
        uint64_t rows = ((uint64_t)r->n[1] + 15) / 16 * 16, c0 = BLOCK / size;
        uint64_t k = nibbles ? (r->n[0] + 1) / 2 : r->n[0], columns = (k + c0 - 1) / c0 * c0;
        add_access(out, &n, r, 1, false, r->operand[1].bytes ? r->operand[1].bytes : BLOCK);
        add_access(out, &n, r, 0, true, rows * columns * size);
        return n;
    }
    if (r->n[1] == 0)
        return 0;
    SimAccess *a = add_access(out, &n, r, 1, false, FRACTAL * fractals);
    a->at += (uint64_t)r->n[0] * FRACTAL * fractals;
    a->outer = r->n[1] & 0xFF;
    a->outer_step = (uint64_t)r->n[2] * FRACTAL * fractals;
    a = add_access(out, &n, r, 0, true, FRACTAL);
    a->inner = (uint32_t)fractals;
    a->inner_step = (r->n[4] + 1ull) * FRACTAL;
    a->outer = r->n[1] & 0xFF;
    a->outer_step = (r->n[3] + 1ull) * FRACTAL;
    return n;
}

static uint32_t multiplying(const Record *r, SimAccess *out)
{
    uint32_t n = 0, bits = npu_dtype_bits(r->dtype[1]), k0 = BLOCK * 8 / (bits ? bits : 8);
    uint64_t m1 = (r->n[0] + 15) / 16, n1 = (r->n[1] + 15) / 16, k1 = (r->n[2] + k0 - 1) / k0;
    if (!m1 || !n1 || !k1)
        return 0;
    add_access(out, &n, r, 1, false,
               r->n[0] == 1 ? ((uint64_t)r->n[2] * bits + 7) / 8 : m1 * k1 * FRACTAL);
    add_access(out, &n, r, 2, false, k1 * n1 * FRACTAL);
    if (r->mode & 2)
        add_access(out, &n, r, 3, false, 4ull * r->n[1]);
    else if (!(r->mode & 1))
        add_access(out, &n, r, 0, false, m1 * n1 * 1024);
    add_access(out, &n, r, 0, true, m1 * n1 * 1024);
    return n;
}

static uint32_t leaving(const Record *r, SimAccess *out)
{
    uint32_t n = 0, size = element_bytes(r->dtype[0]);
    bool rows = r->mode & 1;
    uint64_t columns = (r->n[0] + 15) / 16, wide = r->mode & 4 ? 8 : size == 1 ? 32 : 16;
    if (!r->n[0] || !r->n[1])
        return 0;
    SimAccess *a = add_access(out, &n, r, 1, false, r->n[1] * 64ull);
    a->inner = (uint32_t)columns;
    a->inner_step = r->n[2] * 64ull;
    a->outer = rows ? r->n[4] & 0xFFFF : 1;
    a->outer_step = (uint64_t)(r->n[4] >> 16) * 1024;
    if (has(r, 2))
        add_access(out, &n, r, 2, false, 8ull * r->n[0]);
    a = add_access(out, &n, r, 0, true, rows ? (uint64_t)r->n[0] * size : r->n[1] * wide * size);
    a->inner = rows ? r->n[1] : (uint32_t)((r->n[0] + wide - 1) / wide);
    a->inner_step = rows ? (uint64_t)r->n[3] * size : (uint64_t)r->n[3] * BLOCK;
    a->outer = rows ? r->n[4] & 0xFFFF : 1;
    a->outer_step = (uint64_t)r->n[5] * size;
    return n;
}

static uint32_t scalar_access(const Record *r, SimAccess *out)
{
    uint32_t n = 0;
    switch (r->op) {
    case NPU_LOCAL_GET:
    case NPU_GLOBAL_GET: add_access(out, &n, r, 1, false, element_bytes(r->dtype[1])); return n;
    case NPU_LOCAL_SET:
    case NPU_GLOBAL_SET: add_access(out, &n, r, 0, true, element_bytes(r->dtype[0])); return n;
    case NPU_RAW_LOAD: add_access(out, &n, r, 1, false, r->n[0] & 31); return n;
    case NPU_RAW_STORE: add_access(out, &n, r, 0, true, r->n[0] & 31); return n;
    default: return 0;
    }
}

uint32_t sim_accesses(const Record *r, const uint64_t *va, SimAccess *out)
{
    const NpuIsa *row = npu_isa(r->op);
    if (!row)
        return 0;
    switch (row->form) {
    case NPU_F_BINARY: return elementwise(r, out, false, 3);
    case NPU_F_TERNARY: return elementwise(r, out, true, 3);
    case NPU_F_AXPY: return elementwise(r, out, true, 2);
    case NPU_F_UNARY:
    case NPU_F_SCALAR:
    case NPU_F_CAST: return elementwise(r, out, false, 2);
    case NPU_F_DUP: return elementwise(r, out, false, 1);
    case NPU_F_REDUCE: return reduction(r, out);
    case NPU_F_COMPARE: return comparison(r, out);
    case NPU_F_SELECT: return selection(r, out);
    case NPU_F_GATHER: return gathering(r, out);
    case NPU_F_MOVE: return moving(r, va, out);
    case NPU_F_SORT: return sorting(r, out);
    case NPU_F_COPY: return r->op == NPU_ND2NZ_GM_L1 ? to_nz(r, out) : copying(r, out);
    case NPU_F_LOAD: return loading(r, out);
    case NPU_F_CUBE: return multiplying(r, out);
    case NPU_F_FIXPIPE: return leaving(r, out);
    case NPU_F_SCALAR_ACCESS: return scalar_access(r, out);
    default: return 0;
    }
}
