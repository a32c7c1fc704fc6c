/* Chains: what several kernels compute one after the other; what is said otherwise before that. */
#include "gen/plan/plan.h"
#include "craft/craft.h"
#include "tests/t.h"
#include <string.h>

static ValueId input(Graph *g, const char *name, DType dtype, int rank, const int64_t *dims)
{
    Value v = {.dtype = dtype, .kind = VALUE_INPUT, .name = name, .node = NODE_NONE};
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

static ValueId reduce(Graph *g, int kind, ValueId x, int64_t dim, Diag *diag)
{
    int64_t *dims = arena_array(g->arena, int64_t, 1);
    Attr attrs[] = {{.key = AT_DIMS}, {.key = AT_KEEPDIM, .i = true}};
    *dims = dim;
    attrs[0].ints.at = dims;
    attrs[0].ints.len = 1;
    return node(
        g,
        (NodeSpec){.op = OP_REDUCE, .kind = kind, .n_in = 1, .in = &x, .n_attr = 2, .attr = attrs},
        diag);
}

static ValueId binary(Graph *g, int kind, ValueId a, ValueId b, Diag *diag)
{
    return node(g, (NodeSpec){.op = OP_BINARY, .kind = kind, .n_in = 2, .in = (ValueId[]){a, b}},
                diag);
}

static bool plans(Arena *arena, Graph *g, ValueId out, Plan *plan, Diag *diag)
{
    vec_push(arena, &g->outputs, out);
    *plan = (Plan){0};
    return plan_make(arena, g, npu_chip_find(STR("910B2")), 0, plan, diag);
}

static int count(Str text, const char *what)
{
    int n = 0;
    for (const char *at = text.at; (at = strstr(at, what)); at++)
        n++;
    return n;
}

T_TEST(plan_of_reductions_over_different_dimensions_takes_any_size)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "both");
    ValueId x = input(g, "x", DT_F32, 2, (int64_t[]){64, 100});
    ValueId rows = reduce(g, REDUCE_max, x, 1, &diag), columns = reduce(g, REDUCE_sum, x, 0, &diag);
    Plan plan;
    REQUIRE(plans(&arena, g, binary(g, BINARY_mul, rows, columns, &diag), &plan, &diag));
    CHECK_EQ_STR(plan.strategy, "nest");
    CHECK_EQ_INT(plan.operands.len, 2);
    CHECK_EQ_INT(count(plan.craft, " = dim(1, 1073741824)"), 2);
    CHECK(count(plan.craft, " = workspace(f32, cores, ") >= 1);
    CHECK_EQ_INT(count(plan.craft, "\n@kernel\n"),
                 2); /* rows that fit on chip, and longer ones: one is launched */
    CHECK_EQ_INT(count(plan.craft, "\n    else:\n"), 1);
    CHECK(str_find(plan.craft, STR("sync_all()")) > 0);
    arena_drop(&arena);
}

/* A quotient whose running sum is rounded two kernels later is divided, not multiplied by a reciprocal. */
T_TEST(chain_divides_what_is_rounded_later)
{
    for (int rounded = 0; rounded < 2; rounded++) {
        Arena arena = {0};
        Diag diag = diag_make(&arena, "t", STR(""));
        Graph *g = graph_new(&arena, "shares");
        Attr dim = {.key = AT_DIM, .i = 0};
        ValueId x = input(g, "x", DT_F32, 2, (int64_t[]){512, 1024});
        ValueId q = binary(g, BINARY_div, x, reduce(g, REDUCE_max, x, 1, &diag), &diag);
        ValueId sum = node(g,
                           (NodeSpec){.op = OP_SCAN,
                                      .kind = SCAN_logsumexp,
                                      .n_in = 1,
                                      .in = &q,
                                      .n_attr = 1,
                                      .attr = &dim},
                           &diag);
        ValueId whole = node(
            g, (NodeSpec){.op = OP_UNARY, .kind = UNARY_round, .n_in = 1, .in = &sum}, &diag);
        Plan plan;
        REQUIRE(plans(&arena, g, rounded ? whole : sum, &plan, &diag));
        CHECK_EQ_STR(plan.strategy, "chain");
        CHECK((count(plan.craft, "= 1.0 / ") == 0) == rounded);
        arena_drop(&arena);
    }
}

