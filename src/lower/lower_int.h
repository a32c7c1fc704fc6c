/* What the passes share: the state of one lowering, building statements, scratch, lives. */
#ifndef LOWER_LOWER_INT_H
#define LOWER_LOWER_INT_H

#include "ir/range.h"
#include "lower/lower.h"

/* ---- lives: which part of a kernel a buffer's slot is held for (life.c) ---- */

/* A block of the IR: the body or else-branch of a statement; stmt 0 is the kernel's body. */
typedef struct Home {
    IrStmtId stmt;
    bool orelse;
} Home;

enum { TOUCH_LOAD = 1, TOUCH_VECTOR = 2, TOUCH_STORE = 4 };

/* What one engine does to a buffer during an episode: children first..last of the home block.
 * alone: all in one stage, which is child `first`. */
typedef struct Part {
    bool any, alone;
    uint32_t first, last;
} Part;

/* One value in a buffer, from the first write to the last use. */
typedef struct Episode {
    uint32_t buffer;
    Home home;
    uint32_t first, last; /* children of the home block */
    Part load, vector, store;
} Episode;

/* What became of an IR buffer. */
typedef struct Placed {
    uint32_t local;
    bool loose;          /* transfers touch it in no order a queue could follow: flags by hand */
    bool direct;         /* a bound queue whose values no vector instruction touches */
    uint8_t touches;     /* TOUCH_* over the whole kernel */
    bool compared;       /* operand of a compare: rounded up to whole repeats */
    bool tight;          /* 2-D: rows are as wide as its views, not as declared */
    bool dense;          /* 2-D mask: its bits lie as the elements it was compared from */
    uint16_t unit;       /* 2-D: rows are padded to multiples of so many elements */
    uint8_t scaled;      /* holds positions times this many bytes; 0: as the source says */
    uint32_t begin, end; /* positions of its first and last use, loops it lives across included */
} Placed;

typedef struct KernelPlan {
    VEC(Episode) episodes;
    VEC(Placed) placed; /* beside the IR kernel's buffers */
} KernelPlan;

/* ---- what a kernel makes once, at its start ---- */

/* Positions and neutral elements of scans over rows of up to `room` (op_scan.c). */
typedef struct ScanPlaces {
    IrExprId room;
    DType dtype;
    double neutral;
    IrExprId stride,
        before; /* elements between two steps; number of neutral elements before the totals */
    AscRef every, near, back; /* byte offsets: of lanes, of neighbours, of a chunk of the result */
    AscRef total[2];
} ScanPlaces;

/* ---- channels ---- */

/* One transfer of a channel: `slot` counts the slots in turn, `full` and `free` are flags. */
typedef struct ChannelEnd {
    IrStmtId stmt;
    uint32_t kernel, channel; /* channel: the IR buffer */
    IrCore role;
    bool sends;
    IrVarId slot;
    int64_t depth;
    uint32_t full, free;
} ChannelEnd;

/* ---- the state ---- */

typedef struct Lower {
    Arena *arena;
    AscProgram *out;
    IrProgram *ir;
    const NpuChip *chip;
    Diag *diag;
    VEC(KernelPlan) plans;
    /* the kernel, function and place being written */
    AscKernel *k;
    const IrKernel *source;
    KernelPlan *plan;
    AscBlock *at;
    Span span;
    uint32_t scratch_used; /* scratch slots in use by the operation being lowered */
    AscBlock once;         /* statements at the start of the kernel */
    VEC(ScanPlaces) scans; /* what they made */
    AscRef mirror[2];      /* positions of a reversal, of elements of 2 and of 4 bytes */
    IrCore role;           /* of the statements being lowered */
    VEC(ChannelEnd) ends;  /* transfers that were a send or receive */
} Lower;

