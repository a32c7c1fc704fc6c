/* From the syntax tree to tile IR: what the files sema_*.c share.
 *
 *     sema.c         declarations, variants, the entry points
 *     sema_name.c    symbols, frames, did-you-mean
 *     sema_host.c    the host function and its launches
 *     sema_kernel.c  kernel parameters and statements     sema_loop.c  loops, share
 *     sema_assign.c  assignments
 *     sema_buffer.c  buffers and views                    sema_gm.c    tensors and regions
 *     sema_move.c    load, store, and the other statements that are calls
 *     sema_expr.c    any expression to a Value            sema_call.c  calls
 *     sema_fn.c      the functions of fn.def
 *     sema_scalar.c  arithmetic on scalars                sema_tile.c  typed tile expressions
 *     sema_emit.c    tile expressions to IR operations with scratch buffers
 *     sema_inline.c  helper functions                     sema_size.c  which sizes are equal
 *
 * A wrong expression is reported once, where it is found, and becomes VAL_BAD or 0, about which
 * nobody complains again. */
#ifndef CRAFT_SEMA_H
#define CRAFT_SEMA_H

#include "base/map.h"
#include "craft/ast.h"
#include "craft/report.h"
#include "ir/ir.h"

/* ---- values ---- */

/* A tile expression: a view, or an operation over others. What is not known yet (dtype and
 * shape of iota, shape of row and col) is taken from what it is combined with. */
typedef struct TileNode {
    bool is_view;
    IrView view;
    IrTileOp op;
    IrRound round;
    uint32_t src_count, scalar_count;
    struct TileNode *src[IR_MAX_OPERANDS];
    IrExprId scalar[2];
    uint32_t dtypes; /* for which dtypes the operation exists (D_*) */
    bool mask;
    bool dtype_known;
    DType dtype;
    uint32_t rank; /* 0: not known yet */
    IrExprId size[IR_MAX_TILE_RANK];
    IrExprId cap[IR_MAX_TILE_RANK]; /* most elements, in terms known at kernel start */
    Span at;
} TileNode;

typedef enum ValueKind {
    VAL_BAD,    /* reported already */
    VAL_VOID,   /* a helper without return */
    VAL_SCALAR, /* scalar */
    VAL_TILE,   /* tile */
    VAL_TENSOR, /* access, not indexed yet */
    VAL_REGION, /* access with at least one range */
    VAL_RANGE,  /* start, size, index */
    VAL_DTYPE,  /* dtype */
    VAL_STRING, /* text */
    VAL_TUPLE,  /* items */
} ValueKind;

typedef struct Value Value;
struct Value {
    ValueKind kind;
    Span at;
    DType dtype;
    IrExprId scalar;
    TileNode *tile;
    IrAccess access;
    IrExprId start, size, index; /* of a range */
    Str text;
    Value *items;
    uint32_t item_count;
};

/* ---- symbols ---- */

typedef enum SymbolKind {
    SYM_VALUE,  /* constant, dim, dtype, tensor, buffer, view, range, parameter */
    SYM_SCALAR, /* a scalar variable of the host or a kernel */
    SYM_DEF,    /* host, kernel, helper */
} SymbolKind;

typedef enum DefRole { DEF_HELPER, DEF_HOST, DEF_KERNEL } DefRole;

typedef struct Symbol {
    SymbolKind kind;
    Str name;
    Span at;
    const char *what; /* "buffer", "loop variable", ... for messages */
    Value value;
    const struct Frame *home; /* whose name it is; NULL: the file's */
    bool ended;               /* its loop or block is over */
    /* SYM_SCALAR */
    IrVarId var;
    bool assigned;
    uint32_t writes;  /* assignments to it in its function */
    IrExprId defined; /* its only value, when that cannot change; else 0 */
    /* SYM_DEF */
    AstDef *def;
    DefRole role;
    bool cube, vector, paired, running;
    bool bad_params;     /* a kernel's parameters have errors: launches are not checked */
    uint32_t kernel;     /* its IrKernel + 1, once launched */
    struct Frame *frame; /* of a kernel: its parameters */
} Symbol;

