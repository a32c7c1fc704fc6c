/* What the checker proves, leaves to be checked at run time, and refuses: one small kernel for each. */
#include "craft/craft.h"

#include "ir/prove.h"
#include "tests/t.h"

typedef struct Checked {
    IrReport report;
    Diag diag;
} Checked;

static Checked check_text(Arena *arena, const char *text)
{
    Checked c = {.diag = diag_make(arena, "t.craft", str_from(text))};
    CraftFile *file = craft_read(arena, "t.craft", str_from(text), &c.diag);
    IrProgram *p = file ? craft_program(arena, file, 0, &c.diag) : NULL;
    CHECK_MSG(p, "%s", c.diag.items.len ? c.diag.items.at[0].text : "no program");
    REQUIRE(p);
    ir_prove(arena, p, npu_chip_find(STR("910B2")), &c.report, &c.diag);
    return c;
}

/* A kernel body under a fixed head. */
static Checked check(Arena *arena, const char *body)
{
    const char *text = str_format(
        arena,
        "craft = 1\nrows = dim(1, 65536)\ncols = dim(1, 65536)\n\n@host\n"
        "def op(x: gm[f32, rows, cols], y: out[f32, rows, cols]):\n"
        "    tile = choose(\"tile\", [1024, 2048])\n"
        "    k[min(rows, chip.cores)](x, y, tile)\n\n@kernel\n"
        "def k(x: gm[f32, rows, cols], y: out[f32, rows, cols], tile: i32):\n%s",
        body);
    return check_text(arena, text);
}

static bool said(const Checked *c, const char *code)
{
    for (uint32_t i = 0; i < c->diag.items.len; i++)
        if (str_is(str_from(c->diag.items.at[i].code), code))
            return true;
    return false;
}

#define BUFFERS "    a = ub(f32, tile, depth=2)\n"
#define ROWS "    for r in mine(rows):\n"
#define TILES "        for t in tiles(cols, tile):\n"
#define LOAD "            with copyin():\n                load(a[:t.size], x[r, t])\n"
#define STORE "            with copyout():\n                store(y[r, t], a[:t.size])\n"
#define COPY LOAD STORE
#define CHECKED(body)  \
    Arena arena = {0}; \
    Checked c = check(&arena, body)

T_TEST(prove_a_row_copy_entirely)
{
    CHECKED(BUFFERS ROWS TILES COPY);
    CHECK(c.report.count[IR_PROVED] > 10);
    CHECK_EQ_INT(c.report.count[IR_WATCHED], 0);
    CHECK_EQ_INT(c.report.count[IR_REFUSED], 0);
    CHECK_EQ_INT(c.report.ub_peak, 2 * 2048 * 4);
    arena_drop(&arena);
}

T_TEST(prove_refuses_work_that_nothing_splits)
{
    CHECKED(BUFFERS "    for r in range(rows):\n" TILES COPY);
    CHECK(said(&c, "E107"));
    arena_drop(&arena);
}

T_TEST(prove_watches_a_loop_that_writes_again)
{
    CHECKED(BUFFERS ROWS "      for again in range(2):\n" TILES COPY);
    CHECK(said(&c, "W107"));
    arena_drop(&arena);
}

T_TEST(prove_watches_a_tile_that_may_leave_the_row)
{
    CHECKED(BUFFERS ROWS "        for i in range(ceildiv(cols, tile)):\n"
                         "            with copyin():\n"
                         "                load(a, x[r, i * tile:i * tile + tile])\n"
                         "            with copyout():\n"
                         "                store(y[r, i * tile:i * tile + tile], a)\n");
    CHECK(said(&c, "W101"));
    CHECK(said(&c, "W106"));
    arena_drop(&arena);
}

T_TEST(prove_refuses_an_index_past_the_end)
{
    CHECKED(BUFFERS ROWS "        i = rows * 2\n" TILES "            with copyin():\n"
                         "                load(a[:t.size], x[r + i, t])\n" STORE);
    CHECK(said(&c, "E101"));
    arena_drop(&arena);
}

