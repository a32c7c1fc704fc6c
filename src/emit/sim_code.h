/* The code that emit/sim compiles kernels to.
 *
 *     AscKernel ─sim_build.c─▶ SimKernel ─┬─ code[]  steps of expressions over slots (sim_expr.c)
 *                                         └─ ins[]   one per call, loops as jumps    (sim_run.c)
 *
 * A slot is a number of 64 bits. Slot i is the program's variable i; constants, values that no
 * statement of the kernel changes, and temporaries follow. */
#ifndef EMIT_SIM_CODE_H
#define EMIT_SIM_CODE_H

#include "lower/ascend.h"

typedef union SimValue {
    int64_t i; /* integers and booleans */
    float f;
} SimValue;

/* One step: slot[dst] = slot[a] op slot[b]. JUMP, JUMP_IF_NOT: dst is the step to go on with. */
typedef enum SimOp {
    SOP_MOVE,
    SOP_JUMP,
    SOP_JUMP_IF_NOT, /* slot[a] */
    SOP_ADD,
    SOP_SUB,
    SOP_MUL,
    SOP_DIV, /* as in C, both not negative */
    SOP_REM,
    SOP_FLOORDIV,
    SOP_MOD,
    SOP_CEILDIV,
    SOP_ALIGN_UP,
    SOP_ALIGN_DOWN,
    SOP_MIN,
    SOP_MAX,
    SOP_NEG,
    SOP_ABS,
    SOP_NOT,
    SOP_EQ,
    SOP_NE,
    SOP_LT,
    SOP_LE,
    SOP_GT,
    SOP_GE,
    SOP_FADD,
    SOP_FSUB,
    SOP_FMUL,
    SOP_FDIV,
    SOP_FMIN,
    SOP_FMAX,
    SOP_FNEG,
    SOP_FABS,
    SOP_FSQRT,
    SOP_FEXP,
    SOP_FLOG,
    SOP_FEQ,
    SOP_FNE,
    SOP_FLT,
    SOP_FLE,
    SOP_FGT,
    SOP_FGE,
    SOP_TO_F32,
    SOP_TO_I64,
    SOP_CORE_ID,
    SOP_VECTOR_ID, /* GetSubBlockIdx where there are two */
    SOP_NUM_CORES,
} SimOp;

typedef struct SimStep {
    uint16_t op;
    uint32_t dst, a, b;
} SimStep;

/* Run code[from, to), then the value is in `slot`. No steps: it is there already. */
typedef struct SimExpr {
    uint32_t from, to, slot;
    bool given; /* there is an expression */
    bool is_float;
} SimExpr;

typedef struct SimRef {
    bool used, global;
    uint32_t id; /* of the kernel's local or GM tensors */
    uint8_t dtype;
    uint32_t bytes; /* of an element */
    SimExpr offset;
} SimRef;

typedef enum SimInsKind {
    SIN_SET,         /* slot[var] = e[0], converted to `type` */
    SIN_JUMP,        /* target */
    SIN_JUMP_IF_NOT, /* e[0]; target */
    SIN_LOOP_TEST,   /* slot[var] < e[0], else target */
    SIN_LOOP_NEXT,   /* slot[var] += e[0]; target */
    SIN_RUN,         /* function at target */
    SIN_RETURN,
    SIN_BUFFER_GET, /* local */
    SIN_CALL,       /* one AscendC call */
    SIN_COPY,
    SIN_ALLOC,
    SIN_ENQUE,
    SIN_DEQUE,
    SIN_FREE,
    SIN_GET,
    SIN_PUT,
    SIN_FLAG,
    SIN_BARRIER,
    SIN_ATOMIC,
    SIN_CLEAN,
    SIN_SYNC_ALL,
    SIN_CUBE, /* `cube`; e: its arguments */
    SIN_ROLE, /* cores of the kind `core` go on, others at target */
} SimInsKind;

enum {
    SE_SCALAR,
    SE_COUNT,
    SE_MASK,
    SE_REPEAT,
    SE_DST_BLOCK,
    SE_A_BLOCK,
    SE_B_BLOCK,
    SE_DST_REPEAT,
    SE_A_REPEAT,
    SE_B_REPEAT,
    SE_CALL_COUNT,
    /* of a copy */
    SE_ROWS = 0,
    SE_LEN,
    SE_SRC_GAP,
    SE_DST_GAP,
    SE_RIGHT,
    SE_PAD,
};

typedef struct SimIns {
    SimInsKind kind;
    uint32_t target, var, local;
    uint32_t file, line; /* file: of the names */
    uint32_t api_name;   /* of the names; 0: the instruction's own */
    DType type;          /* SET, GET: of the variable; ATOMIC: of the elements */
    AscApi api;
    int mode;
    AscCopyForm form;
    bool inward;
    AscHand hand;
    uint8_t event, pipe; /* event: HardEvent */
    IrAtomic atomic;
    AscCubeOp cube;
    uint32_t flag;
    IrCore core;
    SimRef dst, a, b, c; /* COPY: dst and a */
    SimExpr e[SE_CALL_COUNT];
} SimIns;

typedef struct SimBuffer {
    IrMemory memory;
    AscStorage storage;
    SimExpr depth, bytes;
    bool ahead;
    uint32_t file, line;
} SimBuffer;

typedef struct SimStream {
    uint32_t tensor;
    SimExpr bytes, together;
    int64_t least, most;
} SimStream;

typedef struct SimConstant {
    uint32_t slot;
    SimValue value;
} SimConstant;

typedef struct SimKernel {
    const AscKernel *k;
    VEC(SimIns) ins;
    VEC(SimStep) code;
    VEC(SimConstant) constants;
    VEC(SimStep) setup; /* run when a core starts the kernel: what nothing in it changes */
    VEC(SimBuffer) buffers;
    VEC(SimStream) streams;
    uint32_t slots, entry;
    uint32_t locals, tensors;
} SimKernel;

#endif
