/* Colours of a terminal, as ECMA-48 sequences that every one of them knows. */
#include "base/paint.h"

static const char *const sequence[] = {
    [PAINT_NONE] = "\033[0m",       [PAINT_STRONG] = "\033[1m",  [PAINT_ERROR] = "\033[1;31m",
    [PAINT_WARNING] = "\033[1;35m", [PAINT_NOTE] = "\033[1;36m", [PAINT_GOOD] = "\033[1;32m",
    [PAINT_FAINT] = "\033[2m",
};

void paint(Buf *out, bool colour, Paint how)
{
    if (colour)
        buf_puts(out, sequence[how]);
}
