/* Which programs are known to do the same whatever their values: none that an integer in memory, a
 * truncated float or a compared float could lead elsewhere. */
#include "eval/eval_int.h"

#include "craft/craft.h"
#include "tests/t.h"

/* A kernel on `cores` that reads one element of `from` before its loop, with `type` tensors there. */
static bool is_steady_on(const char *cores, const char *type, const char *read, const char *loop)
{
    Arena arena = {0};
    const char *text = str_format(
        &arena,
        "craft = 1\n\nn0 = dim(256, 4096)\n\n@host\n"
        "def f(x0: gm[f32, n0], x1: gm[%s, n0], y0: out[f32, n0]):\n    f_rows[%s](x0, x1, y0)\n\n"
        "@kernel\n"
        "def f_rows(x0: gm[f32, n0], x1: gm[%s, n0], y0: out[f32, n0]):\n"
        "    a = ub(f32, 128)\n    b = ub(f32, 128)\n"
        "    %s\n    for t in tiles(n0, 128):\n"
        "        with copyin():\n            load(a[:t.size], x0[t])\n"
        "        with compute():\n            %s\n"
        "        with copyout():\n            store(y0[t], b[:t.size])\n",
        type, cores, type, read, loop);
    Diag diag = diag_make(&arena, "f.craft", str_from(text));
    CraftFile *file = craft_read(&arena, "f.craft", str_from(text), &diag);
    IrProgram *p = file && diag_ok(&diag) ? craft_program(&arena, file, 0, &diag) : NULL;
    CHECK_MSG(p != NULL, "%s", diag.items.len ? diag.items.at[0].text : "not read");
    bool steady = p && eval_is_steady(p);
    arena_drop(&arena);
    return steady;
}

static bool is_steady(const char *type, const char *read, const char *loop)
{
    return is_steady_on("1", type, read, loop);
}

T_TEST(steady_where_values_stay_values)
{
    CHECK(is_steady("f32", "s = x1[0]", "b[:t.size] = a[:t.size] * s"));
    CHECK(is_steady("f32", "s = x1[0] * 2.0", "b[:t.size] = exp(a[:t.size])"));
}

T_TEST(steady_is_not_known_of_integers)
{
    CHECK(!is_steady("i32", "s = 1.0", "b[:t.size] = a[:t.size] * s"));
    CHECK(!is_steady("i32", "s = f32(x1[0])", "b[:t.size] = a[:t.size] * s"));
}

T_TEST(steady_is_not_known_where_floats_decide)
{
    CHECK(!is_steady("f32", "s = x1[0]", "b[:t.size] = a[:t.size] * (1.0 if s > 0.0 else 2.0)"));
    CHECK(!is_steady("f32", "s = x1[i64(x1[0])]", "b[:t.size] = a[:t.size] * s"));
    CHECK(!is_steady("f32", "s = x1[0] * 2.0", "b[:t.size] = a[:t.size] * f32(i64(s * 3.0))"));
}

T_TEST(steady_where_floats_of_sizes_decide)
{
    const char *cores = "max(1, min(chip.cores, i64(sqrt(f32(n0) * 0.01))))";
    CHECK(is_steady_on(cores, "f32", "s = x1[0]", "b[:t.size] = a[:t.size] * s"));
    CHECK(!is_steady_on(cores, "f32", "s = x1[i64(x1[0])]", "b[:t.size] = a[:t.size] * s"));
}
