/* The evaluator as a whole: threads, memory, ownership, refusals, groups of elementwise nodes. */
#include "graph/eval.h"
#include "base/rng.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
static void set_threads(int n) { omp_set_num_threads(n); }
#else
static void set_threads(int n) { (void)n; }
#endif

typedef struct Fixture {
    Arena arena;
    Diag diag;
    Graph *g;
    Tensor *in[8];
} Fixture;

static void begin(Fixture *f)
{
    memset(f, 0, sizeof *f);
    f->diag = diag_make(&f->arena, "test", (Str){0});
    f->g = graph_new(&f->arena, "test");
}

static ValueId input(Fixture *f, DType dtype, Shape shape)
{
    Tensor *t = tensor_new(dtype, shape);
    REQUIRE(t != NULL);
    for (int64_t i = 0; i < t->count; i++)
        tensor_set(t, i, rng_normal(5, f->g->inputs.len, (uint64_t)i));
    f->in[f->g->inputs.len] = t;
    ValueId id = graph_add_value(
        f->g, (Value){.dtype = dtype, .shape = shape, .kind = VALUE_INPUT, .node = NODE_NONE});
    vec_push(&f->arena, &f->g->inputs, id);
    return id;
}

static ValueId node(Fixture *f, Op op, int kind, const ValueId *in, uint32_t n, const Attr *attr,
                    uint32_t n_attr)
{
    ValueId out = 0;
    NodeSpec spec = {.op = op, .kind = kind, .n_in = n, .in = in, .attr = attr, .n_attr = n_attr};
    REQUIRE(graph_add(f->g, &spec, &f->diag, &out));
    return out;
}

static Tensor *run(Fixture *f, const EvalOptions *options)
{
    Tensor *out[4] = {0};
    bool ok = graph_eval(f->g, f->in, NULL, options, out, &f->diag);
    CHECK(ok == (out[0] != NULL));
    return out[0];
}

static void end(Fixture *f)
{
    for (uint32_t i = 0; i < f->g->inputs.len; i++)
        tensor_free(f->in[i]);
    arena_drop(&f->arena);
}

/* conv, batch norm, relu, sum, softmax: every way of sharing out work. */
static void network(Fixture *f)
{
    static const int64_t two[] = {1, 1}, dims[] = {2};
    Attr conv[] = {{.key = AT_STRIDE, .ints = {two, 2}},
                   {.key = AT_PADDING, .ints = {two, 2}},
                   {.key = AT_DILATION, .ints = {two, 2}}};
    Attr norm[] = {{.key = AT_EPS, .f = 1e-5}, {.key = AT_TRAINING, .i = 1}};
    Attr sum[] = {{.key = AT_DIMS, .ints = {dims, 1}}};
    Attr soft[] = {{.key = AT_DIM, .i = 1}};
    ValueId x = input(f, DT_F32, (Shape){4, {3, 16, 33, 41}});
    ValueId w = input(f, DT_F32, (Shape){4, {24, 16, 3, 3}});
    ValueId in[5] = {x, w, VALUE_NONE, VALUE_NONE, VALUE_NONE};
    in[0] = node(f, OP_CONV, 0, in, 3, conv, 3);
    in[1] = VALUE_NONE;
    in[0] = node(f, OP_BATCH_NORM, 0, in, 5, norm, 2);
    in[0] = node(f, OP_UNARY, UNARY_gelu, in, 1, NULL, 0);
    in[0] = node(f, OP_REDUCE, REDUCE_sum, in, 1, sum, 1);
    in[0] = node(f, OP_SOFTMAX, 0, in, 1, soft, 1);
    vec_push(&f->arena, &f->g->outputs, in[0]);
}

T_TEST(eval_is_the_same_on_any_number_of_threads)
{
    Fixture f;
    begin(&f);
    network(&f);
    for (int wide = 0; wide < 2; wide++) {
        EvalOptions options = {.wide = wide};
        set_threads(1);
        Tensor *one = run(&f, &options);
        REQUIRE(one != NULL);
        for (int n = 2; n <= 7; n++) {
            set_threads(n);
            Tensor *many = run(&f, &options);
            CHECK(tensor_equal(one, many));
            tensor_free(many);
        }
        tensor_free(one);
    }
    end(&f);
}

T_TEST(eval_refuses_before_allocating)
{
    Fixture f;
    begin(&f);
    ValueId x = input(&f, DT_F32, (Shape){2, {1 << 10, 1}}), in[2] = {x, x};
    static const int64_t big[] = {1 << 10, 1 << 20, 1 << 10};
    Attr shape[] = {{.key = AT_SHAPE, .ints = {big, 3}}};
    Attr flat[] = {{.key = AT_SHAPE, .ints = {big, 1}}};
    ValueId row = node(&f, OP_RESHAPE, 0, in, 1, flat, 1);
    vec_push(&f.arena, &f.g->outputs, node(&f, OP_EXPAND, 0, &row, 1, shape, 1));
    EvalOptions options = {.memory = (int64_t)1 << 30};
    int64_t need = 0;
    CHECK(graph_eval_bytes(f.g, &options, &need) && need > (int64_t)1 << 42);
    CHECK(run(&f, &options) == NULL);
    CHECK(!diag_ok(&f.diag) && strcmp(f.diag.items.at[0].code, "E483") == 0);
    end(&f);
}