T_TEST(prove_refuses_buffers_that_do_not_fit)
{
    CHECKED("    a = ub(f32, 30000, depth=2)\n" ROWS TILES COPY);
    CHECK(said(&c, "E105"));
    arena_drop(&arena);
}

T_TEST(prove_refuses_reading_what_nobody_wrote)
{
    CHECKED(BUFFERS ROWS TILES STORE);
    CHECK(said(&c, "E108"));
    arena_drop(&arena);
}

T_TEST(prove_refuses_a_sync_that_not_all_cores_reach)
{
    CHECKED(BUFFERS "    if core_id() == 0:\n        sync_all()\n" ROWS TILES COPY);
    CHECK(said(&c, "E109"));
    arena_drop(&arena);
}

T_TEST(prove_tiles_taken_from_the_end)
{
    CHECKED(BUFFERS ROWS TILES
            "            with copyin():\n"
            "                load(a[:t.size], x[r, cols - t.stop:cols - t.start])\n"
            "            with copyout():\n"
            "                store(y[r, cols - t.stop:cols - t.start], a[:t.size])\n");
    CHECK_EQ_INT(c.report.count[IR_WATCHED] + c.report.count[IR_REFUSED], 0);
    arena_drop(&arena);
}

T_TEST(prove_rows_of_tiles_of_equal_shares)
{
    CHECKED(BUFFERS "    part = share(rows, 64)\n"
                    "    for q in tiles(part, 8):\n"
                    "      for r in range(q.start, q.stop):\n" TILES COPY);
    CHECK_EQ_INT(c.report.count[IR_WATCHED] + c.report.count[IR_REFUSED], 0);
    arena_drop(&arena);
}

T_TEST(prove_both_branches_of_a_condition)
{
    CHECKED(BUFFERS ROWS TILES LOAD "            if r > 3:\n"
                                    "                with copyout():\n"
                                    "                    store(y[r, t], a[:t.size])\n"
                                    "            else:\n"
                                    "                with copyout():\n"
                                    "                    store(y[r, t], a[:t.size])\n");
    CHECK_EQ_INT(c.report.count[IR_WATCHED] + c.report.count[IR_REFUSED], 0);
    arena_drop(&arena);
}

T_TEST(prove_watches_one_branch_of_a_condition)
{
    CHECKED(BUFFERS ROWS TILES LOAD "            if r > 3:\n"
                                    "                with copyout():\n"
                                    "                    store(y[r, t], a[:t.size])\n");
    CHECK(said(&c, "W106"));
    arena_drop(&arena);
}

T_TEST(prove_watches_a_view_that_may_start_anywhere)
{
    CHECKED(BUFFERS ROWS "        for i in range(3):\n"
                         "            with compute():\n"
                         "                a[i:i + 8] = 0.0\n");
    CHECK(said(&c, "W104"));
    CHECK(said(&c, "E106"));
    arena_drop(&arena);
}

/* A scalar that changes is another scalar afterwards: nothing known of the old one helps. */
T_TEST(prove_forgets_a_scalar_that_changes)
{
    CHECKED("    a = ub(f32, 64)\n    at = 0\n" ROWS "        if min(max(at, 0), 50) < cols:\n"
            "            at = at + 5\n"
            "            with copyin():\n"
            "                load(a[:1], x[r, min(max(at, 0), 50):min(max(at, 0), 50) + 1])\n");
    CHECK(said(&c, "W101"));
    arena_drop(&arena);
}

T_TEST(prove_forgets_views_of_a_scalar_that_changes)
{
    CHECKED("    a = ub(f32, 64)\n    at = 8\n    s = 0.0\n" ROWS
            "        with compute():\n            a[:min(max(at, 1), 64)] = 1.0\n"
            "        at = at + 8\n"
            "        with compute():\n            s = s + reduce_sum(a[:min(max(at, 1), 64)])\n");
    CHECK(said(&c, "W108"));
    arena_drop(&arena);
}