T_TEST(chain_through_a_stepped_slice_is_for_the_sizes_of_the_task)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "even");
    ValueId x = input(g, "x", DT_F32, 2, (int64_t[]){64, 100});
    Attr attrs[] = {{.key = AT_DIM, .i = 1},
                    {.key = AT_START, .i = 0},
                    {.key = AT_END, .i = 100},
                    {.key = AT_STEP, .i = 10}};
    ValueId even = node(
        g, (NodeSpec){.op = OP_SLICE, .n_in = 1, .in = &x, .n_attr = 4, .attr = attrs}, &diag);
    Plan plan;
    REQUIRE(plans(&arena, g, reduce(g, REDUCE_max, even, 1, &diag), &plan, &diag));
    CHECK_EQ_STR(plan.strategy, "chain");
    CHECK(str_find(plan.craft, STR("d100 = dim(100)")) > 0);
    CHECK(str_find(plan.craft, STR("size0")) < 0);
    CHECK_EQ_INT(count(plan.craft, "@kernel"), 2);
    arena_drop(&arena);
}

T_TEST(chain_says_a_transpose_of_any_size)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "turned");
    ValueId x = input(g, "x", DT_F32, 2, (int64_t[]){64, 100});
    int64_t order[] = {1, 0};
    Attr dims = {.key = AT_DIMS};
    dims.ints.at = order;
    dims.ints.len = 2;
    ValueId y = node(
        g, (NodeSpec){.op = OP_PERMUTE, .n_in = 1, .in = &x, .n_attr = 1, .attr = &dims}, &diag);
    Plan plan;
    REQUIRE(plans(&arena, g, y, &plan, &diag));
    CHECK_EQ_STR(plan.strategy, "nest");
    CHECK(str_find(plan.craft, STR("= gather(")) > 0);
    CHECK(str_find(plan.craft, STR("n1 = dim(1, ")) > 0);
    CHECK(str_find(plan.craft, STR("n2 = dim(1, ")) > 0);
    arena_drop(&arena);
}

T_TEST(plan_gives_every_element_one_writer)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "two");
    ValueId x = input(g, "x", DT_F32, 2, (int64_t[]){64, 100});
    ValueId w = input(g, "w", DT_F32, 1, (int64_t[]){100});
    ValueId small = node(g, (NodeSpec){.op = OP_UNARY, .kind = UNARY_exp, .n_in = 1, .in = &w},
                         &diag);
    vec_push(&arena, &g->outputs, small);
    ValueId mean = reduce(g, REDUCE_mean, x, 1, &diag);
    Plan plan;
    REQUIRE(plans(&arena, g, binary(g, BINARY_mul, mean, small, &diag), &plan, &diag));
    CHECK_EQ_STR(plan.strategy, "nest");
    diag = diag_make(&arena, "t", plan.craft);
    CraftFile *file = craft_read(&arena, "t", plan.craft, &diag);
    REQUIRE(file != NULL && diag_ok(&diag));
    CHECK(craft_program(&arena, file, 0, &diag) != NULL);
    arena_drop(&arena);
}

/* Few terms are added up without the matrix unit. */
T_TEST(plan_takes_small_matrices)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "turn");
    ValueId in[] = {input(g, "points", DT_F32, 2, (int64_t[]){100, 3}),
                    input(g, "turn", DT_F32, 2, (int64_t[]){3, 3})};
    Plan plan;
    CHECK(plans(&arena, g, node(g, (NodeSpec){.op = OP_MATMUL, .n_in = 2, .in = in}, &diag), &plan,
                &diag));
    arena_drop(&arena);
}

