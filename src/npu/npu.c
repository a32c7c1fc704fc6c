/* The tables of the machines and their look-ups; rows in chip.def, isa.def, cast.def. */
#include "npu/npu.h"
#include "base/dtype.h"
#include <string.h>
#include <strings.h>

#define RT(file) "hicann/runtime src/platform/platform_config/cann/" file
#define PT(file) \
    "hicann/pypto framework/src/platform/parser/simulation_platform/platform_config/" file

const NpuChip npu_chips[] = {
#define CHIP(name, ...) CHIP_ROW(#name, __VA_ARGS__)
#define CHIP_ROW(name, arch, aic, aiv, mhz, ...) {name, arch, aic, aiv, mhz, __VA_ARGS__},
#include "npu/chip.def"
#undef CHIP
};
const uint32_t npu_chip_count = sizeof npu_chips / sizeof *npu_chips;

/* A program that fits constants (-DNPU_FIT, tools/fit_costs) changes both tables before main; see fit.c. */
#ifdef NPU_FIT
#define TABLE NpuConstantRow npu_fit_constants
#define ISA_TABLE NpuIsa npu_fit_isa
#define isa_rows npu_fit_isa
extern NpuConstantRow npu_fit_constants[NPU_CONSTANT_COUNT];
extern NpuIsa npu_fit_isa[NPU_OP_COUNT];
extern const NpuConstantRow npu_constants[NPU_CONSTANT_COUNT]
    __attribute__((alias("npu_fit_constants")));
#else
#define TABLE const NpuConstantRow npu_constants
#define ISA_TABLE static const NpuIsa isa_rows
#endif

