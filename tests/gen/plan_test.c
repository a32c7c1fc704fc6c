/* The planner on small graphs: the text it writes, and what it refuses. */
#include "gen/plan/planners.h"
#include "tests/t.h"
#include <stdio.h>
#include <string.h>

static ValueId input(Graph *g, const char *name, int rank, const int64_t *dims)
{
    Value v = {.dtype = DT_F32, .kind = VALUE_INPUT, .name = name, .node = NODE_NONE};
    v.shape.rank = rank;
    for (int i = 0; i < rank; i++)
        v.shape.dim[i] = dims[i];
    ValueId id = graph_add_value(g, v);
    vec_push(g->arena, &g->inputs, id);
    return id;
}

static ValueId node(Graph *g, NodeSpec spec, Diag *diag)
{
    ValueId out = VALUE_NONE;
    REQUIRE(graph_add(g, &spec, diag, &out));
    return out;
}

static Plan plan_of(Arena *arena, Graph *g, Diag *diag)
{
    Plan plan = {0};
    bool ok = plan_make(arena, g, npu_chip_find(STR("910B2")), 0, &plan, diag);
    if (!ok) {
        Buf text = {0};
        diag_print(diag, &text);
        fprintf(stderr, "%s\n", text.at);
        buf_free(&text);
    }
    REQUIRE(ok);
    return plan;
}

T_TEST(plan_elementwise_chain_is_one_flat_pass)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "chain");
    ValueId x = input(g, "x", 2, (int64_t[]){64, 100});
    ValueId e = node(g, (NodeSpec){.op = OP_UNARY, .kind = UNARY_exp, .n_in = 1, .in = &x}, &diag);
    ValueId y = node(
        g, (NodeSpec){.op = OP_BINARY, .kind = BINARY_mul, .n_in = 2, .in = (ValueId[]){e, x}},
        &diag);
    vec_push(&arena, &g->outputs, y);
    Plan plan = {0};
    REQUIRE(plan_prims(&arena, g, npu_chip_find(STR("910B2")), 0, "chain", &plan, &diag));
    CHECK_EQ_STR(plan.strategy, "map");
    CHECK_EQ_INT(plan.operands.len, 2);
    CHECK(str_find(plan.craft, STR("for t in tiles(part, tile):")) > 0);
    CHECK(str_find(plan.craft, STR("= exp(a0[:t.size]) * a0[:t.size]")) > 0);
    arena_drop(&arena);
}

/* More operators than the planner takes are refused before it begins. */
T_TEST(plan_refuses_a_huge_graph_at_once)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "huge");
    ValueId x = input(g, "x", 1, (int64_t[]){64});
    Plan plan = {0};
    for (int i = 0; i <= PLAN_MOST_NODES; i++)
        x = node(g, (NodeSpec){.op = OP_UNARY, .kind = UNARY_exp, .n_in = 1, .in = &x}, &diag);
    vec_push(&arena, &g->outputs, x);
    CHECK(!plan_make(&arena, g, npu_chip_find(STR("910B2")), 0, &plan, &diag));
    CHECK(strstr(diag.items.at[0].text, "4097 operators") != NULL);
    arena_drop(&arena);
}

T_TEST(plan_softmax_keeps_short_rows_and_streams_long_ones_twice)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "softmax");
    ValueId x = input(g, "x", 2, (int64_t[]){64, 100});
    Attr dim = {.key = AT_DIM, .i = 1};
    ValueId y = node(
        g, (NodeSpec){.op = OP_SOFTMAX, .n_in = 1, .in = &x, .n_attr = 1, .attr = &dim}, &diag);
    vec_push(&arena, &g->outputs, y);
    Plan plan = {0};
    REQUIRE(plan_prims(&arena, g, npu_chip_find(STR("910B2")), 0, "softmax", &plan, &diag));
    CHECK_EQ_STR(plan.strategy, "rows");
    CHECK(str_find(plan.craft, STR("memory is read once")) > 0);
    CHECK(str_find(plan.craft, STR("2 passes")) > 0);
    CHECK(str_find(plan.craft, STR("row_sum(")) > 0);
    CHECK(str_find(plan.craft, STR("softmax_split[chip.cores]")) > 0);
    arena_drop(&arena);
}

T_TEST(plan_softmax_over_the_first_axis_keeps_the_last)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "softmax0");
    ValueId x = input(g, "x", 3, (int64_t[]){4, 64, 100});
    Attr dim = {.key = AT_DIM, .i = 1};
    ValueId y = node(
        g, (NodeSpec){.op = OP_SOFTMAX, .n_in = 1, .in = &x, .n_attr = 1, .attr = &dim}, &diag);
    vec_push(&arena, &g->outputs, y);
    Plan plan = {0};
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    REQUIRE(plan_make(&arena, g, chip, 0, &plan, &diag));
    CHECK_EQ_STR(plan.strategy, "nest");
    CHECK(str_find(plan.craft, STR("transpose(")) < 0);
    arena_drop(&arena);
}

