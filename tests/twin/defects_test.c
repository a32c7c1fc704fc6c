/* Ordinary mistakes in sound kernels (tests/twin/defects/list.txt): each is found where it is found today,
 * and the first line of the first finding is where something must be changed, at most three lines off, for a
 * share that is not to fall. The texts of some findings are kept as they are (messages.txt;
 * ACRAFT_BLESS=1 writes them anew). DEFECTS_SHOW=1 prints one line each. */
#include "base/file.h"
#include "tests/twin/visit.h"
#include <stdio.h>

enum { MOST_EDITS = 4, MOST_DEFECTS = 128, NEAR = 3 };

typedef struct Edit {
    Str old, now;
    uint32_t line; /* where it was made */
} Edit;

typedef struct Defect {
    Str name, kernel, launch, after;
    Edit edit[MOST_EDITS];
    uint32_t edits;
} Defect;

typedef struct Defects {
    Arena arena;
    const char *folder;
    Defect at[MOST_DEFECTS];
    uint32_t len;
} Defects;

static Str read_text(Arena *arena, const char *path)
{
    Diag diag = diag_make(arena, path, str_from(""));
    Str text;
    REQUIRE(file_read(arena, path, 1 << 20, &text, &diag));
    return text;
}

static Str rest_of(Str line, size_t from) { return str_slice(line, from, line.len); }

static void read_line(Defects *all, Str line, Str *kernel, bool *open)
{
    Defect *d = all->len ? &all->at[all->len - 1] : NULL;
    if (str_starts(line, "#"))
        return;
    if (line.len == 0) {
        *open = false;
    } else if (str_starts(line, "kernel ")) {
        *kernel = rest_of(line, 7);
    } else if (*open && str_starts(line, "after: ")) {
        d->after = rest_of(line, 7);
    } else if (*open && str_starts(line, "- ")) {
        REQUIRE(d->edits < MOST_EDITS);
        d->edit[d->edits++].old = rest_of(line, 2);
    } else if (*open && str_starts(line, "+ ")) {
        d->edit[d->edits - 1].now = rest_of(line, 2);
    } else {
        REQUIRE(all->len < MOST_DEFECTS && kernel->len);
        size_t space = (size_t)str_find(*kernel, STR(" "));
        all->at[all->len++] = (Defect){.name = line,
                                       .kernel = str_slice(*kernel, 0, space),
                                       .launch = rest_of(*kernel, space + 1)};
        *open = true;
    }
}

static void read_defects(Defects *all, const char *folder, const char *list)
{
    const char *path = str_format(&all->arena, "%s/%s", folder, list);
    Str rest = read_text(&all->arena, path), line, kernel = {0};
    bool open = false;
    all->folder = folder;
    while (rest.len && str_next(&rest, '\n', &line))
        read_line(all, line, &kernel, &open);
}

/* The line of the kernel an edit is made in, counted from 1. */
static uint32_t find_line(Str text, Str part, uint32_t from)
{
    Str line;
    for (uint32_t n = 1; text.len && str_next(&text, '\n', &line); n++)
        if (n >= from && str_find(line, part) >= 0)
            return n;
    return 0;
}

static void edit_line(Buf *out, Str line, const Edit *edit)
{
    size_t at = (size_t)str_find(line, edit->old);
    buf_str(out, str_slice(line, 0, at));
    buf_str(out, edit->now);
    buf_str(out, rest_of(line, at + edit->old.len));
}

static Str edited_text(Arena *arena, Defect *d, Str text)
{
    uint32_t from = d->after.len ? find_line(text, d->after, 1) : 1;
    for (uint32_t i = 0; i < d->edits; i++) {
        d->edit[i].line = find_line(text, d->edit[i].old, from);
        CHECK_MSG(d->edit[i].line, "%.*s: no line reads %.*s", STR_ARG(d->name),
                  STR_ARG(d->edit[i].old));
    }
    Buf out = {0};
    Str line;
    for (uint32_t n = 1; text.len && str_next(&text, '\n', &line); n++) {
        const Edit *edit = NULL;
        for (uint32_t i = 0; i < d->edits; i++)
            edit = d->edit[i].line == n ? &d->edit[i] : edit;
        if (edit)
            edit_line(&out, line, edit);
        else
            buf_str(&out, line);
        buf_char(&out, '\n');
    }
    Str whole = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return whole;
}

static const VerdictFinding *first_finding(const Verdict *v)
{
    for (uint32_t i = 0; i < v->hazards.len; i++)
        if (!v->hazards.at[i].warning)
            return &v->hazards.at[i];
    return NULL;
}

static bool near_cause(const Defect *d, const VerdictFinding *f)
{
    for (uint32_t i = 0; i < d->edits; i++) {
        uint32_t cause = d->edit[i].line;
        if (f->line && f->line + NEAR >= cause && f->line <= cause + NEAR)
            return true;
    }
    return false;
}

static void run_defect(Visit *v, const char *folder, Defect *d, bool sound)
{
    const char *path = str_format(&v->arena, "%s/%.*s.cpp", folder, STR_ARG(d->kernel));
    Str text = read_text(&v->arena, path);
    v->text = sound ? text : edited_text(&v->arena, d, text);
    run_visit(v, str_format(&v->arena, "%.*s.cpp", STR_ARG(d->kernel)), d->launch);
}

