/* What the two halves of the parser share: the token cursor and how errors are reported. */
#ifndef CRAFT_PARSE_INT_H
#define CRAFT_PARSE_INT_H

#include "craft/ast.h"
#include "craft/report.h"

typedef struct Parser {
    Arena *arena;
    Diag *diag;
    CraftFile *file;
    TokenList tokens;
    uint32_t pos;
    uint32_t depth;
    bool failed; /* the statement being read has an error: skip the rest of its line */
} Parser;

const Token *parse_peek(const Parser *ps);
bool parse_at(const Parser *ps, Tok kind);
bool parse_accept(Parser *ps, Tok kind);
/* Says what was expected where it is not there. */
bool parse_expect(Parser *ps, Tok kind, const char *where);
void parse_error(Parser *ps, CraftCodeId id, Span at, const char *hint, const char *format, ...)
    ATTR_PRINTF(5, 6);
/* Counts nesting; false, with a diagnostic, when too deep. Whoever got true calls parse_leave. */
bool parse_enter(Parser *ps);
void parse_leave(Parser *ps);
/* From the first token of `from` to the last token read. */
Span parse_span(const Parser *ps, Span from);

AstExpr *parse_expr(Parser *ps);      /* test */
AstExpr *parse_expr_list(Parser *ps); /* testlist: a tuple when it has commas */
AstExpr *parse_targets(Parser *ps);   /* targets of `for` */

/* Attaches the comments of the text to the statements they stand at (comment.c). */
void craft_attach_comments(CraftFile *file);

#endif