static void check_row_scan(uint16_t kind, const char *call)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "running");
    ValueId x = input(g, "x", 2, (int64_t[]){64, 300});
    Attr dim = {.key = AT_DIM, .i = 1};
    ValueId y = node(
        g, (NodeSpec){.op = OP_SCAN, .kind = kind, .n_in = 1, .in = &x, .n_attr = 1, .attr = &dim},
        &diag);
    vec_push(&arena, &g->outputs, y);
    Plan plan = {0};
    REQUIRE(plan_prims(&arena, g, npu_chip_find(STR("910B2")), 0, "running", &plan, &diag));
    CHECK_EQ_STR(plan.strategy, "scan");
    CHECK_MSG(str_find(plan.craft, str_from(call)) > 0, "no %s", call);
    arena_drop(&arena);
}

T_TEST(plan_running_maximum_of_rows) { check_row_scan(SCAN_max, "= cummax("); }
T_TEST(plan_running_minimum_of_rows) { check_row_scan(SCAN_min, "= cummin("); }
T_TEST(plan_running_logsumexp_of_rows) { check_row_scan(SCAN_logsumexp, "= logcumsumexp("); }

T_TEST(plan_mean_of_everything_has_two_stages)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "mean");
    ValueId x = input(g, "x", 2, (int64_t[]){64, 100});
    ValueId y = node(g, (NodeSpec){.op = OP_REDUCE, .kind = REDUCE_mean, .n_in = 1, .in = &x},
                     &diag);
    vec_push(&arena, &g->outputs, y);
    Plan plan = plan_of(&arena, g, &diag);
    CHECK_EQ_STR(plan.strategy, "full");
    CHECK(str_find(plan.craft, STR("sync_all()")) > 0);
    arena_drop(&arena);
}

static ValueId binary(Graph *g, int kind, ValueId a, ValueId b, Diag *diag)
{
    return node(
        g, (NodeSpec){.op = OP_BINARY, .kind = (uint8_t)kind, .n_in = 2, .in = (ValueId[]){a, b}},
        diag);
}

static ValueId sum_over(Graph *g, ValueId x, int64_t dim, bool keep, Diag *diag)
{
    Attr attr[2] = {{.key = AT_DIMS, .ints = {.at = &dim, .len = 1}},
                    {.key = AT_KEEPDIM, .i = keep}};
    return node(
        g,
        (NodeSpec){
            .op = OP_REDUCE, .kind = REDUCE_sum, .n_in = 1, .in = &x, .n_attr = 2, .attr = attr},
        diag);
}

/* Rows of two axes under a weight of the first of these: read in both passes, in loops of their own. */
T_TEST(plan_rows_of_two_passes_go_in_groups)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "centred");
    ValueId x = input(g, "x", 3, (int64_t[]){16, 2, 4221}), w = input(g, "w", 2, (int64_t[]){2, 1});
    Attr attr[2] = {{.key = AT_DIMS, .ints = {.at = (int64_t[]){1, 2}, .len = 2}},
                    {.key = AT_KEEPDIM, .i = true}};
    ValueId sum = node(
        g,
        (NodeSpec){
            .op = OP_REDUCE, .kind = REDUCE_sum, .n_in = 1, .in = &x, .n_attr = 2, .attr = attr},
        &diag);
    ValueId y = binary(g, BINARY_mul, binary(g, BINARY_sub, x, sum, &diag), w, &diag);
    vec_push(&arena, &g->outputs, y);
    Plan plan = plan_of(&arena, g, &diag);
    CHECK_EQ_STR(plan.strategy, "rows");
    CHECK(plan_is_valid(&arena, &plan));
    CHECK(str_find(plan.craft, STR("for g in tiles(part, group):")) > 0);
    CHECK(str_find(plan.craft, STR("group = max(1, min(ceildiv(")) > 0);
    arena_drop(&arena);
}

