/* Inside the reader of the text form: tokens, the reader's state, what its files share. */
#ifndef IR_PARSE_INT_H
#define IR_PARSE_INT_H

#include "base/map.h"
#include "ir/ir_int.h"

typedef enum IrTokenKind {
    IR_TOK_END,
    IR_TOK_LINE,
    IR_TOK_NAME,
    IR_TOK_NUMBER,
    IR_TOK_TEXT,
    IR_TOK_SIGN
} IrTokenKind;

typedef struct IrToken {
    IrTokenKind kind;
    Str text;
    Span at;
} IrToken;

typedef VEC(IrToken) IrTokens;

/* A launch names a kernel that comes later in the text. */
typedef struct IrPending {
    IrStmtId launch;
    IrToken name;
} IrPending;

/* A loop's range, known before the loop is read. */
typedef struct IrTiled {
    Str name;
    uint32_t nth;
} IrTiled;

typedef struct IrReader {
    IrProgram *p;
    Arena *arena, scratch;
    Diag *diag;
    IrTokens tokens;
    uint32_t next, depth;
    uint32_t kernel;      /* UINT32_MAX: in the host */
    Map vars;             /* "name'2" -> variable */
    VEC(uint32_t) nth;    /* per variable: 1 for the first of its name */
    VEC(uint32_t) sequel; /* per variable: the one whose line stands before its own */
    VEC(IrPending) pending;
    VEC(IrTiled) tiled;
    VEC(IrVarId) params; /* scalar parameters of kernels, in order of their lines */
    uint32_t params_read;
    bool bad;
} IrReader;

bool ir_lex(Arena *arena, Str text, IrTokens *tokens, Diag *diag);

const IrToken *read_peek(const IrReader *r, uint32_t ahead);
bool read_fail(IrReader *r, const char *what); /* one error I002 at the next token; false */
bool read_is(const IrReader *r, const char *text);
bool read_take(IrReader *r, const char *text); /* takes it if it is next */
bool read_want(IrReader *r, const char *text);
bool read_name(IrReader *r, Str *name);
bool read_int(IrReader *r, int64_t *value);
bool read_line_end(IrReader *r);
/* Which of `count` names comes next; takes it. */
bool read_word(IrReader *r, const char *const *words, uint32_t count, uint32_t *index);
bool read_dtype(IrReader *r, DType *dtype);

/* name['k] that is new / that is known */
IrVarId read_new_var(IrReader *r, IrVarKind kind, DType type, const char *suffix);
bool read_var(IrReader *r, IrVarId *var);
IrVarId ir_define(IrReader *r, IrVarKind kind, DType type, Str base, uint32_t nth,
                  const char *suffix);
bool read_nth(IrReader *r, uint32_t *nth);

bool read_expr(IrReader *r, IrExprId *e);
bool find_tensor(const IrReader *r, Str name, uint32_t *tensor);
bool find_buffer(const IrReader *r, Str name, uint32_t *buffer);
bool read_block(IrReader *r, IrBlock *block); /* up to `end` or `else`, which stays */

#endif
