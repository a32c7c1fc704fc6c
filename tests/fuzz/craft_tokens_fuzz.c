/* Fuzzes the Craft front end with programs that are nearly right: the first byte picks a program
 * of examples/ or tests/craft, the others change its tokens (delete, repeat, replace, swap) and
 * lines (delete, repeat, move, indent). The demands stand in craft_demands.h. */
#include "tests/fuzz/craft_demands.h"

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef VEC(Str) Pieces;

typedef struct Bytes {
    const uint8_t *at;
    size_t len;
} Bytes;

static uint32_t take_byte(Bytes *b, uint32_t below)
{
    uint32_t v = 0;
    for (int i = 0; i < 2; i++) {
        v = v << 8 | (b->len ? b->at[0] : 0);
        b->at += b->len != 0;
        b->len -= b->len != 0;
    }
    return below ? v % below : 0;
}

/* ---- the programs ---- */

static const char *const fallback =
    "craft = 1\nn = dim(1, 64)\n@host\ndef op(x: gm[f32, n], y: out[f32, n]):\n    k[1](x, y)\n"
    "@kernel\ndef k(x: gm[f32, n], y: out[f32, n]):\n    a = ub(f32, 64)\n    with copyin():\n"
    "        load(a[:n], x)\n    with copyout():\n        store(y, a[:n])\n";

static void add_folder(Arena *arena, const char *folder, Pieces *programs)
{
    NameList names = {0};
    Diag diag = diag_make(arena, folder, (Str){0});
    if (!file_is_dir(folder) || !file_list(arena, folder, &names, &diag))
        return;
    for (uint32_t i = 0; i < names.len; i++) {
        Str text;
        const char *path = path_join(arena, folder, names.at[i]);
        if (str_ends(str_from(path), ".craft") && file_read(arena, path, 0, &text, &diag))
            vec_push(arena, programs, text);
    }
}

static Str pick_program(Arena *arena, Bytes *b)
{
    static Arena kept; /* read once: the folders do not change under a run */
    static Pieces programs;
    (void)arena;
    if (!programs.len) {
        add_folder(&kept, "examples", &programs);
        add_folder(&kept, "tests/craft", &programs);
        vec_push(&kept, &programs, str_from(fallback));
    }
    return programs.at[take_byte(b, programs.len)];
}

/* ---- tokens ---- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

/* Words, single signs, runs of blanks and line ends, in order. */
static void split(Arena *arena, Str text, Pieces *out)
{
    for (size_t i = 0, from = 0; i < text.len; from = i) {
        if (is_word(text.at[i]))
            while (i < text.len && is_word(text.at[i]))
                i++;
        else if (text.at[i] == ' ')
            while (i < text.len && text.at[i] == ' ')
                i++;
        else
            i++;
        vec_push(arena, out, str_slice(text, from, i));
    }
}

static const char *const words[] = {
    "a",        "t",          "n",           "x",         "y",
    "0",        "1",          "64",          "-1",        "2.5",
    "inf",      "f16",        "i32",         "bool",      "T",
    "chip.ub",  "t.size",     "t.start",     "tiles",     "mine",
    "cyclic",   "share",      "range",       "load",      "store",
    "cast",     "where",      "exp",         "max",       "row",
    "col",      "row_sum",    "cumsum",      "gather",    "iota",
    "mask",     "ub",         "l0c",         "view",      "len",
    "present",  "core_id",    "sort",        "compact",   "mmad",
    "+",        "-",          "*",           "/",         "//",
    "%",        "<",          "==",          "&",         "~",
    "and",      "not",        "if",          "else",      "for",
    "in",       "with",       "copyin",      "compute",   "copyout",
    "sync_all", "(",          ")",           "[",         "]",
    ",",        ":",          "=",           "+=",        "\n",
    "    ",     "reduce_sum", "reinterpret", "flat",      "transpose",
    "send",     "recv",       "choose",      "workspace", "gm",
    "out",      "opt",        "ws",          "return",    "pass",
    "def",      "@kernel",    "dim",         "dtype",     "1000000000000",
};
enum { WORDS = sizeof words / sizeof *words };

static void change_token(Bytes *b, Pieces *t)
{
    uint32_t i = take_byte(b, t->len), j = take_byte(b, t->len);
    Str swap;
    switch (take_byte(b, 4)) {
    case 0: t->at[i] = (Str){0}; return;
    case 1: t->at[i] = t->at[j]; return;
    case 2: t->at[i] = str_from(words[take_byte(b, WORDS)]); return;
    default:
        swap = t->at[i];
        t->at[i] = t->at[j];
        t->at[j] = swap;
    }
}

static Buf join(const Pieces *pieces, const char *between)
{
    Buf out = {0};
    for (uint32_t i = 0; i < pieces->len; i++) {
        buf_str(&out, pieces->at[i]);
        buf_puts(&out, between);
    }
    return out;
}

static void change_line(Arena *arena, Bytes *b, Pieces *lines)
{
    uint32_t i = take_byte(b, lines->len), j = take_byte(b, lines->len);
    Str line = lines->at[i];
    switch (take_byte(b, 5)) {
    case 0: lines->at[i] = (Str){0}; return;
    case 1: lines->at[i] = lines->at[j]; return;
    case 2: lines->at[i] = str_from(str_format(arena, "    %.*s", STR_ARG(line))); return;
    case 3: lines->at[i] = str_starts(line, "    ") ? str_slice(line, 4, line.len) : line; return;
    default:
        lines->at[i] = str_from(
            str_format(arena, "%.*s\n%.*s", STR_ARG(line), STR_ARG(lines->at[j])));
    }
}

static Buf mutate(Arena *arena, Str text, Bytes *b)
{
    Pieces lines = {0}, tokens = {0};
    Str line;
    while (str_next(&text, '\n', &line))
        vec_push(arena, &lines, line);
    for (uint32_t n = take_byte(b, 3); n > 0; n--)
        change_line(arena, b, &lines);
    Buf joined = join(&lines, "\n");
    split(arena, str_copy(arena, buf_view(&joined)), &tokens);
    buf_free(&joined);
    for (uint32_t n = take_byte(b, 5); n > 0 && tokens.len; n--)
        change_token(b, &tokens);
    return join(&tokens, "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Bytes bytes = {data, size};
    Str program = pick_program(&arena, &bytes);
    Buf text = mutate(&arena, program, &bytes);
    demand_all(&arena, buf_view(&text));
    buf_free(&text);
    arena_drop(&arena);
    return 0;
}
