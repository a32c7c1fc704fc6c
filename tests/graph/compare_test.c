/* Comparison: what comes before values, each rule's edge, patterns, the trivial-answer probe. */
#include "graph/probe.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

static Tensor *filled(DType dtype, Shape shape, double (*f)(int64_t i))
{
    Tensor *t = tensor_new(dtype, shape);
    REQUIRE(t != NULL);
    for (int64_t i = 0; i < t->count; i++)
        tensor_set(t, i, f(i));
    return t;
}

static double wave(int64_t i) { return sin((double)i * 0.7) * 3 + 0.1; }
static double zero(int64_t i) { return 0 * (double)i; }
static double third(int64_t i) { return wave(i) * 3; }

static const Shape square = {2, {16, 32}};

static CompareResult compared(Tensor *got, Tensor *want, CompareRule rule)
{
    CompareSpec spec = {.rule = rule};
    return compare_tensors(got, want, &spec, NULL, 0);
}

T_TEST(compare_shape_and_dtype_come_first)
{
    Tensor *a = filled(DT_F32, square, wave), *b = filled(DT_F16, square, wave);
    Tensor *c = filled(DT_F32, (Shape){2, {32, 16}}, wave);
    CHECK(compared(b, a, RULE_MKB).status == COMPARE_DTYPE);
    CHECK(compared(c, a, RULE_MKB).status == COMPARE_SHAPE);
    CHECK(compared(a, a, RULE_ACRAFT).status == COMPARE_OK);
    tensor_free(a);
    tensor_free(b);
    tensor_free(c);
}

T_TEST(compare_finiteness)
{
    Tensor *want = filled(DT_F32, square, wave), *got = tensor_copy(want);
    tensor_set(got, 40, (double)NAN);
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        CompareResult r = compared(got, want, (CompareRule)rule);
        CHECK(r.status == COMPARE_FINITE && r.first_bad == 40 && r.bad == 1);
    }
    tensor_set(want, 40, (double)NAN);
    CHECK(compared(got, want, RULE_ACRAFT).status == COMPARE_OK);
    tensor_set(want, 40, INFINITY);
    tensor_set(got, 40, -INFINITY);
    CHECK(compared(got, want, RULE_ACRAFT).status == COMPARE_FINITE);
    tensor_free(want);
    tensor_free(got);
}

/* Just inside and just outside what a rule allows at one element. */
static void check_edge(CompareRule rule, DType dtype, double want_value, double edge)
{
    Tensor *want = filled(dtype, square, wave), *got = tensor_copy(want);
    tensor_set(want, 3, want_value);
    tensor_set(got, 3, want_value + 0.98 * edge);
    CHECK_MSG(compared(got, want, rule).status == COMPARE_OK, "%s inside", compare_rule_name(rule));
    tensor_set(got, 3, want_value + 1.02 * edge);
    CompareResult r = compared(got, want, rule);
    CHECK_MSG(r.status == COMPARE_WRONG && r.first_bad == 3 && r.bad == 1, "%s outside",
              compare_rule_name(rule));
    tensor_free(want);
    tensor_free(got);
}

T_TEST(compare_rules)
{
    check_edge(RULE_MKB, DT_F64, 2, 1e-4 + 2e-4);
    check_edge(RULE_MKB_LOOSE, DT_F64, 2, 1e-2 + 2e-2);
    check_edge(RULE_NPUKB, DT_F64, 0.5, 1e-3);
    check_edge(RULE_NPUKB, DT_F64, 4, 4e-3);
    check_edge(RULE_NPUKB_SCALED, DT_F32, 4, 4 * (1.0 / 2048 + 0x1p-14));
    check_edge(RULE_NPUKB_MATMUL, DT_F32, 0.5, 1.0 / 2048);
    CompareRule rule;
    for (int i = 0; i < RULE_COUNT; i++)
        CHECK(compare_rule_from_name(str_from(compare_rule_name((CompareRule)i)), &rule) &&
              (int)rule == i);
    CHECK(!compare_rule_from_name(STR("none such"), &rule));
}

T_TEST(compare_acraft_scales)
{
    CompareSpec one = {.rule = RULE_ACRAFT}, many = {.rule = RULE_ACRAFT, .reduction = 10000};
    double a = compare_allowed(&one, DT_F32, 1, 1), b = compare_allowed(&many, DT_F32, 1, 1);
    CHECK(a > 1e-7 && a < 5e-6);
    CHECK(b > 50 * a && b < 200 * a);
    CHECK_NEAR(compare_allowed(&one, DT_F32, 1000, 1000), 1000 * a, 1e-9);
    CHECK(compare_allowed(&one, DT_F16, 1, 1) > 0x1p-11);
    CHECK(compare_allowed(&one, DT_I32, 7, 7) == 0);
}

