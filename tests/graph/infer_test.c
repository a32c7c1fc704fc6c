/* Shape and dtype inference, promotion, and the normal form. */
#include "graph/graph.h"
#include "tests/t.h"
#include <string.h>

typedef struct G {
    Arena arena;
    Graph *g;
    Diag diag;
} G;

static void start(G *t)
{
    *t = (G){0};
    t->g = graph_new(&t->arena, "t");
}

static ValueId given(G *t, DType dtype, Shape shape)
{
    return graph_add_value(
        t->g, (Value){.dtype = dtype, .shape = shape, .kind = VALUE_INPUT, .node = NODE_NONE});
}

static bool add_node(G *t, Op op, int kind, uint32_t n, const ValueId *in, uint32_t n_attr,
                     const Attr *attr, ValueId *out)
{
    NodeSpec spec = {.op = op,
                     .kind = kind,
                     .n_in = n,
                     .in = in,
                     .n_attr = n_attr,
                     .attr = attr,
                     .at = {7, 1, 1}};
    t->diag = diag_make(&t->arena, "t", (Str){0});
    return graph_add(t->g, &spec, &t->diag, out);
}

static Attr ints(AttrKey key, uint32_t len, const int64_t *at)
{
    Attr a = {.key = key};
    a.ints.at = at;
    a.ints.len = len;
    return a;
}

T_TEST(infer_broadcasts_both_ways)
{
    G t;
    start(&t);
    ValueId in[] = {given(&t, DT_F32, (Shape){3, {4, 1, 3}}),
                    given(&t, DT_F32, (Shape){2, {5, 1}})},
            out;
    REQUIRE(add_node(&t, OP_BINARY, BINARY_add, 2, in, 0, NULL, &out));
    CHECK(shape_equal(graph_value(t.g, out)->shape, (Shape){3, {4, 5, 3}}));
    ValueId bad[] = {in[0], given(&t, DT_F32, (Shape){2, {2, 2}})};
    CHECK(!add_node(&t, OP_BINARY, BINARY_add, 2, bad, 0, NULL, &out));
    REQUIRE(t.diag.items.len == 1);
    CHECK_EQ_INT(t.diag.items.at[0].at.line, 7);
    CHECK_EQ_STR(t.diag.items.at[0].code, "G103");
    arena_drop(&t.arena);
}

