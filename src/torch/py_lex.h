/* Tokens of the Python subset, made one at a time; py_parse.c is the only user. */
#ifndef TORCH_PY_LEX_H
#define TORCH_PY_LEX_H

#include "torch/py.h"

typedef enum TokenKind {
    TOK_END,
    TOK_NEWLINE,
    TOK_INDENT,
    TOK_DEDENT,
    TOK_NAME,
    TOK_INT,
    TOK_FLOAT,
    TOK_COMPLEX, /* 2j: its imaginary part */
    TOK_STRING,
    TOK_OP,
    TOK_ERROR
} TokenKind;

enum { PY_MAX_INDENT = 100 };

typedef struct Token {
    TokenKind kind;
    Span at;
    Str text;                   /* NAME, OP; STRING: the raw text between the quotes */
    bool raw, formatted, bytes; /* STRING prefixes */
    int64_t i;
    double f;
} Token;

typedef struct PyLexer {
    Arena *arena;
    Diag *diag;
    Str source;
    size_t at, line_start;
    uint32_t line;
    uint32_t brackets;         /* open ones: line ends do not count inside */
    Span opened[PY_MAX_DEPTH]; /* where each of them stands */
    uint32_t depth;            /* of the indent stack */
    uint32_t indents[PY_MAX_INDENT];
    uint32_t narrow[PY_MAX_INDENT]; /* the same with tabs of one column: Python compares both */
    uint32_t dedents;               /* still to be given out */
    bool line_begins;
} PyLexer;

PyLexer py_lexer(Arena *arena, Str source, Diag *diag);
/* TOK_ERROR once a diagnostic was written; from then on always. */
Token py_next(PyLexer *lx);
/* The characters a string token stands for, escapes resolved unless raw. */
Str py_string_value(Arena *arena, Str inside, bool raw);

#endif
