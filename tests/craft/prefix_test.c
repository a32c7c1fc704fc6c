/* The recogniser of beginnings: no accepted program is stopped, and what the front end never takes is. */
#include "craft/prefix.h"

#include "base/rng.h"
#include "tests/craft/help.h"
#include "tests/t.h"
#include <stdlib.h>
#include <string.h>

/* Bytes that are accepted before the first that is refused. */
static size_t goes_to(CraftPrefix *p, Str text)
{
    craft_prefix_reset(p);
    for (size_t i = 0; i < text.len; i++)
        if (!craft_prefix_accept(p, str_slice(text, i, i + 1)))
            return i;
    return text.len;
}

static void check_whole(CraftPrefix *p, const char *name, Str text)
{
    size_t at = goes_to(p, text), from = at > 60 ? at - 60 : 0;
    CHECK_MSG(at == text.len, "%s stops at byte %zu, after\n%.*s<here>%.*s", name, at,
              (int)(at - from), text.at + from, (int)(text.len - at < 20 ? text.len - at : 20),
              text.at + at);
    if (text.len && text.at[text.len - 1] != '\n')
        craft_prefix_accept(p, STR("\n"));
    CHECK_MSG(at < text.len || craft_prefix_may_end(p), "%s may not end:\n%.*s", name,
              STR_ARG(text));
}

/* What the promise leaves out: a helper that stands behind its use, a name in a branch that no variant takes. */
static bool is_left_out(const char *path)
{
    return str_ends(str_from(path), "s10_helpers.craft") ||
           str_ends(str_from(path), "s10_dtype_if.craft");
}

static void check_folder(const char *folder, uint32_t least)
{
    Arena arena = {0};
    NameList all = {0};
    uint32_t found = 0;
    Diag diag = diag_make(&arena, folder, (Str){0});
    CraftPrefix *p = craft_prefix_open();
    REQUIRE(file_list(&arena, folder, &all, &diag));
    for (uint32_t i = 0; i < all.len; i++) {
        if (!str_ends(str_from(all.at[i]), ".craft"))
            continue;
        const char *path = path_join(&arena, folder, all.at[i]);
        Str text = help_read(&arena, path);
        if (*help_codes(&arena, text) || is_left_out(path))
            continue;
        check_whole(p, path, text);
        found++;
    }
    CHECK_MSG(found >= least, "%u accepted programs in %s", found, folder);
    craft_prefix_close(p);
    arena_drop(&arena);
}

T_TEST(prefix_stops_no_accepted_program)
{
    check_folder("examples", 50);
    check_folder("examples/exemplars", 5);
    check_folder("tests/craft", 20);
    check_folder("tests/craft/fmt", 1);
    check_folder("tests/craft/lower", 1);
    check_folder("tests/craft/proof", 1);
}

/* ---- the front end on beginnings ---- */

T_TEST(prefix_beginnings_of_accepted_programs_are_accepted)
{
    static const char *const paths[] = {
        "examples/softmax.craft",     "examples/layernorm.craft",
        "examples/adam.craft",        "examples/maxpool2d_pad.craft",
        "tests/craft/s03_host.craft", "tests/craft/cube_flash.craft",
        "tests/craft/s05_loops.craft"};
    Arena kept = {0};
    CraftPrefix *p = craft_prefix_open();
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        Str text = help_read(&kept, paths[k]);
        uint32_t tried = 0;
        craft_prefix_reset(p);
        for (size_t i = 0; i < text.len; i++) {
            REQUIRE(craft_prefix_accept(p, str_slice(text, i, i + 1)));
            if (!craft_prefix_at_line(p))
                continue;
            Arena arena = {0};
            Diag diag = diag_make(&arena, paths[k], text);
            bool ok = craft_check_beginning(&arena, str_slice(text, 0, i + 1), &diag);
            CHECK_MSG(ok, "%s, the first %zu bytes: %s", paths[k], i + 1,
                      diag.items.len ? diag.items.at[0].text : "");
            tried++;
            arena_drop(&arena);
        }
        CHECK_MSG(tried > 10, "%u beginnings of %s", tried, paths[k]);
    }
    craft_prefix_close(p);
    arena_drop(&kept);
}