/* Channels become workspace and flags (channel.c), before the passes. */
bool lower_channels(Lower *l);
const ChannelEnd *lower_channel_end(const Lower *l, IrStmtId stmt);
/* At the beginning and the end of a role: free slots are announced, and no flag is left up. */
void lower_channels_open(Lower *l, IrCore role);
void lower_channels_close(Lower *l, IrCore role);
/* Around the transfer. */
void lower_channel_before(Lower *l, const ChannelEnd *end);
void lower_channel_after(Lower *l, const ChannelEnd *end);

/* The cube's statements (cube.c). */
IrExprId cube_bytes(Lower *l, const IrBuffer *b);
void cube_load_gm(Lower *l, const IrStmt *s, const AscCopy *c);
void cube_load_l0(Lower *l, const IrStmt *s);
void cube_mmad(Lower *l, const IrStmt *s);
/* Turns HF32 on before a role of the cube, or off behind it, where its products are of that kind. */
void cube_set_hf32(Lower *l, const IrBlock *role, bool on);
void cube_store(Lower *l, const IrStmt *s, const AscCopy *c);
/* Does the first mmad of a run of loops start from zero? `loops`: those around it. */
bool cube_starts(Lower *l, const IrStmt *mmad, const IrAxis *const *loops, uint32_t count);

/* The passes; contracts above their bodies. */
bool lower_host(Lower *l);
void lower_rooms(Lower *l, AscPath *path); /* rooms.c */
bool lower_init(Lower *l);
bool lower_compute(Lower *l);
bool lower_align(Lower *l);
/* Part of compute: loads of loops with much work are issued a turn ahead (ahead.c). */
void lower_ahead(Lower *l);
/* A part of init: orders buffers so that two sources of an instruction do not share bank groups
 * (bank.c). */
void lower_banks(Lower *l);
/* Part of init: inputs that are read once (stream.c). */
void lower_streams(Lower *l);
/* Bugs of a pass: indices in range, calls as call.def allows. Panics. */
void lower_verify(const Lower *l, LowerPass done);

void lower_lives(Lower *l);
/* Decides how far apart the rows of 2-D buffers lie (pitch.c); after the lives. */
void lower_pitches(Lower *l);
const IrBlock *lower_block(const Lower *l, Home home);
/* An operation after which positions times a width are what was computed of positions, times that width, once its
 * scalars are multiplied, too. */
bool lower_scales(IrTileOp op);
bool lower_scales_after(const IrStmt *s); /* one that makes positions, which are multiplied then */
uint8_t lower_touch(const Lower *l, IrStmtId stmt, uint32_t buffer);
/* The views an operation reads (the mask of a select too) and writes. */
bool lower_reads_dst(IrTileOp op);

/* ---- expressions ---- */

IrExprId lx_int(Lower *l, int64_t value);
IrExprId lx_var(Lower *l, IrVarId var);
IrExprId lx_add(Lower *l, IrExprId a, IrExprId b); /* an operand 0 is the number 0 */
IrExprId lx_sub(Lower *l, IrExprId a, IrExprId b);
IrExprId lx_mul(Lower *l, IrExprId a, IrExprId b);
IrExprId lx_align(Lower *l, IrExprId a, int64_t to);
IrExprId lx_ceildiv(Lower *l, IrExprId a, IrExprId b);
IrExprId lx_min(Lower *l, IrExprId a, IrExprId b);
IrExprId lx_max(Lower *l, IrExprId a, IrExprId b);
bool lx_is(const Lower *l, IrExprId e, int64_t value); /* the constant; expression 0 counts as 0 */
int64_t lx_most(const Lower *l, IrExprId e);
int64_t lx_least(const Lower *l, IrExprId e);
bool lx_divides(const Lower *l, IrExprId e, int64_t by);
bool lx_uses(const Lower *l, IrExprId e, IrVarId var);
IrVarId lx_local(Lower *l, const char *name, DType type);

/* ---- statements: appended to l->at ---- */

AscStmt *ls_new(Lower *l, AscStmtKind kind); /* valid until the next one is made */
/* A block being written: statements go to it from ls_open to ls_close, which hands it to the
 * statement it belongs to. */
