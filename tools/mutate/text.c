/* A kernel's text with its own headers put in place of their #include lines, so that slips reach
 * them too. In: the path of a text. Out: one text, and which file each of its lines came from. Only
 * files beside the including one are its own; a header stands where it is named first. */
#include "tools/mutate/mutate.h"

#include "base/file.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 16, MOST_BYTES = 4 << 20 };

typedef struct Join {
    Arena *arena;
    Buf text;
    uint32_t line; /* the one to be written next */
    NameList seen;
    Joined *out;
    Diag *diag;
} Join;

static void mark(Join *j, const char *path, uint32_t line)
{
    vec_push(j->arena, &j->out->parts, ((JoinedPart){.at = j->line, .path = path, .line = line}));
}

/* The name in #include "name"; empty: another line. */
static Str included(Str line)
{
    Str t = str_trim(line);
    if (!t.len || t.at[0] != '#')
        return (Str){0};
    t = str_trim(str_slice(t, 1, t.len));
    if (!str_starts(t, "include"))
        return (Str){0};
    t = str_trim(str_slice(t, strlen("include"), t.len));
    ptrdiff_t end = t.len && t.at[0] == '"' ? str_find(str_slice(t, 1, t.len), STR("\"")) : -1;
    return end < 0 ? (Str){0} : str_slice(t, 1, (size_t)end + 1);
}

/* The header of its own that a line names; NULL: none. */
static const char *own_header(Join *j, const char *from, Str line)
{
    Str name = included(line);
    if (!name.len)
        return NULL;
    const char *path = path_join(j->arena, path_dir(j->arena, from), str_dup(j->arena, name));
    return file_exists(path) && !file_is_dir(path) ? path : NULL;
}

static bool first_time(Join *j, const char *path)
{
    char real[PATH_MAX];
    if (!realpath(path, real))
        return false;
    for (uint32_t i = 0; i < j->seen.len; i++)
        if (strcmp(j->seen.at[i], real) == 0)
            return false;
    vec_push(j->arena, &j->seen, str_dup(j->arena, str_from(real)));
    return true;
}

static bool add_file(Join *j, const char *path, int depth)
{
    Str rest, line;
    if (!file_read(j->arena, path, MOST_BYTES, &rest, j->diag))
        return false;
    mark(j, path, 1);
    for (uint32_t number = 1; rest.len && str_next(&rest, '\n', &line); number++) {
        const char *header = depth < MOST_DEPTH ? own_header(j, path, line) : NULL;
        if (header) {
            if (first_time(j, header) && !add_file(j, header, depth + 1))
                return false;
            mark(j, path, number + 1);
            continue;
        }
        if (!str_starts(str_trim(line), "#pragma once"))
            buf_str(&j->text, line);
        buf_char(&j->text, '\n');
        j->line++;
    }
    return true;
}

bool mutate_join(Arena *arena, const char *path, Joined *out, Diag *diag)
{
    Join j = {.arena = arena, .line = 1, .out = out, .diag = diag};
    *out = (Joined){0};
    bool ok = add_file(&j, path, 0);
    out->text = str_copy(arena, buf_view(&j.text));
    buf_free(&j.text);
    return ok;
}

JoinedPart mutate_place(const Joined *joined, uint32_t line)
{
    JoinedPart found = {0};
    for (uint32_t i = 0; i < joined->parts.len && joined->parts.at[i].at <= line; i++)
        found = joined->parts.at[i];
    found.line += line - found.at;
    found.at = line;
    return found;
}
