/* Tile IR: a typed kernel program between Craft and every target.
 *
 *     IrProgram                       one dtype variant of a Craft file
 *       vars[]     sizes, attributes, choices, loop variables, scalars (ranges, divisibility)
 *       exprs[]    scalar expressions, a pool; 0 is "none"
 *       host       tensors, statements that end in launches
 *       kernels[]  tensors, buffers, statements: loops, stages, loads, tile operations, stores
 *
 * Everything refers by index. No queues, events, masks for tails or padding: a tile operation
 * means what tile.def says on exactly the elements of its views. All shapes are in elements.
 * The text form (ir_print, ir_parse) round-trips; ir_verify is the definition of a valid
 * program; ir_run says what it means.
 */
#ifndef IR_IR_H
#define IR_IR_H

#include "base/diag.h"
#include "base/dtype.h"
#include "base/vec.h"

typedef uint32_t IrExprId; /* 0: none */
typedef uint32_t IrVarId;
typedef uint32_t IrStmtId;

enum {
    IR_MAX_RANK = 8,
    IR_MAX_TILE_RANK = 2,
    IR_MAX_AXES = 6,
    IR_MAX_OPERANDS = 3,
    IR_BOUND_FACTORS = 4
};

/* ---- scalar expressions; their type is DT_I64, DT_F32 or DT_BOOL ---- */

typedef enum IrExprOp {
#define IR_EXPR(name, ...) IR_E_##name,
#include "ir/expr.def"
#undef IR_EXPR
    IR_E_COUNT
} IrExprOp;

typedef struct IrExpr {
    IrExprOp op;
    DType type;
    union {
        int64_t i;       /* INT, BOOL */
        double f;        /* FLOAT */
        IrVarId var;     /* VAR */
        uint32_t fact;   /* CHIP: an IrChipFact */
        uint32_t tensor; /* PRESENT, LIST_LEN, LIST_SIZE (index in arg[0]) */
        uint32_t unused;
    } of;
    IrExprId arg[3];
    Span at;
} IrExpr;

typedef enum IrChipFact {
    IR_CHIP_CORES,
    IR_CHIP_CUBE_CORES,
    IR_CHIP_UB,
    IR_CHIP_L1,
    IR_CHIP_L0A,
    IR_CHIP_L0B,
    IR_CHIP_L0C,
    IR_CHIP_L2,
    IR_CHIP_COUNT
} IrChipFact;

typedef enum IrVarKind {
    IR_VAR_DIM,    /* a size read from the operands, or derived from others; lo..hi, multiple */
    IR_VAR_ATTR,   /* an attribute of the operator */
    IR_VAR_CHOICE, /* choose(): `choices` */
    IR_VAR_HOST,   /* computed by the host function */
    IR_VAR_PARAM,  /* a scalar parameter of a kernel */
    IR_VAR_LOOP,   /* a loop's scalar, or start / size / index of its range */
    IR_VAR_LOCAL,  /* a scalar of a kernel, assigned any number of times */
} IrVarKind;

typedef struct IrVar {
    const char *name; /* "tile"; of a range: "t.start", "t.size", "t.index" */
    IrVarKind kind;
    DType type;
    int64_t lo, hi;       /* inclusive, for integers; INT64_MIN / INT64_MAX: unknown */
    int64_t multiple;     /* its values are multiples of this; at least 1 */
    IrExprId value;       /* ATTR: default; DIM: made of other sizes (lo == hi: static) */
    VEC(int64_t) choices; /* the first is the default */
    uint32_t kernel;      /* PARAM, LOOP, LOCAL: which kernel */
    Span at;
} IrVar;

/* A range has three variables; stop is start + size. */
typedef struct IrRange {
    IrVarId start, size, index; /* index 0: has none (share) */
} IrRange;

/* ---- tensors in GM, buffers on chip ---- */

typedef enum IrRole {
    IR_ROLE_IN,
    IR_ROLE_OUT,
    IR_ROLE_INOUT,
    IR_ROLE_OPT,
    IR_ROLE_IN_LIST,
    IR_ROLE_OUT_LIST,
    IR_ROLE_WORKSPACE,
} IrRole;