typedef struct Opened {
    AscBlock block;
    AscBlock *outer;
} Opened;

void ls_open(Lower *l, Opened *o);
void ls_close(Lower *l, Opened *o, AscStmtId owner, bool orelse);
AscStmtId ls_last(const Lower *l);
AscStmtId ls_for(Lower *l, IrVarId var, IrExprId lo, IrExprId hi, IrExprId step);
void ls_set(Lower *l, IrVarId var, IrExprId value);
void ls_flag(Lower *l, AscEvent event);
void ls_queue(Lower *l, AscStmtKind kind, uint32_t local, AscHand hand);
void ls_get(Lower *l, IrVarId var, AscRef from);
void ls_put(Lower *l, AscRef to, IrExprId value);
/* Does a statement of the block read the variable? What stages do is not looked at. */
bool ls_uses(const Lower *l, const AscBlock *block, IrVarId var);

/* ---- calls ---- */

AscRef ref_local(uint32_t local, DType dtype, IrExprId offset);
AscRef ref_at(Lower *l, AscRef ref, IrExprId more); /* further on by `more` elements */
AscRef ref_as(Lower *l, AscRef ref, DType dtype);   /* the same bytes */
void call_binary(Lower *l, AscApi api, AscRef dst, AscRef a, AscRef b, IrExprId count);
void call_unary(Lower *l, AscApi api, AscRef dst, AscRef a, IrExprId count);
void call_scalar(Lower *l, AscApi api, AscRef dst, AscRef a, IrExprId scalar, IrExprId count);
void call_const(Lower *l, AscApi api, AscRef dst, AscRef a, double scalar, IrExprId count);
void call_fill(Lower *l, AscRef dst, IrExprId scalar, IrExprId count);
void call_cast(Lower *l, AscRef dst, AscRef a, enum NpuRound round, IrExprId count);
void call_compare(Lower *l, AscRef mask, AscRef a, AscRef b, int mode, IrExprId count);
void call_compares(Lower *l, AscRef mask, AscRef a, IrExprId scalar, int mode, IrExprId count);
void call_select(Lower *l, AscRef dst, AscRef mask, AscRef a, AscRef b, IrExprId count);
void call_selects(Lower *l, AscRef dst, AscRef mask, AscRef a, IrExprId scalar, IrExprId count);
/* Elements of src at byte offsets, `base` bytes further on; 0, 1, 2, ... from `first` on. */
void call_gather(Lower *l, AscRef dst, AscRef src, AscRef offsets, IrExprId base, IrExprId n);
void call_index(Lower *l, AscRef dst, IrExprId first, IrExprId n);
void call_reduce(Lower *l, AscApi api, AscRef dst, AscRef a, AscRef work, IrExprId count, int at);

/* ---- scratch: tensors of the compiler's, one TBuf a slot, as large as its largest use ---- */

AscRef scratch_take(Lower *l, DType dtype, IrExprId elements);
/* One of its own for the whole kernel, for statements of l->once. */
AscRef scratch_keep(Lower *l, const char *name, DType dtype, IrExprId elements);
static inline uint32_t scratch_mark(const Lower *l) { return l->scratch_used; }
static inline void scratch_drop(Lower *l, uint32_t mark) { l->scratch_used = mark; }

/* ---- operations (op_*.c): each lowers a family onto contiguous elements ---- */

/* A run of `count` elements; `room` is what scratch beside it must hold. */
typedef struct Run {
    IrExprId count, room;
} Run;

