/* Which storage buffers get, and where their slots are taken and given back. */
#include "tests/lower/help.h"
#include "tests/t.h"
#include <string.h>

#define HEAD                                   \
    "craft = 1\n"                              \
    "n = dim(1, 1048576)\n"                    \
    "@host\n"                                  \
    "def op(x: gm[f32, n], y: out[f32, n]):\n" \
    "    k[chip.cores](x, y)\n"                \
    "@kernel\n"                                \
    "def k(x: gm[f32, n], y: out[f32, n]):\n"

static AscProgram *lowered(Arena *arena, const char *text)
{
    const char *said = "";
    AscProgram *p = help_lower(arena, text, LOWER_ALIGN, &said);
    CHECK_MSG(p, "%s", said);
    REQUIRE(p);
    return p;
}

T_TEST(loads_stores_and_scratch_have_their_own_storage)
{
    Arena arena = {0};
    AscProgram *p = lowered(&arena, HEAD "    a = ub(f32, 64, depth=2)\n"
                                         "    b = ub(f32, 64, depth=2)\n"
                                         "    s = ub(f32, 64)\n"
                                         "    for t in mine(tiles(n, 64)):\n"
                                         "        with copyin():\n"
                                         "            load(a[:t.size], x[t])\n"
                                         "        with compute():\n"
                                         "            s[:t.size] = exp(a[:t.size])\n"
                                         "            b[:t.size] = s[:t.size] + 1.0\n"
                                         "        with copyout():\n"
                                         "            store(y[t], b[:t.size])\n");
    CHECK_EQ_INT(help_buffer(p, "a")->storage, ASC_QUE_IN);
    CHECK_EQ_INT(help_buffer(p, "b")->storage, ASC_QUE_OUT);
    CHECK_EQ_INT(help_buffer(p, "s")->storage, ASC_TBUF);
    CHECK_EQ_INT(help_count(p, 0, ASC_S_ALLOC), 0);
    CHECK_EQ_INT(help_count(p, UINT32_MAX, ASC_S_ALLOC), 2);
    CHECK_EQ_INT(help_count(p, UINT32_MAX, ASC_S_FREE), 2);
    CHECK_EQ_INT(help_count(p, UINT32_MAX, ASC_S_FLAG), 0);
    arena_drop(&arena);
}

T_TEST(a_value_used_in_a_loop_keeps_its_slot_outside)
{
    Arena arena = {0};
    AscProgram *p = lowered(&arena, HEAD "    g = ub(f32, 64)\n"
                                         "    b = ub(f32, 64, depth=2)\n"
                                         "    with copyin():\n"
                                         "        load(g[:1], x[0:1])\n"
                                         "    for i in mine(n):\n"
                                         "        with compute():\n"
                                         "            b[:1] = g[:1] * 2.0\n"
                                         "        with copyout():\n"
                                         "            store(y[i:i + 1], b[:1])\n");
    CHECK_EQ_INT(help_count(p, 0, ASC_S_DEQUE), 1);
    CHECK_EQ_INT(help_count(p, 0, ASC_S_FREE), 1);
    arena_drop(&arena);
}

/* Constants that Process gives a scalar of that name. */
static uint32_t constants_of(const AscProgram *p, const AscBlock *block, const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &p->stmts.at[block->at[i]];
        n += s->kind == ASC_S_SET && p->ir->exprs.at[s->value].op == IR_E_FLOAT &&
             !strcmp(p->ir->vars.at[s->var].name, name);
        n += constants_of(p, &s->body, name) + constants_of(p, &s->orelse, name);
    }
    return n;
}

T_TEST(loads_ahead_leave_the_sum_of_a_turn_alone)
{
    Arena arena = {0};
    AscProgram *p = lowered(&arena, HEAD "    a = ub(f32, 64, depth=2)\n"
                                         "    b = ub(f32, 64, depth=2)\n"
                                         "    for i in mine(n):\n"
                                         "        all = 0.0\n"
                                         "        for t in tiles(n, 64):\n"
                                         "            with copyin():\n"
                                         "                load(a[:t.size], x[t])\n"
                                         "            with compute():\n"
                                         "                all = all + reduce_sum(a[:t.size])\n"
                                         "        with compute():\n"
                                         "            b[:1] = all\n"
                                         "        with copyout():\n"
                                         "            store(y[i:i + 1], b[:1])\n");
    CHECK_EQ_INT(constants_of(p, &p->kernels.at[0].functions.at[0].body, "all"), 1);
    arena_drop(&arena);
}