T_TEST(infer_promotes_as_pytorch)
{
    static const struct {
        DType a, b, want;
    } rows[] = {{DT_F16, DT_BF16, DT_F32}, {DT_I8, DT_U8, DT_I16},   {DT_BOOL, DT_I8, DT_I8},
                {DT_I64, DT_F16, DT_F16},  {DT_F64, DT_F32, DT_F64}, {DT_F32, DT_C64, DT_C64},
                {DT_I32, DT_I64, DT_I64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_EQ_INT(dtype_promote(rows[i].a, rows[i].b), rows[i].want);
        CHECK_EQ_INT(dtype_promote(rows[i].b, rows[i].a), rows[i].want);
    }
    G t;
    start(&t);
    ValueId half = given(&t, DT_F16, (Shape){1, {3}}), whole = given(&t, DT_I32, (Shape){1, {3}});
    ValueId scalar = given(&t, DT_F64, (Shape){0, {0}});
    ValueId with_weak[] = {half, graph_const_float(t.g, 2)};
    CHECK_EQ_INT(graph_promote(t.g, with_weak, 2), DT_F16);
    ValueId int_weak[] = {whole, graph_const_float(t.g, 2)};
    CHECK_EQ_INT(graph_promote(t.g, int_weak, 2), DT_F32);
    ValueId int_int[] = {whole, graph_const_int(t.g, 2)};
    CHECK_EQ_INT(graph_promote(t.g, int_int, 2), DT_I32);
    ValueId ranked_first[] = {half, scalar};
    CHECK_EQ_INT(graph_promote(t.g, ranked_first, 2), DT_F16);
    arena_drop(&t.arena);
}

T_TEST(infer_reshape_and_overflow)
{
    G t;
    start(&t);
    ValueId x = given(&t, DT_F32, (Shape){2, {6, 4}}), out;
    Attr hole = ints(AT_SHAPE, 3, (int64_t[]){2, -1, 3});
    REQUIRE(add_node(&t, OP_RESHAPE, 0, 1, &x, 1, &hole, &out));
    CHECK(shape_equal(graph_value(t.g, out)->shape, (Shape){3, {2, 4, 3}}));
    Attr bad = ints(AT_SHAPE, 2, (int64_t[]){5, -1});
    CHECK(!add_node(&t, OP_RESHAPE, 0, 1, &x, 1, &bad, &out));
    Attr huge[] = {ints(AT_SHAPE, 2, (int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40}),
                   {.key = AT_DTYPE}};
    huge[1].dtype = DT_F32;
    CHECK(!add_node(&t, OP_FULL, 0, 0, NULL, 2, huge, &out));
    arena_drop(&t.arena);
}

T_TEST(infer_convolution_sizes)
{
    G t;
    start(&t);
    ValueId in[] = {given(&t, DT_F32, (Shape){4, {2, 6, 10, 11}}),
                    given(&t, DT_F32, (Shape){4, {8, 3, 3, 3}}), VALUE_NONE},
            out;
    Attr attr[] = {ints(AT_STRIDE, 2, (int64_t[]){2, 1}),
                   ints(AT_PADDING, 2, (int64_t[]){1, 0}),
                   ints(AT_DILATION, 2, (int64_t[]){1, 2}),
                   {.key = AT_GROUPS}};
    attr[3].i = 2;
    REQUIRE(add_node(&t, OP_CONV, 0, 3, in, 4, attr, &out));
    CHECK(shape_equal(graph_value(t.g, out)->shape, (Shape){4, {2, 8, 5, 7}}));
    attr[3].i = 4;
    CHECK(!add_node(&t, OP_CONV, 0, 3, in, 4, attr, &out));
    arena_drop(&t.arena);
}

/* PyTorch: ceil mode never lets a window start in the padding past the end. */
T_TEST(infer_pool_ceil_mode)
{
    G t;
    start(&t);
    ValueId x = given(&t, DT_F32, (Shape){3, {1, 1, 5}}), out;
    Attr attr[] = {ints(AT_KERNEL, 1, (int64_t[]){2}),
                   ints(AT_STRIDE, 1, (int64_t[]){2}),
                   ints(AT_PADDING, 1, (int64_t[]){1}),
                   ints(AT_DILATION, 1, (int64_t[]){1}),
                   {.key = AT_CEIL}};
    attr[4].i = 1;
    REQUIRE(add_node(&t, OP_POOL, POOL_max, 1, &x, 5, attr, &out));
    CHECK_EQ_INT(graph_value(t.g, out)->shape.dim[2], 3);
    arena_drop(&t.arena);
}

T_TEST(infer_reduction_of_nothing)
{
    G t;
    start(&t);
    ValueId x = given(&t, DT_F32, (Shape){2, {0, 3}}), out;
    Attr dim = ints(AT_DIMS, 1, (int64_t[]){0});
    CHECK(add_node(&t, OP_REDUCE, REDUCE_sum, 1, &x, 1, &dim, &out));
    CHECK(!add_node(&t, OP_REDUCE, REDUCE_max, 1, &x, 1, &dim, &out));
    arena_drop(&t.arena);
}

T_TEST(infer_refuses_wrong_attributes)
{
    G t;
    start(&t);
    ValueId x = given(&t, DT_F32, (Shape){1, {3}}), out;
    Attr dim = {.key = AT_DIM};
    CHECK(!add_node(&t, OP_UNARY, UNARY_relu, 1, &x, 1, &dim, &out));
    CHECK(!add_node(&t, OP_UNARY, UNARY_COUNT, 1, &x, 0, NULL, &out));
    CHECK(!add_node(&t, OP_UNARY, UNARY_relu, 0, NULL, 0, NULL, &out));
    ValueId none = VALUE_NONE;
    CHECK(!add_node(&t, OP_UNARY, UNARY_relu, 1, &none, 0, NULL, &out));
    arena_drop(&t.arena);
}
