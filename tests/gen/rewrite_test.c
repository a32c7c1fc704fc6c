/* What is said otherwise means the same: a graph and what it is rewritten to, run on the same inputs. */
#include "gen/plan/chain_sizes.h"
#include "gen/plan/rewrite.h"
#include "gen/plan/int64.h"
#include "graph/inputs.h"
#include "tests/t.h"
#include <math.h>
#include <stdio.h>

static Tensor *value_of(const Graph *g, const TaskInputs *in, Diag *diag)
{
    Tensor *out = NULL;
    EvalOptions options = {0};
    REQUIRE(graph_eval(g, in->inputs, in->params, &options, &out, diag));
    return out;
}

static bool near(double a, double b)
{
    if (isinf(a) || isinf(b))
        return a == b;
    return fabs(a - b) <= 1e-5 * (fabs(a) + 1);
}

typedef Graph *Rewriter(Arena *arena, const Graph *graph, const ValueId **outer, Diag *diag);

static void check_rewritten_by(Rewriter *rewrite, const char *text, Op gone)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", str_from(text));
    Graph *g = graph_parse(&arena, str_from(text), &diag);
    const ValueId *outer = NULL;
    TaskInputs in = {0};
    REQUIRE(g != NULL);
    REQUIRE(graph_inputs(g, 1, LAW_GIVEN, &in, &diag));
    Graph *other = rewrite(&arena, int64_bounds(&arena, g), &outer, &diag);
    REQUIRE(other != NULL);
    for (uint32_t i = 0; i < other->nodes.len; i++)
        CHECK(other->nodes.at[i].op != gone);
    Tensor *want = value_of(g, &in, &diag), *got = value_of(other, &in, &diag);
    int64_t n = 0;
    REQUIRE(shape_count(want->shape, &n) && shape_equal(want->shape, got->shape));
    for (int64_t i = 0; i < n; i++) {
        double a = dtype_load(want->dtype, want->at, (size_t)i);
        double b = dtype_load(got->dtype, got->at, (size_t)i);
        CHECK_MSG(near(a, b), "%lld: want %g, got %g", (long long)i, a, b);
    }
    tensor_free(want);
    tensor_free(got);
    graph_inputs_free(&in);
    arena_drop(&arena);
}

static void check_means_the_same(const char *text, Op gone)
{
    check_rewritten_by(rewrite_graph, text, gone);
}

T_TEST(rewrite_unfolds_by_a_join_of_slices)
{
    check_rewritten_by(
        rewrite_composites,
        "graph \"t\" {\n"
        "  %0 = input \"x\" f32[2,3,9,11] source 0\n"
        "  %1 = im2col(%0) {kernel=[3,2], stride=[2,1], padding=[1,1], dilation=[1,2]} "
        ": f32[2,18,55] @1\n"
        "  return %1\n"
        "}\n"
        "source {\n"
        "  %0 = random.normal() {shape=[2,3,9,11], dtype=f32, a=0, b=1, stream=0} : "
        "f32[2,3,9,11] @1\n"
        "  return %0\n"
        "}\n",
        OP_IM2COL);
}

/* Places of whole rows: 24 rows written to 5 places of a tensor, 3 rows read. */
static const char *rows_at_places(const char *written, const char *reads)
{
    static char text[1024];
    snprintf(
        text, sizeof text,
        "graph \"t\" {\n"
        "  %%0 = input \"x\" f32[5,6] source 0\n"
        "  %%1 = input \"v\" f32[24,6] source 1\n"
        "  %%2 = input \"i\" i64[24,1] source 2\n"
        "  %%3 = expand(%%2) {shape=[24,6]} : i64[24,6] @1\n"
        "  %%4 = scatter.%s(%%0, %%3, %%1) {dim=0} : f32[5,6] @1\n"
        "  %%5 = %s : f32[24,6] @1\n"
        "  return %%5\n"
        "}\n"
        "source {\n"
        "  %%0 = random.normal() {shape=[5,6], dtype=f32, a=0, b=1, stream=0} : f32[5,6] @1\n"
        "  %%1 = random.normal() {shape=[24,6], dtype=f32, a=0, b=1, stream=1} : f32[24,6] @1\n"
        "  %%2 = random.integer() {shape=[24,1], dtype=i64, a=0, b=5, stream=2} : i64[24,1] "
        "@1\n"
        "  return %%0, %%1, %%2\n"
        "}\n",
        written, reads);
    return text;
}

T_TEST(rewrite_writes_rows_at_one_place_each)
{
    check_means_the_same(rows_at_places("max", "gather(%4, %3) {dim=0}"), OP_SCATTER);
    check_means_the_same(rows_at_places("min", "gather(%4, %3) {dim=0}"), OP_GATHER);
    check_means_the_same(rows_at_places("add", "gather(%4, %3) {dim=0}"), OP_PERMUTE);
}

