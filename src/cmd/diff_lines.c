/* Pairs the source lines of two versions of a kernel. In: the texts, and the cost of each line. Out: a list of
 * lines with both costs, the greatest change first. */
#include "cmd/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 4000 }; /* of a file; what is longer is paired by line number */

typedef VEC(Str) Texts;

static Texts split_lines(Arena *arena, Str text)
{
    Texts lines = {0};
    Str line;
    while (str_next(&text, '\n', &line))
        vec_push(arena, &lines, str_trim(line));
    return lines;
}

/* The candidate's text that a file name of the costs means: names may come with a folder before them. */
static const EvalText *find_text(const EvalCandidate *c, const char *file)
{
    Str base = path_base(file);
    const EvalText *found = NULL;
    for (uint32_t i = 0; i < c->texts.len; i++) {
        const char *path = c->texts.at[i].path;
        if (strcmp(path, file) == 0 || str_ends(str_from(file), path))
            return &c->texts.at[i];
        if (str_equal(path_base(path), base))
            found = &c->texts.at[i];
    }
    return found ? found : c->texts.len == 1 ? &c->texts.at[0] : NULL;
}

/* --- one version ------------------------------------------------------------------------------- */

typedef VEC(DiffSide) Sides;

static bool same_place(const DiffSide *a, const char *file, uint32_t line)
{
    return a->line == line && strcmp(a->file, file) == 0;
}

/* Several launches of one kernel name a line several times: summed. */
static void add_cost(Arena *arena, Sides *sides, DiffSide cost)
{
    for (uint32_t i = 0; i < sides->len; i++)
        if (same_place(&sides->at[i], cost.file, cost.line)) {
            sides->at[i].us += cost.us;
            sides->at[i].instructions += cost.instructions;
            sides->at[i].bytes += cost.bytes;
            return;
        }
    vec_push(arena, sides, cost);
}

static Sides read_costs(Arena *arena, Str text)
{
    Sides sides = {0};
    Str line;
    while (str_next(&text, '\n', &line)) {
        Str field[5] = {0};
        for (int i = 0; i < 5; i++)
            str_next(&line, '\t', &field[i]);
        DiffSide side = {.file = str_dup(arena, field[0]),
                         .line = (uint32_t)strtoul(str_dup(arena, field[1]), NULL, 10),
                         .us = strtod(str_dup(arena, field[2]), NULL),
                         .instructions = strtoull(str_dup(arena, field[3]), NULL, 10),
                         .bytes = strtoull(str_dup(arena, field[4]), NULL, 10)};
        if (side.line)
            add_cost(arena, &sides, side);
    }
    return sides;
}

/* --- pairing ----------------------------------------------------------------------------------- */

/* The longest common subsequence of two files: pair[i] is the line of b that line i of a became, or -1. Equal
 * ends are set aside first, which are nearly everything when little has changed. */
static void pair_lines(Arena *arena, const Texts *a, const Texts *b, int32_t *pair)
{
    uint32_t from = 0, end_a = a->len, end_b = b->len;
    for (uint32_t i = 0; i < a->len; i++)
        pair[i] = -1;
    while (from < end_a && from < end_b && str_equal(a->at[from], b->at[from])) {
        pair[from] = (int32_t)from;
        from++;
    }
    while (end_a > from && end_b > from && str_equal(a->at[end_a - 1], b->at[end_b - 1]))
        pair[--end_a] = (int32_t)--end_b;
    uint32_t n = end_a - from, m = end_b - from;
    if (n == 0 || m == 0 || n > MOST_LINES || m > MOST_LINES)
        return;
    uint16_t *longest = arena_array(arena, uint16_t, (size_t)(n + 1) * (m + 1));
#define AT(i, j) longest[(size_t)(i) * (m + 1) + (j)]
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t j = m; j-- > 0;)
            AT(i, j) = str_equal(a->at[from + i], b->at[from + j])
                           ? (uint16_t)(AT(i + 1, j + 1) + 1)
                       : AT(i + 1, j) > AT(i, j + 1) ? AT(i + 1, j)
                                                     : AT(i, j + 1);
    for (uint32_t i = 0, j = 0; i < n && j < m;) {
        if (str_equal(a->at[from + i], b->at[from + j]))
            pair[from + i++] = (int32_t)(from + j++);
        else if (AT(i + 1, j) >= AT(i, j + 1))
            i++;
        else
            j++;
    }
#undef AT
}

/* --- both versions ----------------------------------------------------------------------------- */

typedef struct Pairing {
    Arena *arena;
    const EvalCandidate *versions;
    Sides sides[2];
    bool *taken; /* of the second version's lines */
} Pairing;

/* The first version's files in order of appearance stand against the second's with the same base name, else
 * against its file at the same place. */
