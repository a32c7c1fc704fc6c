/* Matrix products: which graphs are one, which tiles are chosen, and that the program builds. */
#include "gen/plan/cube/product.h"

#include "craft/craft.h"
#include "gen/plan/clock.h"
#include "gen/plan/rewrite.h"
#include "lower/lower.h"
#include "tests/t.h"
#include <string.h>

static const NpuChip *chip_of(void) { return npu_chip_find(STR("910B2")); }

static ValueId add_input(Graph *g, const char *name, DType dtype, Shape shape)
{
    Value v = {
        .dtype = dtype, .kind = VALUE_INPUT, .name = name, .node = NODE_NONE, .shape = shape};
    ValueId id = graph_add_value(g, v);
    vec_push(g->arena, &g->inputs, id);
    return id;
}

static ValueId add_node(Graph *g, NodeSpec spec)
{
    Diag diag = diag_make(g->arena, "t", STR(""));
    ValueId out = VALUE_NONE;
    REQUIRE(graph_add(g, &spec, &diag, &out));
    return out;
}

static Graph *matmul_graph(Arena *arena, Shape a, Shape b, DType dtype)
{
    Graph *g = graph_new(arena, "product");
    ValueId in[] = {add_input(g, "a", dtype, a), add_input(g, "b", dtype, b)};
    vec_push(arena, &g->outputs, add_node(g, (NodeSpec){.op = OP_MATMUL, .n_in = 2, .in = in}));
    return g;
}

static void check_builds(Arena *arena, const Graph *g, const char *what)
{
    Plan plan = {0};
    Diag diag = diag_make(arena, "t", STR(""));
    bool ok = plan_make(arena, g, chip_of(), 0, &plan, &diag);
    CHECK_MSG(ok, "%s: %s", what, diag.items.len ? diag.items.at[0].text : "no plan");
    if (!ok)
        return;
    /* A vector on the right is no work for the cube. */
    bool vector = graph_value(g, g->inputs.at[1])->shape.rank == 1;
    CHECK_MSG(!strcmp(plan.strategy, vector ? "nest" : "product"), "%s: %s", what, plan.strategy);
    diag = diag_make(arena, "t", plan.craft);
    CraftFile *file = craft_read(arena, "t", plan.craft, &diag);
    IrProgram *ir = file ? craft_program(arena, file, 0, &diag) : NULL;
    CHECK_MSG(ir && lower_program(arena, ir, chip_of(), LOWER_ALIGN, &diag), "%s: %s\n%.*s", what,
              diag.items.len ? diag.items.at[0].text : "", STR_ARG(plan.craft));
}

T_TEST(product_plans_build)
{
    static const Shape shapes[][2] = {{{2, {64, 64}}, {2, {64, 64}}},
                                      {{2, {1000, 777}}, {2, {777, 333}}},
                                      {{2, {4096, 4096}}, {2, {4096, 4096}}},
                                      {{2, {32, 131072}}, {2, {131072, 32}}},
                                      {{2, {16384, 32}}, {2, {32, 16384}}},
                                      {{3, {128, 128, 256}}, {3, {128, 256, 512}}},
                                      {{3, {16, 1024, 2048}}, {2, {2048, 768}}},
                                      {{2, {1024, 2048}}, {3, {16, 2048, 768}}},
                                      {{2, {8192, 1024}}, {1, {1024}}}};
    static const DType dtypes[] = {DT_F32, DT_F16, DT_BF16};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        Arena arena = {0};
        DType dtype = dtypes[i % 3];
        Graph *g = matmul_graph(&arena, shapes[i][0], shapes[i][1], dtype);
        check_builds(&arena, g, str_format(&arena, "row %zu, %s", i, dtype_name(dtype)));
        arena_drop(&arena);
    }
}

static Blocks choose(int64_t m, int64_t n, int64_t k, DType dtype)
{
    Product p = {
        .batch = 1, .m = m, .n = n, .k = k, .dtype = dtype, .out = dtype, .bias = VALUE_NONE};
    Blocks best = {0};
    product_list(&p, chip_of(), &best, 1);
    return best;
}