/* The length of each row, over all rows: of 5000 elements a tile holds one. */
T_TEST(plan_rows_that_end_in_totals_are_one_kernel)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "lengths");
    ValueId x = input(g, "x", 2, (int64_t[]){300, 5000});
    ValueId squares = sum_over(g, binary(g, BINARY_mul, x, x, &diag), 1, false, &diag);
    ValueId root = node(
        g, (NodeSpec){.op = OP_UNARY, .kind = UNARY_sqrt, .n_in = 1, .in = &squares}, &diag);
    vec_push(&arena, &g->outputs, sum_over(g, root, 0, false, &diag));
    Plan plan = {0};
    REQUIRE(plan_prims(&arena, g, npu_chip_find(STR("910B2")), 0, "lengths", &plan, &diag));
    CHECK_EQ_STR(plan.strategy, "rows_full");
    CHECK(plan_is_valid(&arena, &plan));
    arena_drop(&arena);
}

static Plan volume_pool(Arena *arena, int64_t kernel, int64_t stride, Diag *diag)
{
    Graph *g = graph_new(arena, "volume");
    ValueId x = input(g, "x", 5, (int64_t[]){2, 3, 9, 20, 30});
    int64_t k[] = {kernel, 3, 3}, s[] = {stride, 2, 2}, pad[] = {0, 1, 1}, one[] = {1, 1, 1};
    Attr attr[5] = {{.key = AT_KERNEL, .ints = {.at = k, .len = 3}},
                    {.key = AT_STRIDE, .ints = {.at = s, .len = 3}},
                    {.key = AT_PADDING, .ints = {.at = pad, .len = 3}},
                    {.key = AT_DILATION, .ints = {.at = one, .len = 3}},
                    {.key = AT_CEIL}};
    NodeSpec pool = {
        .op = OP_POOL, .kind = POOL_max, .n_in = 1, .in = &x, .n_attr = 5, .attr = attr};
    vec_push(arena, &g->outputs, node(g, pool, diag));
    return plan_of(arena, g, diag);
}

/* Also a row of branches on one buffer, which lowering must not take forever over. */
T_TEST(plan_pool_loads_a_shared_plane_once)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Plan walked = volume_pool(&arena, 4, 2, &diag), apart = volume_pool(&arena, 2, 2, &diag);
    CHECK(plan_is_valid(&arena, &walked) && plan_is_valid(&arena, &apart));
    CHECK(str_find(walked.craft, STR("for i0 in range(d.start, d.stop):")) > 0);
    CHECK(str_find(apart.craft, STR("for i0 in range(d.start, d.stop):")) < 0);
    arena_drop(&arena);
}

/* As the gradient of a norm: what rows give, and beside it sums over all rows. `back`: these are
 * needed by the rows again. */
static Plan gradient(Arena *arena, bool back, Diag *diag)
{
    Graph *g = graph_new(arena, "gradient");
    ValueId x = input(g, "x", 2, (int64_t[]){64, 100}),
            dy = input(g, "dy", 2, (int64_t[]){64, 100});
    ValueId both = binary(g, BINARY_mul, x, dy, diag);
    ValueId columns = sum_over(g, both, 0, false, diag);
    ValueId dx = binary(g, BINARY_sub, dy, sum_over(g, both, 1, true, diag), diag);
    vec_push(arena, &g->outputs, back ? binary(g, BINARY_mul, dx, columns, diag) : dx);
    vec_push(arena, &g->outputs, columns);
    return plan_of(arena, g, diag);
}

T_TEST(plan_rows_and_sums_over_rows_are_one_pass)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Plan plan = gradient(&arena, false, &diag);
    CHECK_EQ_STR(plan.strategy, "across");
    CHECK(str_find(plan.craft, STR("= row_sum(")) > 0);
    CHECK(str_find(plan.craft, STR("col_sum(lines[:nc, :t.size])")) > 0);
    plan = gradient(&arena, true, &diag);
    CHECK_EQ_STR(plan.strategy, "nest");
    CHECK(str_find(plan.craft, STR("sync_all()")) > 0);
    arena_drop(&arena);
}

static ValueId half(Graph *g, ValueId x, int64_t start, int64_t end, Diag *diag)
{
    Attr attr[] = {{.key = AT_DIM, .i = 1},
                   {.key = AT_START, .i = start},
                   {.key = AT_END, .i = end},
                   {.key = AT_STEP, .i = 1}};
    return node(g, (NodeSpec){.op = OP_SLICE, .n_in = 1, .in = &x, .n_attr = 4, .attr = attr},
                diag);
}

