/* Inputs with what no draw contains: where a task takes them, and what they tell apart. */
#include "eval/eval.h"

#include "tests/t.h"
#include "torch/torch.h"
#include <math.h>

typedef struct Strewing {
    Arena arena;
    EvalReference ref;
    bool taken;
} Strewing;

static void strew(Strewing *s, const char *forward, unsigned kinds)
{
    *s = (Strewing){0};
    Str source = str_from(str_format(&s->arena,
                                     "import torch\nimport torch.nn as nn\n"
                                     "import torch.nn.functional as F\n"
                                     "class Model(nn.Module):\n"
                                     "    def forward(self, x):\n        return %s\n"
                                     "def get_inputs():\n    return [torch.randn(32, 48)]\n",
                                     forward));
    Diag diag = diag_make(&s->arena, "m.py", source);
    TorchOptions options = {0};
    TorchTask *task = torch_read(&s->arena, "m.py", source, &options, &diag);
    REQUIRE(task);
    Strew all = strew_all(kinds);
    s->taken = eval_reference_strewn(&s->arena, task->graph, 7, RULE_ACRAFT, NULL, &all, &s->ref,
                                     &diag);
}

static void drop(Strewing *s)
{
    eval_reference_free(&s->ref);
    arena_drop(&s->arena);
}

static bool takes(const char *forward, unsigned kinds)
{
    Strewing s;
    strew(&s, forward, kinds);
    bool taken = s.taken;
    drop(&s);
    return taken;
}

T_TEST(strewn_inputs_have_flat_lines)
{
    Strewing s;
    strew(&s, "F.layer_norm(x, (48,))", STREW_BIT(LARGE) | STREW_BIT(FLAT));
    REQUIRE(s.taken);
    const Tensor *x = s.ref.in.inputs[0], *y = s.ref.want[0];
    int zeros = 0;
    for (int64_t i = 0; i < 48; i++) {
        CHECK(tensor_get(x, 48 + i) == 0 && tensor_get(y, 48 + i) == 0);
        CHECK(tensor_get(x, 5 * 48 + i) == tensor_get(x, 5 * 48));
        CHECK(fabs(tensor_get(y, 5 * 48 + i)) < 1e-6);
        zeros += tensor_get(x, i) == 0;
    }
    CHECK(tensor_get(x, 5 * 48) != 0 && zeros > 0 && zeros < 16);
    drop(&s);
}

/* The largest of a line is 0 and the line is not: what is left out where a maximum is 0 is seen. */
T_TEST(strewn_lines_lie_on_one_side_of_zero)
{
    Strewing s;
    strew(&s, "torch.relu(x)", STREW_BIT(FLAT));
    REQUIRE(s.taken);
    const Tensor *x = s.ref.in.inputs[0];
    int above = 0, below = 0, negative = 0, positive = 0;
    for (int64_t i = 0; i < 48; i++) {
        above += tensor_get(x, 2 * 48 + i) > 0;
        negative += tensor_get(x, 2 * 48 + i) < 0;
        below += tensor_get(x, 6 * 48 + i) < 0;
        positive += tensor_get(x, 6 * 48 + i) > 0;
    }
    CHECK(above == 0 && below == 0);
    CHECK(negative > 8 && negative < 40 && positive > 8 && positive < 40);
    drop(&s);
}

T_TEST(strewn_huge_numbers_where_they_are_defined)
{
    Strewing s;
    CHECK(takes("torch.abs(x)", STREW_BIT(HUGE)));
    CHECK(takes("torch.softmax(x, -1)", STREW_BIT(HUGE)));
    CHECK(!takes("torch.sqrt(x * x)", STREW_BIT(HUGE))); /* as written it overflows */
    CHECK(!takes("x / torch.norm(x, dim=-1, keepdim=True)",
                 STREW_BIT(HUGE))); /* PyTorch's own does */
    CHECK(!takes("F.layer_norm(x, (48,))", STREW_BIT(HUGE)));
    strew(&s, "torch.abs(x)", STREW_BIT(HUGE));
    REQUIRE(s.taken);
    int huge = 0;
    for (int64_t i = 0; i < s.ref.in.inputs[0]->count; i++)
        huge += fabs(tensor_get(s.ref.in.inputs[0], i)) > 1e18;
    CHECK(huge > 0 && huge < 32);
    drop(&s);
}

