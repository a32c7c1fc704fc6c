/* The Ascend program: what the four passes make of one dtype variant of a tile-IR program, and
 * what the AscendC emitter walks.
 *
 *     AscProgram                     one operator, one dtype variant
 *       tiling     fields of the tiling struct
 *       paths[]    one per path through the host function: key, launches in order
 *       kernels[]  one class each
 *         buffers[]    members: TQue, TQueBind, TBuf
 *         locals[]     tensors in UB: a slot of a queue, or (a part of) a TBuf
 *         functions[]  [0] is Process; the others are stage functions
 *         blocks of statements at the level of one AscendC call
 *
 * Scalars and sizes are expressions of `ir`, a copy of the program that lowering added variables
 * and expressions to. Offsets and counts are in elements unless a name says bytes.
 */
#ifndef LOWER_ASCEND_H
#define LOWER_ASCEND_H

#include "ir/ir.h"
#include "npu/npu.h"

typedef uint32_t AscStmtId;
typedef VEC(AscStmtId) AscBlock;

enum { ASC_NO_LOCAL = UINT32_MAX, ASC_KEPT = UINT32_MAX - 1 };

/* The calls lowering makes; rows in call.def. */
typedef enum AscApi {
#define CALL(name, ...) ASC_##name,
#include "lower/call.def"
#undef CALL
    ASC_API_COUNT
} AscApi;

/* Which operands a call has, and in which order they are written. */
typedef enum AscForm {
    ASC_F_BINARY,      /* dst, a, b, count */
    ASC_F_UNARY,       /* dst, a, count */
    ASC_F_SCALAR,      /* dst, a, scalar, count */
    ASC_F_FILL,        /* dst, scalar, count */
    ASC_F_CAST,        /* dst, a, RoundMode, count */
    ASC_F_COMPARE,     /* dst, a, b, CMPMODE, count */
    ASC_F_COMPARES,    /* dst, a, scalar, CMPMODE, count */
    ASC_F_SELECT,      /* dst, mask c, a, b, SELMODE, count */
    ASC_F_SELECTS,     /* dst, mask c, a, scalar, SELMODE, count */
    ASC_F_REDUCE,      /* dst, a, work c, count */
    ASC_F_REDUCE_AT,   /* dst, a, work c, count, with index? */
    ASC_F_REPEAT_SUM,  /* dst, a, mask, repeat, dst stride, block stride, repeat stride */
    ASC_F_REPEAT_AT,   /* as above, and the order of value and index */
    ASC_F_BLOCK,       /* dst, a, repeat, mask, dst stride, block stride, repeat stride */
    ASC_F_GATHER,      /* dst, a, byte offsets b, base (scalar), count */
    ASC_F_GATHER_MASK, /* dst, a, pattern b, true, count, {1, 1, 8, 8}; result */
    ASC_F_INDEX,       /* dst, first (scalar), count */
    ASC_F_BROADCAST,   /* dst, a, repeat, dst stride (none: 8): a repeat fills eight blocks */
    ASC_F_SORT,        /* dst, a, positions b, work c, repeat: 32 elements each */
    ASC_F_EXTRACT,     /* values dst, positions b, sorted a, repeat */
} AscForm;

typedef struct AscApiRow {
    const char *name;
    enum NpuOp op; /* the instruction it is; NPU_NONE: the vendor composes it */
    AscForm form;
    uint32_t dtypes;    /* bit i: DType i of the main operand */
    const char *source; /* empty: the row of isa.def has it */
} AscApiRow;

extern const AscApiRow asc_apis[ASC_API_COUNT];

/* Where a tensor operand lies. The dtype may differ from the local's: ReinterpretCast. */
typedef struct AscRef {
    bool used, global;
    uint32_t id; /* of locals[] or of the kernel's GM tensors */
    DType dtype;
    IrExprId offset; /* elements of dtype; 0: none */
    IrExprId item;   /* which tensor of a list */
} AscRef;

/* Distances in blocks of 32 bytes: inside a repeat, and from repeat to repeat. */
typedef struct AscStrides {
    IrExprId dst_block, a_block, b_block, dst_repeat, a_repeat, b_repeat;
} AscStrides;

typedef enum AscEvent {
    ASC_MTE2_V,
    ASC_V_MTE2,
    ASC_MTE2_MTE3,
    ASC_MTE3_MTE2,
    ASC_V_MTE3,
    ASC_MTE3_V,
    ASC_S_MTE3,
    ASC_MTE3_S,
    ASC_S_MTE2,
    ASC_MTE2_S,
    ASC_V_S,
    ASC_S_V,
    ASC_FIX_MTE2,
    ASC_EVENT_COUNT
} AscEvent;

/* Operations of a cube core alone, each with its `arg` in order. A tile of L1 is NZ: columns of
 * fractals, each of 16 rows of 32 bytes. */
