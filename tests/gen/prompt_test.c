/* Prompts: the pieces of a clone put together as the original does, tokens counted, sizes kept. */
#include "gen/prompt/prompt.h"

#include "gen/prompt/original.h"
#include "gen/prompt/tokens.h"
#include "tests/t.h"
#include "torch/torch.h"
#include <string.h>

static Prompt make(Arena *arena, PromptStrategy strategy, const char *clone, const char *task)
{
    Diag diag = diag_make(arena, task, STR(""));
    PromptSpec spec = {.strategy = strategy,
                       .clone = clone,
                       .home = ".",
                       .task = task,
                       .category = "activation",
                       .graph = graph_new(arena, "g"),
                       .chip = npu_chip_find(STR("910B2"))};
    Prompt p = {0};
    bool ok = prompt_make(arena, &spec, &p, &diag);
    CHECK_MSG(ok, "%s", diag.items.len ? diag.items.at[0].text : "?");
    REQUIRE(p.messages.len > 0);
    return p;
}

T_TEST(prompt_of_multikernelbench)
{
    Arena arena = {0};
    Prompt p = make(&arena, PROMPT_MKB_SELECTED, "tests/gen/clone/mkb", "twice");
    CHECK_EQ_SLICE(p.messages.at[0].text, "be useful");
    CHECK_EQ_SLICE(p.messages.at[1].text,
                   "A statement of the problem.\n\nA sentence before the example.\n\n"
                   "The example is named `half_custom`:\n\n```python\n# model half\n```\n\n"
                   "A sentence that is in between.\n\nAnother sentence in between.\n\n"
                   "A third sentence in between.\n\nA fourth sentence in between.\n\n"
                   "```python\n# answer half\n```\n\n"
                   "Now `twice_custom` (as `TwiceCustom`), {braces}:\n\n"
                   "```python\ntwice = 1\n```\n\nAn instruction: 'six' strings.\n");
    CHECK(!p.reworded);
    p = make(&arena, PROMPT_MKB_ADD, "tests/gen/clone/mkb", "twice");
    CHECK(str_find(p.messages.at[1].text, STR("# model add")) > 0);
    arena_drop(&arena);
}

static const char row[] = "case_id          0\nshape       [4, 8]\ndtype      float16\n"
                          "eps        0.00001\nflag          True\nextra          NaN\n"
                          "Name: 0, dtype: object\n";

T_TEST(prompt_of_npukernelbench)
{
    Arena arena = {0};
    Prompt p = make(&arena, PROMPT_NPUKB_KERNEL, "tests/gen/clone/npukb", "TwiceMath");
    CHECK_EQ_SLICE(
        p.messages.at[0].text,
        str_format(&arena,
                   "\\(\nRules:\n1. a requirement\n\nan example\n\n# Twice\ndtype float16\n"
                   "## Function\ntwice x\n\n%s\n<kernel_impl>\n"
                   "extern void twice_math(GM_ADDR x, GM_ADDR workspace) {}\n\n"
                   "</kernel_impl>\n\n)",
                   row));
    CHECK(p.raw);
    p = make(&arena, PROMPT_NPUKB_FULL, "tests/gen/clone/npukb", "TwiceMath");
    CHECK_EQ_SLICE(
        p.messages.at[0].text,
        str_format(&arena,
                   "\\(\nRules:\n1. another requirement\n\n# Twice\ndtype float16\n"
                   "## Function\ntwice x\n\n%s\n"
                   "== op_host/twice_math.cpp, TwiceMath {\n\nreturn 0;\n\n== op_kernel\n"
                   "extern void twice_math(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {}\n\n\n)",
                   row));
    arena_drop(&arena);
}

T_TEST(prompt_without_a_clone_is_reworded)
{
    Arena arena = {0};
    for (int s = PROMPT_MKB_ADD; s < PROMPT_STRATEGY_COUNT; s++)
        CHECK(make(&arena, (PromptStrategy)s, NULL, "twice").reworded);
    arena_drop(&arena);
}

T_TEST(prompt_refuses_a_clone_it_does_not_know)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    PromptSpec spec = {.strategy = PROMPT_MKB_ADD,
                       .clone = "tests/gen/clone/npukb",
                       .task = "twice",
                       .category = ""};
    Prompt p = {0};
    CHECK(!prompt_make(&arena, &spec, &p, &diag));
    CHECK(diag.errors > 0);
    arena_drop(&arena);
}

T_TEST(python_literals_are_found)
{
    Arena arena = {0};
    PyTexts t = {0};
    pytext_read(&arena,
                STR("A = 'x\\ty' # 'no'\ndef f(a):\n    B = r\"\\n\" + f'{a}'\n    c = \"\"\"two\n"
                    "lines\"\"\"\nC = 'after"),
                &t);
    REQUIRE(t.len == 5);
    CHECK_EQ_SLICE(t.at[0].text, "x\ty");
    CHECK_EQ_STR(t.at[0].name, "A");
    CHECK_EQ_SLICE(t.at[1].text, "\\n");
    CHECK_EQ_STR(t.at[1].function, "f");
    CHECK(t.at[2].format);
    CHECK_EQ_SLICE(t.at[3].text, "two\nlines");
    CHECK_EQ_SLICE(t.at[4].text, "after");
    CHECK_EQ_STR(t.at[4].function, "");
    arena_drop(&arena);
}

/* True counts are those of the Qwen vocabulary. */
T_TEST(tokens_are_near_the_true_count)
{
    CHECK_EQ_INT(tokens_estimate(STR("")), 0);
    CHECK_EQ_INT(tokens_estimate(STR("for r in mine(rows):\n")), 6);
    CHECK_EQ_INT(tokens_estimate(STR("1234")), 4);
}