/* Products that 32 bits do not hold, and a sort of them that nothing here takes. */
static ValueId wide_product(Graph *g, Diag *diag)
{
    ValueId in[] = {input(g, "a", DT_I64, 2, (int64_t[]){4, 40}), 0};
    g->values.at[in[0]].bounds = (GraphBounds){true, 0, 100000};
    in[1] = in[0];
    return node(g, (NodeSpec){.op = OP_BINARY, .kind = BINARY_mul, .n_in = 2, .in = in}, diag);
}

T_TEST(plan_computes_64_bits_one_after_the_other)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "product");
    Plan plan;
    REQUIRE(plans(&arena, g, wide_product(g, &diag), &plan, &diag));
    CHECK(str_find(plan.craft, STR("for k in range(t.size):")) > 0);
    Graph *other = graph_new(&arena, "order");
    ValueId x = wide_product(other, &diag);
    CHECK(!plans(&arena, other, node(other, (NodeSpec){.op = OP_SORT, .n_in = 1, .in = &x}, &diag),
                 &plan, &diag));
    REQUIRE(diag.items.len);
    CHECK_MSG(strstr(diag.items.at[0].text, "1e+10"), "%s", diag.items.at[0].text);
    arena_drop(&arena);
}

T_TEST(plan_refuses_matrices_and_nothing_by_name)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "mm");
    ValueId in[] = {input(g, "a", DT_I32, 2, (int64_t[]){512, 512}),
                    input(g, "b", DT_I32, 2, (int64_t[]){512, 512})};
    Plan plan;
    CHECK(!plans(&arena, g, node(g, (NodeSpec){.op = OP_MATMUL, .n_in = 2, .in = in}, &diag), &plan,
                 &diag));
    REQUIRE(diag.items.len);
    CHECK(strstr(diag.items.at[0].text, "matmul") &&
          strstr(diag.items.at[0].text, "float matrices"));
    Diag second = diag_make(&arena, "t", STR(""));
    Graph *none = graph_new(&arena, "none");
    ValueId x = input(none, "x", DT_F32, 2, (int64_t[]){0, 8});
    CHECK(!plans(&arena, none, reduce(none, REDUCE_sum, x, 1, &second), &plan, &second));
    REQUIRE(second.items.len);
    CHECK(strstr(second.items.at[0].text, "no elements"));
    arena_drop(&arena);
}

static const char boxes[] =
    "graph \"t\" {\n"
    "  %0 = input \"a\" f32[40,4] source 0\n"
    "  %1 = input \"b\" f32[67,4] source 1\n"
    "  %2 = reshape(%0) {shape=[40,1,4]} : f32[40,1,4] @1\n"
    "  %3 = binary.maximum(%2, %1) : f32[40,67,4] @1\n"
    "  %4 = slice(%3) {dim=2, start=0, end=1, step=1} : f32[40,67,1] @1\n"
    "  %5 = slice(%3) {dim=2, start=3, end=4, step=1} : f32[40,67,1] @1\n"
    "  %6 = binary.mul(%4, %5) : f32[40,67,1] @1\n"
    "  return %6\n"
    "}\n"
    "source {\n"
    "  %0 = random.normal() {shape=[40,4], dtype=f32, a=0.0, b=1.0, stream=0} : f32[40,4] @1\n"
    "  %1 = random.normal() {shape=[67,4], dtype=f32, a=0.0, b=1.0, stream=1} : f32[67,4] @1\n"
    "  return %0, %1\n"
    "}\n";

/* Nothing of 40 x 67 is handed on but once. */
T_TEST(chain_takes_slices_before_what_they_are_slices_of)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", str_from(boxes));
    Graph *g = graph_parse(&arena, str_from(boxes), &diag);
    Plan plan = {0};
    REQUIRE(g != NULL);
    REQUIRE(plan_make(&arena, g, npu_chip_find(STR("910B2")), 0, &plan, &diag));
    CHECK_EQ_INT(count(plan.craft, "one by one"), 0);
    CHECK(count(plan.craft, " = workspace(f32, d40, d67") <= 1);
    arena_drop(&arena);
}
