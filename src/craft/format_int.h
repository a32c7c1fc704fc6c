/* Inside the formatter: the current line, and where its expressions stand in it. */
#ifndef CRAFT_FORMAT_INT_H
#define CRAFT_FORMAT_INT_H

#include "craft/ast.h"

/* Bytes `start` to `end` of the line are what `at` is the place of. A place that goes on beyond its
 * first line is as wide as `from`, its first part, or `width`. */
typedef struct FormatMark {
    Span *at;
    const Span *from;
    uint32_t start, end, width;
} FormatMark;

typedef struct FormatLine {
    Buf text;
    bool placing; /* note the marks: spans are wanted */
    Arena *arena; /* of the marks */
    VEC(FormatMark) marks;
} FormatLine;

void format_clear(FormatLine *line);
void format_expr(FormatLine *line, AstExpr *e);
void format_list(FormatLine *line,
                 AstExpr *e); /* a tuple without its brackets, as in assignments */
/* What was written since `start` is a token at this place. */
void format_token(FormatLine *line, Span *at, size_t start);
/* Length of the token that the text begins with. */
uint32_t format_token_width(Str text);

#endif
