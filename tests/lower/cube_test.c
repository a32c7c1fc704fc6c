/* The cube: every program of docs/craft-cube.md is lowered, and what has no AscendC is refused by name. */
#include "tests/lower/help.h"
#include "tests/t.h"

#include "base/file.h"
#include <string.h>

static AscProgram *lower_file(Arena *arena, const char *path)
{
    Diag diag = diag_make(arena, path, (Str){0});
    Str text;
    const char *said = "";
    REQUIRE(file_read(arena, path, 1 << 20, &text, &diag));
    AscProgram *p = help_lower(arena, str_dup(arena, text), LOWER_ALIGN, &said);
    CHECK_MSG(p, "%s: %s", path, said);
    return p;
}

static uint32_t count_in(const AscProgram *p, const AscBlock *block, AscCubeOp op)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &p->stmts.at[block->at[i]];
        n += s->kind == ASC_S_CUBE && s->cube == op;
        n += count_in(p, &s->body, op) + count_in(p, &s->orelse, op);
    }
    return n;
}

static uint32_t count_cube(const AscProgram *p, AscCubeOp op)
{
    uint32_t n = 0;
    for (uint32_t f = 0; f < p->kernels.at[0].functions.len; f++)
        n += count_in(p, &p->kernels.at[0].functions.at[f].body, op);
    return n;
}

T_TEST(cube_programs_take_the_cores_they_need)
{
    static const struct {
        const char *path;
        AscTask task;
    } programs[] = {{"tests/craft/cube_conv.craft", ASC_TASK_CUBE},
                    {"tests/craft/cube_splitk.craft", ASC_TASK_MIX_1_2},
                    {"tests/craft/cube_matmul.craft", ASC_TASK_MIX_1_1},
                    {"tests/craft/cube_pair.craft", ASC_TASK_MIX_1_2},
                    {"tests/craft/cube_wide.craft", ASC_TASK_MIX_1_2},
                    {"tests/craft/cube_flash.craft", ASC_TASK_MIX_1_1}};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        Arena arena = {0};
        AscProgram *p = lower_file(&arena, programs[i].path);
        CHECK_MSG(p && p->task == programs[i].task, "%s", programs[i].path);
        arena_drop(&arena);
    }
}

T_TEST(cube_tiles_are_queues_of_whole_fractals)
{
    Arena arena = {0};
    AscProgram *p = lower_file(&arena, "tests/craft/cube_conv.craft");
    const AscBuffer *tile = help_buffer(p, "p1"), *sum = help_buffer(p, "c");
    REQUIRE(tile && sum);
    CHECK(tile->memory == IR_L1 && tile->storage == ASC_QUE_IN);
    CHECK(sum->memory == IR_L0C && sum->storage == ASC_QUE_OUT);
    CHECK(count_cube(p, ASC_CUBE_MMAD) == 1 && count_cube(p, ASC_CUBE_FIXPIPE) == 1);
    arena_drop(&arena);
}

/* Each flag is raised as often as it is awaited: `depth` times before the first, and after the last. */
T_TEST(cube_channels_are_announced_and_drained)
{
    Arena arena = {0};
    AscProgram *p = lower_file(&arena, "tests/craft/cube_flash.craft");
    REQUIRE(p != NULL);
    CHECK(count_cube(p, ASC_CUBE_SIGNAL) == 3 * (2 + 2));
    CHECK(count_cube(p, ASC_CUBE_AWAIT) == 3 * (2 + 2));
    CHECK(p->paths.at[0].rooms.len == 3);
    arena_drop(&arena);
}

/* A vector core whose turn it is not takes nothing, but waits and signals as the other does. */
T_TEST(cube_flags_count_both_vector_cores)
{
    Arena arena = {0};
    AscProgram *p = lower_file(&arena, "tests/craft/cube_pair.craft");
    REQUIRE(p != NULL);
    CHECK(count_cube(p, ASC_CUBE_SIGNAL) == 8 + 1 + 2); /* announced; sent; taken, and left alone */
    CHECK(count_cube(p, ASC_CUBE_AWAIT) == 8 + 1 + 2);
    arena_drop(&arena);
}

/* $A: lines before the loop over k; $B: the load into L0B; $C: what follows the product. */
static const char *const product =
    "craft = 1\nm = dim(1, 64)\nk = dim(1, 4096)\nn = dim(1, 64)\n@host\n"
    "def op(a: gm[%s, m, k], b: gm[%s, k, n], y: out[%s, m, n]):\n    p[1](a, b, y)\n"
    "@kernel(cube)\ndef p(a: gm[%s, m, k], b: gm[%s, k, n], y: out[%s, m, n]):\n"
    "    a1 = l1(%s, 64, 64, depth=2)\n    b1 = l1(%s, 64, 64, depth=2)\n"
    "    a0 = l0a(%s, 64, 64)\n    b0 = l0b(%s, 64, 64)\n    c = l0c(%s, %s)\n"
    "    for t in tiles(k, 64):\n        with copyin():\n"
    "            load(a1[:m, :t.size], a[:, t])\n            load(b1[:t.size, :n], b[t, :])\n"
    "%s"
    "        with copyin():\n            %s\n            %s\n        with compute():\n"
    "            mmad(c[:m, :n], a0[:m, :t.size], b0[:t.size, :n], init=t.index == 0)\n"
    "    with copyout():\n        store(y[:, :], c[:m, :n])\n";

typedef struct Variant {
    const char *type, *sum, *shape, *extra, *left, *right;
} Variant;