TABLE[NPU_CONSTANT_COUNT] = {
#define COST(name, value, unit, tag, source) \
    [NPU_C_##name] = {#name, value, unit, NPU_COST_##tag, source},
#include "npu/cost.def"
#undef COST
};

#define D(name) (1u << NPU_DT_##name)
#define D_F16 D(F16)
#define D_F32 D(F32)
#define D_BF16 D(BF16)
#define D_I8 D(I8)
#define D_U8 D(U8)
#define D_I16 D(I16)
#define D_U16 D(U16)
#define D_I32 D(I32)
#define D_U32 D(U32)
#define D_8 (D_I8 | D_U8)
#define D_16 (D_I16 | D_U16 | D_F16 | D_BF16)
#define D_32 (D_I32 | D_U32 | D_F32)
#define D_ALL ((1u << NPU_DT_COUNT) - 1)

#define DOCS "cannmirror/asc-devkit docs/zh/api/SIMD-API/基础API/"
#define API(page) DOCS page
#define VEC(page) DOCS "Memory矢量计算/" page
#define MAT(page) DOCS "矩阵计算（ISASI）/" page

ISA_TABLE[NPU_OP_COUNT] = {
#define ISA(op, api, alias, instruction, pipe, form, dtypes, head, rep, tail, cost, ulp, source) \
    [NPU_##op] = {#op,    api,  alias, instruction, NPU_PIPE_##pipe, NPU_F_##form,               \
                  dtypes, head, rep,   tail,        NPU_COST_##cost, ulp,                        \
                  source},
#include "npu/isa.def"
#undef ISA
};

#define R5                                                                                         \
    (1u << NPU_ROUND_RINT | 1u << NPU_ROUND_FLOOR | 1u << NPU_ROUND_CEIL | 1u << NPU_ROUND_ROUND | \
     1u << NPU_ROUND_TRUNC)
#define N (1u << NPU_ROUND_NONE)
#define O (1u << NPU_ROUND_ODD)
const NpuCast npu_casts[] = {
#define CAST(src, dst, rounds) {NPU_DT_##src, NPU_DT_##dst, rounds},
#include "npu/cast.def"
#undef CAST
};
const uint32_t npu_cast_count = sizeof npu_casts / sizeof *npu_casts;

const NpuChip *npu_chip_find(Str name)
{
    if (name.len > 6 && strncasecmp(name.at, "Ascend", 6) == 0)
        name = str_slice(name, 6, name.len);
    for (uint32_t i = 0; i < npu_chip_count; i++)
        if (strlen(npu_chips[i].name) == name.len &&
            strncasecmp(npu_chips[i].name, name.at, name.len) == 0)
            return &npu_chips[i];
    return NULL;
}

const NpuIsa *npu_isa(uint32_t op)
{
    return op > NPU_NONE && op < NPU_OP_COUNT ? &isa_rows[op] : NULL;
}

enum NpuOp npu_op_find(Str api)
{
    if (api.len == 0)
        return NPU_NONE;
    for (uint32_t op = 1; op < NPU_OP_COUNT; op++)
        if (str_is(api, isa_rows[op].api) || str_is(api, isa_rows[op].alias))
            return (enum NpuOp)op;
    return NPU_NONE;
}

bool npu_dtype_ok(uint32_t op, uint32_t dtype)
{
    const NpuIsa *row = npu_isa(op);
    return row && dtype < NPU_DT_COUNT && (row->dtypes >> dtype & 1);
}

bool npu_cast_ok(uint32_t src, uint32_t dst, uint32_t round)
{
    for (uint32_t i = 0; i < npu_cast_count; i++)
        if (npu_casts[i].src == src && npu_casts[i].dst == dst)
            return round < NPU_ROUND_COUNT && (npu_casts[i].rounds >> round & 1);
    return false;
}

uint32_t npu_space_bytes(const NpuChip *chip, uint32_t space)
{
    switch (space) {
    case NPU_UB: return chip->ub;
    case NPU_L1: return chip->l1;
    case NPU_L0A: return chip->l0a;
    case NPU_L0B: return chip->l0b;
    case NPU_L0C: return chip->l0c;
    case NPU_BT: return chip->bt;
    case NPU_FB: return chip->fb;
    default: return 0;
    }
}

enum NpuSpace npu_position_space(uint32_t position)
{
    static const enum NpuSpace space[NPU_POS_COUNT] = {
        [NPU_POS_GM] = NPU_GM,    [NPU_POS_A1] = NPU_L1,     [NPU_POS_A2] = NPU_L0A,
        [NPU_POS_B1] = NPU_L1,    [NPU_POS_B2] = NPU_L0B,    [NPU_POS_C1] = NPU_L1,
        [NPU_POS_C2] = NPU_BT,    [NPU_POS_CO1] = NPU_L0C,   [NPU_POS_CO2] = NPU_GM,
        [NPU_POS_VECIN] = NPU_UB, [NPU_POS_VECOUT] = NPU_UB, [NPU_POS_VECCALC] = NPU_UB,
        [NPU_POS_SPM] = NPU_GM,   [NPU_POS_TSCM] = NPU_L1,   [NPU_POS_C2PIPE2GM] = NPU_FB,
    };
    return position < NPU_POS_COUNT ? space[position] : NPU_NOWHERE;
}

uint32_t npu_dtype_bits(uint32_t dtype)
{
    if (dtype < DT_COUNT)
        return dtype_rows[dtype].bytes * 8u;
    return dtype == NPU_DT_I4 ? 4 : 0;
}

const char *npu_dtype_text(uint32_t dtype)
{
    if (dtype < DT_COUNT)
        return dtype_rows[dtype].name;
    return dtype == NPU_DT_I4 ? "i4" : "?";
}

const char *npu_space_name(uint32_t space)
{
    static const char *const name[NPU_SPACE_COUNT] = {"nowhere", "GM",  "UB", "L1", "L0A",
                                                      "L0B",     "L0C", "BT", "FB"};
    return space < NPU_SPACE_COUNT ? name[space] : "?";
}

const char *npu_pipe_name(uint32_t pipe)
{
    static const char *const name[NPU_PIPE_COUNT] = {"S",    "V",    "M",   "MTE1",
                                                     "MTE2", "MTE3", "FIX", "ALL"};
    return pipe < NPU_PIPE_COUNT ? name[pipe] : "?";
}

const char *npu_position_name(uint32_t position)
{
    static const char *const name[NPU_POS_COUNT] = {
        "GM",  "A1",    "A2",     "B1",      "B2",  "C1",   "C2",        "CO1",
        "CO2", "VECIN", "VECOUT", "VECCALC", "SPM", "TSCM", "C2PIPE2GM",
    };
    return position < NPU_POS_COUNT ? name[position] : "?";
}

#ifdef NPU_FIT
#include "npu/fit.h"
#endif