T_TEST(prefix_a_wrong_line_is_seen_when_it_ends)
{
    Arena arena = {0};
    static const struct {
        const char *text, *code;
    } lines[] = {
        {"craft = 1\nn = dim(1, 64)\n\n@host\ndef op(x: gm[f32, n, 3], y: out[f32, n]):\n"
         "    k[chip.cores](x, y)\n\n@kernel\ndef k(x: gm[f32, n, 4], y: out[f32, n]):\n"
         "    a = ub(f32, 64)\n",
         "E053"},
        {"craft = 1\nn = dim(1, 64)\n\n@host\ndef op(x: gm[f32, n], y: out[f32, n]):\n"
         "    k[chip.cores](x, y)\n\n@kernel\ndef k(x: gm[f32, n], y: out[f32, n]):\n"
         "    a = ub(f32, 64)\n    b = ub(f16, 64)\n    with compute():\n        a[:8] = b[:8]\n",
         "E030"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Str text = str_from(lines[i].text);
        Diag diag = diag_make(&arena, "t", text);
        CHECK(!craft_check_beginning(&arena, text, &diag));
        CHECK_EQ_STR(diag.items.len ? diag.items.at[0].code : "", lines[i].code);
    }
    arena_drop(&arena);
}

/* ---- accepted programs that nobody wrote ---- */

typedef struct Piece {
    size_t from, to;
} Piece;
typedef VEC(Piece) Pieces;

/* Words, numbers, blanks and single signs of a text. */
static Pieces cut(Arena *arena, Str t)
{
    Pieces out = {0};
    for (size_t i = 0, n; i < t.len; i += n) {
        for (n = 1; i + n < t.len; n++) {
            char a = t.at[i], b = t.at[i + n];
            bool word = (a | 32) >= 'a' && (a | 32) <= 'z', digit = a >= '0' && a <= '9';
            bool goes_on = ((b | 32) >= 'a' && (b | 32) <= 'z') || b == '_' ||
                           (b >= '0' && b <= '9');
            if (!(((word || digit) && goes_on) || (a == ' ' && b == ' ')))
                break;
        }
        vec_push(arena, &out, ((Piece){i, i + n}));
    }
    return out;
}

/* One to three pieces replaced by another of the text, doubled, or left out. */
static Str mutate(Arena *arena, Str text, const Pieces *pieces, uint64_t seed)
{
    Buf out = {0};
    uint32_t n = pieces->len, changes = (uint32_t)rng_range(seed, 1, 0, 1, 4), where[3];
    for (uint32_t i = 0; i < changes; i++)
        where[i] = (uint32_t)rng_range(seed, 2, i, 0, n);
    for (uint32_t i = 0; i < n; i++) {
        Str own = str_slice(text, pieces->at[i].from, pieces->at[i].to);
        uint32_t hit = 0;
        while (hit < changes && where[hit] != i)
            hit++;
        if (hit == changes) {
            buf_str(&out, own);
            continue;
        }
        uint32_t other = (uint32_t)rng_range(seed, 3, hit, 0, n);
        int64_t way = rng_range(seed, 4, hit, 0, 4);
        if (way == 0)
            buf_str(&out, own);
        if (way < 3)
            buf_str(&out,
                    way == 1 ? own : str_slice(text, pieces->at[other].from, pieces->at[other].to));
        if (way == 1)
            buf_puts(&out, " ");
    }
    Str copy = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return copy;
}

static bool is_accepted(Arena *arena, Str text)
{
    Diag diag = diag_make(arena, "text", text);
    CraftFile *file = craft_read(arena, "text", text, &diag);
    for (uint32_t v = 0; file && diag_ok(&diag) && v < craft_variant_count(file); v++)
        craft_program(arena, file, v, &diag);
    return file && diag_ok(&diag);
}

T_TEST(prefix_stops_no_accepted_mutant)
{
    static const char *const bases[] = {
        "examples/softmax.craft",        "examples/layernorm.craft",
        "examples/maxpool2d_pad.craft",  "examples/adam.craft",
        "examples/embedding.craft",      "examples/cumsum.craft",
        "tests/craft/s10_scalars.craft", "tests/craft/s03_host.craft",
        "tests/craft/cube_flash.craft",
    };
    const char *rounds = getenv("T_ALL");
    uint32_t each = rounds ? 3000 : 250, accepted = 0;
    CraftPrefix *p = craft_prefix_open();
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
        Arena kept = {0};
        Str text = help_read(&kept, bases[b]);
        Pieces pieces = cut(&kept, text);
        for (uint32_t k = 0; k < each; k++) {
            Arena arena = {0};
            Str mutant = mutate(&arena, text, &pieces, b * 1000000 + k);
            if (is_accepted(&arena, mutant)) {
                check_whole(p, bases[b], mutant);
                accepted++;
            }
            arena_drop(&arena);
        }
        arena_drop(&kept);
    }
    CHECK_MSG(accepted > each, "%u mutants were accepted", accepted);
    craft_prefix_close(p);
}

/* ---- what no program has ---- */

static const char head[] =
    "craft = 1\nn = dim(1, 64)\n\n@host\ndef op(x: gm[f32, n], y: out[f32, n]):\n"
    "    k[chip.cores](x, y)\n\n@kernel\n";
static const char body[] = "def k(x: gm[f32, n], y: out[f32, n]):\n    a = ub(f32, 64)\n"
                           "    for t in tiles(n, 64):\n";

/* The text is taken, with each of the ends it is not. */
static void check_stops(const char *before, const char *const *ends)
{
    Arena arena = {0};
    CraftPrefix *p = craft_prefix_open();
    for (; *ends; ends++) {
        const char *text = str_format(&arena, "%s%s%s", head, before, *ends);
        size_t at = goes_to(p, str_from(text)), least = strlen(head) + strlen(before);
        CHECK_MSG(at >= least && at < strlen(text), "stopped at %zu of %zu: %s", at, strlen(text),
                  text);
    }
    craft_prefix_close(p);
    arena_drop(&arena);
}

T_TEST(prefix_stops_what_no_program_has)
{
    static const char *const first[] = {"def other(", "x = 1", "def k(x: gm(", "@host", NULL};
    static const char *const inside[] = {"        c = 1\n       d",
                                         "        with copyout(1",
                                         "        return ",
                                         "        else:",
                                         "        with copyin():\n            with ",
                                         "        q[0] = ",
                                         "        a.b",
                                         "        a += d",
                                         "        while ",
                                         "        assert ",
                                         NULL};
    static const char *const operands[] = {
        "unknown", "a b",      "exp x",         "exp)",   "1 2",           "min(1)",
        "t.shape", "f32(1, 2", "load(",         "a[0:1:", "1 < 2 < 3",     "1 if 2\n",
        "chip + ", "\"x\n",    "a + ub(f32, 2", "(1 + ]", "not not + not", NULL};
    static const char *const stage_only[] = {"        load(b[", "        load(a, x[t], 3",
                                             "        load(a)", "        load(a, depths=", NULL};
    check_stops("", first);
    check_stops(body, inside);
    check_stops("def k(x: gm[f32, n], y: out[f32, n]):\n    a = ub(f32, 64)\n    v = ", operands);
    check_stops(body, stage_only);
}
