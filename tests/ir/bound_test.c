/* What asserts of the host say of products reaches the ranges of launched kernels, and only those. */
#include "tests/ir/help.h"

#include "craft/craft.h"
#include "ir/prove.h"

static IrProgram *program(Arena *arena, const char *asserts, const char *argument)
{
    const char *text = str_format(
        arena,
        "craft = 1\n"
        "a = dim(1, 1048576)\nb = dim(1, 1048576)\nc = dim(2, 1048576)\n"
        "@host\ndef op(x: gm[f32, a, b, c], y: out[f32, a, b, c]):\n"
        "%s    k[1](x, y, %s)\n"
        "@kernel\n"
        "def k(x: gm[f32, a, b, c], y: out[f32, a, b, c], n: i64):\n"
        "    u = ub(f32, 64)\n"
        "    for i, j, t in mine(a, b, tiles(c, 64)):\n"
        "        with copyin():\n            load(u[:t.size], x[i, j, t])\n"
        "        with copyout():\n            store(y[i, j, t], u[:t.size])\n",
        asserts, argument);
    Diag diag = diag_make(arena, "text", str_from(text));
    CraftFile *file = craft_read(arena, "text", str_from(text), &diag);
    IrProgram *p = file ? craft_program(arena, file, 0, &diag) : NULL;
    help_say(&diag);
    REQUIRE(p != NULL);
    return p;
}

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

static IrVarId find(const IrProgram *p, const char *name)
{
    for (uint32_t i = 1; i < p->vars.len; i++)
        if (strcmp(p->vars.at[i].name, name) == 0)
            return i;
    return 0;
}

/* The largest value of the kernel's n, which is `argument` under the asserts. */
static int64_t most(const char *asserts, const char *argument)
{
    Arena arena = {0};
    IrProgram *p = program(&arena, asserts, argument);
    ir_annotate_launched(p, chip());
    int64_t hi = p->vars.at[find(p, "n")].hi;
    arena_drop(&arena);
    return hi;
}

static const int64_t mib = 1 << 20;

T_TEST(a_product_is_bounded_by_its_assert)
{
    CHECK_EQ_INT(most("", "a * b"), mib * mib);
    CHECK_EQ_INT(most("    assert a * b <= 4096, \"\"\n", "a * b"), 4096);
    CHECK_EQ_INT(most("    assert b * a < 4096, \"\"\n", "a * 8 * b"), 8 * 4095);
    CHECK_EQ_INT(most("    assert 4096 >= 3 * a * b, \"\"\n", "b * a"), 1365);
    CHECK_EQ_INT(most("    assert a * b <= 4096, \"\"\n", "a * b * c"), 4096 * mib);
    CHECK_EQ_INT(most("    assert a * b * c <= 4096, \"\"\n", "(a * c) * b"), 4096);
    CHECK_EQ_INT(most("    assert a * b * c <= 4096, \"\"\n", "a * b"), 2048); /* c is at least 2 */
    CHECK_EQ_INT(most("    assert a <= 7 and b == 5, \"\"\n", "a * b"), 35);
}

T_TEST(a_sum_bounds_each_of_its_terms)
{
    const char *sum = "    assert a * b + c <= 4096, \"\"\n";
    CHECK_EQ_INT(most(sum, "a * b"), 4094);
    CHECK_EQ_INT(most(sum, "c"), 4095);
    CHECK_EQ_INT(most("    assert a * b <= 4096 + c, \"\"\n", "a * b"), 4096 + mib);
}

T_TEST(a_bound_goes_through_what_the_host_computes)
{
    const char *named = "    m = a * b\n    assert m <= 4096, \"\"\n";
    CHECK_EQ_INT(most(named, "m"), 4096);
    CHECK_EQ_INT(most(named, "m * 2 + 1"), 8193);
    CHECK_EQ_INT(most(named, "ceildiv(a * b, 64)"), 64);
    CHECK_EQ_INT(most("    assert ceildiv(a * b, 8) * c <= 64, \"\"\n", "c * ceildiv(a * b, 8)"),
                 64);
    CHECK_EQ_INT(most("    m = choose(\"m\", [4, 8])\n    assert m * a <= 64, \"\"\n", "a * m"),
                 64);
}

T_TEST(other_asserts_say_nothing_of_a_product)
{
    CHECK_EQ_INT(most("    assert c <= 4096, \"\"\n", "a * b"), mib * mib);
    CHECK_EQ_INT(most("    assert a * b != 4096, \"\"\n", "a * b"), mib * mib);
    CHECK_EQ_INT(most("    assert a * b >= 4096, \"\"\n", "a * b"), mib * mib);
    CHECK_EQ_INT(most("    assert a - b <= 4096, \"\"\n", "a * b"), mib * mib);
    CHECK_EQ_INT(most("    assert a * b <= 4096 or c > 2, \"\"\n", "a * b"), mib * mib);
}

/* An assert in one branch does not hold in the other. */
T_TEST(an_assert_of_one_way_bounds_nothing)
{
    CHECK_EQ_INT(most("    if c > 8:\n        assert a * b <= 4096, \"\"\n", "a * b"), mib * mib);
}

/* A division before the assert is not proved by it. */
T_TEST(the_host_itself_is_proved_without_its_asserts)
{
    Arena arena = {0};
    IrReport report;
    IrProgram *p = program(&arena, "    q = a // (64 - b)\n    assert b <= 63, \"\"\n", "q");
    Diag diag = diag_make(&arena, "text", (Str){0});
    ir_annotate_launched(p, chip());
    ir_prove(&arena, p, chip(), &report, &diag);
    bool watched = false;
    for (uint32_t i = 0; i < report.items.len; i++)
        watched = watched || (report.items.at[i].kind == IR_PROOF_OVERFLOW &&
                              report.items.at[i].state == IR_WATCHED);
    CHECK(watched);
    arena_drop(&arena);
}