typedef struct IrTensor {
    const char *name;
    IrRole role;
    DType dtype;
    uint32_t rank; /* lists: 1, of unknown size */
    IrExprId shape[IR_MAX_RANK];
    bool upto;  /* an output whose first axis data decide: shape[0] at most, written from 0 on */
    bool pairs; /* complex numbers: the last axis, of 2, is theirs and no axis of the operator */
    Span at;
} IrTensor;

typedef enum IrMemory { IR_UB, IR_L1, IR_L0A, IR_L0B, IR_L0C, IR_CHANNEL } IrMemory;
typedef enum IrLayout { IR_ND, IR_NZ, IR_ZN } IrLayout;

typedef struct IrBuffer {
    const char *name;
    IrMemory memory;
    IrLayout layout;
    DType dtype;   /* of a mask: DT_BOOL */
    bool mask;     /* one bit an element */
    bool scratch;  /* made by the compiler for a nested expression */
    uint32_t rank; /* 1 or 2; rows of a 2-D buffer start at multiples of 32 bytes */
    IrExprId shape[IR_MAX_TILE_RANK];
    IrExprId depth; /* 0: 1 */
    Span at;
} IrBuffer;

/* Part of a buffer. A 2-D buffer seen as one of its rows has rank 1 and row != 0. */
typedef struct IrView {
    uint32_t buffer;
    DType dtype; /* differs from the buffer's after reinterpret */
    uint32_t rank;
    IrExprId row;                     /* 1-D view of a 2-D buffer: which row */
    IrExprId start[IR_MAX_TILE_RANK]; /* in elements of `dtype` */
    IrExprId size[IR_MAX_TILE_RANK];
    Span at;
} IrView;

/* Part of a tensor: per axis a start, and a size when the axis is a range (0: one element). */
typedef struct IrAccess {
    uint32_t tensor;
    IrExprId item; /* which tensor of a list */
    bool flat;     /* the tensor as one axis of all its elements */
    uint32_t rank; /* number of indices */
    IrExprId start[IR_MAX_RANK];
    IrExprId size[IR_MAX_RANK];
    Span at;
} IrAccess;

/* ---- statements ---- */

typedef enum IrTileOp {
#define TILE_OP(name, ...) IR_T_##name,
#include "ir/tile.def"
#undef TILE_OP
    IR_T_COUNT
} IrTileOp;

typedef enum IrStage { IR_COPYIN, IR_COMPUTE, IR_COPYOUT } IrStage;
typedef enum IrAtomic { IR_PLAIN, IR_ADD, IR_MAX, IR_MIN } IrAtomic;
typedef enum IrLoopKind {
    IR_LOOP_RANGE,
    IR_LOOP_TILES,
    IR_LOOP_MINE,
    IR_LOOP_CYCLIC,
    IR_LOOP_MINE_LIST
} IrLoopKind;
typedef enum IrRound {
    IR_ROUND_NONE,
    IR_ROUND_RINT,
    IR_ROUND_FLOOR,
    IR_ROUND_CEIL,
    IR_ROUND_AWAY,
    IR_ROUND_TRUNC
} IrRound;
typedef enum IrCore { IR_CORE_VECTOR, IR_CORE_CUBE } IrCore;

typedef VEC(IrStmtId) IrBlock;

/* One axis of a loop. tile 0: the scalars lo..hi-1 (step), in range.start;
 * else pieces of `tile` of lo..hi-1, in range. */
typedef struct IrAxis {
    IrExprId lo, hi, step, tile;
    IrRange range;
} IrAxis;