/* Tiles fit the memories, doubled; few tiles and a long k are sliced, many tiles are not. */
T_TEST(product_tiles_fit_and_slices_fill_the_cores)
{
    static const int64_t sizes[][3] = {{1, 1, 1},          {16, 16, 131072},   {256, 256, 16384},
                                       {1024, 1024, 1024}, {4096, 4096, 4096}, {1, 4096, 4096},
                                       {65536, 8, 64},     {7, 100000, 3}};
    const NpuChip *chip = chip_of();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int half = 0; half < 2; half++) {
            Blocks b = choose(sizes[i][0], sizes[i][1], sizes[i][2], half ? DT_F16 : DT_F32);
            int64_t size = half ? 2 : 4;
            CHECK(b.m > 0 && b.k1 % b.k0 == 0 && b.slices >= 1);
            CHECK(2 * (b.m + b.n) * b.k1 * size <= (int64_t)chip->l1);
            CHECK(2 * b.m * b.k0 * size <= (int64_t)chip->l0a);
            CHECK(2 * b.n * b.k0 * size <= (int64_t)chip->l0b);
            CHECK(b.c_depth * b.m * b.n * 4 <= (int64_t)chip->l0c);
            CHECK(b.n >= sizes[i][1] || b.n * (b.slices > 1 ? 4 : size) % 512 == 0);
        }
    CHECK(choose(64, 64, 131072, DT_F32).slices > 1);
    /* With a short k the calls of a tile cost more than its arithmetic: tiles are large. */
    Blocks thin = choose(16384, 16384, 16, DT_F32);
    CHECK(thin.m * thin.n >= 128 * 128);
    CHECK(choose(4096, 4096, 4096, DT_F32).slices == 1);
}

/* A long sum of few rows is spread over all cores, however large the operands are. */
T_TEST(product_with_a_long_column_is_timed)
{
    Arena arena = {0};
    Plan plan = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = matmul_graph(&arena, (Shape){2, {256, 131072}}, (Shape){2, {131072, 1}}, DT_F32);
    REQUIRE(plan_make(&arena, g, chip_of(), 0, &plan, &diag));
    double us = 0;
    REQUIRE(clock_plan(&plan, chip_of(), &us));
    CHECK_MSG(us < 1.6 * clock_least(g, chip_of()), "%s: %.1f us", plan.strategy, us);
    arena_drop(&arena);
}

/* Few tiles and a long k: while L2 holds both factors each core has a slice of its own, and one turn of the sum. */
T_TEST(product_slices_are_read_by_one_core)
{
    Arena arena = {0};
    Plan plan = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = matmul_graph(&arena, (Shape){2, {256, 16384}}, (Shape){2, {16384, 256}}, DT_F16);
    REQUIRE(plan_make(&arena, g, chip_of(), 0, &plan, &diag));
    CHECK_MSG(str_find(plan.craft, STR("for c, t, z in cyclic(")) > 0, "%.*s", STR_ARG(plan.craft));
    CHECK_MSG(str_find(plan.craft, STR("tiles(n1, 11)")) > 0, "%.*s", STR_ARG(plan.craft));
    CHECK(choose(256, 256, 16384, DT_F16).kept && !choose(256, 256, 131072, DT_F32).kept);
    arena_drop(&arena);
}

/* Tiles that share rows or columns do not wait for one core to read all of them. */
T_TEST(product_steps_of_k_are_staggered)
{
    Arena arena = {0};
    Plan plan = {0}, other = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = matmul_graph(&arena, (Shape){2, {1024, 1024}}, (Shape){2, {1024, 1024}}, DT_F16);
    REQUIRE(plan_make(&arena, g, chip_of(), 0, &plan, &diag));
    Str turn = STR("(v + c.index + t.index) % steps");
    ptrdiff_t at = str_find(plan.craft, turn);
    REQUIRE(at > 0);
    other = plan; /* the same with all tiles in step */
    other.craft = str_from(
        str_format(&arena, "%.*sv%.*s", STR_ARG(str_slice(plan.craft, 0, (size_t)at)),
                   STR_ARG(str_slice(plan.craft, (size_t)at + turn.len, plan.craft.len))));
    double us = 0, in_step = 0;
    REQUIRE(clock_plan(&plan, chip_of(), &us) && clock_plan(&other, chip_of(), &in_step));
    CHECK_MSG(us < 0.95 * in_step, "%.2f us, in step %.2f", us, in_step);
    arena_drop(&arena);
}