T_TEST(rewrite_sums_elements_of_few_places)
{
    check_means_the_same(
        "graph \"t\" {\n"
        "  %0 = input \"x\" f32[7] source 0\n"
        "  %1 = input \"i\" i64[50] source 1\n"
        "  %2 = input \"v\" f32[50] source 2\n"
        "  %3 = index_add(%0, %1, %2) {dim=0, alpha=2} : f32[7] @1\n"
        "  return %3\n"
        "}\n"
        "source {\n"
        "  %0 = random.normal() {shape=[7], dtype=f32, a=0, b=1, stream=0} : f32[7] @1\n"
        "  %1 = random.integer() {shape=[50], dtype=i64, a=0, b=7, stream=1} : i64[50] @1\n"
        "  %2 = random.normal() {shape=[50], dtype=f32, a=0, b=1, stream=2} : f32[50] @1\n"
        "  return %0, %1, %2\n"
        "}\n",
        OP_INDEX_ADD);
}

T_TEST(rewrite_knows_the_window_that_a_weight_belongs_to)
{
    check_means_the_same("graph \"t\" {\n"
                         "  %0 = input \"x\" f32[4,9] source 0\n"
                         "  %1 = input \"w\" f32[3] source 1\n"
                         "  %2 = unfold(%0) {dim=1, step=1, size=3} : f32[4,7,3] @1\n"
                         "  %3 = binary.mul(%2, %1) : f32[4,7,3] @1\n"
                         "  %4 = unfold(%3) {dim=1, step=1, size=2} : f32[4,6,3,2] @1\n"
                         "  %5 = reduce.sum(%4) {dims=[2,3]} : f32[4,6] @1\n"
                         "  return %5\n"
                         "}\n"
                         "source {\n"
                         "  %0 = random.normal() {shape=[4,9], dtype=f32, a=0, b=1, stream=0} : "
                         "f32[4,9] @1\n"
                         "  %1 = random.normal() {shape=[3], dtype=f32, a=0, b=1, stream=1} : "
                         "f32[3] @1\n"
                         "  return %0, %1\n"
                         "}\n",
                         OP_REDUCE);
}

T_TEST(rewrite_scales_by_diagonal_matrices)
{
    static const char *const equations[] = {"matmul(%2, %1) : f32[4,4]",
                                            "matmul(%1, %2) : f32[4,4]"};
    for (int i = 0; i < 2; i++) {
        Arena arena = {0};
        check_means_the_same(
            str_format(
                &arena,
                "graph \"t\" {\n"
                "  %%0 = input \"x\" f32[4] source 0\n"
                "  %%1 = input \"w\" f32[4,4] source 1\n"
                "  %%2 = diag(%%0) : f32[4,4] @1\n"
                "  %%3 = %s @1\n"
                "  return %%3\n"
                "}\n"
                "source {\n"
                "  %%0 = random.normal() {shape=[4], dtype=f32, a=0, b=1, stream=0} : f32[4] @1\n"
                "  %%1 = random.normal() {shape=[4,4], dtype=f32, a=0, b=1, stream=1} : "
                "f32[4,4] @1\n"
                "  return %%0, %%1\n"
                "}\n",
                equations[i]),
            OP_MATMUL);
        arena_drop(&arena);
    }
}

/* A weight of f32 makes products of f32, which f16 would not hold. */
T_TEST(rewrite_keeps_the_dtype_of_what_is_computed_in_windows)
{
    check_means_the_same("graph \"t\" {\n"
                         "  %0 = input \"x\" f16[4,9] source 0\n"
                         "  %1 = input \"w\" f32[3] source 1\n"
                         "  %2 = unfold(%0) {dim=1, step=1, size=3} : f16[4,7,3] @1\n"
                         "  %3 = binary.mul(%2, %1) : f32[4,7,3] @1\n"
                         "  %4 = reduce.sum(%3) {dims=[2]} : f32[4,7] @1\n"
                         "  return %4\n"
                         "}\n"
                         "source {\n"
                         "  %0 = random.normal() {shape=[4,9], dtype=f32, a=0, b=900, stream=0} : "
                         "f32[4,9] @1\n"
                         "  %1 = cast(%0) {dtype=f16} : f16[4,9] @1\n"
                         "  %2 = random.normal() {shape=[3], dtype=f32, a=0, b=900, stream=1} : "
                         "f32[3] @1\n"
                         "  return %1, %2\n"
                         "}\n",
                         OP_REDUCE);
}

