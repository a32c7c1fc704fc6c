/* The Python subset of model files, as a syntax tree.
 *
 *     text ──py_lex──▶ tokens ──py_parse──▶ Py nodes
 *
 * Everything Python 3 allows in an expression is parsed, and every statement that model files
 * use; what the evaluator does not run (yield, await, match, ...) is refused by name, here or
 * when it is executed. Nesting, file size and node count are limited, so that hostile text
 * ends in a diagnostic. JSON is read by the same parser (true, false, null are names).
 */
#ifndef TORCH_PY_H
#define TORCH_PY_H

#include "base/diag.h"

enum {
    PY_MAX_DEPTH = 180,      /* brackets, blocks, operators inside each other */
    PY_MAX_BYTES = 16 << 20, /* of source text */
    PY_MAX_NODES = 4 << 20
};

typedef enum PyKind {
    /* expressions */
    PY_NAME,
    PY_INT,
    PY_FLOAT,
    PY_COMPLEX, /* f is the imaginary part */
    PY_STRING,
    PY_FSTRING,
    PY_FORMAT,
    PY_TRUE,
    PY_FALSE,
    PY_NONE,
    PY_ELLIPSIS,
    PY_TUPLE,
    PY_LIST,
    PY_SET,
    PY_DICT,
    PY_PAIR,
    PY_LISTCOMP,
    PY_SETCOMP,
    PY_GENEXP,
    PY_DICTCOMP,
    PY_COMPFOR,
    PY_LAMBDA,
    PY_IFEXP,
    PY_AND,
    PY_OR,
    PY_NOT,
    PY_UNARY,
    PY_BINARY,
    PY_COMPARE,
    PY_CALL,
    PY_KEYWORD,
    PY_STAR,
    PY_DSTAR,
    PY_ATTR,
    PY_INDEX,
    PY_SLICE,
    PY_WALRUS,
    /* statements */
    PY_EXPR,
    PY_ASSIGN,
    PY_AUGASSIGN,
    PY_ANNASSIGN,
    PY_RETURN,
    PY_IF,
    PY_FOR,
    PY_WHILE,
    PY_DEF,
    PY_PARAM,
    PY_CLASS,
    PY_IMPORT,
    PY_FROM,
    PY_ALIAS,
    PY_PASS,
    PY_BREAK,
    PY_CONTINUE,
    PY_RAISE,
    PY_ASSERT,
    PY_GLOBAL,
    PY_DEL,
    PY_WITH,
    PY_TRY,
    PY_EXCEPT, /* a: what it catches (NULL: all), text: its name for it, b: the block */
    PY_BLOCK,
    PY_MODULE
} PyKind;

typedef enum PyOp {
    PYOP_NONE,
    PYOP_ADD,
    PYOP_SUB,
    PYOP_MUL,
    PYOP_DIV,
    PYOP_FLOORDIV,
    PYOP_MOD,
    PYOP_POW,
    PYOP_MATMUL,
    PYOP_SHL,
    PYOP_SHR,
    PYOP_AND,
    PYOP_OR,
    PYOP_XOR,
    PYOP_POS,
    PYOP_NEG,
    PYOP_INVERT,
    PYOP_EQ,
    PYOP_NE,
    PYOP_LT,
    PYOP_LE,
    PYOP_GT,
    PYOP_GE,
    PYOP_IS,
    PYOP_ISNOT,
    PYOP_IN,
    PYOP_NOTIN
} PyOp;

typedef struct Py Py;
/* What a, b, c and kids hold:
 *   TUPLE LIST SET  kids: items            DICT     kids: PAIR (a key or NULL for **, b value)
 *   FSTRING kids: STRING or FORMAT (a value, text conversion, b spec FSTRING or NULL)
 *   LISTCOMP SETCOMP GENEXP a item; DICTCOMP a key, b value; kids: COMPFOR (a target, b iterable,
 *           kids: conditions)
 *   LAMBDA  kids: PARAM, a body            IFEXP    a condition, b then, c else
 *   AND OR  a, b        NOT UNARY a        BINARY   a, b       COMPARE a, kids: UNARY(op, a)
 *   CALL    a, kids: expressions, KEYWORD (text, a), STAR a, DSTAR a
 *   ATTR    a, text     INDEX a, b         SLICE    a : b : c  WALRUS text, a
 *   EXPR a  ASSIGN kids: targets, a value  AUGASSIGN op, a, b  ANNASSIGN a, b annotation, c value
 *   IF WHILE a, b BLOCK, c BLOCK or IF     FOR a target, b iterable, kids: BLOCK, else BLOCK
 *   DEF text, kids: PARAM, a BLOCK, b decorators (TUPLE)   CLASS text, kids: arguments, a, b
 *   PARAM text, a default, op 0 plain, PYOP_MUL *args, PYOP_POW **kwargs (text may be empty)
 *   IMPORT FROM (text module) kids: ALIAS (text name, b NAME alias)
 *   RAISE RETURN a      ASSERT a, b        GLOBAL kids: NAME   DEL kids
 *   WITH kids: items (a value, b target as PAIR), a BLOCK
 *   TRY a BLOCK, kids: handler BLOCKs, b else, c finally */
struct Py {
    PyKind kind;
    PyOp op;
    Span at;
    uint32_t id; /* counts the nodes of one file */
    union {
        int64_t i;
        double f;
    };
    Str text;
    Py *a, *b, *c;
    VEC(Py *) kids;
};

/* The whole file; NULL with an error in diag. */
Py *py_parse(Arena *arena, Str source, Diag *diag);
/* Text of our own: every node stands at `at`. */
Py *py_parse_at(Arena *arena, Str source, Span at, Diag *diag);
/* One expression (JSON too) that takes up the whole text. */
Py *py_parse_expression(Arena *arena, Str source, Diag *diag);
const char *py_op_text(PyOp op);

#endif
