/* What cannot be lowered is refused by name, and every example is lowered or refused. */
#include "tests/lower/help.h"
#include "tests/t.h"

#include "base/file.h"
#include "craft/craft.h"
#include <string.h>

T_TEST(too_many_queue_slots_are_refused)
{
    Arena arena = {0};
    Buf text = {0};
    buf_puts(&text, "craft = 1\nn = dim(1, 64)\n@host\ndef op(x: gm[f32, n], y: out[f32, n]):\n"
                    "    k[1](x, y)\n@kernel\ndef k(x: gm[f32, n], y: out[f32, n]):\n");
    for (int i = 0; i < 5; i++)
        buf_printf(&text, "    a%d = ub(f32, 64, depth=2)\n", i);
    buf_puts(&text, "    b = ub(f32, 64)\n    with copyin():\n");
    for (int i = 0; i < 5; i++)
        buf_printf(&text, "        load(a%d[:n], x[:])\n", i);
    buf_puts(&text,
             "    with compute():\n        b[:n] = a0[:n] + a1[:n] + a2[:n] + a3[:n] + a4[:n]\n"
             "    with copyout():\n        store(y[:], b[:n])\n");
    const char *said = "";
    CHECK(!help_lower(&arena, text.at, LOWER_ALIGN, &said));
    CHECK_MSG(strstr(said, "[E093]"), "%s", said);
    buf_free(&text);
    arena_drop(&arena);
}

T_TEST(sync_all_in_a_shared_grid_is_refused)
{
    Arena arena = {0};
    const char *said = "";
    AscProgram *p = help_lower(&arena,
                               "craft = 1\nn = dim(1, 64)\n@host\n"
                               "def op(x: gm[f32, n], y: out[f32, n]):\n"
                               "    k[1](x, y)\n    k[2](x, y)\n@kernel\n"
                               "def k(x: gm[f32, n], y: out[f32, n]):\n"
                               "    a = ub(f32, 64)\n    sync_all()\n"
                               "    with copyin():\n        load(a[:n], x[:])\n"
                               "    with copyout():\n        store(y[:], a[:n])\n",
                               LOWER_ALIGN, &said);
    CHECK(!p);
    CHECK_MSG(strstr(said, "[E096]"), "%s", said);
    arena_drop(&arena);
}

static uint32_t lower_file(const char *path, uint32_t *refused)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, (Str){0});
    Str text;
    uint32_t variants = 0;
    if (file_read(&arena, path, 1 << 20, &text, &diag)) {
        diag = diag_make(&arena, path, text);
        CraftFile *file = craft_read(&arena, path, text, &diag);
        for (uint32_t v = 0; file && diag_ok(&diag) && v < craft_variant_count(file); v++) {
            IrProgram *ir = craft_program(&arena, file, v, &diag);
            variants += ir &&
                        lower_program(&arena, ir, npu_chip_find(STR("910B2")), LOWER_ALIGN, &diag);
        }
        for (uint32_t i = 0; i < diag.items.len; i++)
            CHECK_MSG(diag.items.at[i].level != DIAG_ERROR ||
                          strncmp(diag.items.at[i].code, "E09", 3) == 0,
                      "%s: %s", path, diag.items.at[i].text);
        *refused += !diag_ok(&diag);
    }
    arena_drop(&arena);
    return variants;
}

T_TEST(every_example_is_lowered_or_refused_by_name)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "examples", (Str){0});
    NameList names = {0};
    REQUIRE(file_list(&arena, "examples", &names, &diag));
    uint32_t lowered = 0, refused = 0;
    for (uint32_t i = 0; i < names.len; i++)
        if (str_ends(str_from(names.at[i]), ".craft"))
            lowered += lower_file(path_join(&arena, "examples", names.at[i]), &refused);
    CHECK_MSG(lowered >= 50, "%u variants lowered", lowered);
    CHECK_MSG(refused * 20 <= names.len, "%u of %u refused", refused, names.len);
    arena_drop(&arena);
}

static const char *const far_rows = "craft = 1\na = dim(1, 1048576)\nb = dim(1, 1048576)\n"
                                    "c = dim(1, 1048576)\n@host\n"
                                    "def op(x: gm[f32, a, b, c], y: out[f32, a, b, c]):\n"
                                    "%s    k[1](x, y)\n@kernel\n"
                                    "def k(x: gm[f32, a, b, c], y: out[f32, a, b, c]):\n"
                                    "    u = ub(f32, 8, 64)\n"
                                    "    for i, j, t in mine(tiles(a, 8), b, tiles(c, 64)):\n"
                                    "        with copyin():\n"
                                    "            load(u[:i.size, :t.size], x[i, j, t])\n"
                                    "        with copyout():\n"
                                    "            store(y[i, j, t], u[:i.size, :t.size])\n";

static const char *lower_far_rows(Arena *arena, const char *asserts)
{
    const char *said = "";
    const char *text = str_format(arena, far_rows, asserts);
    return help_lower(arena, text, LOWER_ALIGN, &said) ? "" : said;
}

T_TEST(rows_too_far_apart_are_refused_unless_the_host_asserts_otherwise)
{
    Arena arena = {0};
    const char *said = lower_far_rows(&arena, "");
    CHECK_MSG(strstr(said, "[E095]"), "%s", said);
    said = lower_far_rows(&arena, "    assert b * c <= 2147483648, \"far\"\n");
    CHECK_MSG(strstr(said, "[E095]"), "%s", said);
    CHECK_EQ_STR(lower_far_rows(&arena, "    assert b * c <= 1073741824, \"far\"\n"), "");
    CHECK_EQ_STR(lower_far_rows(&arena, "    assert a * b * c <= 1073741824, \"far\"\n"), "");
    arena_drop(&arena);
}
