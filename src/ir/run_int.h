/* Inside the interpreter: its state, and what its files give each other.
 *
 *     Run      the host function: variables, tensors, launches
 *     Core     one core of a launch: on-chip buffers, channels
 *     Thread   one role of a core, resumable: variables, a stack of blocks under way
 */
#ifndef IR_RUN_INT_H
#define IR_RUN_INT_H

#include "ir/decide.h"
#include "ir/run.h"
#include "ir/verify_int.h"

/* A scalar. `data`: it depends on elements of tensors; with addresses_only it is unknown. */
typedef struct Scalar {
    int64_t i;
    float f;
    bool set, data;
} Scalar;

/* A tensor in GM. Marks: epoch << 12 | core + 1, 0: never; only where a kernel may write. */
typedef struct Gm {
    const char *name;
    DType dtype;
    uint32_t rank;
    int64_t dims[IR_MAX_RANK], count;
    uint8_t *data;
    uint32_t *wrote, *read;
    Span stored;      /* the last store to it */
    bool initialised; /* before the first launch */
    bool uncertain;   /* a store depends on data: coverage cannot be told */
} Gm;

typedef struct GmList {
    uint32_t count; /* 1 but for lists and absent tensors */
    Gm *items;
    bool live;
} GmList;

enum { MARK_CORE_BITS = 12, MARK_ATOMIC = (1 << MARK_CORE_BITS) - 1 };

typedef struct Run {
    IrRun *io;
    const IrProgram *p;
    Arena *arena, scratch;
    Scalar *vars; /* of the host */
    GmList *tensors;
    uint32_t epoch;
    uint64_t steps, bytes;
    bool stop; /* a fault ended the run */
    /* Not NULL: only the host function runs, on shapes without data; launches are noted here. */
    IrHostRun *host;
    IrDecisions *decided; /* not NULL: kernels are walked too, and what sizes decide is noted */
} Run;

/* Where expressions are evaluated: the host, or a thread. */
typedef struct Scope {
    Run *run;
    Scalar *vars;
    GmList *const *tensors; /* what tensor i means here */
    int64_t core, cores;    /* -1: the host */
    int64_t vector;         /* which of two vector cores of the core */
    uint32_t kernel;
    Span at; /* of the statement under way */
} Scope;

typedef struct Buffer {
    uint8_t *data, *shadow; /* one byte a byte; of masks, one byte an element */
    int64_t rows, cols;     /* in elements of its own type */
    int64_t pitch, bytes;
    int64_t touched; /* bytes from the start that may have been used since the last reset */
    /* a channel: slots in a ring; what each vector core of the one side has sent or taken, or skipped */
    int64_t depth, sent[2], taken[2];
} Buffer;

typedef struct Core {
    Buffer *buffers;
    struct Core *first; /* of a second vector core: the one that has the channels */
} Core;

typedef struct Frame {
    const IrBlock *block;
    uint32_t at;
    const IrStmt *loop; /* NULL: not a loop */
    int64_t item, stop, stride;
    int64_t lo[IR_MAX_AXES], hi[IR_MAX_AXES], unit[IR_MAX_AXES], count[IR_MAX_AXES];
    int64_t walked; /* items so far */
    bool data;      /* whether or how often it runs depends on data */
    bool idle;      /* the other vector core's turn: channels go on, nothing else happens */
} Frame;

typedef enum ThreadState { THREAD_READY, THREAD_SYNC, THREAD_CHANNEL, THREAD_DONE } ThreadState;

typedef struct Thread {
    Scope scope;
    const IrKernel *k;
    Core *core;
    IrCore role;
    bool pair; /* a vector core beside another one */
    ThreadState state;
    const IrStmt *waits;
    uint32_t depth;
    Frame frames[2 * IR_MAX_NEST + 2]; /* two for an `if` whose both sides are walked */
} Thread;

/* Part of a buffer, resolved. One row when 1-D. */
typedef struct Tile {
    const char *name;
    uint8_t *data, *shadow; /* of the first element; data NULL with addresses_only */
    int64_t rows, cols, pitch;
    int64_t row0, byte0; /* where in the buffer */
    uint32_t buffer, rank;
    DType dtype;
    size_t width; /* bytes of an element */
    bool mask;
} Tile;

/* Part of a tensor, resolved: rows x cols elements from `base`. */
typedef struct Region {
    Gm *gm;
    int64_t base, rows, cols, row_stride, col_stride;
    uint32_t ranges; /* axes that are ranges: 0, 1 or 2 */
} Region;

/* ---- run.c ---- */
/* A run up to its first statement: sizes, attributes, operands. False: refused, or a fault. */
bool run_begin(Arena *arena, IrRun *io, IrHostRun *host, Run *run, Scope *scope);
void run_host(Run *run, Scope *scope, const IrBlock *block);