typedef enum AscCubeOp {
    ASC_CUBE_ND2NZ,        /* L1 dst = GM a: rows, columns, GM row distance, rows of the L1 tile */
    ASC_CUBE_LOAD3D,       /* L0 dst = L1 a: rows and columns of the L1 tile, first row, rows, first
                      * column, columns; mode 1: L0A gets it transposed */
    ASC_CUBE_LOAD2D,       /* L0 dst = L1 a: fractals one after the other, how many */
    ASC_CUBE_LOAD_SQUARES, /* L0B dst = L1 a: squares of 32 x 32 bytes transposed: how many,
                            * distance in squares */
    ASC_CUBE_MMAD,         /* L0C dst = or += a x b: m, n, k, start from zero?; mode 1: k is laid
                            * out in whole 16s */
    ASC_CUBE_FIXPIPE,      /* GM dst = L0C a: rows, columns, GM row distance, rows of the L0C tile;
                            * mode 1: relu */
    ASC_CUBE_SIGNAL,       /* the other role's flag number `flag`, when `pipe` gets there */
    ASC_CUBE_AWAIT,        /* flag number `flag` */
    ASC_CUBE_HF32, /* from here on products of f32 round their factors (mode 1), or do not */
} AscCubeOp;

enum { ASC_CUBE_ARGS = 6, ASC_CUBE_OPS = ASC_CUBE_HF32 + 1 };

/* Which hand-over of a queue: the whole way, or one half of a bound queue with V in between. */
typedef enum AscHand { ASC_HAND_PLAIN, ASC_HAND_IN, ASC_HAND_OUT } AscHand;

typedef enum AscStmtKind {
    ASC_S_FOR,   /* var from lo while < hi by step: body */
    ASC_S_WHILE, /* value: body */
    ASC_S_IF,    /* value: body, orelse */
    ASC_S_SET,   /* var = value */
    ASC_S_RUN,   /* functions[callee] */
    ASC_S_CALL,  /* one AscendC call */
    ASC_S_COPY,  /* GM to UB or back; `copy` */
    ASC_S_ALLOC, /* local from its queue */
    ASC_S_ENQUE,
    ASC_S_DEQUE,
    ASC_S_FREE,
    ASC_S_GET,     /* var = a.GetValue(offset) */
    ASC_S_PUT,     /* dst.SetValue(offset, value) */
    ASC_S_FLAG,    /* SetFlag and WaitFlag of `event`, one after the other */
    ASC_S_BARRIER, /* PipeBarrier of `pipe` */
    ASC_S_ATOMIC,  /* SetAtomicAdd / Max / Min, or None for IR_PLAIN */
    ASC_S_CLEAN,   /* DataCacheCleanAndInvalid of the line that holds a */
    ASC_S_SYNC_ALL,
    ASC_S_CUBE, /* `cube` */
    ASC_S_ROLE, /* body on cores of the kind `core` only */
} AscStmtKind;

typedef enum AscCopyForm {
    ASC_COPY_UNDECIDED,
    ASC_COPY_PLAIN,
    ASC_COPY_STRIDED,
    ASC_COPY_PAD
} AscCopyForm;

/* `rows` runs of `cols` elements; in GM a run starts gm_row after the last, in UB ub_row. */
typedef struct AscCopy {
    bool inward;
    AscRef gm, ub;
    IrExprId rows, cols, gm_row, ub_row; /* rows 0: one run */
    IrExprId pad;                        /* fills the last block of a run; 0: none */
    /* chosen by the align pass. PLAIN: `len` elements. STRIDED: `rows` runs of `len` blocks of 32
     * bytes, gaps in blocks. PAD: runs of `len` bytes, gm_gap in bytes, ub_gap in blocks, `right`
     * elements of padding. */
    AscCopyForm form;
    IrExprId len, gm_gap, ub_gap, right;
} AscCopy;

typedef struct AscStmt {
    AscStmtKind kind;
    Span at;
    AscBlock body, orelse;
    IrVarId var;
    IrExprId lo, hi, step, value;
    uint32_t callee;
    /* CALL */
    AscApi api;
    AscRef dst, a, b, c;
    IrExprId scalar, count; /* count 0: mask and repeat */
    IrExprId mask, repeat;
    AscStrides strides;
    int mode; /* NpuRound, NpuCompare, or: 1 with index */
    /* the rest */
    AscCopy copy;
    uint32_t local;
    AscHand hand;
    AscEvent event;
    enum NpuPipe pipe;
    IrAtomic atomic;
    DType dtype; /* ATOMIC */
    AscCubeOp cube;
    IrExprId arg[ASC_CUBE_ARGS];
    uint32_t flag;
    IrCore core;
} AscStmt;

typedef enum AscStorage { ASC_QUE_IN, ASC_QUE_OUT, ASC_QUE_BIND, ASC_TBUF } AscStorage;

/* Whether two slots are filled before one is read: no; by a loop; by a loop for the loop around it. */
typedef enum AscAhead { ASC_AHEAD_NO, ASC_AHEAD_TURN, ASC_AHEAD_NEST } AscAhead;