/* Truths are no range, and 0 is not -0. */
T_TEST(rewrite_says_constants_as_they_are)
{
    static const char source[] =
        "  return %3\n"
        "}\n"
        "source {\n"
        "  %0 = random.uniform() {shape=[2,6], dtype=f32, a=1, b=2, stream=0} : f32[2,6] @1\n"
        "  return %0\n"
        "}\n";
    Arena arena = {0};
    check_means_the_same(str_format(&arena,
                                    "graph \"t\" {\n"
                                    "  %%0 = input \"x\" f32[2,6] source 0\n"
                                    "  %%1 = const bool[6] 0 1 1 0 1 0\n"
                                    "  %%2 = const weak f64[] 0\n"
                                    "  %%3 = where(%%1, %%0, %%2) : f32[2,6] @1\n%s",
                                    source),
                         OP_ARANGE);
    check_means_the_same(str_format(&arena,
                                    "graph \"t\" {\n"
                                    "  %%0 = input \"x\" f32[2,6] source 0\n"
                                    "  %%1 = const f32[6] 0 -0 1 -1 0 1\n"
                                    "  %%2 = unary.abs(%%0) : f32[2,6] @1\n"
                                    "  %%3 = binary.div(%%2, %%1) : f32[2,6] @1\n%s",
                                    source),
                         OP_REDUCE);
    arena_drop(&arena);
}

/* One element that is repeated along the dimension is as long as all of them. */
T_TEST(rewrite_measures_what_is_repeated)
{
    check_means_the_same("graph \"t\" {\n"
                         "  %0 = input \"x\" f32[5,1,7] source 0\n"
                         "  %1 = input \"y\" f32[6,1] source 1\n"
                         "  %2 = cosine_similarity(%0, %1) {dim=-1, eps=1e-8} : f32[5,6] @1\n"
                         "  return %2\n"
                         "}\n"
                         "source {\n"
                         "  %0 = random.normal() {shape=[5,1,7], dtype=f32, a=0, b=1, stream=0} : "
                         "f32[5,1,7] @1\n"
                         "  %1 = random.normal() {shape=[6,1], dtype=f32, a=0, b=1, stream=1} : "
                         "f32[6,1] @1\n"
                         "  return %0, %1\n"
                         "}\n",
                         OP_COSINE_SIMILARITY);
}

/* Windows whose spread is asked for, too: an infinity at their first place is their mean. */
T_TEST(rewrite_takes_means_of_infinities)
{
    check_means_the_same("graph \"t\" {\n"
                         "  %0 = input \"x\" f32[4,9] source 0\n"
                         "  %1 = unary.relu(%0) : f32[4,9] @1\n"
                         "  %2 = unary.log(%1) : f32[4,9] @1\n"
                         "  %3 = unfold(%2) {dim=1, step=1, size=3} : f32[4,7,3] @1\n"
                         "  %4 = reduce.var(%3) {dims=[2], a=1} : f32[4,7] @1\n"
                         "  %5 = reduce.mean(%3) {dims=[2]} : f32[4,7] @1\n"
                         "  return %5\n"
                         "}\n"
                         "source {\n"
                         "  %0 = random.normal() {shape=[4,9], dtype=f32, a=0, b=1, stream=0} : "
                         "f32[4,9] @1\n"
                         "  return %0\n"
                         "}\n",
                         OP_REDUCE);
}

/* Heads side by side, sequences before or behind samples, a mask of what may not be seen. */
T_TEST(rewrite_says_attention_by_its_products)
{
    static const char *const forms[] = {"batch_first=true, causal=true", "batch_first=false"};
    for (int i = 0; i < 2; i++) {
        Arena arena = {0};
        check_means_the_same(
            str_format(&arena,
                       "graph \"t\" {\n"
                       "  %%0 = input \"x\" f32[3,5,8] source 0\n"
                       "  %%1 = input \"w\" f32[8,8] source 1\n"
                       "  %%2 = input \"b\" f32[24] source 2\n"
                       "  %%3 = mha(%%0, %%0, %%0, %%1, %%1, %%1, %%2, %%1, _, _, _) "
                       "{heads=2, %s} : f32[3,5,8] @1\n"
                       "  return %%3\n"
                       "}\n"
                       "source {\n"
                       "  %%0 = random.normal() {shape=[3,5,8], dtype=f32, a=0, b=1, stream=0} : "
                       "f32[3,5,8] @1\n"
                       "  %%1 = random.normal() {shape=[8,8], dtype=f32, a=0, b=1, stream=1} : "
                       "f32[8,8] @1\n"
                       "  %%2 = random.normal() {shape=[24], dtype=f32, a=0, b=1, stream=2} : "
                       "f32[24] @1\n"
                       "  return %%0, %%1, %%2\n"
                       "}\n",
                       forms[i]),
            OP_MHA);
        arena_drop(&arena);
    }
}