T_TEST(a_ring_of_rows_is_ordered_by_flags)
{
    Arena arena = {0};
    AscProgram *p = lowered(&arena, HEAD "    ring = ub(f32, 4, 8)\n"
                                         "    b = ub(f32, 8)\n"
                                         "    with compute():\n"
                                         "        ring[:4, :8] = 0.0\n"
                                         "    for i in range(n):\n"
                                         "        with copyin():\n"
                                         "            load(ring[i % 4, :1], x[i:i + 1])\n"
                                         "        with compute():\n"
                                         "            b[:8] = col_sum(ring[:4, :8])\n"
                                         "        with copyout():\n"
                                         "            store(y[i:i + 1], b[:1])\n");
    CHECK_EQ_INT(help_buffer(p, "ring")->storage, ASC_TBUF);
    CHECK_EQ_INT(help_count(p, UINT32_MAX, ASC_S_FLAG), 2);
    CHECK_EQ_INT(help_buffer(p, "b")->storage, ASC_QUE_OUT);
    arena_drop(&arena);
}

T_TEST(updated_in_place_is_a_bound_queue)
{
    Arena arena = {0};
    AscProgram *p = lowered(&arena, HEAD "    a = ub(f32, 64, depth=2)\n"
                                         "    for t in mine(tiles(n, 64)):\n"
                                         "        with copyin():\n"
                                         "            load(a[:t.size], x[t])\n"
                                         "        with compute():\n"
                                         "            a[:t.size] = a[:t.size] + 1.0\n"
                                         "        with copyout():\n"
                                         "            store(y[t], a[:t.size])\n");
    CHECK_EQ_INT(help_buffer(p, "a")->storage, ASC_QUE_BIND);
    CHECK_EQ_INT(help_count(p, UINT32_MAX, ASC_S_ENQUE), 2);
    CHECK_EQ_INT(help_count(p, UINT32_MAX, ASC_S_DEQUE), 2);
    arena_drop(&arena);
}

T_TEST(scratch_with_disjoint_lives_is_shared)
{
    Arena arena = {0};
    AscProgram *p = lowered(&arena, HEAD "    a = ub(f32, 64)\n"
                                         "    b = ub(f32, 64)\n"
                                         "    c = ub(f32, 64)\n"
                                         "    d = ub(f32, 64)\n"
                                         "    for t in mine(tiles(n, 64)):\n"
                                         "        with copyin():\n"
                                         "            load(a[:t.size], x[t])\n"
                                         "        with compute():\n"
                                         "            b[:t.size] = exp(a[:t.size])\n"
                                         "            d[:t.size] = b[:t.size] + 1.0\n"
                                         "            c[:t.size] = exp(d[:t.size])\n"
                                         "            d[:t.size] = c[:t.size] + 1.0\n"
                                         "        with copyout():\n"
                                         "            store(y[t], d[:t.size])\n");
    CHECK(help_buffer(p, "b") == help_buffer(p, "c"));
    CHECK(help_buffer(p, "a") != help_buffer(p, "d"));
    arena_drop(&arena);
}

T_TEST(proven_blocks_are_copied_plainly)
{
    Arena arena = {0};
    const char *text = "craft = 1\n"
                       "n = dim(64, 1048576, 64)\n"
                       "@host\n"
                       "def op(x: gm[f32, n], y: out[f32, n]):\n"
                       "    k[chip.cores](x, y)\n"
                       "@kernel\n"
                       "def k(x: gm[f32, n], y: out[f32, n]):\n"
                       "    a = ub(f32, 64)\n"
                       "    for t in mine(tiles(n, 64)):\n"
                       "        with copyin():\n"
                       "            load(a[:t.size], x[t])\n"
                       "        with copyout():\n"
                       "            store(y[t], a[:t.size])\n";
    AscProgram *p = lowered(&arena, text);
    uint32_t copies = 0;
    for (uint32_t i = 1; i < p->stmts.len; i++) {
        if (p->stmts.at[i].kind != ASC_S_COPY)
            continue;
        copies++;
        CHECK_EQ_INT(p->stmts.at[i].copy.form, ASC_COPY_PLAIN);
    }
    CHECK_EQ_INT(copies, 2);
    arena_drop(&arena);
}