/* Halves of rows, side by side again: both in one loop, many rows a copy. */
T_TEST(plan_parts_of_short_rows_go_many_at_once)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "halves");
    ValueId x = input(g, "x", 2, (int64_t[]){600, 200});
    ValueId a = half(g, x, 0, 100, &diag), b = half(g, x, 100, 200, &diag);
    ValueId part[] = {binary(g, BINARY_mul, a, b, &diag), binary(g, BINARY_sub, a, b, &diag)};
    Attr dim = {.key = AT_DIM, .i = 1};
    ValueId y = node(g, (NodeSpec){.op = OP_CAT, .n_in = 2, .in = part, .n_attr = 1, .attr = &dim},
                     &diag);
    vec_push(&arena, &g->outputs, y);
    Plan plan = {0};
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    REQUIRE(plan_elementwise(&arena, g, chip, 0, "halves", &plan, &diag));
    CHECK_EQ_STR(plan.strategy, "elementwise");
    CHECK(str_find(plan.craft, STR("x0[r, 100:200])")) > 0);
    CHECK(str_find(plan.craft, STR("store(y0[r, 0:100]")) > 0);
    Str rest = plan.craft;
    ptrdiff_t loop = str_find(rest, STR("for r in mine("));
    REQUIRE(loop > 0);
    rest.at += loop + 1, rest.len -= (size_t)loop + 1;
    CHECK(str_find(rest, STR("for r in mine(")) < 0);
    arena_drop(&arena);
}

static uint32_t times_said(Str text, Str what)
{
    uint32_t n = 0;
    for (ptrdiff_t at; (at = str_find(text, what)) >= 0; n++)
        text = (Str){text.at + at + what.len, text.len - (size_t)at - what.len};
    return n;
}

/* (x - mean(x)) twice, and the mean that var computes again for itself. */
T_TEST(plan_computes_once_what_the_task_says_twice)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "norm");
    ValueId x = input(g, "x", 2, (int64_t[]){64, 100});
    Attr rows[] = {{.key = AT_DIMS}, {.key = AT_KEEPDIM, .i = 1}};
    rows[0].ints.at = (int64_t[]){1};
    rows[0].ints.len = 1;
    NodeSpec reduce = {.op = OP_REDUCE, .n_in = 1, .in = &x, .n_attr = 2, .attr = rows};
    NodeSpec binary = {.op = OP_BINARY, .kind = BINARY_sub, .n_in = 2};
    reduce.kind = REDUCE_mean;
    ValueId mean = node(g, reduce, &diag);
    reduce.kind = REDUCE_var;
    ValueId var = node(g, reduce, &diag);
    binary.in = (ValueId[]){x, mean};
    ValueId first = node(g, binary, &diag), again = node(g, binary, &diag);
    binary.kind = BINARY_mul;
    binary.in = (ValueId[]){first, var};
    ValueId scaled = node(g, binary, &diag);
    binary.in = (ValueId[]){scaled, again};
    vec_push(&arena, &g->outputs, node(g, binary, &diag));
    Str craft = plan_of(&arena, g, &diag).craft;
    Str kernel = str_from(craft.at + str_find(craft, STR("@kernel")));
    kernel.len = (size_t)str_find(str_from(kernel.at + 1), STR("@kernel"));
    CHECK_EQ_INT(times_said(kernel, STR("row_sum(")), 2);
    CHECK_EQ_INT(times_said(kernel, STR("- col(")), 1);
    arena_drop(&arena);
}

static bool program_differs(Arena *arena, const Graph *g, int64_t limit, Str than)
{
    Diag diag = diag_make(arena, "t", STR(""));
    Plan plan;
    REQUIRE(plan_make(arena, g, npu_chip_find(STR("910B2")), limit, &plan, &diag));
    return !str_equal(plan.craft, than);
}

T_TEST(plan_is_the_same_every_time_and_takes_a_limit)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "norm");
    ValueId x = input(g, "x", 2, (int64_t[]){64, 100});
    ValueId y = node(g, (NodeSpec){.op = OP_REDUCE, .kind = REDUCE_mean, .n_in = 1, .in = &x},
                     &diag);
    vec_push(&arena, &g->outputs, y);
    Plan plan = plan_of(&arena, g, &diag);
    CHECK(!program_differs(&arena, g, 0, plan.craft));
    CHECK(program_differs(&arena, g, 64, plan.craft));
    arena_drop(&arena);
}

T_TEST(plan_names_the_operator_it_refuses)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "mm");
    ValueId in[] = {input(g, "a", 3, (int64_t[]){4, 512, 512}),
                    input(g, "b", 3, (int64_t[]){4, 512, 512}), VALUE_NONE};
    ValueId y = node(g, (NodeSpec){.op = OP_GROUPED_MATMUL, .n_in = 3, .in = in}, &diag);
    vec_push(&arena, &g->outputs, y);
    Plan plan;
    CHECK(!plan_make(&arena, g, npu_chip_find(STR("910B2")), 0, &plan, &diag));
    CHECK(diag.items.len && strstr(diag.items.at[0].text, "grouped_matmul"));
    arena_drop(&arena);
}