T_TEST(strewn_inputs_only_where_the_task_takes_them)
{
    CHECK(takes("torch.softmax(x, -1)", STREW_BIT(LARGE) | STREW_BIT(FLAT)));
    CHECK(takes("torch.sign(x)", STREW_BIT(LARGE) | STREW_BIT(FLAT)));
    CHECK(!takes("x / x.norm(dim=-1, keepdim=True)", STREW_BIT(FLAT)));
    CHECK(takes("x / x.norm(dim=-1, keepdim=True)", STREW_BIT(LARGE)));
    CHECK(!takes("torch.exp(x)", STREW_BIT(LARGE)));
    CHECK(takes("torch.exp(x)", STREW_BIT(FLAT)));
    CHECK(takes("torch.argmax(x, -1)", STREW_BIT(FLAT))); /* it names the first */
    CHECK(!takes("torch.argmax(x * 0.1, -1)", STREW_BIT(FLAT)));
    CHECK(!takes("torch.round(x * 10).to(torch.int8)", STREW_BIT(FLAT)));
}

T_TEST(strewn_lines_are_alike_and_not_the_same)
{
    Strewing s;
    strew(&s, "torch.relu(x)", STREW_BIT(ALIKE));
    REQUIRE(s.taken);
    const Tensor *x = s.ref.in.inputs[0];
    int equal = 0, turned = 0;
    for (int64_t i = 0; i < 48; i++) {
        equal += tensor_get(x, 20 * 48 + i) == tensor_get(x, 21 * 48 + i);
        bool middle = i >= 12 && i < 36;
        turned += tensor_get(x, 19 * 48 + i) == tensor_get(x, 18 * 48 + (middle ? 47 - i : i));
    }
    CHECK(equal > 24 && equal < 48);
    CHECK(turned == 48);
    drop(&s);
}

T_TEST(strewn_numbers_are_those_of_task_and_text)
{
    Strewing s;
    strew(&s, "torch.relu(x)", 0);
    REQUIRE(s.taken);
    double named[] = {2.75, 900};
    Strew near = strew_all(STREW_BIT(NUMBERS)), far = strew_all(STREW_BIT(FAR));
    near.numbers = far.numbers = named;
    near.number_count = far.number_count = 2;
    int found = 0, large = 0;
    graph_inputs_strew(s.ref.graph, &s.ref.in, &near, 7);
    for (int64_t i = 0; i < s.ref.in.inputs[0]->count; i++)
        found += tensor_get(s.ref.in.inputs[0], i) == 2.75;
    graph_inputs_strew(s.ref.graph, &s.ref.in, &far, 7);
    for (int64_t i = 0; i < s.ref.in.inputs[0]->count; i++)
        large += fabs(tensor_get(s.ref.in.inputs[0], i)) > 899;
    CHECK(found > 0 && large > 0);
    drop(&s);
}

/* x * x == 2.25 holds at -1.5 and at 1.5, which the text does not name. */
T_TEST(strewn_numbers_are_roots_squares_and_logarithms_too)
{
    static const double told[] = {1.5, -1.5, 5.0625, -5.0625, 1.125, -4.5};
    Strewing s;
    strew(&s, "torch.relu(x)", 0);
    REQUIRE(s.taken);
    double named[] = {2.25};
    Strew near = strew_all(STREW_BIT(NUMBERS));
    int found[6] = {0}, logarithms = 0;
    near.numbers = named;
    near.number_count = 1;
    for (uint64_t seed = 0; seed < 64; seed++) {
        graph_inputs_strew(s.ref.graph, &s.ref.in, &near, seed);
        for (int64_t i = 0; i < s.ref.in.inputs[0]->count; i++) {
            double x = tensor_get(s.ref.in.inputs[0], i);
            for (int k = 0; k < 6; k++)
                found[k] += x == told[k];
            logarithms += fabs(fabs(x) - log(2.25)) < 1e-6;
        }
    }
    for (int k = 0; k < 6; k++)
        CHECK_MSG(found[k] > 0, "%g", told[k]);
    CHECK(logarithms > 0);
    drop(&s);
}

