/* From API calls to records. In: operands, mask, source position. Out: one record per instruction
 * on the ring of acraft/core.h. The state kept here is what the device's registers would hold for
 * the issuing code itself (mask mode and bits); it decides nothing the simulator trusts. */
#ifndef ACRAFT_EMIT_H
#define ACRAFT_EMIT_H

#include "acraft/core.h"
#include "acraft/params.h"

/* Bits of an operation's dtype set in isa.def. */
#define D_F32 (1u << NPU_DT_F32)
#define D_F16 (1u << NPU_DT_F16)
#define D_BF16 (1u << NPU_DT_BF16)
#define D_I8 (1u << NPU_DT_I8)
#define D_I16 (1u << NPU_DT_I16)
#define D_I32 (1u << NPU_DT_I32)
#define D_I64 (1u << NPU_DT_I64)
#define D_U8 (1u << NPU_DT_U8)
#define D_U16 (1u << NPU_DT_U16)
#define D_U32 (1u << NPU_DT_U32)
#define D_U64 (1u << NPU_DT_U64)
#define D_8 (D_I8 | D_U8)
#define D_16 (D_F16 | D_BF16 | D_I16 | D_U16)
#define D_32 (D_F32 | D_I32 | D_U32)
#define D_ALL 0xffffffffu

