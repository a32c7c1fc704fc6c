/* The writer of text targets. In: lines. Out: indented text, and which Craft line each came from. */
#include "emit/ascendc_int.h"

static void indent(Pen *pen) { buf_fill(pen->out, ' ', (size_t)pen->depth * 4); }

static void end_line(Pen *pen)
{
    buf_char(pen->out, '\n');
    pen->line++;
}

void pen_line(Pen *pen, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    indent(pen);
    buf_vprintf(pen->out, format, args);
    va_end(args);
    end_line(pen);
}

void pen_blank(Pen *pen) { end_line(pen); }

void pen_open(Pen *pen, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    indent(pen);
    buf_vprintf(pen->out, format, args);
    va_end(args);
    buf_puts(pen->out, " {");
    end_line(pen);
    pen->depth++;
}

void pen_close(Pen *pen, const char *after)
{
    pen->depth--;
    pen_line(pen, "}%s", after);
}

LineAt pen_at(const Pen *pen)
{
    if (pen->marks.len)
        return (LineAt){.line = vec_last(&pen->marks).craft};
    return (LineAt){.line = pen->line + 1, .text = true};
}

void pen_mark(Pen *pen, Span at)
{
    if (at.line)
        vec_push(pen->arena, &pen->marks, ((LineMark){pen->line + 1, at.line}));
}
