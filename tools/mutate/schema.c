/* One text that holds all mutants of a kernel. In: the text and its mutations. Out: a text in which an
 * edited piece reads
 *
 *     (acraft_mutant[1] == 7 ? (void)0 : (void)(SetFlag<HardEvent::V_MTE3>(id)))
 *     DataCopy(z, x[(acraft_mutant[1] == 9 ? ((at) + 16) : (at))], n)
 *
 * and in the compiled program the place of that number, so that a mutant costs a run and no compilation.
 * Lines keep their numbers. */
#include "tools/mutate/mutate.h"

#include "base/file.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Place {
    MutationEdit edit;
    uint32_t number;
} Place;

typedef struct Writer {
    Str text;
    const Place *at;
    uint32_t len;
    Buf out;
} Writer;

/* Outer pieces before those inside them. */
static int by_place(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    if (x->edit.from != y->edit.from)
        return x->edit.from < y->edit.from ? -1 : 1;
    if (x->edit.to != y->edit.to)
        return x->edit.to > y->edit.to ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void ask(Writer *w, const Place *p)
{
    const char *with = p->edit.statement && !p->edit.with[0] ? "0" : p->edit.with;
    buf_printf(&w->out, "(acraft_mutant[1] == %uu ? %s(", p->number,
               p->edit.statement ? "(void)" : "");
    for (; *with; with++)
        buf_char(&w->out, *with == '\n' ? ' ' : *with);
    buf_puts(&w->out, ") : ");
}

/* Writes [from, to) with the places from `next` on; returns the first one behind it. */
static uint32_t write_range(Writer *w, size_t from, size_t to, uint32_t next)
{
    while (next < w->len && w->at[next].edit.from < to) {
        const Place *first = &w->at[next];
        size_t start = first->edit.from, end = first->edit.to;
        uint32_t asked = 0;
        buf_str(&w->out, str_slice(w->text, from, start));
        for (; next < w->len && w->at[next].edit.from == start && w->at[next].edit.to == end;
             next++)
            ask(w, &w->at[next]), asked++;
        buf_puts(&w->out, first->edit.statement ? "(void)(" : "(");
        next = write_range(w, start, end, next);
        for (uint32_t i = 0; i <= asked; i++)
            buf_char(&w->out, ')');
        from = end;
    }
    buf_str(&w->out, str_slice(w->text, from, to));
    return next;
}

/* A piece that begins inside the one before it and ends behind it cannot be written. */
static bool crosses(const Place *outer, const Place *inner)
{
    return inner->edit.from < outer->edit.to && inner->edit.to > outer->edit.to;
}

static uint32_t places_of(Arena *arena, const Mutations *all, Schema *schema, Place **out)
{
    uint32_t n = 0;
    *out = arena_array(arena, Place, all->len * MUTATE_EDITS + 1);
    for (uint32_t i = 0; i < all->len; i++)
        for (uint32_t e = 0; e < all->at[i].edit_count && !schema->left_out[i]; e++)
            (*out)[n++] = (Place){all->at[i].edits[e], i + 1};
    qsort(*out, n, sizeof **out, by_place);
    for (uint32_t i = 1; i < n; i++)
        if (crosses(&(*out)[i - 1], &(*out)[i])) {
            schema->left_out[(*out)[i].number - 1] = true;
            return places_of(arena, all, schema, out);
        }
    return n;
}

void schema_write(Arena *arena, Str text, const Mutations *all, Schema *schema)
{
    Place *places;
    if (!schema->left_out)
        schema->left_out = arena_array(arena, bool, all->len + 1);
    uint32_t n = places_of(arena, all, schema, &places);
    Writer w = {.text = text, .at = places, .len = n};
    buf_printf(&w.out,
               "__attribute__((used)) static const volatile unsigned long acraft_mutant[2] = "
               "{0x%" PRIx64 "ul, 0};\n#line 1\n",
               schema->mark);
    write_range(&w, 0, text.len, 0);
    schema->text = str_copy(arena, buf_view(&w.out));
    buf_free(&w.out);
}

static uint32_t line_at(Str text, size_t at)
{
    uint32_t line = 1;
    for (size_t i = 0; i < at && i < text.len; i++)
        line += text.at[i] == '\n';
    return line;
}

bool schema_leave_out(Str text, const Mutations *all, uint32_t line, Schema *schema)
{
    bool any = false;
    for (uint32_t i = 0; i < all->len; i++)
        for (uint32_t e = 0; e < all->at[i].edit_count && !schema->left_out[i]; e++) {
            const MutationEdit *edit = &all->at[i].edits[e];
            if (edit->statement || line < line_at(text, edit->from) ||
                line > line_at(text, edit->to))
                continue;
            schema->left_out[i] = any = true;
        }
    return any;
}

/* --- in the compiled program --- */

static ptrdiff_t find_mark(Str program, uint64_t mark)
{
    return str_find(program, (Str){(const char *)&mark, sizeof mark});
}

static bool changed_since(const char *path, time_t when)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_mtime >= when;
}

bool schema_find(Arena *arena, const char *dir, Schema *schema)
{
    NameList names = {0};
    Diag diag = diag_make(arena, dir, (Str){0});
    Arena scratch = {0};
    schema->programs.len = 0;
    if (!file_list(arena, dir, &names, &diag))
        return false;
    for (uint32_t i = 0; i < names.len; i++) {
        Str program;
        const char *path = path_join(arena, dir, names.at[i]);
        if (str_ends(str_from(path), ".exe") && changed_since(path, schema->begun) &&
            file_read(&scratch, path, 1 << 28, &program, &diag) &&
            find_mark(program, schema->mark) >= 0)
            vec_push(arena, &schema->programs, path);
        arena_drop(&scratch);
    }
    return schema->programs.len > 0;
}

static bool write_number(const char *path, uint64_t mark, uint64_t number)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, (Str){0});
    Str program;
    bool ok = file_read(&arena, path, 1 << 28, &program, &diag);
    ptrdiff_t at = ok ? find_mark(program, mark) : -1;
    int fd = at < 0 ? -1 : open(path, O_WRONLY | O_CLOEXEC);
    ok = fd >= 0 &&
         pwrite(fd, &number, sizeof number, at + (ptrdiff_t)sizeof mark) == (ssize_t)sizeof number;
    if (fd >= 0)
        close(fd);
    arena_drop(&arena);
    return ok;
}

bool schema_number(const Schema *schema, uint64_t number)
{
    bool ok = schema->programs.len > 0;
    for (uint32_t i = 0; ok && i < schema->programs.len; i++)
        ok = write_number(schema->programs.at[i], schema->mark, number);
    return ok;
}