static const char quantised[] =
    "graph \"t\" {\n"
    "  %0 = input \"a\" f32[4,8] source 0\n"
    "  %1 = const weak f64[] 0\n"
    "  %2 = binary.add(%0, %1) : f32[4,8] @1\n"
    "  %3 = unary.round(%2) : f32[4,8] @1\n"
    "  %4 = cast(%3) {dtype=i8} : i8[4,8] @1\n"
    "  %5 = reshape(%4) {shape=[32]} : i8[32] @1\n"
    "  %6 = reduce.argmax(%0) {dims=[1]} : i64[4] @1\n"
    "  %7 = cast(%6) {dtype=i32} : i32[4] @1\n"
    "  %8 = binary.mul(%4, %4) : i8[4,8] @1\n"
    "  %9 = binary.gt(%0, %1) : bool[4,8] @1\n"
    "  %10 = cast(%9) {dtype=f32} : f32[4,8] @1\n"
    "  %11 = cast(%10) {dtype=i32} : i32[4,8] @1\n"
    "  return %5, %7, %8, %0, %11\n"
    "}\n"
    "source {\n"
    "  %0 = random.normal() {shape=[4,8], dtype=f32, a=0.0, b=1.0, stream=0} : f32[4,8] @1\n"
    "  return %0\n"
    "}\n";

/* An input is known exactly, and so is what it rounds to. */
static const char rounded_input[] =
    "graph \"t\" {\n"
    "  %0 = input \"a\" f32[4,8] source 0\n"
    "  %1 = reshape(%0) {shape=[32]} : f32[32] @1\n"
    "  %2 = unary.round(%1) : f32[32] @1\n"
    "  return %2\n"
    "}\n"
    "source {\n"
    "  %0 = random.normal() {shape=[4,8], dtype=f32, a=0.0, b=1.0, stream=0} : f32[4,8] @1\n"
    "  return %0\n"
    "}\n";

/* A float is rounded once, where it is no whole number yet; an index or a truth never was one. */
T_TEST(compare_finds_roundings)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", str_from(quantised));
    Graph *g = graph_parse(&arena, str_from(quantised), &diag);
    REQUIRE(g != NULL);
    bool *rounds = compare_roundings(g);
    REQUIRE(rounds != NULL);
    for (uint32_t n = 0; n < g->nodes.len; n++)
        CHECK(rounds[n] == (g->nodes.at[n].op == OP_UNARY));
    heap_free(rounds);
    g = graph_parse(&arena, str_from(rounded_input), &diag);
    REQUIRE(g != NULL);
    CHECK(compare_roundings(g) == NULL);
    arena_drop(&arena);
}

/* Only what lies within its own error of a tie may round the other way: not what floor makes of it. */
T_TEST(compare_rounds_the_other_way_near_ties_only)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", str_from(quantised));
    Graph *g = graph_parse(&arena, str_from(quantised), &diag);
    REQUIRE(g != NULL);
    CompareSpec spec = compare_spec(g, RULE_ACRAFT);
    EvalOptions options = {.wide = true};
    Tensor *x = tensor_new(DT_F32, graph_value(g, g->inputs.at[0])->shape), *want[5], *others[10];
    for (int64_t i = 0; i < x->count; i++)
        tensor_set(x, i, i == 3 ? 2.49999988 : (double)i / 4 + 0.1);
    REQUIRE(graph_eval(g, &x, NULL, &options, want, &diag));
    REQUIRE(graph_eval_others(g, &x, NULL, &options, &spec, want, others, &diag));
    spec.others[0] = others[0];
    spec.others[1] = others[5];
    Tensor *got = tensor_copy(want[0]);
    CHECK(compare_fits(got, want[0], &spec, compare_rms(want[0])));
    tensor_set(got, 3, 3); /* 2.49999988 is a tie, as far as f32 can tell */
    CHECK(compare_fits(got, want[0], &spec, compare_rms(want[0])));
    tensor_set(got, 3, 4);
    CHECK(!compare_fits(got, want[0], &spec, compare_rms(want[0])));
    tensor_set(got, 3, 2);
    tensor_set(got, 7, floor((double)7 / 4 + 0.1)); /* 1 for 1.85 */
    CHECK(!compare_fits(got, want[0], &spec, compare_rms(want[0])));
    tensor_free(got);
    tensor_free(x);
    for (int i = 0; i < 10; i++)
        tensor_free(i < 5 ? want[i] : NULL), tensor_free(others[i]);
    arena_drop(&arena);
}

