/* Do two files mean the same? Pairs that do, by which means, and near misses that must not. */
#include "tests/t.h"
#include "torch/opdef.h"
#include "torch/same.h"
#include <string.h>

static const char inputs[] = "def get_inputs():\n"
                             "    return [torch.rand(3, 4), torch.rand(4, 5), torch.randint(0, 3, "
                             "(4,)), torch.rand(3, 4, dtype=torch.float16), torch.rand(1)]\n";

static TorchTask *read_forward(Arena *arena, const char *body)
{
    Buf text = {0};
    Str rest = str_from(body), line;
    buf_puts(&text, "import torch\nimport torch.nn.functional as F\n"
                    "class Model(torch.nn.Module):\n    def forward(self, x, w, i, h, s):\n");
    while (str_next(&rest, '\n', &line))
        buf_printf(&text, "        %.*s\n", STR_ARG(line));
    buf_puts(&text, inputs);
    Str source = str_copy(arena, buf_view(&text));
    buf_free(&text);
    Diag diag = diag_make(arena, "m.py", source);
    TorchOptions options = {.seed = 1};
    TorchTask *task = torch_read(arena, "m.py", source, &options, &diag);
    if (!task) {
        Buf out = {0};
        diag_print(&diag, &out);
        CHECK_MSG(false, "%s", out.at);
        buf_free(&out);
    }
    return task;
}

static TorchSameAnswer compare(Arena *arena, const char *ours, const char *theirs)
{
    TorchTask *a = read_forward(arena, ours), *b = read_forward(arena, theirs);
    REQUIRE(a && b);
    TorchSameAnswer answer = torch_same(arena, a, b, &(TorchSameHow){"m.py", 1, 1 << 22});
    buf_free(&answer.a);
    buf_free(&answer.b);
    return answer;
}

static void check(const char *ours, const char *theirs, TorchSame want, bool by_element)
{
    Arena arena = {0};
    TorchSameAnswer got = compare(&arena, ours, theirs);
    if (got.same != want || got.by_element != by_element)
        CHECK_MSG(false, "%s\n-- against --\n%s\n-- is --\n%s%s", ours, theirs,
                  torch_same_name(got.same), got.by_element ? ", element by element" : "");
    arena_drop(&arena);
}

static void by_element(const char *a, const char *b) { check(a, b, TORCH_ARRANGED, true); }
static void different(const char *a, const char *b)
{
    check(a, b, TORCH_DIFFERENT, false);
    check(b, a, TORCH_DIFFERENT, false);
}

T_TEST(loops_and_whole_tensors_are_the_same)
{
    by_element("return x * 2", "y = torch.zeros_like(x)\n"
                               "for k in range(3):\n"
                               "    y[k] = x[k] * 2\n"
                               "return y");
    by_element("return x @ w", "return torch.stack([x[k] @ w for k in range(3)])");
    by_element("return torch.softmax(x, 1)",
               "return torch.cat([torch.softmax(x[k:k + 1], 1) for k in range(3)])");
    by_element("return x.sum(1)", "return torch.stack([x[k].sum() for k in range(3)])");
    by_element("return torch.cat([x[:, 2:], -x[:, :2]], 1)",
               "y = x.roll(-2, 1).clone()\ny[:, 2:] *= -1\nreturn -(-y)");
    different("return x * 2", "y = torch.zeros_like(x)\n"
                              "for k in range(2):\n"
                              "    y[k] = x[k] * 2\n"
                              "return y");
    different("return x @ w", "return torch.stack([x[2 - k] @ w for k in range(3)])");
    different("return torch.softmax(x, 1)",
              "return torch.cat([torch.softmax(x[:, k:k + 1], 0) for k in range(4)], 1)");
    different("return x.sum(1)", "return torch.stack([x[k].mean() for k in range(3)])");
    different("return x.sum(1)", "return torch.stack([x[k, :3].sum() for k in range(3)])");
}

