/* Rules of the language that are easier to say as code lists than as golden files: small
 * programs around one statement, each with the codes it is refused with. */
#include "tests/craft/help.h"

#include "tests/t.h"

/* A kernel with the given lines, each already indented by four blanks. */
static const char *kernel_codes(Arena *arena, const char *lines)
{
    const char *text = str_format(
        arena,
        "craft = 1\nn = dim(1, 64)\nm = dim(1, 64)\n@host\n"
        "def op(x: gm[f32, n, m], i: gm[i32, n], y: out[f32, n]):\n    k[1](x, i, y)\n"
        "@kernel\ndef k(x: gm[f32, n, m], i: gm[i32, n], y: out[f32, n]):\n"
        "    a, b = ub(f32, 64), ub(f32, 64)\n    g = ub(f32, 8, 64)\n%s",
        lines);
    return help_codes(arena, str_from(text));
}

#define REFUSED(lines, codes) CHECK_EQ_STR(kernel_codes(&arena, lines), codes)
#define ACCEPTED(lines) REFUSED(lines, "")

T_TEST(sema_equal_sizes_are_polynomials)
{
    Arena arena = {0};
    ACCEPTED("    for j in range(4):\n        with copyin():\n"
             "            load(a[:8], x[0, j * 8 : j * 8 + 8])\n");
    ACCEPTED("    lo = n * 2\n    hi = lo + m\n    with copyin():\n"
             "        load(a[:m], flat(x)[lo:hi])\n");
    ACCEPTED("    with copyin():\n        load(g[:n - (n - 2), :m], x[1:3, :])\n");
    REFUSED("    with copyin():\n        load(a[:n], x[0, :])\n", "E031");
    REFUSED("    k2 = n\n    k2 = k2 + 1\n    with copyin():\n        load(a[:k2], x[0, 0:n])\n",
            "E031");
    ACCEPTED("    with compute():\n        a[: min(n, m)] = b[: min(n, m)]\n");
    REFUSED("    with compute():\n        a[: min(n, m)] = b[: min(m, n)]\n", "E031");
    arena_drop(&arena);
}

T_TEST(sema_scalars_are_typed_once)
{
    Arena arena = {0};
    ACCEPTED("    s = 0.0\n    s = 1\n    s = s + 2\n");
    REFUSED("    s = 0\n    s = 1.0\n", "E033");
    REFUSED("    s = 1.0\n    s = n\n", "E033");
    REFUSED("    s = True\n    s = 1\n", "E033");
    ACCEPTED("    s = f32(n)\n    p = i64(s) + n\n");
    REFUSED("    s = -True\n", "E033");
    REFUSED("    s = 1 < 2.0 and 3 < n\n    s = 4\n", "E033");
    arena_drop(&arena);
}

T_TEST(sema_assigned_on_every_path)
{
    Arena arena = {0};
    ACCEPTED("    if n > 1:\n        s = 1\n    else:\n        s = 2\n    p = s\n");
    REFUSED("    if n > 1:\n        s = 1\n    p = s\n", "E023");
    REFUSED("    for j in range(n):\n        s = 1\n    p = s\n", "E023");
    ACCEPTED("    s = 0\n    for j in range(n):\n        s = s + j\n    p = s\n");
    REFUSED("    for j in range(n):\n        q = s\n        s = 1\n", "E020");
    ACCEPTED("    if 1 < 2:\n        s = 1\n    p = s\n");
    arena_drop(&arena);
}

T_TEST(sema_branches_not_taken_read_nothing)
{
    Arena arena = {0};
    ACCEPTED("    s = x[0, 5] if m > 5 else 0.0\n    t = m > 6 and x[0, 6] > 1.0\n");
    ACCEPTED("    s = i[0] if n > 5 else i[0] + 1\n");
    REFUSED("    s = x[0, 5] if m > 5 else 1 < 2\n", "E033");
    arena_drop(&arena);
}

T_TEST(sema_names_end_with_their_block)
{
    Arena arena = {0};
    REFUSED("    for t in tiles(n, 8):\n        pass\n    s = t.size\n", "E024");
    ACCEPTED("    for t in tiles(n, 8):\n        pass\n    for t in tiles(m, 8):\n        pass\n");
    REFUSED("    for t in tiles(n, 8):\n        for t in tiles(m, 8):\n            pass\n", "E022");
    REFUSED(
        "    for j in range(4):\n        v = view(a[:8])\n    with compute():\n        a[:8] = v\n",
        "E024");
    arena_drop(&arena);
}

