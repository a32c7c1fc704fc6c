/* Facts about the machines: chips (chip.def), instructions (isa.def), conversions (cast.def).
 *
 * Read-only tables with look-ups; every row names the public page or file it was read from. */
#ifndef NPU_NPU_H
#define NPU_NPU_H

#include "base/str.h"
#include "npu/isa.h"

typedef struct NpuChip {
    const char *name; /* "910B2" */
    uint32_t arch;    /* __NPU_ARCH__: 2201 or 3510 */
    uint32_t aic, aiv;
    uint32_t mhz;
    uint32_t ub, l1, l0a, l0b, l0c, bt, fb; /* bytes per core */
    uint32_t l2_mib, hbm_gib;               /* hbm 0: not stated */
    /* bytes per cycle per AI core */
    uint32_t gm_rate, l2_read_rate, l2_write_rate, l1_l0a_rate, l1_l0b_rate, ub_gm_rate, l0c_rate;
    uint32_t vector_rate; /* bytes per cycle of a vector core */
    uint32_t cube_rate;   /* products of f16 per cycle of a cube core; twice as many of i8 */
    double gm_tbps;       /* peak of the chip; 0: not stated */
    bool simulated;
    const char *source;
} NpuChip;

/* Where a cost figure comes from: none, unknown, a parameter of another model, a fit, measured. */
typedef enum NpuCost { NPU_COST_N, NPU_COST_U, NPU_COST_P, NPU_COST_F, NPU_COST_M } NpuCost;

typedef struct NpuIsa {
    const char *name;  /* of the operation: "ADD" */
    const char *api;   /* as AscendC spells it: "Add"; empty: no call of its own */
    const char *alias; /* another spelling; empty: none */
    const char *instruction;
    enum NpuPipe pipe;
    enum NpuForm form;
    uint32_t dtypes;               /* bit i: NpuDType i is legal for the main operand */
    double head, per_repeat, tail; /* cycles */
    NpuCost cost;
    double ulp;
    const char *source;
} NpuIsa;

typedef struct NpuCast {
    enum NpuDType src, dst;
    uint32_t rounds; /* bit i: NpuRound i is legal */
} NpuCast;

/* Constants of the cycle model that belong to no instruction: cost.def. */
enum NpuConstant {
#define COST(name, ...) NPU_C_##name,
#include "npu/cost.def"
#undef COST
    NPU_CONSTANT_COUNT
};
typedef struct NpuConstantRow {
    const char *name;
    double value;
    const char *unit;
    NpuCost from;
    const char *source;
} NpuConstantRow;
extern const NpuConstantRow npu_constants[NPU_CONSTANT_COUNT];

extern const NpuChip npu_chips[];
extern const uint32_t npu_chip_count;
extern const NpuCast npu_casts[];
extern const uint32_t npu_cast_count;

/* What a task cannot do without, whatever the kernel. */
typedef struct NpuWork {
    double read, written; /* bytes that must come from GM; that must be stored */
    double again;         /* bytes read a second time, except for what the chip holds meanwhile */
    double special;  /* bytes of exponentials, roots and the like: an instruction of their own */
    double products; /* multiplications of matrix products */
    bool narrow;     /* ... of 8-bit numbers */
} NpuWork;
/* The least time the chip could need for it, from chip.def alone and none of the cycle model's
 * constants; `by`: what takes it. 0 us where the chip's bandwidth is not stated. */
typedef struct NpuBound {
    double us;
    const char *by;
} NpuBound;
NpuBound npu_bound(const NpuChip *chip, const NpuWork *work);
/* The least time the cycle model could give it: a launch on as many vector cores as pay, and the same
 * bytes at the highest rates measured on boards (cost.def), with no wait anywhere. */
NpuBound npu_attainable(const NpuChip *chip, const NpuWork *work);

/* Kernels whose times the model predicts with different errors: on vector cores, on cube cores, on both. */
typedef enum NpuTimeClass { NPU_TIME_VECTOR, NPU_TIME_CUBE, NPU_TIME_MIXED } NpuTimeClass;
/* Where the measured time lies, 8 times of 10, when the cycle model predicts `us`: interval.def. */
typedef struct NpuInterval {
    double low, high;
    uint32_t rows; /* test rows it rests on; 0: none of the class yet */
} NpuInterval;
NpuInterval npu_interval(NpuTimeClass class, double us);
/* The longest time that a prediction of `us` microseconds stands for, whatever the kernel is. */
double npu_longest(double us);
/* Whether a predicted time is shorter than another by more than the model's error. */
bool npu_is_faster(NpuTimeClass class, double us, double than);

/* By name, with or without the leading "Ascend", any case; NULL when there is none. */
const NpuChip *npu_chip_find(Str name);
/* NULL for NPU_NONE and numbers that are no operation. */
const NpuIsa *npu_isa(uint32_t op);
/* The operation an AscendC call of that name and form becomes; NPU_NONE when there is none. */
enum NpuOp npu_op_find(Str api);
bool npu_dtype_ok(uint32_t op, uint32_t dtype);
bool npu_cast_ok(uint32_t src, uint32_t dst, uint32_t round);

/* Bytes of an on-chip memory of one core; 0 for GM. */
uint32_t npu_space_bytes(const NpuChip *chip, uint32_t space);
/* The memory a logical position stands for on 2201. */
enum NpuSpace npu_position_space(uint32_t position);
/* Bits of one element: 4 for NPU_DT_I4; 0 for a number that is no type. */
uint32_t npu_dtype_bits(uint32_t dtype);
const char *npu_dtype_text(uint32_t dtype);
const char *npu_space_name(uint32_t space);
const char *npu_pipe_name(uint32_t pipe);
const char *npu_position_name(uint32_t position);

#endif