T_TEST(masks_of_known_integers_are_slices)
{
    by_element("n = i[0]\nreturn torch.where(torch.arange(4) < n, x, torch.zeros_like(x))",
               "n = i[0].item()\ny = torch.zeros_like(x)\ny[:, :n] = x[:, :n]\nreturn y");
    different("n = i[0]\nreturn torch.where(torch.arange(4) <= n, x, torch.zeros_like(x))",
              "n = i[0].item()\ny = torch.zeros_like(x)\ny[:, :n] = x[:, :n]\nreturn y");
    by_element("return x.index_select(1, i)",
               "return torch.stack([x[:, k] for k in i.tolist()], 1)");
    different("return x.index_select(1, i.flip(0))",
              "return torch.stack([x[:, k] for k in i.tolist()], 1)");
    by_element("t = torch.arange(0, 12, 3)\nreturn t[x[0].argmax()]", "return x[0].argmax() * 3");
    different("t = torch.tensor([0, 3, 6, 10])\nreturn t[x[0].argmax()]",
              "return x[0].argmax() * 3");
}

T_TEST(zeros_fall_out_of_products)
{
    const char *masked = "m = torch.where(torch.arange(4) < 2, x, torch.zeros_like(x))\n"
                         "return m @ w";
    by_element(masked, "return x[:, :2] @ w[:2]");
    different(masked, "return x[:, :3] @ w[:3]");
    different(masked, "return x[:, 1:3] @ w[1:3]");
    by_element("return torch.cat([x, torch.zeros(3, 2)], 1).sum(1)",
               "return torch.stack([x[k].sum() for k in range(3)])");
}

T_TEST(half_arithmetic_rounds_once)
{
    by_element("return torch.lerp(h.float(), h.float() * 0.5, 0.25).half()",
               "return torch.lerp(h.float(), h.float() * 0.5, 0.25).half()[:, [0, 1, 2, 3]]");
    by_element("return (h.float() * 3).half()", "return h * 3");
    by_element("return (h.float() @ w).half()", "return (h.float() @ w).half()[:, :5].clone() + 0");
    different("return (h.float() * 3 + 1).half()", "return h * 3 + 1");
    different("return (h.float() * 3).half()", "return h.float() * 3 + 0.5");
    different("return h + h.float()", "return (h + h).float()");
    by_element("return (-h).float()", "return -(h.float())");
    different("return h.bfloat16().half()", "return h + 0");
}

T_TEST(numbers_as_tensors_are_their_values)
{
    different("return x * s", "return x * 2");
    different("return x * s", "return x + s");
    by_element("return [(x * s)[0], x[1] * s]", "return [x[0] * s, x[1] * s]");
}

T_TEST(branches_taken_are_assumed)
{
    by_element("return (~torch.isfinite(x)).any().float()",
               "return torch.tensor(float(torch.isnan(x).any() or torch.isinf(x).any()))");
    different("return (~torch.isfinite(x[:2])).any().float()",
              "return torch.tensor(float(torch.isnan(x).any()))");
    different("return torch.isnan(x).any().float()",
              "return torch.tensor(1.0 - float(torch.isnan(x).any()))");
}

T_TEST(results_before_the_last_cast_and_among_others)
{
    check("return (x @ w).half()", "return x @ w", TORCH_TYPED, false);
    check("return x @ w, x + 1", "return x @ w", TORCH_PART, false);
    check("return x[:1] * 2, x[1:] * 2", "return (x * 2).flatten()", TORCH_TYPED, true);
    different("return x @ w, x + 1", "return x @ w, x + 2");
    different("return x[:1] * 2, x[1:] * 2", "return (x * 2).t().flatten()");
}