T_TEST(strewn_nan_and_infinity_where_they_are_defined)
{
    Strewing s;
    CHECK(takes("torch.relu(x)", STREW_BIT(NAN) | STREW_BIT(ABOVE) | STREW_BIT(BELOW)));
    CHECK(takes("torch.softmax(x, -1)", STREW_BIT(NAN)));
    CHECK(!takes("torch.softmax(x, -1)", STREW_BIT(ABOVE))); /* infinity less itself */
    CHECK(takes("torch.softmax(x, -1)", STREW_BIT(BELOW)));
    CHECK(!takes("x.sum()", STREW_BIT(NAN))); /* all of it is NaN then */
    CHECK(!takes("torch.argmax(x, -1)", STREW_BIT(NAN)));
    strew(&s, "torch.relu(x)", STREW_BIT(NAN) | STREW_BIT(ABOVE));
    int64_t none = 0, infinite = 0;
    for (int64_t i = 0; i < s.ref.want[0]->count; i++) {
        none += isnan(tensor_get(s.ref.want[0], i));
        infinite += isinf(tensor_get(s.ref.want[0], i)) != 0;
    }
    CHECK(none > 0 && infinite > 0 && none + infinite < 32);
    drop(&s);
}

T_TEST(strewn_neighbours_are_related)
{
    Strewing s;
    strew(&s, "torch.relu(x)", STREW_BIT(RELATED));
    const Tensor *x = s.ref.in.inputs[0];
    int64_t related = 0;
    for (int64_t i = 1; i < x->count; i++) {
        double a = tensor_get(x, i - 1), b = tensor_get(x, i);
        related += a == 2 * b || b == 2 * a || a == -b;
    }
    CHECK(related > 60);
    drop(&s);
}

T_TEST(strewn_inputs_are_small_at_the_ends)
{
    Strewing with, without;
    strew(&with, "x.amax(1, keepdim=True).clamp(min=0.5)", STREW_BIT(EDGES));
    strew(&without, "x.amax(1, keepdim=True).clamp(min=0.5)", 0);
    REQUIRE(with.taken && without.taken);
    const Tensor *x = with.ref.in.inputs[0], *drawn = without.ref.in.inputs[0];
    for (int64_t i = 0; i < x->count; i++) {
        bool edge = i < 48 || i >= 31 * 48;
        CHECK(tensor_get(x, i) == tensor_get(drawn, i) * (edge ? 0x1p-10 : 1));
    }
    CHECK(tensor_get(with.ref.want[0], 31) == 0.5 && tensor_get(with.ref.want[0], 0) == 0.5);
    drop(&with);
    drop(&without);
}

T_TEST(strewn_lines_are_infinite_as_a_whole)
{
    Strewing s;
    strew(&s, "x.amax(1)", STREW_BIT(BELOW) | STREW_BIT(ALL_BELOW));
    REQUIRE(s.taken);
    int lines = 0;
    for (int64_t i = 0; i < 32; i++)
        lines += tensor_get(s.ref.want[0], i) == -(double)INFINITY;
    CHECK(lines > 0 && lines < 16);
    drop(&s);
    CHECK(!takes("torch.softmax(x, 1)", STREW_BIT(BELOW) | STREW_BIT(ALL_BELOW)));
}

T_TEST(strewn_inputs_are_what_a_logarithm_is_not_defined_for)
{
    Strewing s;
    strew(&s, "torch.log(x.abs())", STREW_BIT(ZERO));
    REQUIRE(s.taken);
    int infinite = 0;
    for (int64_t i = 0; i < s.ref.want[0]->count; i++)
        infinite += tensor_get(s.ref.want[0], i) == -(double)INFINITY;
    CHECK(infinite > 0);
    drop(&s);
}

T_TEST(strewn_numbers_have_squares_that_are_infinite_or_zero)
{
    Strewing s;
    strew(&s, "x * 2", STREW_BIT(HUGE) | STREW_BIT(TINY));
    REQUIRE(s.taken);
    int huge = 0, tiny = 0;
    for (int64_t i = 0; i < s.ref.in.inputs[0]->count; i++) {
        double size = fabs(tensor_get(s.ref.in.inputs[0], i));
        huge += size >= 0x1p60;
        tiny += size <= 0x1p-60 && size > 0;
    }
    CHECK(huge > 0 && tiny > 0);
    drop(&s);
}
