/* Text that would take for ever, or all memory, ends in an error that names the limit. */
#include "tests/t.h"
#include "torch/torch.h"
#include <string.h>

enum { TEN_MB = 10000000 };

static void check_ends(Str source, const TorchCases *cases, const char *code, const char *what)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "m.py", source);
    TorchOptions options = {.cases = cases, .max_steps = 1000000, .max_bytes = 256 << 20};
    TorchTask *task = torch_read(&arena, "t/m.py", source, &options, &diag);
    CHECK(!task);
    REQUIRE(diag.items.len);
    CHECK_EQ_STR(diag.items.at[0].code, code);
    CHECK_MSG(strstr(diag.items.at[0].text, what) != NULL, "'%s' does not say '%s'",
              diag.items.at[0].text, what);
    CHECK(strlen(diag.items.at[0].text) < 300);
    arena_drop(&arena);
}

/* A statement of forward. */
static void check_forward(const char *statement, const char *what)
{
    Arena arena = {0};
    const char *text = str_format(&arena,
                                  "import torch\nclass Model(torch.nn.Module):\n"
                                  "    def forward(self, x):\n        n = 0\n        %s\n"
                                  "        return x\n"
                                  "def get_inputs():\n    return [torch.rand(2)]\n",
                                  statement);
    check_ends(str_from(text), NULL, "T012", what);
    arena_drop(&arena);
}

static Str many(Arena *arena, const char *before, char c)
{
    size_t start = strlen(before);
    char *text = arena_alloc(arena, start + TEN_MB + 1);
    memcpy(text, before, start);
    memset(text + start, c, TEN_MB);
    return (Str){text, start + TEN_MB};
}

T_TEST(limits_ten_megabytes_of_brackets)
{
    Arena arena = {0};
    check_ends(many(&arena, "x = ", '['), NULL, "T001", "nested too deeply");
    check_ends(many(&arena, "x = ", '('), NULL, "T001", "nested too deeply");
    check_ends(many(&arena, "x = 1", '-'), NULL, "T002", "too deeply");
    TorchCases cases = {0};
    torch_cases_table(&arena, many(&arena, "shape\n", '['), &cases);
    check_ends(STR("def get_inputs(case):\n    return []\n"), &cases, "T022", "does not read");
    arena_drop(&arena);
}

T_TEST(limits_recursion)
{
    check_ends(STR("import torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self):\n"
                   "        super().__init__()\n        self.m = Model()\n"),
               NULL, "T012", "nested too deeply");
    check_ends(STR("def f(x):\n    return f(x)\ny = f(1)\n"), NULL, "T012", "nested too deeply");
    check_ends(STR("class A:\n    @property\n    def p(self):\n        return self.p\nx = A().p\n"),
               NULL, "T012", "nested too deeply");
}

T_TEST(limits_loops)
{
    check_forward("for i in range(10**12): x = x + 1", "runs too long");
    check_forward("for i in range(10**12): n += 1", "runs too long");
    check_forward("while n < 10**12: n += 1", "runs too long");
    check_forward("y = [i for i in range(10**12)]", "too long");
    check_forward("y = list(range(10**12))", "too long");
    check_forward("y = [0] * 10**12", "too long");
    check_forward("y = 'ab' * 10**12", "too long");
}