/* Weights of a 3 x 3 window, taps before channels: no copy sees the 18 bytes of nine halves. */
T_TEST(product_weights_by_taps_are_copied_whole)
{
    Arena arena = {0};
    Plan plan = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    Graph *g = graph_new(&arena, "weights");
    int64_t order[] = {0, 2, 1};
    Attr dims = {.key = AT_DIMS, .ints = {order, 3}};
    ValueId w = add_input(g, "w", DT_F16, (Shape){3, {256, 256, 9}});
    vec_push(
        &arena, &g->outputs,
        add_node(g, (NodeSpec){.op = OP_PERMUTE, .n_in = 1, .in = &w, .n_attr = 1, .attr = &dims}));
    REQUIRE(plan_make(&arena, g, chip_of(), 0, &plan, &diag));
    CHECK_MSG(str_find(plan.craft, STR("9 lanes are taken apart")) > 0, "%.*s",
              STR_ARG(plan.craft));
    arena_drop(&arena);
}

T_TEST(product_reads_transposed_operands_where_they_lie)
{
    Arena arena = {0};
    Product p;
    Graph *g = graph_new(&arena, "turned");
    int64_t order[] = {1, 0};
    Attr dims = {.key = AT_DIMS, .ints = {order, 2}};
    ValueId a = add_input(g, "a", DT_F32, (Shape){2, {30, 20}});
    ValueId b = add_input(g, "b", DT_F32, (Shape){2, {40, 30}});
    ValueId in[] = {
        add_node(g, (NodeSpec){.op = OP_PERMUTE, .n_in = 1, .in = &a, .n_attr = 1, .attr = &dims}),
        add_node(g, (NodeSpec){.op = OP_PERMUTE, .n_in = 1, .in = &b, .n_attr = 1, .attr = &dims})};
    vec_push(&arena, &g->outputs, add_node(g, (NodeSpec){.op = OP_MATMUL, .n_in = 2, .in = in}));
    REQUIRE(product_read(g, &p));
    CHECK(p.m == 20 && p.n == 40 && p.k == 30 && p.a.turned && p.b.turned);
    check_builds(&arena, g, "both transposed");
    arena_drop(&arena);
}

T_TEST(product_of_a_contraction)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    const ValueId *outer = NULL;
    Graph *g = graph_new(&arena, "contraction");
    Attr equation = {.key = AT_EQUATION, .text = STR("bijl,kl->bkij")};
    ValueId in[] = {add_input(g, "a", DT_F32, (Shape){4, {4, 50, 60, 70}}),
                    add_input(g, "b", DT_F32, (Shape){2, {80, 70}})};
    vec_push(
        &arena, &g->outputs,
        add_node(g,
                 (NodeSpec){.op = OP_EINSUM, .n_in = 2, .in = in, .n_attr = 1, .attr = &equation}));
    Graph *other = rewrite_graph(&arena, g, &outer, &diag);
    REQUIRE(other != NULL);
    uint32_t products = 0;
    for (uint32_t i = 0; i < other->nodes.len; i++) {
        products += other->nodes.at[i].op == OP_MATMUL;
        CHECK(other->nodes.at[i].op != OP_EINSUM);
    }
    CHECK(products == 1);
    arena_drop(&arena);
}

/* Three operands are contracted two after two; batches of one side that repeat in part are expanded. */
T_TEST(product_of_several_operands_and_of_broadcast_batches)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    const ValueId *outer = NULL;
    Graph *g = graph_new(&arena, "several");
    Attr equation = {.key = AT_EQUATION, .text = STR("bik,bkj,bjl->bil")};
    ValueId in[] = {add_input(g, "a", DT_F32, (Shape){3, {4, 50, 60}}),
                    add_input(g, "b", DT_F32, (Shape){3, {4, 60, 70}}),
                    add_input(g, "c", DT_F32, (Shape){3, {4, 70, 80}})};
    ValueId q = add_input(g, "q", DT_F32, (Shape){4, {3, 1, 20, 40}});
    ValueId k = add_input(g, "k", DT_F32, (Shape){4, {3, 5, 40, 30}});
    vec_push(
        &arena, &g->outputs,
        add_node(g,
                 (NodeSpec){.op = OP_EINSUM, .n_in = 3, .in = in, .n_attr = 1, .attr = &equation}));
    vec_push(&arena, &g->outputs,
             add_node(g, (NodeSpec){.op = OP_MATMUL, .n_in = 2, .in = (ValueId[]){q, k}}));
    Graph *other = rewrite_graph(&arena, g, &outer, &diag);
    REQUIRE(other != NULL);
    uint32_t products = 0;
    for (uint32_t i = 0; i < other->nodes.len; i++) {
        products += other->nodes.at[i].op == OP_MATMUL;
        CHECK(other->nodes.at[i].op != OP_EINSUM);
    }
    CHECK(products == 3);
    arena_drop(&arena);
}

