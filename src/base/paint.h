/* Text for a terminal: colours, and the source line that a message is about.
 *
 *     paint(&out, colour, PAINT_ERROR);
 *     buf_puts(&out, "error:");
 *     paint(&out, colour, PAINT_NONE);
 *
 * Whether colours are wanted is the caller's to know (src/cmd); without them the text is the same, less
 * the escape sequences.
 */
#ifndef BASE_PAINT_H
#define BASE_PAINT_H

#include "base/diag.h"

typedef enum Paint {
    PAINT_NONE, /* back to the terminal's own colour */
    PAINT_STRONG,
    PAINT_ERROR,
    PAINT_WARNING,
    PAINT_NOTE,
    PAINT_GOOD,
    PAINT_FAINT,
} Paint;

void paint(Buf *out, bool colour, Paint how);
/* Prints as diag_print does, in colour where `colour` is set. */
void diag_show(const Diag *diag, bool colour, Buf *out);
/* The line `at` of a text with its number, and a mark below the columns of `at`; nothing where the text has
 * no such line. A width of 0 marks all of the line but its indentation. */
void source_excerpt(Buf *out, bool colour, Str source, Span at, Paint mark);

#endif