/* The second round reads what the load of the first has lost behind its last element. */
T_TEST(prove_remembers_what_an_earlier_iteration_spoiled)
{
    CHECKED("    a = ub(f32, 64)\n    s = 0.0\n    with compute():\n        a = 0.0\n" ROWS
            "        with compute():\n            s = s + reduce_sum(a)\n"
            "        with copyin():\n            load(a[:1], x[r, 0:1])\n");
    CHECK(said(&c, "W108"));
    arena_drop(&arena);
}

/* Two kernels over one workspace of [chip.cores, 8]: what the first writes, the second reads. */
static Checked check_two(Arena *arena, const char *first, const char *second)
{
    return check_text(
        arena, str_format(arena,
                          "craft = 1\nn = dim(1, 65536)\n\n@host\n"
                          "def op(x: gm[f32, n], y: out[f32, 1]):\n"
                          "    w = workspace(f32, chip.cores, 8)\n"
                          "    one[chip.cores](x, w, chip.cores)\n    two[1](w, y, chip.cores)\n\n"
                          "@kernel\ndef one(x: gm[f32, n], w: ws[f32, cores, 8], cores: i32):\n%s\n"
                          "@kernel\ndef two(w: ws[f32, cores, 8], y: out[f32, 1], cores: i32):\n"
                          "    s = 0.0\n    for c in range(cores):\n        s += w[c, %s]\n"
                          "    with copyout():\n        y[0] = s\n",
                          first, second));
}

T_TEST(prove_slots_that_an_earlier_launch_wrote)
{
    Arena arena = {0};
    Checked c = check_two(&arena, "    with copyout():\n        w[core_id(), 0] = 1.0\n", "0");
    CHECK_EQ_INT(c.report.count[IR_WATCHED], 0);
    CHECK_EQ_INT(c.report.count[IR_REFUSED], 0);
    arena_drop(&arena);
}

T_TEST(prove_watches_slots_that_only_some_wrote)
{
    Arena arena = {0};
    Checked c = check_two(&arena, "    with copyout():\n        w[core_id(), 0] = 1.0\n", "1");
    CHECK(said(&c, "W108"));
    c = check_two(&arena,
                  "    if x[0] > 0.0:\n        with copyout():\n"
                  "            w[core_id(), 0] = 1.0\n",
                  "0");
    CHECK(said(&c, "W108"));
    arena_drop(&arena);
}

T_TEST(prove_refuses_a_workspace_that_nobody_wrote)
{
    Arena arena = {0};
    Checked c = check_two(&arena, "    s = x[0]\n", "0");
    CHECK(said(&c, "E108"));
    arena_drop(&arena);
}

T_TEST(prove_takes_what_the_host_asserts_of_an_attribute)
{
    Arena arena = {0};
    const char *text = "craft = 1\nn = dim(1, 4096)\n\n@host\n"
                       "def op(x: gm[f32, n], y: out[f32, n + k], k: i64 = 8):\n"
                       "    assert %s, \"k\"\n    pad[1](x, y, k)\n\n@kernel\n"
                       "def pad(x: gm[f32, n], y: out[f32, n + k], k: i64):\n"
                       "    a = ub(f32, 8192)\n    with copyin():\n"
                       "        load(a[:n + k], x, pad=0.0)\n    with copyout():\n"
                       "        store(y, a[:n + k])\n";
    Checked c = check_text(&arena, str_format(&arena, text, "k >= 0 and k <= 4096"));
    CHECK_EQ_INT(c.report.count[IR_WATCHED], 0);
    c = check_text(&arena, str_format(&arena, text, "k >= 0 and k <= 4097"));
    CHECK(said(&c, "W102"));
    arena_drop(&arena);
}