namespace acraft {

/* Which element types an operation has, straight from isa.def. */
constexpr uint32_t op_dtypes[NPU_OP_COUNT] = {
    0,
#define ISA(op, name, other, instruction, pipe, form, dtypes, ...) dtypes,
#include "npu/isa.def"
#undef ISA
};
constexpr uint8_t op_pipes[NPU_OP_COUNT] = {
    0,
#define ISA(op, name, other, instruction, pipe, ...) NPU_PIPE_##pipe,
#include "npu/isa.def"
#undef ISA
};

#undef D_F32
#undef D_F16
#undef D_BF16
#undef D_I8
#undef D_I16
#undef D_I32
#undef D_I64
#undef D_U8
#undef D_U16
#undef D_U32
#undef D_U64
#undef D_8
#undef D_16
#undef D_32
#undef D_ALL

/* Where in the kernel's text a call stands, and the high-level API it belongs to. Every API takes
 * one as its last, defaulted parameter; an API built on others hands its own down. */
struct Site {
    const char *file;
    uint32_t line;
    const char *api = nullptr;
    constexpr Site(const char *f = __builtin_FILE(), uint32_t l = __builtin_LINE())
        : file(f), line(l)
    {
    }
    Site in(const char *name) const
    {
        Site s = *this;
        if (!s.api) s.api = name;
        return s;
    }
};

template <typename T> constexpr uint8_t dtype_of()
{
    using U = std::remove_cv_t<T>;
    if (std::is_same<U, float>::value) return NPU_DT_F32;
    if (std::is_same<U, half>::value) return NPU_DT_F16;
    if (std::is_same<U, bfloat16_t>::value) return NPU_DT_BF16;
    if (std::is_same<U, AscendC::int4b_t>::value) return NPU_DT_I4;
    if (std::is_same<U, bool>::value) return NPU_DT_BOOL;
    if (std::is_same<U, double>::value) return NPU_DT_F64;
    if (std::is_integral<U>::value && std::is_signed<U>::value)
        return sizeof(U) == 1 ? NPU_DT_I8 : sizeof(U) == 2 ? NPU_DT_I16 : sizeof(U) == 4 ? NPU_DT_I32 : NPU_DT_I64;
    return sizeof(U) == 1 ? NPU_DT_U8 : sizeof(U) == 2 ? NPU_DT_U16 : sizeof(U) == 4 ? NPU_DT_U32 : NPU_DT_U64;
}

template <typename T> constexpr uint32_t bits_of() { return std::is_same<T, AscendC::int4b_t>::value ? 4u : uint32_t(sizeof(T)) * 8u; }
template <typename T> constexpr uint64_t bytes_for(uint64_t count) { return count * bits_of<T>() / 8u; }
template <typename T> constexpr uint32_t per_repeat() { return 256u * 8u / bits_of<T>(); }
template <typename T> constexpr uint32_t per_block() { return 32u * 8u / bits_of<T>(); }

template <typename T> inline uint64_t scalar_bits(const T &value)
{
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

/* ---- names: ids are given out in order of first use and announced by a text record ---- */

inline Record *slot()
{
    if (acraft_core.cursor == acraft_core.limit) acraft_ring_full();
    return acraft_core.cursor++;
}

ACRAFT_OWN inline void put_text(RecTextKind kind, uint16_t id, const char *text, size_t length, const Site &site, uint16_t file)
{
    do {
        RecordText *t = reinterpret_cast<RecordText *>(slot());
        std::memset(t, 0, sizeof *t);
        size_t part = length < REC_TEXT_BYTES ? length : REC_TEXT_BYTES;
        t->op = REC_TEXT;
        t->kind = uint8_t(kind);
        t->more = part < length;
        t->id = id;
        t->length = uint16_t(part);
        t->file = file;
        t->line = site.line;
        std::memcpy(t->text, text, part);
        text += part;
        length -= part;
    } while (length > 0);
}

/* Keyed by pointer: a literal's address names it. Two addresses of one text get two ids. */
ACRAFT_OWN inline uint16_t name_id(const char *name)
{
    static ACRAFT_KEPT struct { const char *name; uint16_t id; } table[1024];
    static ACRAFT_KEPT uint16_t count = 0;
    if (!name) return 0;
    for (size_t h = (reinterpret_cast<uintptr_t>(name) >> 3) % 1024, tries = 0; tries < 1024; h = (h + 1) % 1024, tries++) {
        if (table[h].name == name) return table[h].id;
        if (table[h].name) continue;
        if (count == 1000) return 0;
        table[h].name = name;
        table[h].id = ++count;
        put_text(REC_TEXT_NAME, count, name, std::strlen(name), Site("", 0), 0);
        return count;
    }
    return 0;
}

/* Places of the text that decide where in GM an access lies: ids are given out in order of first use and
 * announced by a text record. Of SetGlobalBuffer the window is said along, and once more, as unknown,
 * when the same place sets another. */
struct Window {
    uint64_t base, bytes; /* bytes 0: not known */
};
ACRAFT_OWN inline uint16_t place_id(const Site &site, Window window)
{
    static ACRAFT_KEPT struct { const char *file; uint32_t line; uint16_t id; bool varies; Window window; } table[256];
    static ACRAFT_KEPT uint16_t count = 0;
    for (uint32_t h = site.line % 256, tries = 0; site.line && tries < 256; h = (h + 1) % 256, tries++) {
        bool fresh = !table[h].id;
        if (fresh && count == 200) return 0;
        if (!fresh && (table[h].file != site.file || table[h].line != site.line)) continue;
        bool same = table[h].window.base == window.base && table[h].window.bytes == window.bytes;
        if (!fresh && (same || table[h].varies)) return table[h].id;
        if (fresh) table[h] = {site.file, site.line, ++count, false, window};
        else table[h].varies = true;
        Window told = fresh ? window : Window{0, 0};
        uint16_t file = name_id(site.file);
        put_text(REC_TEXT_PLACE, table[h].id, reinterpret_cast<const char *>(&told), sizeof told, site, file);
        return table[h].id;
    }
    return 0;
}

/* An offset with the place where it was written. */
struct Offset {
    uint64_t value;
    Site site;
    template <typename I> constexpr Offset(const I &i, const char *file = __builtin_FILE(), uint32_t line = __builtin_LINE())
        : value(uint64_t(i)), site(file, line)
    {
    }
};

/* The file of the last call: an operator() read, which takes no site, belongs to it. */
struct LastSite {
    const char *file = nullptr;
    uint16_t file_id = 0;
    uint32_t line = 0;
};
inline ACRAFT_KEPT LastSite last_site;

inline uint16_t file_id(const char *file)
{
    if (file != last_site.file) {
        last_site.file_id = name_id(file);
        last_site.file = file;
    }
    return last_site.file_id;
}

ACRAFT_OWN inline Record &put(NpuOp op, uint8_t pipe, const Site &site)
{
    uint16_t file = file_id(site.file), api = name_id(site.api);
    Record *r = slot();
    std::memset(r, 0, sizeof *r);
    r->op = uint16_t(op);
    r->pipe = pipe;
    r->api = api;
    r->file = file;
    r->line = last_site.line = site.line;
    return *r;
}

inline Record &put(NpuOp op, const Site &site) { return put(op, op_pipes[op], site); }

inline Site site_of_last()
{
    return Site(last_site.file ? last_site.file : "", last_site.line);
}

/* ---- pipes ---- */

constexpr uint8_t pipe_of(pipe_t p)
{
    switch (p) {
    case PIPE_V: return NPU_PIPE_V;
    case PIPE_M: return NPU_PIPE_M;
    case PIPE_MTE1: return NPU_PIPE_MTE1;
    case PIPE_MTE2: return NPU_PIPE_MTE2;
    case PIPE_MTE3: return NPU_PIPE_MTE3;
    case PIPE_FIX: return NPU_PIPE_FIX;
    case PIPE_ALL: return NPU_PIPE_ALL;
    default: return NPU_PIPE_S;
    }
}

struct PipePair {
    uint8_t from, to;
};
constexpr PipePair event_pipes[] = {
    {NPU_PIPE_MTE2, NPU_PIPE_MTE1}, {NPU_PIPE_MTE1, NPU_PIPE_MTE2}, {NPU_PIPE_MTE1, NPU_PIPE_M},
    {NPU_PIPE_M, NPU_PIPE_MTE1},    {NPU_PIPE_MTE2, NPU_PIPE_V},    {NPU_PIPE_V, NPU_PIPE_MTE2},
    {NPU_PIPE_MTE3, NPU_PIPE_V},    {NPU_PIPE_V, NPU_PIPE_MTE3},    {NPU_PIPE_M, NPU_PIPE_V},
    {NPU_PIPE_V, NPU_PIPE_M},       {NPU_PIPE_V, NPU_PIPE_V},       {NPU_PIPE_MTE3, NPU_PIPE_MTE1},
    {NPU_PIPE_MTE1, NPU_PIPE_MTE3}, {NPU_PIPE_MTE1, NPU_PIPE_V},    {NPU_PIPE_MTE2, NPU_PIPE_M},
    {NPU_PIPE_M, NPU_PIPE_MTE2},    {NPU_PIPE_V, NPU_PIPE_MTE1},    {NPU_PIPE_M, NPU_PIPE_FIX},
    {NPU_PIPE_FIX, NPU_PIPE_M},     {NPU_PIPE_MTE3, NPU_PIPE_MTE2}, {NPU_PIPE_MTE2, NPU_PIPE_MTE3},
    {NPU_PIPE_S, NPU_PIPE_V},       {NPU_PIPE_V, NPU_PIPE_S},       {NPU_PIPE_S, NPU_PIPE_MTE2},
    {NPU_PIPE_MTE2, NPU_PIPE_S},    {NPU_PIPE_S, NPU_PIPE_MTE3},    {NPU_PIPE_MTE3, NPU_PIPE_S},
    {NPU_PIPE_MTE2, NPU_PIPE_FIX},  {NPU_PIPE_FIX, NPU_PIPE_MTE2},  {NPU_PIPE_FIX, NPU_PIPE_S},
    {NPU_PIPE_M, NPU_PIPE_S},       {NPU_PIPE_FIX, NPU_PIPE_MTE3},  {NPU_PIPE_MTE1, NPU_PIPE_FIX},
    {NPU_PIPE_FIX, NPU_PIPE_MTE1},  {NPU_PIPE_FIX, NPU_PIPE_FIX},
};
static_assert(sizeof event_pipes / sizeof *event_pipes == size_t(AscendC::HardEvent::MAX), "one row per event");

ACRAFT_OWN inline void put_flag(NpuOp op, PipePair pair, int32_t id, uint8_t flags, const Site &site)
{
    Record &r = put(op, pair.from, site);
    r.flags = flags;
    r.mode = pair.to;
    r.n[0] = uint32_t(id);
}

ACRAFT_OWN inline void put_barrier(uint8_t pipe, const Site &site)
{
    Record &r = put(NPU_BARRIER, site);
    r.mode = pipe;
}

ACRAFT_OWN inline void put_register(RecRegister reg, uint64_t value, const Site &site, uint64_t m0 = 0, uint64_t m1 = 0)
{
    Record &r = put(NPU_SET_REGISTER, site);
    r.mode = uint8_t(reg);
    r.scalar = value;
    r.mask[0] = m0;
    r.mask[1] = m1;
}

/* ---- the vector mask ---- */

struct Mask {
    uint64_t low, high;
    bool counter;
    bool over = false; /* more lanes were requested than there are bits */
};
constexpr Mask full_mask = {~0ull, ~0ull, false};
inline ACRAFT_KEPT Mask mask_register = full_mask;

constexpr Mask mask_first(uint64_t n)
{
    return {n >= 64 ? ~0ull : (1ull << n) - 1, n <= 64 ? 0ull : n >= 128 ? ~0ull : (1ull << (n - 64)) - 1, false, n > 128};
}

/* The mask of a call in mask-and-repeat form: given as a count of lanes (in Counter mode: of
 * elements), or as bits; without isSetMask the register as it stands. */
template <bool set> inline Mask mask_for(uint64_t lanes)
{
    if (set) mask_register = mask_register.counter ? Mask{lanes, 0, true} : mask_first(lanes);
    return mask_register;
}
template <bool set> inline Mask mask_for(const uint64_t bits[])
{
    if (set) mask_register = {bits[0], bits[1], mask_register.counter};
    return mask_register;
}

/* A count-form call leaves Normal mode and a full mask behind. */
inline Mask mask_count(int64_t count)
{
    mask_register = full_mask;
    return {uint64_t(count < 0 ? 0 : count), 0, true};
}

inline void use_mask(Record &r, const Mask &m)
{
    r.mask[0] = m.low;
    r.mask[1] = m.high;
    if (m.counter) r.flags |= REC_COUNTER;
    if (m.over) r.flags |= REC_MASK_OVER;
}

/* ---- operands ---- */

inline RecordOperand operand(uint64_t address, uint64_t bytes, uint32_t block, uint32_t repeat)
{
    RecordOperand o;
    o.address = address;
    o.bytes = uint32_t(bytes > 0xffffffffu ? 0xffffffffu : bytes);
    o.block_stride = uint16_t(block);
    o.repeat_stride = uint16_t(repeat);
    return o;
}

/* Kernel text may turn a tensor into a number or pointer (GetPhyAddr) and back: the number is an
 * address at which the runtime serves loads and stores, or where a memory has none its record address. */
ACRAFT_OWN inline uint64_t number_of_address(uint64_t address)
{
    const uint8_t *base = acraft_core.memory[rec_space(address)];
    if (rec_space(address) == NPU_GM) return rec_byte(address);
    return base ? reinterpret_cast<uintptr_t>(base) + rec_byte(address) : address;
}

ACRAFT_OWN inline uint64_t address_of_number(uint64_t number)
{
    uint64_t end = 0; /* just after one memory, where another may start */
    for (uint32_t space = NPU_UB; space < NPU_SPACE_COUNT; space++) {
        uint64_t base = reinterpret_cast<uintptr_t>(acraft_core.memory[space]), bytes = acraft_core.memory_bytes[space];
        if (!base || number < base || number - base > bytes) continue;
        if (number - base < bytes) return rec_address(space, number - base);
        end = rec_address(space, bytes);
    }
    uint32_t space = rec_space(number);
    if (end) return end;
    return space > NPU_GM && space < NPU_SPACE_COUNT ? number : rec_address(NPU_GM, number);
}

template <typename P> inline uint64_t address_of_pointer(const P *pointer)
{
    return address_of_number(reinterpret_cast<uintptr_t>(pointer));
}

/* Set once a core must not go on: the simulator has reported a fault, or we lack something. */
inline void stop_if_told()
{
    if (acraft_core.stop || (acraft_core.view && acraft_core.view->stopped)) acraft_exit(1);
}

ACRAFT_OWN inline void flush()
{
    acraft_ring_flush();
    stop_if_told();
}

[[noreturn]] ACRAFT_OUTLINE inline void unsupported(const char *name, const Site &site)
{
    Site at = site;
    at.api = name; /* one of gaps.def */
    put(NPU_UNSUPPORTED, at);
    flush();
    acraft_exit(2);
}

/* The element that the record written last reads. */
template <typename T> ACRAFT_OWN inline T load(uint64_t address)
{
    T value;
    const void *from = acraft_ring_read(address, sizeof value);
    stop_if_told();
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <typename T> constexpr bool has_dtype(NpuOp op)
{
    return (op_dtypes[op] >> dtype_of<T>()) & 1u;
}

}  // namespace acraft

/* ACRAFT_NEED(Name, condition on T): instantiating need_Name<T> fails with the API's and the
 * type's name when the vendor has no such form on Atlas A2. */
#define ACRAFT_NEED_ROW(NAME, TYPE, OK)                                                            \
    static_assert(!std::is_same<T, TYPE>::value || (OK),                                           \
                  "acraft: " #NAME " does not exist for " #TYPE " on Atlas A2");
#define ACRAFT_NEED(NAME, OK)                                                                      \
    template <typename T> struct need_##NAME {                                                     \
        static constexpr bool ok = (OK);                                                           \
        ACRAFT_NEED_ROW(NAME, half, ok)                                                            \
        ACRAFT_NEED_ROW(NAME, float, ok)                                                           \
        ACRAFT_NEED_ROW(NAME, bfloat16_t, ok)                                                      \
        ACRAFT_NEED_ROW(NAME, int8_t, ok)                                                          \
        ACRAFT_NEED_ROW(NAME, uint8_t, ok)                                                         \
        ACRAFT_NEED_ROW(NAME, int16_t, ok)                                                         \
        ACRAFT_NEED_ROW(NAME, uint16_t, ok)                                                        \
        ACRAFT_NEED_ROW(NAME, int32_t, ok)                                                         \
        ACRAFT_NEED_ROW(NAME, uint32_t, ok)                                                        \
        ACRAFT_NEED_ROW(NAME, int64_t, ok)                                                         \
        ACRAFT_NEED_ROW(NAME, uint64_t, ok)                                                        \
        ACRAFT_NEED_ROW(NAME, bool, ok)                                                            \
        ACRAFT_NEED_ROW(NAME, double, ok)                                                          \
        static constexpr bool value = ok;                                                          \
    }

#define ACRAFT_SITE const acraft::Site &site = acraft::Site()

#endif
