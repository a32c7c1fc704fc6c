/* One text of a candidate with its own headers put in their place, so that compilers need no
 * directory. In: the texts. Out: one text, with #line so that messages name the right file. */
#include "eval/candidate_int.h"

#include "base/file.h"
#include <string.h>

enum { MOST_DEPTH = 20, MOST_BYTES = 8 << 20 };

typedef struct Inliner {
    const EvalCandidate *c;
    Buf out;
    bool once[512]; /* texts with #pragma once that are in already */
} Inliner;

Str eval_included_name(Str line)
{
    line = str_trim(line);
    if (!str_starts(line, "#"))
        return (Str){0};
    line = str_trim(str_slice(line, 1, line.len));
    if (!str_starts(line, "include"))
        return (Str){0};
    line = str_trim(str_slice(line, strlen("include"), line.len));
    if (line.len < 2 || line.at[0] != '"')
        return (Str){0};
    line = str_slice(line, 1, line.len);
    ptrdiff_t end = str_find(line, STR("\""));
    return end < 0 ? (Str){0} : str_slice(line, 0, (size_t)end);
}

/* Parts at the end of two paths that are the same: "block/copy.h" and "gemm/block/copy.h" have 2. */
static uint32_t parts_alike(Str a, Str b)
{
    uint32_t parts = 0;
    size_t same = 0;
    while (same < a.len && same < b.len && a.at[a.len - 1 - same] == b.at[b.len - 1 - same])
        parts += a.at[a.len - 1 - same++] == '/';
    bool whole = (same == a.len || a.at[a.len - 1 - same] == '/') &&
                 (same == b.len || b.at[b.len - 1 - same] == '/');
    return parts + (whole && same && a.at[a.len - same] != '/');
}

/* The text that is meant: of those with the name's last part the one whose path agrees in most parts with
 * the name, seen from the directory of the text that includes it ("../op_host/x_tiling.h" is known by its
 * last part where nothing else has it). */
static int find_text(const EvalCandidate *c, const EvalText *from, Str name)
{
    char seen[1024];
    int found = -1;
    uint32_t most = 0;
    size_t dir = strlen(from->path) - path_base(from->path).len;
    if (dir + name.len >= sizeof seen)
        return -1;
    memcpy(seen, from->path, dir);
    memcpy(seen + dir, name.at, name.len);
    for (uint32_t i = 0; i < c->texts.len && i < 512; i++) {
        uint32_t alike = parts_alike(str_from(c->texts.at[i].path), (Str){seen, dir + name.len});
        if (alike > most && &c->texts.at[i] != from) {
            most = alike;
            found = (int)i;
        }
    }
    return found;
}

static void add_mark(Inliner *in, uint32_t line, const char *path)
{
    buf_printf(&in->out, "#line %u ", line);
    buf_json_str(&in->out, str_from(path));
    buf_char(&in->out, '\n');
}

/* Marks in a part that the preprocessor skips are skipped too: they are repeated behind it. */
static bool ends_a_part(Str line)
{
    line = str_trim(line);
    if (!str_starts(line, "#"))
        return false;
    line = str_trim(str_slice(line, 1, line.len));
    return str_starts(line, "endif") || str_starts(line, "el");
}

static void add_text(Inliner *in, const EvalText *text, int depth);

/* A sample's own data_utils.h opens files; the tool's two functions stand in for its own. */
static void add_header(Inliner *in, const EvalText *text, int depth)
{
    bool opens_files = str_is(path_base(text->path), "data_utils.h");
    if (opens_files)
        buf_puts(&in->out, "#define ReadFile own_data_utils_ReadFile\n"
                           "#define WriteFile own_data_utils_WriteFile\n");
    add_mark(in, 1, text->path);
    add_text(in, text, depth);
    if (opens_files)
        buf_puts(&in->out, "#undef ReadFile\n#undef WriteFile\n"
                           "#include \"acraft/bind/files.h\"\n");
}

static void add_text(Inliner *in, const EvalText *text, int depth)
{
    Str line, rest = text->text;
    bool inserted = false;
    for (uint32_t number = 1; in->out.len < MOST_BYTES && str_next(&rest, '\n', &line); number++) {
        Str name = eval_included_name(line);
        int at = name.len && depth < MOST_DEPTH ? find_text(in->c, text, name) : -1;
        const EvalText *other = at >= 0 ? &in->c->texts.at[at] : NULL;
        if (!other) {
            buf_str(&in->out, line);
            buf_char(&in->out, '\n');
            if (inserted && ends_a_part(line))
                add_mark(in, number + 1, text->path);
            continue;
        }
        if (!in->once[at]) {
            in->once[at] = str_find(other->text, STR("#pragma once")) >= 0;
            add_header(in, other, depth + 1);
        }
        add_mark(in, number + 1, text->path);
        inserted = true;
    }
}

/* "M=V" as -DM=V would, before the text's first line. */
static void add_defines(Inliner *in, const EvalText *text)
{
    const NameList *all = &in->c->defines;
    for (uint32_t i = 0; i < all->len && all->at[i]; i++) {
        const char *equals = strchr(all->at[i], '=');
        size_t name = equals ? (size_t)(equals - all->at[i]) : strlen(all->at[i]);
        buf_printf(&in->out, "#define %.*s %s\n", (int)name, all->at[i], equals ? equals + 1 : "1");
    }
    if (all->len)
        add_mark(in, 1, text->path);
}

Str eval_include(Arena *arena, const EvalCandidate *c, const EvalText *text)
{
    Inliner in = {.c = c};
    add_defines(&in, text);
    add_text(&in, text, 0);
    Str result = str_copy(arena, buf_view(&in.out));
    buf_free(&in.out);
    return result;
}
