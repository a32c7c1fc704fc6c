/* Exemplars: read from a folder, compared with an answer, chosen for a task. */
#include "gen/prompt/exemplar.h"

#include "base/file.h"
#include "base/hash.h"
#include <ctype.h>
#include <string.h>

/* ---- reading ---- */

/* The rest of the line that begins "NAME:" in the opening text; "": none. */
static const char *head_field(Arena *arena, Str text, const char *name)
{
    Str rest = str_slice(text, 0, 1000), line;
    while (str_next(&rest, '\n', &line)) {
        line = str_trim(line);
        if (str_starts(line, name))
            return str_dup(arena, str_trim(str_slice(line, strlen(name), line.len)));
    }
    return "";
}

bool exemplars_read(Arena *arena, const char *dir, Exemplars *all, Diag *diag)
{
    NameList names = {0};
    if (!file_list(arena, dir, &names, diag))
        return false;
    for (uint32_t i = 0; i < names.len; i++) {
        Str name = str_from(names.at[i]);
        if (!str_ends(name, ".py"))
            continue;
        Exemplar e = {.name = str_dup(arena, str_slice(name, 0, name.len - 3))};
        const char *craft = path_join(arena, dir, str_format(arena, "%s.craft", e.name));
        if (!file_read(arena, path_join(arena, dir, names.at[i]), 0, &e.task, diag) ||
            !file_read(arena, craft, 0, &e.craft, diag))
            return false;
        e.category = head_field(arena, e.task, "category:");
        e.pattern = head_field(arena, e.task, "pattern:");
        vec_push(arena, all, e);
    }
    return true;
}

/* ---- leaks ---- */

enum { SHINGLE = 13 };

typedef VEC(uint64_t) Hashes;

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Words and marks; blanks and comments are no tokens. */
static void token_hashes(Arena *arena, Str text, Hashes *out)
{
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        if (text.at[at] == '#') {
            while (at < text.len && text.at[at] != '\n')
                at++;
            continue;
        }
        while (at < text.len && is_word(text.at[at]))
            at++;
        at += at == from;
        if (!isspace((unsigned char)text.at[from]))
            vec_push(arena, out, hash64(text.at + from, at - from));
    }
}

static void shingles(Arena *arena, Str text, Hashes *out)
{
    Hashes tokens = {0};
    token_hashes(arena, text, &tokens);
    for (uint32_t i = 0; i + SHINGLE <= tokens.len; i++)
        vec_push(arena, out, hash64(&tokens.at[i], SHINGLE * sizeof tokens.at[0]));
}

static bool has(const Hashes *all, uint64_t hash)
{
    for (uint32_t i = 0; i < all->len; i++)
        if (all->at[i] == hash)
            return true;
    return false;
}

double exemplar_overlap(Arena *arena, Str a, Str b)
{
    Hashes of_a = {0}, of_b = {0};
    uint32_t shared = 0;
    shingles(arena, a, &of_a);
    shingles(arena, b, &of_b);
    for (uint32_t i = 0; i < of_a.len; i++)
        shared += has(&of_b, of_a.at[i]);
    return of_a.len ? (double)shared / of_a.len : 0;
}

bool exemplar_leaks(Arena *arena, const Exemplar *e, Str planned)
{
    return exemplar_overlap(arena, e->craft, planned) * 100 > EXEMPLAR_LEAK_PERCENT;
}

/* ---- choosing ---- */

static int fit(const Exemplar *e, const char *category, const char *pattern)
{
    return 2 * !strcmp(e->pattern, pattern) + !strcmp(e->category, category);
}

void exemplars_choose(Arena *arena, const Exemplars *all, const char *category, const char *pattern,
                      Str planned, uint32_t most, Exemplars *chosen)
{
    for (int wanted = 3; wanted >= 0; wanted--)
        for (uint32_t i = 0; i < all->len && chosen->len < most; i++)
            if (fit(&all->at[i], category, pattern) == wanted &&
                !exemplar_leaks(arena, &all->at[i], planned))
                vec_push(arena, chosen, all->at[i]);
}