T_TEST(sema_views_keep_rank)
{
    Arena arena = {0};
    ACCEPTED(
        "    with compute():\n        g[3] = a\n        g[3, :8] = a[:8]\n        g[1:3] = 0.0\n");
    REFUSED("    with compute():\n        g = a\n", "E032");
    REFUSED("    with compute():\n        a = g[:8, 0]\n", "E071");
    ACCEPTED("    v = view(g[2:4, 8:24])\n    w = view(v[1])\n    with compute():\n"
             "        w[:8] = v[0, 8:16]\n");
    REFUSED("    v = view(a[:8])\n    with compute():\n        v = a[:16]\n", "E031");
    arena_drop(&arena);
}

T_TEST(sema_work_is_split_once)
{
    Arena arena = {0};
    REFUSED("    for r in mine(n):\n        for t in mine(tiles(m, 8)):\n            pass\n",
            "E062");
    REFUSED("    part = share(n)\n    for t in tiles(part, 8):\n        for r in cyclic(m):\n"
            "            pass\n",
            "E062");
    ACCEPTED("    for r in mine(n):\n        pass\n    sync_all()\n    for r in mine(m):\n        "
             "pass\n");
    REFUSED("    for r in mine(n):\n        sync_all()\n", "E044");
    arena_drop(&arena);
}

T_TEST(sema_operations_know_their_dtypes)
{
    Arena arena = {0};
    ACCEPTED("    h = ub(bf16, 64)\n    with compute():\n        h = exp(h) * 2.0 + h\n");
    ACCEPTED("    c = ub(i8, 64)\n    with compute():\n        c = c + 100\n");
    REFUSED("    c = ub(i8, 64)\n    with compute():\n        c = c + 200\n", "E033");
    REFUSED("    w = ub(i64, 64)\n    with compute():\n        w = w * 2\n", "E080");
    ACCEPTED("    w = ub(i64, 64)\n    with compute():\n        w = 7\n        w = cast(a, i64)\n");
    REFUSED("    c = ub(u8, 64)\n    with compute():\n        c = exp(c)\n", "E080");
    REFUSED("    c = ub(f64, 8)\n", "E080");
    arena_drop(&arena);
}

/* ---- limits ---- */

T_TEST(sema_limits_end_the_work)
{
    Arena arena = {0};
    Buf text = {0};
    for (int i = 0; i < 3000; i++)
        buf_puts(&text, "(");
    CHECK_EQ_STR(help_codes(&arena, buf_view(&text)), "E007 E008");
    buf_clear(&text);
    for (int i = 0; i < 200; i++) {
        buf_fill(&text, ' ', (size_t)i);
        buf_puts(&text, "if a:\n");
    }
    CHECK(str_starts(str_from(help_codes(&arena, buf_view(&text))), "E0"));
    buf_clear(&text);
    buf_puts(&text, "x = ");
    for (int i = 0; i < 5000; i++)
        buf_puts(&text, "-");
    buf_puts(&text, "1\n");
    CHECK_EQ_STR(help_codes(&arena, buf_view(&text)), "E007");
    buf_free(&text);
    arena_drop(&arena);
}

T_TEST(sema_refuses_what_is_no_text)
{
    Arena arena = {0};
    CHECK_EQ_STR(help_codes(&arena, STR("craft = 1\n\xff\xfe")), "E001");
    CHECK_EQ_STR(help_codes(&arena, (Str){"a\0b\n", 4}), "E001");
    arena_drop(&arena);
}

T_TEST(sema_variants_count)
{
    Arena arena = {0};
    Str text = STR("craft = 1\nA = dtype(f32, f16)\nB = dtype(i32, i16, i8)\n");
    Diag diag = diag_make(&arena, "text", text);
    CHECK_EQ_INT(craft_variant_count(craft_read(&arena, "text", text, &diag)), 6);
    arena_drop(&arena);
}

T_TEST(sema_every_variant_with_errors_is_refused)
{
    Arena arena = {0};
    Str text = STR("craft = 1\nT = dtype(f32, f16)\nn = dim(1, 8)\n@host\n"
                   "def op(x: gm[T, n], y: out[T, n]):\n    k[1](x, y)\n"
                   "@kernel\ndef k(x: gm[T, q], y: out[T, n]):\n    pass\n");
    Diag diag = diag_make(&arena, "text", text);
    CraftFile *file = craft_read(&arena, "text", text, &diag);
    CHECK(craft_program(&arena, file, 0, &diag) == NULL);
    CHECK(craft_program(&arena, file, 1, &diag) == NULL);
    CHECK_EQ_INT(diag.errors, 1); /* said once */
    arena_drop(&arena);
}

T_TEST(sema_bad_sizes_are_reported_once)
{
    Arena arena = {0};
    CHECK_EQ_STR(help_codes(&arena, STR("craft = 1\nn = dim(8, 1)\n@host\n"
                                        "def op(x: gm[f32, n], y: out[f32, n]):\n    k[1](x, y)\n"
                                        "@kernel\ndef k(x: gm[f32, n], y: out[f32, n]):\n"
                                        "    pass\n")),
                 "E037");
    arena_drop(&arena);
}