static const char *lower_product(Arena *arena, Variant v)
{
    const char *t = v.type ? v.type : "f16", *s = v.sum ? v.sum : "f32", *said = "";
    const char *y = strcmp(s, "i32") ? t : s;
    const char *text = str_format(arena, product, t, t, y, t, t, y, t, t, t, t, s,
                                  v.shape ? v.shape : "64, 64", v.extra ? v.extra : "",
                                  v.left ? v.left : "load(a0[:m, :t.size], a1[:m, :t.size])",
                                  v.right ? v.right : "load(b0[:t.size, :n], b1[:t.size, :n])");
    return help_lower(arena, text, LOWER_ALIGN, &said) ? "" : said;
}

T_TEST(cube_forms_without_ascendc_are_refused)
{
    static const struct {
        Variant v;
        const char *says;
    } rows[] = {
        {{0}, ""},
        {{.type = "f32"}, ""},
        {{.type = "bf16"}, ""},
        {{.type = "i8", .sum = "i32"}, ""},
        {{.left =
              "load(a0[:m, :t.size], a1[:m, :t.size])\n            load(a0[:m, :t.size], a1[:m, "
              ":t.size])"},
         ""},
        {{.left = "load(a0[8:8 + m, :t.size], a1[:m, :t.size])"}, "[E090]"},
        {{.right = "load(b0[:t.size - 1, :n], b1[:t.size - 1, :n])"}, "[E090]"},
        {{.right = "load(b0[:t.size, :n], b1[1:1 + t.size, :n])"}, "[E090]"},
        {{.extra = "        sync_all()\n"}, "[E090]"},
        {{.shape = "64, 600"}, "[E094]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena arena = {0};
        const char *said = lower_product(&arena, rows[i].v);
        bool right = rows[i].says[0] ? strstr(said, rows[i].says) != NULL : !said[0];
        CHECK_MSG(right, "row %zu: %s", i, said);
        arena_drop(&arena);
    }
}

/* HF32 is a mode of the core: on before the kernel's products, off behind them. */
T_TEST(cube_hf32_is_a_mode_of_the_kernel)
{
    Arena arena = {0};
    AscProgram *p = lower_file(&arena, "tests/craft/cube_hf32.craft");
    REQUIRE(p != NULL);
    CHECK(count_cube(p, ASC_CUBE_MMAD) == 1 && count_cube(p, ASC_CUBE_HF32) == 2);
    const char *said = lower_product(
        &arena, (Variant){.type = "f32",
                          .right = "load(b0[:t.size, :n], b1[:t.size, :n])\n"
                                   "        with compute():\n"
                                   "            mmad_hf32(c[:m, :n], a0[:m, :t.size], "
                                   "b0[:t.size, :n], init=t.index == 0)"});
    CHECK_MSG(strstr(said, "[E090]") && strstr(said, "HF32"), "%s", said);
    arena_drop(&arena);
}

/* A tile that is stored inside the loop and goes on being summed would lose its sum with two slots. */
T_TEST(cube_sums_that_outlive_a_store_are_refused)
{
    Arena arena = {0};
    const char *said = lower_product(
        &arena,
        (Variant){.right = "load(b0[:t.size, :n], b1[:t.size, :n])\n        with copyout():\n"
                           "            store(y[:, :], c[:m, :n])"});
    CHECK_MSG(strstr(said, "[E090]"), "%s", said);
    arena_drop(&arena);
}

/* Parts of a tile that a loop stores, or loads, one after the other, lie inside what was written before. */
static const char *lower_rows(Arena *arena, const char *stored, const char *loaded)
{
    const char *said = "";
    const char *text = str_format(
        arena,
        "craft = 1\n\n@host\n"
        "def f(x: gm[f32, 8, 65536], w: gm[f32, 16, 24], y: out[f32, 16, 42, 28]):\n"
        "    k[1](x, w, y)\n\n@kernel(cube)\n"
        "def k(x: gm[f32, 8, 65536], w: gm[f32, 16, 24], y: out[f32, 16, 42, 28]):\n"
        "    a1 = l1(f32, 16, 24, depth=2)\n    b1 = l1(f32, 24, 128, depth=2)\n"
        "    a0 = l0a(f32, 16, 24)\n    b0 = l0b(f32, 24, 128)\n    c = l0c(f32, 16, 128, "
        "depth=2)\n"
        "    for r in mine(tiles(42, 4)):\n"
        "        with copyin():\n            load(a1, w)\n"
        "            for v in range(3):\n"
        "                load(b1[%s, :r.size * 32 - 4], x[:, v : v + (r.size * 32 - 4)])\n"
        "        with copyin():\n            load(a0, a1)\n"
        "            load(b0[:, :r.size * 32 - 4], b1[:, :r.size * 32 - 4])\n"
        "        with compute():\n"
        "            mmad(c[:, :r.size * 32 - 4], a0, b0[:, :r.size * 32 - 4], init=True)\n"
        "        with copyout():\n            for q in range(r.size):\n"
        "                store(y[:, r.start + q, :], c[:, %s])\n",
        loaded, stored);
    return help_lower(arena, text, LOWER_ALIGN, &said) ? "" : said;
}

T_TEST(cube_parts_of_tiles_are_written_before_they_are_read)
{
    Arena arena = {0};
    const char *said = lower_rows(&arena, "q * 32 : q * 32 + 28", "v * 8 : v * 8 + 8");
    CHECK_MSG(!said[0], "%s", said);
    said = lower_rows(&arena, "q * 32 + 16 : q * 32 + 44", "v * 8 : v * 8 + 8");
    CHECK_MSG(strstr(said, "[E090]"), "%s", said);
    said = lower_rows(&arena, "q * 32 : q * 32 + 28", "v * 6 : v * 6 + 8");
    CHECK_MSG(strstr(said, "[E090]"), "%s", said);
    arena_drop(&arena);
}
