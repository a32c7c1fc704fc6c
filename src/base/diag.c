/* Diagnostics: collecting them, and printing them as text and as JSON. */
#include "base/diag.h"

#include "base/paint.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_ITEMS = 200, LONG_LINE = 200, WINDOW = 160, WINDOW_BEFORE = 80 };

static const char *const level_name[] = {"error", "warning", "note"};
static const Paint level_paint[] = {PAINT_ERROR, PAINT_WARNING, PAINT_NOTE};

Diag diag_make(Arena *arena, const char *file, Str source)
{
    return (Diag){.arena = arena, .file = file, .source = source};
}

static void add_item(Diag *diag, DiagLevel level, const char *code, Span at, const char *format,
                     va_list args)
{
    diag->errors += level == DIAG_ERROR;
    diag->warnings += level == DIAG_WARNING;
    uint32_t most = diag->max_items ? diag->max_items : DEFAULT_MAX_ITEMS;
    diag->last_dropped = diag->items.len >= most;
    diag->dropped += diag->last_dropped;
    if (diag->last_dropped)
        return;
    DiagItem item = {.level = level, .code = code, .at = at};
    item.file = diag->file;
    item.source = diag->source;
    item.text = str_vformat(diag->arena, format, args);
    vec_push(diag->arena, &diag->items, item);
}

void diag_error(Diag *diag, const char *code, Span at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_item(diag, DIAG_ERROR, code, at, format, args);
    va_end(args);
}

void diag_warn(Diag *diag, const char *code, Span at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_item(diag, DIAG_WARNING, code, at, format, args);
    va_end(args);
}

void diag_note(Diag *diag, const char *code, Span at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_item(diag, DIAG_NOTE, code, at, format, args);
    va_end(args);
}

void diag_hint(Diag *diag, const char *format, ...)
{
    if (diag->last_dropped || diag->items.len == 0)
        return;
    va_list args;
    va_start(args, format);
    vec_last(&diag->items).hint = str_vformat(diag->arena, format, args);
    va_end(args);
}

bool diag_ok(const Diag *diag) { return diag->errors == 0; }

/* --- order ----------------------------------------------------------------------------- */

/* An error or warning with the notes after it; `file` counts files in order of appearance. */
typedef struct Group {
    uint32_t first, count, file;
    Span at;
} Group;