/* An element at which the task's own evaluation is far off may be as far; its neighbours may not. */
T_TEST(compare_own_errors_of_the_task)
{
    Tensor *want = filled(DT_F32, square, wave), *own = tensor_copy(want), *got = tensor_copy(want);
    CompareSpec spec = {.rule = RULE_ACRAFT, .noise = 1e-7, .own = own};
    tensor_set(own, 40, tensor_get(want, 40) + 1e-3);
    tensor_set(got, 40, tensor_get(want, 40) - 1.5e-3);
    CHECK(compare_tensors(got, want, &spec, NULL, 0).status == COMPARE_OK);
    CHECK(compare_fits(got, want, &spec, compare_rms(want)));
    tensor_set(got, 41, tensor_get(want, 41) - 1.5e-3);
    CompareResult r = compare_tensors(got, want, &spec, NULL, 0);
    CHECK(r.bad == 1 && r.first_bad == 41 && !compare_fits(got, want, &spec, compare_rms(want)));
    spec.rule = RULE_MKB;
    CHECK(compare_tensors(got, want, &spec, NULL, 0).bad == 2);
    tensor_free(want);
    tensor_free(own);
    tensor_free(got);
}

T_TEST(compare_fraction_rule)
{
    Tensor *want = filled(DT_F32, (Shape){1, {4000}}, wave), *got = tensor_copy(want);
    for (int i = 0; i < 4; i++)
        tensor_set(got, i * 7, 99);
    CHECK(compared(got, want, RULE_NPUKB_FRACTION).status == COMPARE_OK);
    tensor_set(got, 999, 99);
    CHECK(compared(got, want, RULE_NPUKB_FRACTION).status == COMPARE_WRONG);
    tensor_free(want);
    tensor_free(got);
}

static void check_pattern(Tensor *got, Tensor *want, const Tensor *const *inputs, uint32_t n,
                          const char *text)
{
    CompareSpec spec = {.rule = RULE_ACRAFT};
    CompareResult r = compare_tensors(got, want, &spec, inputs, n);
    CHECK_EQ_STR(r.pattern, text);
    tensor_free(got);
}

T_TEST(compare_patterns)
{
    Tensor *want = filled(DT_F32, square, wave), *t;
    check_pattern(filled(DT_F32, square, zero), want, NULL, 0, "all zeros");
    check_pattern(filled(DT_F32, square, third), want, NULL, 0, "too large by a factor of 3");
    Tensor *input = filled(DT_F32, square, wave);
    for (int64_t i = 0; i < input->count; i++)
        tensor_set(input, i, cos((double)i));
    const Tensor *inputs[] = {input};
    check_pattern(tensor_copy(input), want, inputs, 1, "equals input 0");
    t = tensor_copy(want);
    for (int64_t r = 0; r < 16; r++)
        for (int64_t c = 24; c < 32; c++)
            tensor_set(t, r * 32 + c, -5);
    check_pattern(t, want, NULL, 0, "the tail of every row, from column 24 of 32 on");
    t = tensor_copy(want);
    for (int64_t i = 32; i < t->count; i++)
        tensor_set(t, i, wave(i % 32));
    check_pattern(t, want, NULL, 0, "every row after the first");
    t = tensor_copy(want);
    for (int64_t i = 320; i < t->count; i++)
        tensor_set(t, i, 0);
    check_pattern(t, want, NULL, 0, "all rows from row 10 of 16 on");
    tensor_free(input);
    tensor_free(want);
}

/* --- the probe ---------------------------------------------------------------------------- */

/* A task of one operator on uniform numbers in [0, 1). */
static Graph *task_of(Arena *arena, Diag *diag, NodeSpec spec, Shape shape)
{
    Graph *g = graph_new(arena, "task"), *s = g->source = graph_new(arena, "source");
    int64_t *dims = arena_array(arena, int64_t, GRAPH_MAX_RANK);
    memcpy(dims, shape.dim, sizeof shape.dim);
    Attr attr[5] = {{.key = AT_SHAPE},
                    {.key = AT_DTYPE, .dtype = DT_F32},
                    {.key = AT_A, .f = 0},
                    {.key = AT_B, .f = 1},
                    {.key = AT_STREAM, .i = 1}};
    attr[0].ints.at = dims;
    attr[0].ints.len = (uint32_t)shape.rank;
    ValueId made, out;
    NodeSpec random = {.op = OP_RANDOM, .kind = RANDOM_uniform, .n_attr = 5, .attr = attr};
    REQUIRE(graph_add(s, &random, diag, &made));
    vec_push(arena, &s->outputs, made);
    ValueId x = graph_add_value(
        g, (Value){.dtype = DT_F32, .shape = shape, .kind = VALUE_INPUT, .node = NODE_NONE});
    vec_push(arena, &g->inputs, x);
    spec.in = &x;
    spec.n_in = 1;
    REQUIRE(graph_add(g, &spec, diag, &out));
    vec_push(arena, &g->outputs, out);
    return g;
}

