/* The words of the machine that C and C++ share: operations, pipes, memories, element types.
 *
 * Only enumerations, so that the AscendC headers (C++17) and the simulator (C17) number things
 * alike. Needs nothing but <stdint.h>; the rows come from isa.def and base/dtype.def. Tables
 * with what the rows say are behind npu/npu.h. */
#ifndef NPU_ISA_H
#define NPU_ISA_H

#include <stdint.h>

/* What an instruction record names. NPU_NONE is never a legal record. */
enum NpuOp {
    NPU_NONE,
#define ISA(op, ...) NPU_##op,
#include "npu/isa.def"
#undef ISA
    NPU_OP_COUNT
};

/* Element types as base/dtype.h numbers them, and the packed 4-bit integer after them. */
enum NpuDType {
#define DTYPE(name, ...) NPU_DT_##name,
#include "base/dtype.def"
#undef DTYPE
    NPU_DT_I4,
    NPU_DT_COUNT
};

enum NpuPipe {
    NPU_PIPE_S,
    NPU_PIPE_V,
    NPU_PIPE_M,
    NPU_PIPE_MTE1,
    NPU_PIPE_MTE2,
    NPU_PIPE_MTE3,
    NPU_PIPE_FIX,
    NPU_PIPE_ALL, /* only as the operand of a barrier */
    NPU_PIPE_COUNT
};

enum NpuSpace {
    NPU_NOWHERE, /* operand not used */
    NPU_GM,
    NPU_UB,
    NPU_L1,
    NPU_L0A,
    NPU_L0B,
    NPU_L0C,
    NPU_BT, /* bias table */
    NPU_FB, /* fixpipe buffer */
    NPU_SPACE_COUNT
};

/* Logical positions of AscendC, numbered as its TPosition. */
enum NpuPosition {
    NPU_POS_GM,
    NPU_POS_A1,
    NPU_POS_A2,
    NPU_POS_B1,
    NPU_POS_B2,
    NPU_POS_C1,
    NPU_POS_C2,
    NPU_POS_CO1,
    NPU_POS_CO2,
    NPU_POS_VECIN,
    NPU_POS_VECOUT,
    NPU_POS_VECCALC,
    NPU_POS_SPM,
    NPU_POS_TSCM,
    NPU_POS_C2PIPE2GM,
    NPU_POS_COUNT
};

/* Rounding, numbered as AscendC's RoundMode; comparisons as CMPMODE; selection as SELMODE. */
enum NpuRound {
    NPU_ROUND_NONE,
    NPU_ROUND_RINT,
    NPU_ROUND_FLOOR,
    NPU_ROUND_CEIL,
    NPU_ROUND_ROUND,
    NPU_ROUND_TRUNC,
    NPU_ROUND_ODD,
    NPU_ROUND_COUNT
};
enum NpuCompare { NPU_LT, NPU_GT, NPU_EQ, NPU_LE, NPU_GE, NPU_NE, NPU_COMPARE_COUNT };
enum NpuSelect { NPU_SEL_REGISTER, NPU_SEL_SCALAR, NPU_SEL_TENSOR, NPU_SELECT_COUNT };

/* The shape of a call: which operands an operation has and how a record fills them. */
enum NpuForm {
    NPU_F_BINARY,  /* dst, src0, src1, mask, repeat */
    NPU_F_TERNARY, /* as binary, and dst is read too */
    NPU_F_UNARY,   /* dst, src0, mask, repeat */
    NPU_F_SCALAR,  /* dst, src0, scalar, mask, repeat */
    NPU_F_AXPY,    /* as scalar, and dst is read too */
    NPU_F_DUP,     /* dst, scalar, mask, repeat */
    NPU_F_CAST,    /* as unary with two dtypes and a rounding mode */
    NPU_F_REDUCE,  /* dst, src0, mask, repeat, order */
    NPU_F_COMPARE, /* dst bits, src0, src1 or scalar, mode */
    NPU_F_SELECT,  /* dst, src0, src1 or scalar, selection mask */
    NPU_F_GATHER,  /* dst, src0, offsets or pattern */
    NPU_F_MOVE,    /* a vector-pipe rearrangement: copy, broadcast, transpose */
    NPU_F_SORT,
    NPU_F_COPY,          /* bursts between memories */
    NPU_F_LOAD,          /* fractals into L0 */
    NPU_F_CUBE,          /* matrix product */
    NPU_F_FIXPIPE,       /* L0C out */
    NPU_F_SYNC,          /* flags, barriers, cross-core */
    NPU_F_SCALAR_ACCESS, /* the scalar unit touches memory */
    NPU_F_REGISTER,      /* writes a special register */
    NPU_F_BOOK,          /* bookkeeping of the queue framework; no instruction */
    NPU_F_COUNT
};

#endif