static bool same_file(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static uint32_t file_rank(const Diag *diag, const char *file)
{
    uint32_t i = 0;
    while (!same_file(diag->items.at[i].file, file))
        i++;
    return i;
}

static int compare_u32(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

static int compare_groups(const void *left, const void *right)
{
    const Group *a = left, *b = right;
    int order = compare_u32(a->file, b->file);
    if (!order)
        order = compare_u32(a->at.line, b->at.line);
    if (!order)
        order = compare_u32(a->at.col, b->at.col);
    return order ? order : compare_u32(a->first, b->first);
}

/* Heap memory, to be freed by the caller. */
static Group *sorted_groups(const Diag *diag, uint32_t *count)
{
    Group *groups = heap_alloc(diag->items.len * sizeof *groups);
    *count = 0;
    for (uint32_t i = 0; i < diag->items.len; i++) {
        const DiagItem *item = &diag->items.at[i];
        if (item->level == DIAG_NOTE && *count)
            groups[*count - 1].count++;
        else
            groups[(*count)++] = (Group){i, 1, file_rank(diag, item->file), item->at};
    }
    qsort(groups, *count, sizeof *groups, compare_groups);
    return groups;
}

/* --- text ------------------------------------------------------------------------------ */

static bool source_line(Str source, uint32_t number, Str *line)
{
    for (uint32_t n = 1; str_next(&source, '\n', line); n++)
        if (n == number)
            return true;
    return false;
}

static bool is_continuation(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* Cuts a very long line down to what stands around `col`, which becomes relative to that. */
static Str cut_window(Str line, size_t *col, bool *before, bool *after)
{
    *before = *after = false;
    if (line.len <= LONG_LINE)
        return line;
    size_t from = *col > WINDOW_BEFORE ? *col - WINDOW_BEFORE : 0;
    if (from > line.len)
        from = line.len;
    while (from > 0 && from < line.len && is_continuation(line.at[from]))
        from--;
    size_t to = from + WINDOW < line.len ? from + WINDOW : line.len;
    while (to < line.len && is_continuation(line.at[to]))
        to++;
    *before = from > 0;
    *after = to < line.len;
    *col -= from < *col ? from : *col - 1;
    return str_slice(line, from, to);
}

static void print_source(Buf *out, Str line)
{
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.at[i];
        buf_char(out, (c < 0x20 && c != '\t') || c == 0x7F ? '?' : line.at[i]);
    }
}

/* Tabs stay tabs and a character of several bytes is one column, so that the caret lands. */
static void print_caret(Buf *out, Str line, size_t col, size_t width)
{
    size_t at = 0;
    for (; at + 1 < col && at < line.len; at++)
        if (!is_continuation(line.at[at]))
            buf_char(out, line.at[at] == '\t' ? '\t' : ' ');
    buf_char(out, '^');
    for (size_t i = at + 1; i < line.len && i < at + width; i++)
        if (!is_continuation(line.at[i]))
            buf_char(out, '~');
}

/* A place of width 0 is the whole line but its indentation. */
static Span whole_line(Str line, Span at)
{
    uint32_t first = 0, len = (uint32_t)line.len;
    if (at.width || at.col)
        return at;
    while (first < len && (line.at[first] == ' ' || line.at[first] == '\t'))
        first++;
    return (Span){at.line, first + 1, len - first};
}

void source_excerpt(Buf *out, bool colour, Str source, Span at, Paint mark)
{
    Str line;
    if (at.line == 0 || !source_line(source, at.line, &line))
        return;
    if (str_ends(line, "\r"))
        line.len--;
    at = whole_line(line, at);
    size_t col = at.col ? at.col : 1;
    bool before, after;
    line = cut_window(line, &col, &before, &after);
    paint(out, colour, PAINT_FAINT);
    buf_printf(out, "%5u |", at.line);
    paint(out, colour, PAINT_NONE);
    buf_printf(out, " %s", before ? "..." : "");
    print_source(out, line);
    buf_puts(out, after ? "...\n" : "\n");
    paint(out, colour, PAINT_FAINT);
    buf_puts(out, "      |");
    paint(out, colour, PAINT_NONE);
    buf_printf(out, " %s", before ? "   " : "");
    paint(out, colour, mark);
    print_caret(out, line, col, at.width);
    paint(out, colour, PAINT_NONE);
    buf_char(out, '\n');
}

static void print_item(Buf *out, bool colour, const DiagItem *item)
{
    Span at = item->at;
    paint(out, colour, PAINT_STRONG);
    if (item->file)
        buf_printf(out, "%s:", item->file);
    if (item->file && at.line)
        buf_printf(out, "%u:%u:", at.line, at.col);
    buf_puts(out, item->file ? " " : "");
    paint(out, colour, level_paint[item->level]);
    buf_printf(out, "%s:", level_name[item->level]);
    paint(out, colour, PAINT_NONE);
    buf_printf(out, " %s", item->text);
    if (item->code)
        buf_printf(out, " [%s]", item->code);
    buf_char(out, '\n');
    at.col = at.col ? at.col : 1;
    source_excerpt(out, colour, item->source, at, level_paint[item->level]);
    if (item->hint) {
        paint(out, colour, PAINT_GOOD);
        buf_puts(out, "hint:");
        paint(out, colour, PAINT_NONE);
        buf_printf(out, " %s\n", item->hint);
    }
}

void diag_show(const Diag *diag, bool colour, Buf *out)
{
    uint32_t count;
    Group *groups = sorted_groups(diag, &count);
    for (uint32_t g = 0; g < count; g++)
        for (uint32_t i = 0; i < groups[g].count; i++)
            print_item(out, colour, &diag->items.at[groups[g].first + i]);
    if (diag->dropped)
        buf_printf(out, "%u more not shown\n", diag->dropped);
    heap_free(groups);
}

void diag_print(const Diag *diag, Buf *out) { diag_show(diag, false, out); }

/* --- JSON ------------------------------------------------------------------------------ */

static void json_field(Buf *out, const char *name, const char *value)
{
    buf_printf(out, "\"%s\": ", name);
    if (value)
        buf_json_str(out, str_from(value));
    else
        buf_puts(out, "null");
}

static void json_item(Buf *out, const DiagItem *item)
{
    buf_char(out, '{');
    json_field(out, "level", level_name[item->level]);
    buf_puts(out, ", ");
    json_field(out, "code", item->code);
    buf_puts(out, ", ");
    json_field(out, "file", item->file);
    buf_printf(out, ", \"line\": %u, \"col\": %u, ", item->at.line, item->at.col);
    json_field(out, "text", item->text);
    buf_puts(out, ", ");
    json_field(out, "hint", item->hint);
    buf_char(out, '}');
}

void diag_json(const Diag *diag, Buf *out)
{
    uint32_t count, printed = 0;
    Group *groups = sorted_groups(diag, &count);
    buf_char(out, '[');
    for (uint32_t g = 0; g < count; g++)
        for (uint32_t i = 0; i < groups[g].count; i++) {
            if (printed++)
                buf_puts(out, ", ");
            json_item(out, &diag->items.at[groups[g].first + i]);
        }
    buf_char(out, ']');
    heap_free(groups);
}

void panic(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("acraft: bug: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}