typedef struct Count {
    uint32_t found, near;
} Count;

static void count_defect(const char *folder, Defect *d, Count *count)
{
    Visit v = {0};
    run_defect(&v, folder, d, false);
    const VerdictFinding *f = first_finding(&v.verdict);
    bool close = f && near_cause(d, f);
    count->found += f != NULL;
    count->near += close;
    if (getenv("DEFECTS_SHOW"))
        printf("%-4s %.*s: %.*s: cause %u, first line %u %s\n",
               close ? "near"
               : f   ? "far"
                     : "-",
               STR_ARG(d->kernel), STR_ARG(d->name), d->edit[0].line, f ? f->line : 0,
               f ? f->code : v.verdict.reason);
    leave(&v);
}

static void check_sound(const char *folder, Defect *d)
{
    Visit v = {0};
    run_defect(&v, folder, d, true);
    CHECK_MSG(v.verdict.status == VERDICT_OK && !v.verdict.hazards.len, "%.*s: %s",
              STR_ARG(d->kernel), v.verdict.reason);
    leave(&v);
}

/* Kernels themselves are sound. kernel NULL: all of the list. */
static Count count_kernel(Defects *all, const char *kernel)
{
    Count count = {0};
    Str before = {0};
    for (uint32_t i = 0; i < all->len; i++) {
        Defect *d = &all->at[i];
        if (kernel && !str_is(d->kernel, kernel))
            continue;
        if (!str_equal(d->kernel, before))
            check_sound(all->folder, d);
        before = d->kernel;
        count_defect(all->folder, d, &count);
    }
    return count;
}

/* Checks that at least `found` of a kernel's defects are found, and at least `near` of these
 * near their cause. */
static void check_kernel(const char *kernel, uint32_t found, uint32_t near)
{
    static Defects all;
    read_defects(&all, "tests/twin/defects", "list.txt");
    CHECK(all.len >= 80);
    Count count = count_kernel(&all, kernel);
    CHECK_MSG(count.found >= found, "%s: %u found", kernel, count.found);
    CHECK_MSG(count.near >= near, "%s: %u near the cause", kernel, count.near);
    arena_drop(&all.arena);
}

#define DEFECTS(kernel, found, near) \
    T_TEST(defects_in_##kernel) { check_kernel(#kernel, found, near); }

DEFECTS(add_tiles, 15, 15)
DEFECTS(scale_events, 13, 11)
DEFECTS(softmax_rows, 6, 5)
DEFECTS(sum_cores, 7, 7)
DEFECTS(quantise_rows, 8, 8)
DEFECTS(clip_select, 4, 4)
DEFECTS(column_copy, 5, 5)
DEFECTS(gather_rows, 4, 4)
DEFECTS(matmul_tile, 6, 4)
DEFECTS(exchange, 4, 3)
DEFECTS(column_sums, 3, 3)

/* --- lists written apart from the rules --- */

/* Prints the share with DEFECTS_SHOW=1. */
static void check_list(const char *list, uint32_t len, uint32_t found, uint32_t near)
{
    static Defects all;
    read_defects(&all, "tests/twin/lines", list);
    CHECK_EQ_INT(all.len, len);
    Count count = count_kernel(&all, NULL);
    if (getenv("DEFECTS_SHOW"))
        printf("%s: %u mistakes, %u found, first line of %u at most %d lines off\n", list, all.len,
               count.found, count.near, NEAR);
    CHECK_MSG(count.found >= found, "%s: %u found", list, count.found);
    CHECK_MSG(count.near >= near, "%s: %u near the cause", list, count.near);
    arena_drop(&all.arena);
}

T_TEST(lines_of_mistakes_written_before) { check_list("before.txt", 20, 18, 16); }
T_TEST(lines_of_mistakes_written_after) { check_list("after.txt", 20, 18, 9); }

/* --- texts --- */

static Defect *find_defect(Defects *all, Str name)
{
    for (uint32_t i = 0; i < all->len; i++)
        if (str_equal(all->at[i].name, name))
            return &all->at[i];
    return NULL;
}

static void tell_defect(Defect *d, Buf *out)
{
    Visit v = {0};
    run_defect(&v, "tests/twin/defects", d, false);
    buf_printf(out, "== %.*s\n", STR_ARG(d->name));
    verdict_to_text(&v.verdict, out);
    leave(&v);
}

T_TEST(findings_say_what_and_where)
{
    static Defects all;
    static const char path[] = "tests/twin/defects/messages.txt";
    read_defects(&all, "tests/twin/defects", "list.txt");
    Str want = read_text(&all.arena, path), line;
    Buf got = {0};
    for (Str rest = want; rest.len && str_next(&rest, '\n', &line);) {
        Defect *d = str_starts(line, "== ") ? find_defect(&all, rest_of(line, 3)) : NULL;
        CHECK_MSG(d || !str_starts(line, "== "), "no defect %.*s", STR_ARG(line));
        if (d)
            tell_defect(d, &got);
    }
    CHECK(got.len > 0);
    Diag diag = diag_make(&all.arena, path, str_from(""));
    if (getenv("ACRAFT_BLESS"))
        file_write(path, buf_view(&got), &diag);
    else
        CHECK_EQ_STR(got.at, str_dup(&all.arena, want));
    buf_free(&got);
    arena_drop(&all.arena);
}