/* The names of one function while its body is read. */
typedef struct Frame {
    Map names;
    const AstDef *def;
    Map writes; /* name -> how often the function assigns it */
} Frame;

typedef struct Scratch {
    uint32_t buffer;
    uint32_t busy; /* depth of the statement that holds it; 0: free */
} Scratch;

typedef struct Sema {
    Arena *arena;
    Diag *diag;
    const CraftFile *file;
    IrProgram *ir;
    uint32_t errors; /* of this variant */
    VEC(Symbol) symbols;
    VEC(uint32_t) var_symbols; /* by variable: the symbol of a named scalar, + 1 */
    Map globals;
    VEC(IrVarId) read_dims; /* dims that stand alone in an operand */
    VEC(uint32_t) dim_symbols;
    VEC(uint32_t) assigned_log; /* scalars in the order they got a value */
    Frame *frame;
    IrBlock *block;
    bool in_host;
    uint32_t kernel;
    Symbol kernel_def;
    int stage;  /* IrStage, or -1 */
    int role;   /* IrCore, or -1 */
    bool turns; /* inside alternate */
    uint32_t loop_depth, split_depth, cond_depth, inline_depth, block_depth;
    VEC(Scratch) scratch;
    uint32_t stmt_depth;
    uint32_t names_made;
    uint32_t steps;
    bool unfinished;       /* the file is the beginning of one: what is missing may come */
    bool stopped;          /* too large: a diagnostic is there, and the rest is skipped */
    VEC(uint32_t) present; /* optional host tensors known to be there */
} Sema;

enum { SEMA_MAX_STEPS = 20000 };

/* ---- reporting ---- */