/* The places of maxima, in planes of 17 by 22 or 18 by 22 elements. */
static void check_fitted_places(int high, const char *to, const char *shape)
{
    Arena arena = {0};
    check_means_the_same(
        str_format(
            &arena,
            "graph \"t\" {\n"
            "  %%0 = input \"x\" f32[2,3,%d,22] source 0\n"
            "  %%1, %%2 = adaptive_pool.max(%%0) {shape=[%s]} : f32[2,3,%s], i64[2,3,%s] @1\n"
            "  return %%2\n"
            "}\n"
            "source {\n"
            "  %%0 = random.normal() {shape=[2,3,%d,22], dtype=f32, a=0, b=1, stream=0} : "
            "f32[2,3,%d,22] @1\n"
            "  return %%0\n"
            "}\n",
            high, to, shape, shape, high, high),
        OP_ADAPTIVE_POOL);
    arena_drop(&arena);
}

T_TEST(rewrite_finds_places_in_fitted_windows)
{
    check_fitted_places(17, "5,7", "5,7");
    check_fitted_places(18, "2,11", "2,11");
    check_fitted_places(17, "1,1", "1,1");
}

T_TEST(rewrite_adds_up_large_uneven_cells)
{
    check_means_the_same(
        "graph \"t\" {\n"
        "  %0 = input \"x\" f32[2,3,53,50] source 0\n"
        "  %1 = adaptive_pool.avg(%0) {shape=[3,4]} : f32[2,3,3,4] @1\n"
        "  return %1\n"
        "}\n"
        "source {\n"
        "  %0 = random.normal() {shape=[2,3,53,50], dtype=f32, a=0, b=1, stream=0} : "
        "f32[2,3,53,50] @1\n"
        "  return %0\n"
        "}\n",
        OP_ADAPTIVE_POOL);
}

/* Numbers that a rule computes from a size hold for that size alone. */
T_TEST(rewrite_marks_sizes_that_its_numbers_follow)
{
    static const char text[] =
        "graph \"t\" {\n"
        "  %0 = input \"x\" f32[24,96] source 0\n"
        "  %1 = input \"y\" f32[24,1] source 1\n"
        "  %2 = cosine_similarity(%0, %1) {dim=1, eps=1e-08} : f32[24] @1\n"
        "  return %2\n"
        "}\n"
        "source {\n"
        "  %0 = random.normal() {shape=[24,96], dtype=f32, a=0, b=1, stream=0} : f32[24,96] @1\n"
        "  %1 = random.normal() {shape=[24,1], dtype=f32, a=0, b=1, stream=1} : f32[24,1] @1\n"
        "  return %0, %1\n"
        "}\n";
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", str_from(text));
    Graph *g = graph_parse(&arena, str_from(text), &diag);
    const ValueId *outer = NULL;
    REQUIRE(g != NULL);
    Graph *other = rewrite_graph(&arena, g, &outer, &diag);
    REQUIRE(other != NULL);
    uint32_t *held = arena_array(&arena, uint32_t, other->values.len + 1);
    sizes_held(&arena, other, held);
    CHECK_EQ_INT(held[other->inputs.at[0]], 2);
    CHECK_EQ_INT(held[other->inputs.at[1]], 0);
    arena_drop(&arena);
}

T_TEST(rewrite_leaves_alone_what_complex_numbers_cannot_do)
{
    static const char *const nodes[] = {
        "sort(%1) {dim=1} : c64[8,64], i64[8,64] @1\n  return %2\n}\n",
        "scan.prod(%1) {dim=1} : c64[8,64] @1\n  return %2\n}\n",
    };
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        Arena arena = {0};
        Str text = str_from(str_format(
            &arena,
            "graph \"t\" {\n"
            "  %%0 = input \"x\" f32[8,64] source 0\n"
            "  %%1 = binary.complex(%%0, %%0) : c64[8,64] @1\n"
            "  %s = %s"
            "source {\n"
            "  %%0 = random.normal() {shape=[8,64], dtype=f32, a=0, b=1, stream=0} : f32[8,64] @1\n"
            "  return %%0\n}\n",
            i ? "%2" : "%2, %3", nodes[i]));
        Diag diag = diag_make(&arena, "t", text);
        Graph *g = graph_parse(&arena, text, &diag);
        const ValueId *outer = NULL;
        REQUIRE(g != NULL);
        CHECK(rewrite_graph(&arena, g, &outer, &diag) == NULL);
        arena_drop(&arena);
    }
}