typedef enum IrStmtKind {
    IR_S_FOR,      /* loop, axes, body */
    IR_S_IF,       /* cond, body, orelse */
    IR_S_STAGE,    /* stage, body */
    IR_S_ROLE,     /* core, body: one role of a cube-and-vector kernel */
    IR_S_SHARE,    /* range = this core's share of 0..hi-1 in multiples of `align` */
    IR_S_ASSIGN,   /* var = value */
    IR_S_GM_READ,  /* var = access (one element) */
    IR_S_GM_WRITE, /* access (one element) = value */
    IR_S_LOAD,     /* dst = access, or (cube) dst = src[0]; pad */
    IR_S_STORE,    /* access = src[0], atomically if `atomic` */
    IR_S_OP,       /* dst [, dst2] or var = op(src..., scalar...) */
    IR_S_SYNC_ALL,
    IR_S_SEND, /* buffer `dst.buffer` (a channel) <- src[0] */
    IR_S_RECV, /* dst <- channel src[0].buffer */
    /* host only */
    IR_S_ASSERT,    /* cond, text */
    IR_S_WORKSPACE, /* tensor of the host becomes live */
    IR_S_LAUNCH,    /* kernel, cores, args */
} IrStmtKind;

typedef struct IrArg {
    bool is_tensor;
    uint32_t tensor; /* of the host */
    IrExprId value;
} IrArg;

typedef struct IrStmt {
    IrStmtKind kind;
    Span at;
    IrBlock body, orelse;
    /* FOR, SHARE */
    IrLoopKind loop;
    bool
        alternate; /* a plain loop of the vector role: turn k is of vector core k % 2 of the core */
    uint32_t axis_count;
    IrAxis axes[IR_MAX_AXES];
    uint32_t list; /* MINE_LIST: the tensor list; axes[0] is the item, axes[1] the range */
    IrExprId align;
    /* IF, ASSERT, ASSIGN, GM_READ, GM_WRITE */
    IrExprId cond, value;
    IrVarId var;
    const char *text;
    IrStage stage;
    IrCore core;
    /* movement and tile operations */
    IrAccess access;
    IrView dst, dst2; /* dst.rank 0: none */
    IrTileOp op;
    IrRound round;
    IrAtomic atomic;
    uint32_t src_count, scalar_count;
    IrView src[IR_MAX_OPERANDS];
    IrExprId scalar[2];
    IrExprId pad;
    bool transpose; /* LOAD from L1: dst[i, j] = src[j, i] */
    /* LAUNCH, WORKSPACE */
    uint32_t kernel, tensor;
    IrExprId cores;
    VEC(IrArg) args;
} IrStmt;

typedef struct IrKernel {
    const char *name;
    bool has_cube, has_vector;
    bool paired;           /* two roles, the vector role on two vector cores */
    VEC(IrTensor) tensors; /* parameters that are GM tensors, in order of `params` */
    VEC(IrBuffer) buffers;
    /* parameters in order: a tensor's index, or a variable */
    VEC(IrArg) params; /* is_tensor: `tensor` is an index into tensors; else value = VAR expr */
    IrBlock body;
    Span at;
} IrKernel;

/* The product of the factors, none negative, is at most this. */
typedef struct IrBound {
    uint32_t factors;
    IrExprId factor[IR_BOUND_FACTORS];
    int64_t least[IR_BOUND_FACTORS]; /* of each factor */
    int64_t most;
} IrBound;

typedef struct IrProgram {
    Arena *arena;
    const char *name;      /* of the host function */
    const char *file;      /* for diagnostics */
    Str reason;            /* the comment at the top */
    VEC(IrExpr) exprs;     /* [0] unused */
    VEC(IrVar) vars;       /* [0] unused */
    VEC(IrStmt) stmts;     /* [0] unused */
    VEC(IrTensor) tensors; /* of the host: operands in order, then workspaces */
    uint32_t operand_count;
    VEC(IrVarId) attrs; /* attributes in order */
    VEC(IrVarId) dims;  /* a derived one after those it is made of */
    IrBlock host;
    VEC(IrKernel) kernels;
    VEC(IrBound) bounds; /* by the host's asserts; ir_annotate_launched finds them */
    /* which value each dtype variable has in this variant: "T=f32" */
    VEC(const char *) variant_names;
    VEC(DType) variant_dtypes;
} IrProgram;