T_TEST(unproven_lengths_are_padded)
{
    Arena arena = {0};
    AscProgram *p = lowered(&arena, HEAD "    a = ub(f32, 64)\n"
                                         "    for t in mine(tiles(n, 64)):\n"
                                         "        with copyin():\n"
                                         "            load(a[:t.size], x[t])\n"
                                         "        with copyout():\n"
                                         "            store(y[t], a[:t.size])\n");
    for (uint32_t i = 1; i < p->stmts.len; i++)
        if (p->stmts.at[i].kind == ASC_S_COPY)
            CHECK_EQ_INT(p->stmts.at[i].copy.form, ASC_COPY_PAD);
    arena_drop(&arena);
}

/* Tiles that are used narrower than declared, all at the same width: rows lie at that width, and comparing
 * and selecting is one call each for all rows. A mask that some statement sees by rows keeps gaps. */
#define TILES                                        \
    "craft = 1\n"                                    \
    "n = dim(1, 1000)\n"                             \
    "@host\n"                                        \
    "def op(x: gm[f32, n, n], y: out[f32, n, n]):\n" \
    "    k[chip.cores](x, y)\n"                      \
    "@kernel\n"                                      \
    "def k(x: gm[f32, n, n], y: out[f32, n, n]):\n"  \
    "    a = ub(f32, 4, 1000, depth=2)\n"            \
    "    b = ub(f32, 4, 1000, depth=2)\n"            \
    "    m = mask(4, 1000)\n"                        \
    "    for r in mine(tiles(n, 4)):\n"              \
    "        with copyin():\n"                       \
    "            load(a[:r.size, :n], x[r, :])\n"    \
    "        with compute():\n"
#define TILES_END               \
    "        with copyout():\n" \
    "            store(y[r, :], b[:r.size, :n])\n"

T_TEST(rows_of_one_width_are_one_run)
{
    Arena arena = {0};
    AscProgram *p = lowered(
        &arena, TILES
        "            m[:r.size, :n] = a[:r.size, :n] > 0.0\n"
        "            b[:r.size, :n] = where(m[:r.size, :n], a[:r.size, :n], 1.0)\n" TILES_END);
    CHECK_EQ_INT(help_count(p, UINT32_MAX, ASC_S_FOR), 1); /* that of the tiles */
    p = lowered(&arena,
                TILES "            m[:r.size, :n] = a[:r.size, :n] > 0.0\n"
                      "            b[:r.size, :n] = where(m[:r.size, :n], a[:r.size, :n], 1.0)\n"
                      "            m[0, :n] = a[0, :n] > 1.0\n"
                      "            b[0, :n] = where(m[0, :n], a[0, :n], 2.0)\n" TILES_END);
    CHECK(help_count(p, UINT32_MAX, ASC_S_FOR) > 1);
    arena_drop(&arena);
}

T_TEST(rows_of_two_widths_stay_where_they_are)
{
    Arena arena = {0};
    AscProgram *p = lowered(&arena,
                            TILES "            b[:r.size, :n] = a[:r.size, :n] + 1.0\n"
                                  "            b[:r.size, :8] = exp(b[:r.size, :8])\n" TILES_END);
    CHECK(help_count(p, UINT32_MAX, ASC_S_FOR) > 1);
    arena_drop(&arena);
}

/* Columns of a tile in another dtype: a repeat for each row, not a call. */
T_TEST(columns_are_cast_row_by_row_in_one_call)
{
    Arena arena = {0};
    AscProgram *p = lowered(&arena, "craft = 1\n"
                                    "n = dim(1, 1000)\n"
                                    "@host\n"
                                    "def op(x: gm[f16, n, 128], y: out[f32, n, 64]):\n"
                                    "    k[chip.cores](x, y)\n"
                                    "@kernel\n"
                                    "def k(x: gm[f16, n, 128], y: out[f32, n, 64]):\n"
                                    "    a = ub(f16, 40, 128, depth=2)\n"
                                    "    b = ub(f32, 40, 64, depth=2)\n"
                                    "    for r in mine(tiles(n, 40)):\n"
                                    "        with copyin():\n"
                                    "            load(a[:r.size, :], x[r, :])\n"
                                    "        with compute():\n"
                                    "            b[:r.size, :] = cast(a[:r.size, 64 : 128], f32)\n"
                                    "        with copyout():\n"
                                    "            store(y[r, :], b[:r.size, :])\n");
    uint32_t casts = 0;
    for (uint32_t i = 0; i < p->stmts.len; i++)
        casts += p->stmts.at[i].kind == ASC_S_CALL && p->stmts.at[i].api == ASC_CAST &&
                 p->stmts.at[i].repeat != 0;
    CHECK_EQ_INT(casts, 1);
    arena_drop(&arena);
}
