/* Inside the C target. */
#ifndef EMIT_C_INT_H
#define EMIT_C_INT_H

#include "emit/emit_c.h"

typedef struct CWriter {
    const IrProgram *p;
    Buf *out;
    const IrKernel *k; /* NULL: in the host */
    uint32_t kernel;
    bool idle; /* statements of the other vector core's turn: scalars and channels alone */
    Arena *scratch;
    int depth;
} CWriter;

void c_line(CWriter *w, const char *format, ...) ATTR_PRINTF(2, 3); /* indented, with newline */
void c_expr(CWriter *w, IrExprId id);
/* The expression as text, in the writer's arena. */
const char *c_text(CWriter *w, IrExprId e);
const char *c_bare(CWriter *w, IrExprId e); /* without outer brackets */
const char *c_var(CWriter *w, IrVarId var); /* "tile_7" */
void c_string(Buf *out, const char *text);  /* a C string literal */

void c_kernel(CWriter *w, uint32_t index);
void c_block(CWriter *w, const IrBlock *block);
void c_op(CWriter *w, const IrStmt *s);
/* const Tile NAME = view(...); */
void c_view(CWriter *w, const char *name, const IrView *v);
bool c_is_wide(DType d);                                /* computed as int64 */
bool c_waits(const IrProgram *p, const IrBlock *block); /* has a sync_all */

/* The helpers that `body` uses, and those they use, in order. */
void c_prelude(Buf *out, const Buf *body);

#endif