typedef struct IrTileOpRow {
    const char *name, *meaning;
    uint8_t tiles, scalars;
    enum { IR_RESULT_TILE, IR_RESULT_SCALAR, IR_RESULT_MASK, IR_RESULT_TWO } result;
    enum {
        IR_CLASS_ELEM,
        IR_CLASS_COMPARE,
        IR_CLASS_SELECT,
        IR_CLASS_CAST,
        IR_CLASS_FILL,
        IR_CLASS_SHAPE,
        IR_CLASS_REDUCE,
        IR_CLASS_ROWS,
        IR_CLASS_COLS,
        IR_CLASS_SCAN,
        IR_CLASS_SORT,
        IR_CLASS_BITS,
        IR_CLASS_CUBE
    } kind;
} IrTileOpRow;

extern const IrTileOpRow ir_tile_ops[IR_T_COUNT];
/* A product of the cube. */
static inline bool ir_is_mmad(IrTileOp op) { return ir_tile_ops[op].kind == IR_CLASS_CUBE; }

typedef struct IrExprRow {
    const char *text, *meaning;
    uint8_t arity;
} IrExprRow;

extern const IrExprRow ir_expr_rows[IR_E_COUNT];

/* ---- building: used by the Craft front end and the text reader ---- */

IrProgram *ir_program_new(Arena *arena, const char *name, const char *file);
IrExprId ir_int(IrProgram *p, int64_t value);
IrExprId ir_float(IrProgram *p, double value);
IrExprId ir_bool(IrProgram *p, bool value);
IrExprId ir_var(IrProgram *p, IrVarId var);
IrExprId ir_chip(IrProgram *p, IrChipFact fact);
/* CORE_ID, NUM_CORES, PRESENT, LIST_LEN, LIST_SIZE (with `index`). */
IrExprId ir_leaf(IrProgram *p, IrExprOp op, uint32_t tensor, IrExprId index);
/* Folds constants and the identities of 0 and 1; a and b are of one type. */
IrExprId ir_expr1(IrProgram *p, IrExprOp op, IrExprId a);
IrExprId ir_expr2(IrProgram *p, IrExprOp op, IrExprId a, IrExprId b);
IrExprId ir_expr3(IrProgram *p, IrExprOp op, IrExprId a, IrExprId b, IrExprId c);
IrVarId ir_var_new(IrProgram *p, IrVarKind kind, const char *name, DType type);
IrStmtId ir_stmt_new(IrProgram *p, IrStmtKind kind, Span at);
bool ir_is_int(const IrProgram *p, IrExprId e, int64_t *value);
/* Whether both expressions have the same value whatever the variables hold: they are equal in
 * structure after folding. */
bool ir_same(const IrProgram *p, IrExprId a, IrExprId b);
/* Does the variable stand in the expression? */
bool ir_mentions(const IrProgram *p, IrExprId e, IrVarId var);

/* A size that is computed from others, not read from an operand. */
static inline bool ir_is_derived(const IrVar *v) { return v->kind == IR_VAR_DIM && v->value; }
/* Sets the derived ones among `dims`, which stand as in p->dims. False: one has no value in its
 * range. */
bool ir_derive_sizes(const IrProgram *p, int64_t *dims);
/* False: only the host needs the size, to derive others from it. */
bool ir_kernels_read(const IrProgram *p, IrVarId dim);

/* The axis' pieces are single elements. */
bool ir_tile_is_one(const IrProgram *p, const IrAxis *axis);
/* How many pieces the axis of tiles has: ceildiv(hi - lo, tile). */
IrExprId ir_piece_count(IrProgram *p, const IrAxis *axis);

/* Integer arithmetic as the IR means it; false: no result, or it does not fit. */
bool ir_eval_int(IrExprOp op, int64_t a, int64_t b, int64_t *out);
bool ir_compare_int(IrExprOp op, int64_t a, int64_t b);
bool ir_is_compare(IrExprOp op);
int64_t ir_floordiv(int64_t a, int64_t b); /* b not 0 */

/* ---- the text form; docs/formats.md has its grammar ---- */

void ir_print(const IrProgram *p, Buf *out);
/* kernel: whose tensors the names mean; NULL: the host's. */
void ir_print_expr(const IrProgram *p, const IrKernel *kernel, IrExprId e, Buf *out);
IrProgram *ir_parse(Arena *arena, const char *file, Str text, Diag *diag);

/* The definition of a valid program: types, indices, stage rule, scopes. */
bool ir_verify(const IrProgram *p, Diag *diag);

#endif