T_TEST(gradients_of_autograd_are_their_formulas)
{
    by_element("return torch.autograd.grad((x * x).sum(), x)[0]", "return 2 * x");
    by_element("a, b = x.chunk(2, 1)\n"
               "return torch.autograd.grad(torch.tanh(a) * b, x, h[:, :2].float())[0]",
               "a, b = x.chunk(2, 1)\nt = torch.tanh(a)\ng = h[:, :2].float()\n"
               "return torch.cat([g * b * (1 - t * t), g * t], 1)");
    different("return torch.autograd.grad((x * x).sum(), x)[0]", "return 3 * x");
    different("return torch.autograd.grad((x * x).sum(), x)[0]", "return x");
}

/* --- op definitions ----------------------------------------------------------------------- */

T_TEST(op_definitions_are_read)
{
    Arena arena = {0};
    TorchOpdef def = {0};
    torch_opdef_parse(&arena,
                      STR("// this->Input(\"old\")\n"
                          "std::vector<ge::DataType> types = {ge::DT_FLOAT16, ge::DT_BF16};\n"
                          "this->Input(\"x\").ParamType(DYNAMIC).DataType(types).Format({});\n"
                          "this->Input(\"bias\")\n  .ParamType(OPTIONAL)\n"
                          "  .DataType({ge::DT_FLOAT, /* and */ ge::DT_FLOAT});\n"
                          "this->Output(\"y\").DataType(made_elsewhere);\n"
                          "this->Attr(\"eps\").Float(1e-5);\n"),
                      &def);
    REQUIRE(def.len == 3);
    CHECK_EQ_INT(def.at[0].role, OPERAND_LIST);
    CHECK(strcmp(def.at[0].name, "x") == 0);
    REQUIRE(def.at[0].types.len == 2);
    CHECK_EQ_INT(def.at[0].types.at[1], DT_BF16);
    CHECK_EQ_INT(def.at[1].role, OPERAND_OPT);
    CHECK_EQ_INT(def.at[1].types.len, 2);
    CHECK_EQ_INT(def.at[2].role, OPERAND_OUT);
    CHECK_EQ_INT(def.at[2].types.len, 0);
    arena_drop(&arena);
}

static const char definition[] =
    "this->Input(\"x\").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16});\n"
    "this->Output(\"y\").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT16});\n";

static bool agrees(const char *table, const char *result, bool *typed)
{
    Arena arena = {0};
    TorchOpdef def = {0};
    const char *why = NULL;
    Str source = str_from(str_format(&arena,
                                     "\"\"\"What it does.\n\n%s\"\"\"\nimport torch\n"
                                     "class Model(torch.nn.Module):\n    def forward(self, x):\n"
                                     "        return %s\n"
                                     "def get_inputs():\n    return [torch.rand(3)]\n",
                                     table, result));
    Diag diag = diag_make(&arena, "m.py", source);
    TorchOptions options = {0};
    TorchTask *task = torch_read(&arena, "m.py", source, &options, &diag);
    REQUIRE(task != NULL);
    torch_opdef_parse(&arena, str_from(definition), &def);
    bool ok = torch_opdef_agrees(&arena, task, &def, &why);
    CHECK(ok || why);
    *typed = torch_opdef_typed(task, &why);
    arena_drop(&arena);
    return ok;
}

T_TEST(operands_agree_with_the_definition)
{
    bool typed;
    CHECK(agrees("in x f32 f16\nout y f16*2\n", "x.half()", &typed) && typed);
    CHECK(agrees("in x f32 f16\nout y f16*2\n", "x * 2", &typed) && !typed);
    CHECK(!agrees("in x f32 f16\nout z f16*2\n", "x.half()", &typed));
    CHECK(!agrees("in x f16 f32\nout y f16*2\n", "x.half()", &typed));
    CHECK(!agrees("in x f32 f16\nout y f16*2\nout z f16*2\n", "(x.half(), x.half())", &typed));
    CHECK(!agrees("in x f32 f16\nmut x f16*2\n", "x.half()", &typed));
}