void op_lower(Lower *l, const IrStmt *s);
void op_unsupported(Lower *l, const IrStmt *s, const char *what);
/* Rows so many and so short that a repeat per row is better than an instruction per row. */
bool op_short_rows(const Lower *l, const IrView *view);
IrExprId op_blocks(Lower *l, IrExprId elements, DType dtype); /* of 32 bytes */
void op_elementwise(Lower *l, const IrStmt *s, IrTileOp op, AscRef dst, const AscRef *src, Run run);
bool op_math(Lower *l, IrTileOp op, AscRef dst, const AscRef *src, IrExprId scalar, Run run);
void op_compare(Lower *l, const IrStmt *s, AscRef mask, const AscRef *src, Run run);
void op_select(Lower *l, const IrStmt *s, AscRef dst, const AscRef *src, Run run);
void op_bits(Lower *l, const IrStmt *s, AscRef dst, const AscRef *src, bool mask, Run run);
bool op_cast(Lower *l, AscRef dst, AscRef src, enum NpuRound round, Run run);
void op_mask_to(Lower *l, AscRef dst, AscRef mask, Run run);
void op_copy(Lower *l, AscRef dst, AscRef src, Run run);
void op_reduce(Lower *l, const IrStmt *s);

typedef enum Fold { FOLD_SUM, FOLD_MAX, FOLD_MIN, FOLD_PROD } Fold;
extern const AscApi fold_api[]; /* by Fold: two tensors into one */
Fold fold_of(IrTileOp op);
DType fold_type(DType d, Fold fold); /* the type to reduce in; DT_COUNT: none */
int64_t fold_lanes_of(DType d);      /* elements of a repeat */
/* A run of f32 into the one element at dst, without the scalar unit; not products. */
void fold_run(Lower *l, Fold fold, AscRef dst, AscRef src, Run run);
void fold_to_scalar(Lower *l, AscRef src, Fold fold, IrVarId result, Run run);

void op_row_reduce(Lower *l, const IrStmt *s);
void op_cols(Lower *l, const IrStmt *s);
void op_shape(Lower *l, const IrStmt *s);
/* Is what `s` spreads over a tile only an operand of `next`? Then both are lowered as one. */
bool op_spread_joins(const Lower *l, const IrStmt *s, const IrStmt *next);
void op_spread(Lower *l, const IrStmt *s, const IrStmt *next);
void op_scan(Lower *l, const IrStmt *s);
void op_sort(Lower *l, const IrStmt *s);
/* The type an operation is computed in when the tile's own has no instruction. */
DType op_wide(DType dtype);

/* ---- loops and the split over cores (split.c) ---- */

/* Writes the loop's head; statements go into its body until loop_close. */
typedef struct OpenLoop {
    AscStmtId owner;
    Opened body;
    /* of a loop over the pieces of a list: the loop over its tensors around it */
    bool nested;
    AscStmtId outer_owner;
    Opened outer_body;
    IrVarId base, pieces; /* pieces of the tensors before; of this one */
} OpenLoop;

void loop_open(Lower *l, const IrStmt *s, OpenLoop *loop);
void loop_close(Lower *l, OpenLoop *loop);
void lower_share(Lower *l, const IrStmt *s);

/* ---- movement (move.c) ---- */

void lower_load(Lower *l, const IrStmt *s);
void lower_store(Lower *l, const IrStmt *s);
void lower_gm_read(Lower *l, const IrStmt *s);
void lower_gm_write(Lower *l, const IrStmt *s);
/* Before a transfer stage: flags and barriers for GM that this kernel itself wrote. */
void lower_gm_order(Lower *l, IrStmtId stage);

/* ---- views as operands ---- */

typedef struct View2 {
    AscRef ref;          /* its first element */
    IrExprId rows, cols; /* rows 0: one */
    IrExprId stride;     /* elements from row to row; 0 for rank 1 */
    bool mask, full;     /* full: every column of the buffer */
} View2;

View2 view_of(Lower *l, const IrView *view);
/* Elements of the buffer after a view: what scratch for it must hold. */
IrExprId view_room(Lower *l, const IrView *view);
DType view_dtype(const IrView *view); /* bool as u8 */

/* Scalars the scalar unit has no instruction for are computed on one vector lane first. */
IrExprId lower_scalar(Lower *l, IrExprId e);
IrExprId lower_scalar_const(Lower *l, double value, DType dtype);

#endif