/* ---- run_scope.c ---- */
void run_fault(Scope *s, IrFaultKind kind, Span at, const char *format, ...) ATTR_PRINTF(4, 5);
Scalar run_eval(Scope *s, IrExprId id);
/* False: not known, or it faulted. */
bool run_int(Scope *s, IrExprId e, int64_t *value);
bool run_unknown(const Scope *s, Scalar v);
bool run_work(Scope *s, int64_t elements); /* counts; false: past the limit */
void *run_memory(Scope *s, int64_t bytes); /* zeroed; NULL: past the limit */
const char *run_who(const Scope *s);       /* "core 3" */

/* ---- run_mem.c ---- */
bool run_make_buffers(Thread *t);
void run_reset_buffers(Thread *t);
bool run_tile(Thread *t, const IrView *v, bool aligned, Tile *tile);
bool run_need(Thread *t, const Tile *tile); /* all of it was written */
void run_wrote(const Tile *tile);
void run_lose_block_ends(Thread *t, const Tile *tile); /* an aligned load leaves them undefined */
void run_forget(Thread *t, const IrView *v); /* unknown part: all of the buffer counts as written */
bool run_region(Thread *t, const IrAccess *a, bool write, Region *region);
bool run_gm_read(Thread *t, const Region *r);
bool run_gm_write(Thread *t, const Region *r, IrAtomic atomic);
const char *run_index(Arena *arena, const Gm *gm, int64_t flat); /* "y[32, 0]" */
/* One element, as a scalar and back. */
Scalar run_get(DType dtype, const void *element);
void run_set(DType dtype, void *element, Scalar value);

/* ---- run_move.c: each true when done, false to wait or stop ---- */
void run_load(Thread *t, const IrStmt *s);
void run_store(Thread *t, const IrStmt *s);
void run_gm_scalar(Thread *t, const IrStmt *s);
bool run_skip(Thread *t, const IrStmt *s); /* the other vector core sends or takes it */
bool run_send(Thread *t, const IrStmt *s);
bool run_recv(Thread *t, const IrStmt *s);

/* ---- run_core.c ---- */
void run_thread_start(Thread *t);
void run_thread(Thread *t); /* until it ends or waits */
void run_assign(Thread *t, IrVarId var, Scalar value);

/* ---- decide.c: what sizes decide, where run->decided asks for it ---- */
void decide_launch(IrDecisions *d, IrStmtId launch);
void decide_expr(const Scope *s, const IrExpr *e, Scalar a, Scalar b, Scalar value);
void decide_side(const Scope *s, const IrExpr *e, bool first); /* of SELECT */
void decide_if(const Scope *s, const IrStmt *stmt, bool taken);
void decide_loop(const Thread *t, const IrStmt *s, const Frame *f);
int64_t decide_next(const Thread *t, const Frame *f);          /* the item after this one */
bool decide_core(const Run *run, int64_t core, int64_t cores); /* whether it is walked */
void decide_stmt(Thread *t, const IrStmt *s);                  /* instead of executing it */
void decide_buffers(Thread *t);

/* ---- host.c ---- */
bool host_walk(Arena *arena, const IrProgram *p, const NpuChip *chip, const IrHostInput *input,
               IrDecisions *decisions, uint64_t max_steps, Diag *diag);

/* ---- operations ---- */
enum { CHUNK = 512 };
typedef struct OpArgs {
    Thread *t;
    const IrStmt *s;
    Tile dst, dst2, src[IR_MAX_OPERANDS];
    Scalar scalar[2];
} OpArgs;

void run_op(Thread *t, const IrStmt *s);
bool tile_is_wide(DType d); /* i16 and wider: computed as integers */
void tile_fetch(const Tile *t, int64_t row, int64_t from, int64_t n, double *out);
void tile_put(const Tile *t, int64_t row, int64_t from, int64_t n, const double *in);
void tile_fetch_int(const Tile *t, int64_t row, int64_t from, int64_t n, int64_t *out);
void tile_put_int(const Tile *t, int64_t row, int64_t from, int64_t n, const int64_t *in);
/* A scalar operand as the operation sees it: rounded to f16 where the tile is. */
double scalar_for_tile(const Scalar *s, DType d);
void run_op_elem(const OpArgs *o);
void run_op_bits(const OpArgs *o);
void run_op_compare(const OpArgs *o);
void run_op_select(const OpArgs *o);
void run_op_fill(const OpArgs *o);
void run_op_cast(const OpArgs *o);
void run_op_shape(const OpArgs *o);
void run_op_reduce(const OpArgs *o);
void run_op_rows(const OpArgs *o);
void run_op_scan(const OpArgs *o);
void run_op_sort(const OpArgs *o);
void run_op_mmad(const OpArgs *o);

#endif
