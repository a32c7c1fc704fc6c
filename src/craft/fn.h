/* The function table as data; rows in fn.def. */
#ifndef CRAFT_FN_H
#define CRAFT_FN_H

#include "ir/ir.h"

typedef enum FnKind {
    FN_UNARY,
    FN_FOLD,
    FN_OPERANDS,
    FN_FMA,
    FN_AXPY,
    FN_INTEGER,
    FN_WHERE,
    FN_CAST,
    FN_IOTA,
    FN_SPREAD,
    FN_GATHER,
    FN_TRANSPOSE,
    FN_REVERSE,
    FN_REDUCE,
    FN_REDUCE_MASK,
    FN_ARG,
    FN_ROWS,
    FN_COLS,
    FN_SCAN,
    FN_TO_F32,
    FN_TO_I64,
    FN_VIEW,
    FN_REINTERPRET,
    FN_FLAT,
    FN_SIZE,
    FN_LEN,
    FN_PRESENT,
    FN_LEAF,
    FN_STMT,
    FN_COMPACT,
    FN_BUFFER,
    FN_LOOP,
    FN_SHARE,
    FN_HOST,
    FN_FILE,
    FN_STAGE,
} FnKind;

/* Sets of tile dtypes. */
enum {
    D_FLOAT = 1 << DT_F32 | 1 << DT_F16 | 1 << DT_BF16,
    D_I16 = 1 << DT_I16,
    D_I32 = 1 << DT_I32,
    D_INT = 1 << DT_I8 | 1 << DT_U8 | D_I16 | D_I32,
    D_BOOL = 1 << DT_BOOL,
    D_BITS = D_I16 | D_I32 | 1 << DT_U16 | 1 << DT_U32,
    D_WIDE = 1 << DT_I64 | 1 << DT_U16 | 1 << DT_U32,
};

typedef struct FnRow {
    const char *name;
    FnKind kind;
    IrTileOp op;
    IrExprOp scalar;
    uint32_t least, most;
    uint32_t dtypes;
} FnRow;

extern const FnRow craft_fns[];
extern const uint32_t craft_fn_count;

const FnRow *craft_fn_find(Str name); /* NULL: none */

#endif