typedef struct AscBuffer {
    const char *name; /* "a.que", "scratch.0.buf": what lowering makes has a dot */
    IrMemory memory;
    AscStorage storage;
    IrExprId depth;      /* slots; queues only */
    uint32_t depth_most; /* its upper bound, the template argument */
    IrExprId bytes;      /* of one slot */
    AscAhead ahead;
    Span at;
} AscBuffer;

typedef struct AscLocal {
    const char *name;
    DType dtype;
    uint32_t buffer; /* of buffers[] */
    uint32_t source; /* the IR buffer it stands for; UINT32_MAX: scratch, ASC_KEPT: for good */
} AscLocal;

typedef struct AscFunction {
    const char *name;
    bool is_stage;
    IrStage stage;
    AscBlock body;
    Span at;
} AscFunction;

/* A tensor that passes L2 by: one that is read once, or a result beside what is read twice. It does so
 * where it, or all inputs such that are dealt out among the cores, have more than `least` bytes, and it
 * no more than `most` (0: any number). */
typedef struct AscStream {
    uint32_t tensor;
    bool split; /* dealt out */
    IrExprId bytes, together;
    int64_t least, most;
} AscStream;

typedef struct AscKernel {
    const char *name; /* of the class, PascalCase */
    const IrKernel *source;
    VEC(IrVarId) members; /* scalars copied from the tiling struct, in order */
    VEC(AscBuffer) buffers;
    VEC(AscLocal) locals;
    VEC(AscFunction) functions;
    VEC(AscStream) streams;
    IrVarId cores;     /* num_cores() when it is not GetBlockNum(); 0: it is */
    IrExprId ub_bytes; /* of all buffers, in the members; 0: proven to fit */
    bool launched, uses_sync, uses_select;
} AscKernel;

/* A field is filled when a launch is executed; launches of different paths share fields. */
typedef struct AscFill {
    IrStmtId launch; /* 0: known from the start (a dim) */
    IrExprId value;
} AscFill;

typedef struct AscField {
    const char *name;
    DType type; /* DT_I64, DT_F32 or DT_BOOL */
    VEC(AscFill) fills;
} AscField;

/* What a scalar member of a kernel's class gets at a launch: a field, or a constant. */
typedef struct AscBind {
    IrVarId var;
    uint32_t field; /* UINT32_MAX: `value` */
    IrExprId value;
} AscBind;

/* One launch of a path. Several launches of a path run in one grid with SyncAll between them;
 * each then has its own number of cores, in the variable `cores` of its kernel. */
typedef struct AscLaunch {
    IrStmtId stmt;
    uint32_t kernel;
    uint32_t cores_field;   /* UINT32_MAX: alone in its path, GetBlockNum() will do */
    VEC(AscBind) binds;     /* the kernel's scalar parameters, the dims, the cores */
    VEC(uint32_t) operands; /* the host tensor of each GM parameter */
} AscLaunch;

/* A workspace tensor of a path: bytes after the user workspace's start. */
typedef struct AscRoom {
    uint32_t tensor; /* of the host */
    uint32_t field;  /* its offset; UINT32_MAX: at the start */
    IrExprId offset, bytes;
    uint32_t first, last; /* launches of the path that touch it */
} AscRoom;

enum { ASC_ROOM_ALIGN = 512 };

typedef struct AscPath {
    uint32_t key; /* tiling key, from 1 */
    VEC(AscLaunch) launches;
    VEC(AscRoom) rooms;
    IrExprId room_bytes; /* of all workspaces; 0: there are none */
} AscPath;

/* Which cores a launch of the operator takes; all of its paths take the same. */
typedef enum AscTask {
    ASC_TASK_VECTOR,  /* vector cores */
    ASC_TASK_CUBE,    /* cube cores */
    ASC_TASK_MIX_1_1, /* a cube core with one vector core each */
    ASC_TASK_MIX_1_2, /* a cube core with two */
} AscTask;

typedef struct AscProgram {
    Arena *arena;
    IrProgram *ir;
    const NpuChip *chip;
    AscTask task;
    const char *name; /* as the host function: "softmax" */
    const char *type; /* "Softmax" */
    VEC(AscField) fields;
    VEC(AscPath) paths;
    VEC(AscKernel) kernels; /* as ir->kernels; one never launched has no functions */
    VEC(AscStmt) stmts;     /* [0] unused */
} AscProgram;

const char *asc_event_name(AscEvent event);
bool asc_is_mixed(const AscProgram *p);
/* Whether the launches of a path are inside an `if` on the core's number. */
bool asc_is_guarded(const AscProgram *p, const AscPath *path);
/* Vector cores of a block that the kernel's launches count one by one. */
int64_t asc_cores_per_block(const AscProgram *p, uint32_t kernel);
/* A kernel of two roles, with two vector cores in each block: both have their block's number. */
bool asc_is_beside(const AscProgram *p, const IrKernel *k);
bool asc_is_queue(AscStorage storage);
const char *asc_buffer_stem(Arena *arena, const AscBuffer *b); /* its name without "que", "buf" */

#endif