/* Counts also diagnostics that are left out because another variant has them. */
#define sema_error(s, id, at, hint, ...) \
    ((s)->errors++, craft_report((s)->diag, CC_##id, (at), (hint), __VA_ARGS__))
const char *sema_format(Sema *s, const char *format, ...) ATTR_PRINTF(2, 3);
const char *sema_expr_text(Sema *s, IrExprId e);    /* a size, as the user would write it */
const char *sema_describe(Sema *s, const Value *v); /* "a tile of f32" */
bool sema_step(Sema *s, Span at);                   /* false: the program is too large */

/* ---- sema_name.c ---- */

uint32_t sema_declare(Sema *s, Str name, Span at, SymbolKind kind, const char *what);
uint32_t sema_declare_value(Sema *s, Str name, Span at, const char *what, Value v);
Symbol *sema_find(Sema *s, Str name); /* NULL: not there */
Symbol *sema_find_def(Sema *s, Str name);
const char *sema_nearest(Sema *s, Str name, bool functions); /* a hint, or NULL */
bool sema_reserved(Str name);
const char *sema_unique(Sema *s, const char *stem);
void sema_mark_assigned(Sema *s, uint32_t symbol);
void sema_unmark(Sema *s, uint32_t from);    /* forgets assignments after log position `from` */
void sema_end_names(Sema *s, uint32_t from); /* block names made since symbol `from` are over */
void sema_count_writes(Sema *s, Map *writes, const StmtList *body);

/* ---- sema_size.c ---- */

bool sema_same_size(Sema *s, IrExprId a, IrExprId b);
bool sema_constant_gap(Sema *s, IrExprId a, IrExprId b, int64_t *gap); /* a - b */
IrExprId sema_minus(Sema *s, IrExprId a, IrExprId b);                  /* simplified */
IrExprId sema_expand(Sema *s, IrExprId e); /* once-assigned scalars by their values */
bool sema_closed(Sema *s, IrExprId e);     /* known when the kernel starts */
bool sema_fixed(Sema *s, IrExprId e);      /* no scalar in it is assigned again */

/* ---- expressions ---- */

Value sema_bad(Span at);
Value sema_scalar_value(Sema *s, IrExprId e, Span at);
Value sema_eval(Sema *s, const AstExpr *e);
IrExprId sema_scalar(Sema *s, const AstExpr *e);  /* 0: reported */
IrExprId sema_integer(Sema *s, const AstExpr *e); /* 0: reported */
IrExprId sema_boolean(Sema *s, const AstExpr *e); /* 0: reported */
bool sema_constant_int(Sema *s, const AstExpr *e, int64_t *value);
bool sema_dtype(Sema *s, const AstExpr *e, DType *dtype);
DType sema_type(Sema *s, IrExprId e);
Value sema_call(Sema *s, const AstExpr *e);
Value sema_index(Sema *s, const AstExpr *e);
bool sema_want_args(Sema *s, const AstExpr *call, uint32_t least, uint32_t most,
                    const char *keyword);
const AstExpr *sema_keyword(const AstExpr *call, const char *name);

/* A call of a function of fn.def, its arguments evaluated. */
typedef struct SemaCall {
    const struct FnRow *fn;
    const AstExpr *e;
    Value args[8];
    uint32_t count;
} SemaCall;

Value sema_fn_unary(Sema *s, const SemaCall *c);
Value sema_fn_fold(Sema *s, const SemaCall *c);
Value sema_fn_pair(Sema *s, const SemaCall *c);
Value sema_fn_integer(Sema *s, const SemaCall *c);
Value sema_fn_fma(Sema *s, const SemaCall *c);
Value sema_fn_axpy(Sema *s, const SemaCall *c);
Value sema_fn_where(Sema *s, const SemaCall *c);
Value sema_fn_cast(Sema *s, const SemaCall *c);
Value sema_fn_iota(Sema *s, const SemaCall *c);
Value sema_fn_spread(Sema *s, const SemaCall *c);
Value sema_fn_gather(Sema *s, const SemaCall *c);
Value sema_fn_transpose(Sema *s, const SemaCall *c);
Value sema_fn_same_shape(Sema *s, const SemaCall *c, uint32_t rank);
Value sema_fn_per_axis(Sema *s, const SemaCall *c, uint32_t kept);
Value sema_fn_reduce(Sema *s, const SemaCall *c);

Value sema_scalar_unary(Sema *s, Tok op, Value a, Span at);
Value sema_scalar_binary(Sema *s, Tok op, Value a, Value b, Span at);
Value sema_scalar_fold(Sema *s, IrExprOp op, Value a, Value b, Span at);
bool sema_unify(Sema *s, IrExprId *a, IrExprId *b, Span at, const char *what);
IrExprId sema_as_float(Sema *s, IrExprId e, Span at);

/* ---- tiles ---- */

TileNode *sema_view_node(Sema *s, const IrView *view, Span at);
Value sema_tile_value(TileNode *node);
Value sema_tile_unary_op(Sema *s, Tok op, Value a, Span at);
Value sema_tile_binary_op(Sema *s, Tok op, Value a, Value b, Span at);
Value sema_tile_unary(Sema *s, IrTileOp op, uint32_t dtypes, Value a, Span at);
Value sema_tile_pair(Sema *s, IrTileOp op, Value a, Value b, Span at);
TileNode *sema_new_node(Sema *s, IrTileOp op, uint32_t dtypes, Span at);
TileNode *sema_fill_node(Sema *s, IrExprId value, Span at);
bool sema_match(Sema *s, TileNode *a, TileNode *b, Span at);
bool sema_want_tile(Sema *s, const Value *v, const char *what);
bool sema_want_mask(Sema *s, const Value *v, const char *what);
bool sema_adopt(Sema *s, TileNode *node, const TileNode *like);
bool sema_same_shape(Sema *s, const TileNode *a, const TileNode *b, Span at, const char *what);
bool sema_check_dtype(Sema *s, IrTileOp op, uint32_t dtypes, DType dtype, Span at);
void sema_settle(Sema *s, TileNode *node); /* dtype from its scalars when nothing else says it */
IrExprId sema_fit_scalar(Sema *s, IrExprId e, DType dtype, Span at);
bool sema_in_compute(Sema *s, Span at, const char *what);

IrStmt *sema_emit(Sema *s, IrStmtKind kind, Span at); /* valid until the next one */
void sema_emit_into(Sema *s, TileNode *node, const IrView *dst);
/* The value as a view: its own, or one of a scratch buffer, freed by sema_release. */
IrView sema_emit_view(Sema *s, TileNode *node);
void sema_release(Sema *s, const IrView *view);
void sema_release_since(Sema *s, uint32_t stmt_depth);
IrExprId sema_emit_scalar_op(Sema *s, IrTileOp op, TileNode *src, IrExprId scalar, DType type,
                             Span at);
IrVarId sema_temp(Sema *s, const char *stem, DType type, Span at);

/* ---- buffers, views, tensors ---- */

bool sema_is_buffer_call(const AstExpr *e);
void sema_declare_buffer(Sema *s, Str name, const AstExpr *call);
IrView sema_whole_buffer(Sema *s, uint32_t buffer);
/* One index: a scalar, or a range with its size. */
typedef struct IndexItem {
    IrExprId start, size; /* size 0: a scalar */
} IndexItem;
bool sema_index_item(Sema *s, const AstExpr *e, IrExprId extent, IndexItem *item);
/* What a[...] selects: a view, or with *element set one element of it. False: reported. */
bool sema_select(Sema *s, const AstExpr *e, const TileNode *base, IrView *view, IrExprId *element);
IrView sema_freeze(Sema *s, IrView view);
IrExprId sema_keep(Sema *s, IrExprId e, Span at); /* its value now, in a scalar of its own */
Value sema_index_tensor(Sema *s, const AstExpr *e, Value base, bool reading);
bool sema_may_read(Sema *s, const IrAccess *a, Span at);
bool sema_may_write(Sema *s, const IrAccess *a, Span at);
IrTensor *sema_tensor(Sema *s, uint32_t tensor);
/* A parameter's type such as gm[T, n]. False: reported. */
bool sema_tensor_type(Sema *s, const AstParam *param, IrTensor *tensor);
bool sema_is_tensor_type(const AstExpr *type);
bool sema_scalar_type(Sema *s, const AstParam *param, DType *type);

/* ---- functions and statements ---- */

void sema_host(Sema *s, uint32_t symbol);
void sema_kernel_declare(Sema *s, uint32_t symbol);
void sema_kernel_body(Sema *s, uint32_t symbol);
void sema_block(Sema *s, const StmtList *body, IrBlock *out);
void sema_stmts(Sema *s, const StmtList *body); /* into the current block */
void sema_assign(Sema *s, const AstStmt *stmt);
void sema_assign_scalar(Sema *s, Str name, Span name_at, IrExprId value, Span at);
bool sema_host_assign(Sema *s, Str name, const AstExpr *call); /* choose, workspace */
bool sema_host_stmt(Sema *s, const AstStmt *stmt);             /* launch, assert */
void sema_if(Sema *s, const AstStmt *stmt);
void sema_for(Sema *s, const AstStmt *stmt);
void sema_share(Sema *s, Str name, const AstExpr *call);
bool sema_call_stmt(Sema *s, const AstExpr *call); /* load, store, ...; false: none of them */
void sema_assign_compact(Sema *s, const AstExpr *target, const AstExpr *call);
Value sema_inline(Sema *s, uint32_t symbol, const AstExpr *call);
void sema_note_presence(Sema *s, IrExprId cond, bool holds);

#endif
