/* The syntax tree of a Craft file: what the parser and the builder (tree.h) make, what the checker
 * reads and the formatter prints.
 *
 *     CraftFile -> AstStmt list -> AstExpr
 *
 * Every node keeps the place it came from: in the text that was read, or in the canonical spelling
 * of a tree that was built. Comments belong to statements. */
#ifndef CRAFT_AST_H
#define CRAFT_AST_H

#include "base/diag.h"

typedef enum Tok {
#define TOK(name, ...) TOK_##name,
#include "craft/tok.def"
#undef TOK
    TOK_COUNT
} Tok;

typedef struct Token {
    Tok kind;
    Span at;
    Str text;   /* as written */
    int64_t i;  /* INT */
    double f;   /* FLOAT */
    Str string; /* STRING: its value */
} Token;

typedef VEC(Token) TokenList;

/* A comment as the lexer finds it; comment.c attaches it to a statement. */
typedef struct Comment {
    uint32_t line, col;
    bool own_line; /* nothing but blanks before it */
    Str text;      /* with its # */
} Comment;

enum {
    CRAFT_MAX_BYTES = 1 << 20,
    CRAFT_MAX_DEPTH = 100,   /* nested brackets and operands */
    CRAFT_MAX_BLOCKS = 40,   /* nested blocks, also after inlining */
    CRAFT_MAX_VARIANTS = 64, /* combinations of dtype variables */
};

typedef enum ExprKind {
    EX_NAME,   /* text */
    EX_INT,    /* i */
    EX_FLOAT,  /* f */
    EX_STRING, /* string */
    EX_BOOL,   /* i */
    EX_UNARY,  /* op a */
    EX_BINARY, /* a op b: arithmetic, comparison, and, or */
    EX_COND,   /* a if b else c */
    EX_CALL,   /* a(items..., keywords...) */
    EX_INDEX,  /* a[items...] */
    EX_ATTR,   /* a.text */
    EX_SLICE,  /* [a]:[b], only inside EX_INDEX */
    EX_LIST,   /* [items...] */
    EX_TUPLE,  /* items... */
} ExprKind;

typedef struct AstExpr AstExpr;
typedef VEC(AstExpr *) ExprList;

typedef struct AstKeyword {
    Str name;
    Span at;
    AstExpr *value;
} AstKeyword;

struct AstExpr {
    ExprKind kind;
    Tok op;
    Span at;
    uint32_t depth; /* of the tree below it */
    Str text;       /* NAME, ATTR; numbers and strings as written */
    Str string;
    int64_t i;
    double f;
    AstExpr *a, *b, *c;
    ExprList items;
    VEC(AstKeyword) keywords;
};

typedef enum StmtKind {
    ST_ASSIGN, /* target = value; op: TOK_ASSIGN or an augmented one */
    ST_EXPR,   /* value */
    ST_FOR,    /* target in value: body */
    ST_IF,     /* value: body, orelse */
    ST_WITH,   /* value: body */
    ST_ASSERT, /* value, text */
    ST_RETURN, /* [value] */
    ST_PASS,
    ST_DEF, /* def */
} StmtKind;

/* A comment on a line of its own. */
typedef struct AstComment {
    Str text;   /* with its # */
    bool blank; /* a blank line stands before it */
} AstComment;
typedef VEC(AstComment) CommentList;

typedef struct AstStmt AstStmt;
/* A VEC of statements, and the comments at the end of the block. */
typedef struct StmtList {
    AstStmt **at;
    uint32_t len, cap;
    CommentList after;
} StmtList;

typedef struct AstParam {
    Str name;
    Span at;
    AstExpr *type;  /* NULL: none */
    AstExpr *value; /* default; NULL: none */
} AstParam;

typedef struct AstDef {
    Str name;
    Span name_at;
    VEC(AstExpr *) decorators;
    VEC(AstParam) params;
    StmtList body;
} AstDef;

struct AstStmt {
    StmtKind kind;
    Tok op;
    Span at;
    uint32_t last_line; /* of its header: where a trailing comment stands */
    uint32_t end_line;  /* of all of it, blocks included; for the parser */
    bool is_elif;
    AstExpr *target, *value, *text;
    StmtList body, orelse;
    uint32_t else_line; /* IF: where else stands; 0: none, or elif */
    AstDef *def;
    CommentList above; /* comments between the statement before and this one */
    bool blank;        /* a blank line stands before the statement, below these comments */
    Str trailing;      /* the comment on the last line of its header, with its #; empty: none */
    CommentList else_above;
    Str else_trailing;
};

struct CraftFile {
    Arena *arena;
    const char *name;
    Str text;
    StmtList stmts;
    VEC(Comment) comments; /* of the text, in order; those of the tree stand in its statements */
    bool broken;           /* it has syntax errors: may be looked at, not compiled */
};

typedef struct CraftFile CraftFile;

extern const char *const craft_tok_names[TOK_COUNT];

#endif
