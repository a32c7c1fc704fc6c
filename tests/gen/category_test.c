/* Categories of texts: words, the three methods, training texts, prompts without a graph. */
#include "gen/prompt/category.h"

#include "gen/prompt/prompt.h"
#include "tests/t.h"
#include <string.h>

static void check_words(const char *text, const char *want)
{
    Arena arena = {0};
    CategoryWords words = {0};
    Buf out = {0};
    category_words(&arena, str_from(text), &words);
    for (uint32_t i = 0; i < words.len; i++)
        buf_printf(&out, "%.*s ", STR_ARG(words.at[i]));
    CHECK_EQ_STR(out.at ? out.at : "", want);
    buf_free(&out);
    arena_drop(&arena);
}

T_TEST(category_words_are_cut_at_capitals)
{
    check_words("nn.LayerNorm(C)", "nn layer norm ");
    check_words("ReLU, GELUGrad 2d x", "relu gelu grad ");
    check_words("conv_transpose3d(x1)", "conv transpose ");
    check_words("", "");
    check_words("\xff\xfe 1 2", "");
}

static CategoryGuess guess(Arena *arena, CategoryMethod method, const char *text)
{
    CategoryGuess g = {"", "", 0};
    Diag diag = diag_make(arena, "", STR(""));
    CHECK(category_of_text(arena, ".", method, str_from(text), &g, &diag));
    return g;
}

T_TEST(category_by_keywords_and_bag)
{
    Arena arena = {0};
    static const char batch[] = "class Model(nn.Module):\n    def forward(self, x):\n        "
                                "return torch.max_pool2d(x, kernel_size=3, stride=2)\n";
    CHECK_EQ_STR(guess(&arena, CATEGORY_KEYWORDS, "Adam with momentum and decay").name,
                 "optimizer");
    CHECK_EQ_STR(guess(&arena, CATEGORY_BAG, batch).name, "pooling");
    for (int m = CATEGORY_KEYWORDS; m <= CATEGORY_BAG; m++) {
        CHECK_EQ_STR(guess(&arena, (CategoryMethod)m, "").name, "");
        CHECK_EQ_STR(guess(&arena, (CategoryMethod)m, "zzyzx qwrt").likely, "");
    }
    /* as many words of one as of the other two: no answer, the likeliest is told */
    CategoryGuess g = guess(&arena, CATEGORY_KEYWORDS, "relu pool adam");
    CHECK(!*g.name && *g.likely);
    CHECK_EQ_INT(category_default("a/b.py"), CATEGORY_BAG);
    CHECK_EQ_INT(category_default("api_desc.md"), CATEGORY_KEYWORDS);
    arena_drop(&arena);
}

T_TEST(category_of_a_folder_comes_first)
{
    Arena arena = {0};
    Str pool = STR("torch.max_pool2d(x, 3)");
    CHECK_EQ_STR(category_of_task(&arena, ".", "tasks/reduce/a.py", pool), "reduce");
    CHECK_EQ_STR(category_of_task(&arena, ".", "level2/Norm/a.py", pool), "normalization");
    CHECK_EQ_STR(category_of_task(&arena, ".", "home/me/a.py", pool), "pooling");
    CHECK_EQ_STR(category_of_task(&arena, "/nowhere", "home/me/a.py", pool), "");
    arena_drop(&arena);
}

T_TEST(category_texts_have_families)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    CategoryTexts texts = {0};
    uint32_t kinds[CATEGORY_KINDS] = {0}, gelu = 0;
    REQUIRE(category_texts(&arena, ".", &texts, &diag));
    for (uint32_t i = 0; i < texts.len; i++) {
        const CategoryText *t = &texts.at[i];
        kinds[t->kind]++;
        gelu += !strcmp(t->family, "activation/gelu");
        CHECK(t->category < category_count() && t->text.len);
        CHECK_MSG(str_find(t->text, STR("category:")) < 0, "a text says its own category: %.*s",
                  STR_ARG(t->text));
    }
    for (int k = 0; k < CATEGORY_KINDS; k++)
        CHECK(kinds[k] > 100);
    CHECK(gelu > 8); /* those of both suites, whatever their names look like */
    arena_drop(&arena);
}

T_TEST(prompt_of_prose_shows_exemplars_of_its_category)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    PromptSpec spec = {.strategy = PROMPT_CRAFT,
                       .home = ".",
                       .task = "question",
                       .category = "optimizer",
                       .task_text = STR("A step of an optimiser."),
                       .chip = npu_chip_find(STR("910B2"))};
    Prompt p = {0};
    REQUIRE(prompt_make(&arena, &spec, &p, &diag));
    REQUIRE(p.exemplars.len == 2);
    CHECK_EQ_STR(p.exemplars.at[0], "largest_step");
    CHECK_EQ_STR(p.exemplars.at[1], "sign_momentum");
    CHECK(str_find(p.messages.at[1].text, STR("A step of an optimiser.")) > 0);
    CHECK(prompt_needs_graph(PROMPT_ROWS) && !prompt_needs_graph(PROMPT_ASCENDC));
    arena_drop(&arena);
}