/* ---- what follows a product ---- */

static ValueId add_unary(Graph *g, int kind, ValueId x)
{
    return add_node(g, (NodeSpec){.op = OP_UNARY, .kind = kind, .n_in = 1, .in = &x});
}

static ValueId add_binary(Graph *g, int kind, ValueId x, ValueId y)
{
    return add_node(g,
                    (NodeSpec){.op = OP_BINARY, .kind = kind, .n_in = 2, .in = (ValueId[]){x, y}});
}

/* linear, gelu, residual of the layer's own input, all in one kernel; the same where k is cut; rows reduced. */
T_TEST(product_computes_what_follows_in_its_kernel)
{
    static const int64_t sizes[][2] = {{130, 96}, {8, 8192}, {1, 128}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int softmax = 0; softmax < 2; softmax++) {
            Arena arena = {0};
            int64_t m = sizes[i][0], k = sizes[i][1], n = i == 0 ? k : 128;
            Graph *g = graph_new(&arena, "follows");
            ValueId x = add_input(g, "x", DT_F32, (Shape){2, {m, k}});
            ValueId w = add_input(g, "w", DT_F32, (Shape){2, {n, k}});
            ValueId bias = add_input(g, "bias", DT_F32, (Shape){1, {n}});
            ValueId in[] = {x, w, bias};
            ValueId y = add_node(g, (NodeSpec){.op = OP_LINEAR, .n_in = 3, .in = in});
            y = add_unary(g, UNARY_tanh, y);
            if (k == n)
                y = add_binary(g, BINARY_add, y, x);
            Attr dim = {.key = AT_DIM, .i = 1};
            if (softmax)
                y = add_node(
                    g,
                    (NodeSpec){.op = OP_SOFTMAX, .n_in = 1, .in = &y, .n_attr = 1, .attr = &dim});
            vec_push(&arena, &g->outputs, y);
            Plan plan = {0};
            Diag diag = diag_make(&arena, "t", STR(""));
            bool planned = plan_product(&arena, g, chip_of(), 0, "follows", &plan, &diag);
            CHECK_MSG(planned || (m == 1 && softmax), "%lld x %lld", (long long)m, (long long)k);
            if (planned)
                CHECK(str_find(plan.craft, STR("tanh(")) > 0);
            arena_drop(&arena);
        }
}

/* x @ x.T and x @ x take their tensor once. */
T_TEST(product_of_a_tensor_with_itself)
{
    for (int turned = 0; turned < 2; turned++)
        for (int follows = 0; follows < 2; follows++) {
            Arena arena = {0};
            Graph *g = graph_new(&arena, "gram");
            int64_t order[] = {1, 0};
            Attr dims = {.key = AT_DIMS, .ints = {order, 2}};
            ValueId x = add_input(g, "x", DT_F32, (Shape){2, {64, 64}}), b = x;
            if (turned)
                b = add_node(
                    g,
                    (NodeSpec){.op = OP_PERMUTE, .n_in = 1, .in = &x, .n_attr = 1, .attr = &dims});
            ValueId y = add_node(g,
                                 (NodeSpec){.op = OP_MATMUL, .n_in = 2, .in = (ValueId[]){x, b}});
            y = follows ? add_unary(g, UNARY_relu, y) : y;
            vec_push(&arena, &g->outputs, y);
            Plan plan = {0};
            Diag diag = diag_make(&arena, "t", STR(""));
            REQUIRE(plan_product(&arena, g, chip_of(), 0, "gram", &plan, &diag));
            CHECK(plan.operands.len == 2);
            diag = diag_make(&arena, "t", plan.craft);
            CraftFile *file = craft_read(&arena, "t", plan.craft, &diag);
            CHECK_MSG(file && craft_program(&arena, file, 0, &diag), "%.*s", STR_ARG(plan.craft));
            arena_drop(&arena);
        }
}