static Probe probed(NodeSpec spec, Shape shape, CompareRule rule)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "probe", (Str){0});
    Graph *g = task_of(&arena, &diag, spec, shape);
    CompareSpec how = compare_spec(g, rule);
    EvalOptions options = {.seed = 1, .wide = true};
    Probe p;
    REQUIRE(graph_probe(g, &how, &options, &p, &diag));
    arena_drop(&arena);
    return p;
}

T_TEST(probe_relu_is_not_the_identity)
{
    Probe p = probed((NodeSpec){.op = OP_UNARY, .kind = UNARY_relu}, square, RULE_ACRAFT);
    CHECK(p.given == (PROBE(INPUT) | PROBE(AFFINE) | PROBE(DEAD_BRANCH)));
    CHECK(p.left == 0 && p.law == LAW_SIGNED);
}

T_TEST(probe_product_is_not_zero)
{
    static const int64_t dims[] = {1};
    Attr attr[] = {{.key = AT_DIMS, .ints = {dims, 1}}};
    NodeSpec spec = {.op = OP_REDUCE, .kind = REDUCE_prod, .n_attr = 1, .attr = attr};
    Probe p = probed(spec, (Shape){2, {4, 4096}}, RULE_MKB);
    CHECK(p.given & PROBE(ZEROS));
    CHECK(p.left == 0 && p.law == LAW_NEAR_ONE);
}

T_TEST(probe_softmax_under_both_rules)
{
    Attr attr[] = {{.key = AT_DIM, .i = 1}};
    NodeSpec spec = {.op = OP_SOFTMAX, .n_attr = 1, .attr = attr};
    Probe loose = probed(spec, (Shape){2, {2, 40000}}, RULE_MKB);
    CHECK(loose.given & PROBE(ZEROS));
    Probe ours = probed(spec, (Shape){2, {2, 40000}}, RULE_ACRAFT);
    CHECK(ours.given == 0 && ours.law == LAW_GIVEN);
}

T_TEST(probe_sees_linear_functions)
{
    Probe p = probed((NodeSpec){.op = OP_UNARY, .kind = UNARY_selu}, square, RULE_ACRAFT);
    CHECK(p.given == (PROBE(AFFINE) | PROBE(DEAD_BRANCH)));
    CHECK(p.left == 0);
    p = probed((NodeSpec){.op = OP_UNARY, .kind = UNARY_hardsigmoid}, square, RULE_ACRAFT);
    CHECK(p.given & PROBE(AFFINE));
    CHECK(p.left == 0 && p.law == LAW_WIDE);
}

T_TEST(probe_sees_steps_that_do_nothing)
{
    static const int64_t dims[] = {1};
    Attr attr[] = {{.key = AT_DIMS, .ints = {dims, 1}}};
    NodeSpec spec = {.op = OP_REDUCE, .kind = REDUCE_sum, .n_attr = 1, .attr = attr};
    Probe p = probed(spec, (Shape){3, {32, 1, 4}}, RULE_ACRAFT);
    CHECK(p.given & PROBE(DEAD_STEP));
    CHECK(p.left & PROBE(DEAD_STEP));
}

T_TEST(inputs_are_seeded)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "inputs", (Str){0});
    Graph *g = task_of(&arena, &diag, (NodeSpec){.op = OP_UNARY, .kind = UNARY_relu}, square);
    TaskInputs a, b, c;
    REQUIRE(graph_inputs(g, 1, LAW_GIVEN, &a, &diag) && graph_inputs(g, 1, LAW_GIVEN, &b, &diag) &&
            graph_inputs(g, 2, LAW_GIVEN, &c, &diag));
    CHECK(tensor_equal(a.inputs[0], b.inputs[0]));
    CHECK(!tensor_equal(a.inputs[0], c.inputs[0]));
    double low = 1, high = 0, sum = 0;
    for (int64_t i = 0; i < a.inputs[0]->count; i++) {
        double x = tensor_get(a.inputs[0], i);
        low = fmin(low, x);
        high = fmax(high, x);
        sum += x;
    }
    CHECK(low >= 0 && high < 1);
    CHECK_NEAR(sum / 512, 0.5, 0.06);
    for (int law = LAW_SIGNED; law < LAW_COUNT; law++) {
        TaskInputs d;
        InputLaw back;
        REQUIRE(graph_inputs(g, 1, (InputLaw)law, &d, &diag));
        CHECK(!tensor_equal(a.inputs[0], d.inputs[0]));
        CHECK(input_law_from_name(str_from(input_law_name((InputLaw)law)), &back) &&
              (int)back == law);
        graph_inputs_free(&d);
    }
    graph_inputs_free(&a);
    graph_inputs_free(&b);
    graph_inputs_free(&c);
    arena_drop(&arena);
}