static const EvalText *partner(const Pairing *p, const EvalText *mine)
{
    const EvalCandidate *other = &p->versions[1];
    for (uint32_t i = 0; i < other->texts.len; i++)
        if (str_equal(path_base(other->texts.at[i].path), path_base(mine->path)))
            return &other->texts.at[i];
    size_t at = (size_t)(mine - p->versions[0].texts.at);
    return at < other->texts.len ? &other->texts.at[at] : NULL;
}

static const DiffSide *take_at(Pairing *p, const EvalText *text, uint32_t line)
{
    for (uint32_t i = 0; i < p->sides[1].len; i++) {
        const DiffSide *side = &p->sides[1].at[i];
        if (!p->taken[i] && side->line == line && find_text(&p->versions[1], side->file) == text) {
            p->taken[i] = true;
            return side;
        }
    }
    return NULL;
}

static Str text_at(const EvalText *text, const Texts *lines, uint32_t line)
{
    return text && line >= 1 && line <= lines->len ? lines->at[line - 1] : (Str){0};
}

/* All lines of the first version that lie in `mine`, each with what became of it. */
static void pair_file(Pairing *p, const EvalText *mine, DiffLines *out)
{
    const EvalText *other = mine ? partner(p, mine) : NULL;
    Texts a = mine ? split_lines(p->arena, mine->text) : (Texts){0};
    Texts b = other ? split_lines(p->arena, other->text) : (Texts){0};
    int32_t *pair = arena_array(p->arena, int32_t, a.len + 1);
    pair_lines(p->arena, &a, &b, pair);
    for (uint32_t i = 0; i < p->sides[0].len; i++) {
        const DiffSide *side = &p->sides[0].at[i];
        if (find_text(&p->versions[0], side->file) != mine)
            continue;
        DiffLine line = {.side = {*side}, .text = text_at(mine, &a, side->line)};
        int32_t to = side->line <= a.len ? pair[side->line - 1] : -1;
        const DiffSide *now = to >= 0 ? take_at(p, other, (uint32_t)to + 1) : NULL;
        if (now)
            line.side[1] = *now;
        else if (to >= 0)
            line.side[1] = (DiffSide){.file = other->path, .line = (uint32_t)to + 1};
        vec_push(p->arena, out, line);
    }
}

static void add_new(Pairing *p, DiffLines *out)
{
    for (uint32_t i = 0; i < p->sides[1].len; i++) {
        const DiffSide *side = &p->sides[1].at[i];
        if (p->taken[i])
            continue;
        const EvalText *text = find_text(&p->versions[1], side->file);
        Texts lines = text ? split_lines(p->arena, text->text) : (Texts){0};
        DiffLine line = {.side = {{0}, *side}, .text = text_at(text, &lines, side->line)};
        vec_push(p->arena, out, line);
    }
}

static int by_change(const void *left, const void *right)
{
    const DiffLine *a = left, *b = right;
    double x = fabs(a->side[1].us - a->side[0].us), y = fabs(b->side[1].us - b->side[0].us);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->side[0].line != b->side[0].line)
        return a->side[0].line < b->side[0].line ? -1 : 1;
    return a->side[1].line < b->side[1].line ? -1 : a->side[1].line > b->side[1].line;
}

void diff_lines(Arena *arena, const EvalCandidate versions[2], const Str costs[2], DiffLines *out)
{
    Pairing p = {.arena = arena, .versions = versions};
    for (int i = 0; i < 2; i++)
        p.sides[i] = read_costs(arena, costs[i]);
    p.taken = arena_array(arena, bool, p.sides[1].len + 1);
    for (uint32_t i = 0; i < versions[0].texts.len; i++)
        pair_file(&p, &versions[0].texts.at[i], out);
    pair_file(&p, NULL, out);
    add_new(&p, out);
    if (out->len)
        qsort(out->at, out->len, sizeof *out->at, by_change);
}

/* --- findings ---------------------------------------------------------------------------------- */

static Str finding_text(const EvalCandidate *c, const VerdictFinding *f)
{
    const EvalText *text = find_text(c, f->file);
    Str line = {0}, rest = text ? text->text : (Str){0};
    for (uint32_t n = 0; n < f->line && str_next(&rest, '\n', &line); n++)
        continue;
    return str_trim(line);
}

bool diff_has_finding(const EvalCandidate versions[2], int other, const Verdict *in,
                      const VerdictFinding *finding)
{
    Str text = finding_text(&versions[!other], finding);
    for (uint32_t i = 0; i < in->hazards.len; i++) {
        const VerdictFinding *f = &in->hazards.at[i];
        if (strcmp(f->code, finding->code) == 0 &&
            str_equal(finding_text(&versions[other], f), text))
            return true;
    }
    return false;
}