T_TEST(eval_counts_the_peak_of_a_chain)
{
    Fixture f;
    begin(&f);
    int64_t bytes = 4 << 20, peak = 0;
    ValueId x = input(&f, DT_F32, (Shape){1, {1 << 20}});
    for (int i = 0; i < 30; i++)
        x = node(&f, OP_UNARY, UNARY_tanh, &x, 1, NULL, 0);
    vec_push(&f.arena, &f.g->outputs, x);
    EvalOptions options = {0};
    REQUIRE(graph_eval_bytes(f.g, &options, &peak));
    CHECK_MSG(peak >= 2 * bytes && peak <= 4 * bytes, "peak %lld", (long long)peak);
    end(&f);
}

T_TEST(eval_outputs_do_not_share_with_inputs)
{
    Fixture f;
    begin(&f);
    ValueId x = input(&f, DT_F32, (Shape){1, {8}});
    static const int64_t two[] = {2, 4};
    Attr shape[] = {{.key = AT_SHAPE, .ints = {two, 2}}};
    vec_push(&f.arena, &f.g->outputs, node(&f, OP_RESHAPE, 0, &x, 1, shape, 1));
    Tensor *out = run(&f, &(EvalOptions){0});
    REQUIRE(out != NULL);
    double before = tensor_get(f.in[0], 0);
    tensor_set(out, 0, 99);
    CHECK(tensor_get(f.in[0], 0) == before);
    tensor_free(out);
    end(&f);
}

/* A group rounds after every node, as nodes on their own would. */
T_TEST(eval_groups_round_like_single_nodes)
{
    Fixture f;
    begin(&f);
    ValueId x = input(&f, DT_F16, (Shape){1, {1000}}), y = input(&f, DT_F16, (Shape){1, {1000}});
    ValueId in[2] = {x, y}, sum = node(&f, OP_BINARY, BINARY_add, in, 2, NULL, 0);
    in[0] = sum;
    ValueId product = node(&f, OP_BINARY, BINARY_mul, in, 2, NULL, 0);
    vec_push(&f.arena, &f.g->outputs, product);
    Tensor *out = run(&f, &(EvalOptions){0});
    REQUIRE(out != NULL);
    for (int64_t i = 0; i < 1000; i++) {
        float a = half_to_float(TENSOR_AT(f.in[0], uint16_t)[i]);
        float b = half_to_float(TENSOR_AT(f.in[1], uint16_t)[i]);
        uint16_t want = half_from_float(half_to_float(half_from_float(a + b)) * b);
        CHECK(TENSOR_AT(out, uint16_t)[i] == want);
    }
    tensor_free(out);
    end(&f);
}

T_TEST(eval_refuses_wrong_inputs)
{
    Fixture f;
    begin(&f);
    ValueId x = input(&f, DT_F32, (Shape){1, {8}});
    vec_push(&f.arena, &f.g->outputs, node(&f, OP_UNARY, UNARY_exp, &x, 1, NULL, 0));
    tensor_free(f.in[0]);
    f.in[0] = tensor_new(DT_F32, (Shape){1, {9}});
    CHECK(run(&f, &(EvalOptions){0}) == NULL);
    CHECK(!diag_ok(&f.diag));
    end(&f);
}

T_TEST(tensor_refuses_impossible_sizes)
{
    CHECK(tensor_new(DT_F32, (Shape){1, {-1}}) == NULL);
    CHECK(tensor_new(DT_F32, (Shape){2, {(int64_t)1 << 40, (int64_t)1 << 40}}) == NULL);
    Tensor *t = tensor_new(DT_F32, (Shape){3, {2, 0, 5}});
    REQUIRE(t != NULL);
    CHECK(t->count == 0 && t->at != NULL);
    CHECK(tensor_alias(t, (Shape){1, {1}}) == NULL);
    tensor_free(t);
}

T_TEST(tensor_casts)
{
    Tensor *t = tensor_new(DT_F64, (Shape){1, {6}});
    static const double x[] = {1.75, -1.75, 300, 0.4, 65520, 1e300};
    for (int i = 0; i < 6; i++)
        tensor_set(t, i, x[i]);
    Tensor *i32 = tensor_cast(t, DT_I32), *u8 = tensor_cast(t, DT_U8), *h = tensor_cast(t, DT_F16);
    Tensor *b = tensor_cast(t, DT_BOOL);
    CHECK(tensor_get(i32, 0) == 1 && tensor_get(i32, 1) == -1 && tensor_get(i32, 2) == 300);
    CHECK(tensor_get(u8, 2) == 44);
    CHECK(tensor_get(b, 3) == 1);
    CHECK(isinf(tensor_get(h, 4)) && isinf(tensor_get(h, 5)));
    tensor_free(t);
    tensor_free(i32);
    tensor_free(u8);
    tensor_free(h);
    tensor_free(b);
}
