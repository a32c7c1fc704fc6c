/* Candidates out of raw answers: the rules of both benchmarks, thinking, answers that break off. */
#include "tests/eval/eval_helper.h"

#include "base/rng.h"
#include <string.h>

typedef struct Taken {
    Arena arena;
    EvalCandidate c;
    const char *reason;
    bool ok, cut;
} Taken;

static Taken extract_answer(const char *answer, EvalForm form)
{
    Taken t = {0};
    t.ok = eval_candidate_extract(&t.arena, str_from(answer), form, &t.c, &t.reason, &t.cut);
    return t;
}

static const char kernel[] = "extern \"C\" __global__ __aicore__ void f(GM_ADDR x, GM_ADDR y) {}\n";

#define CHECK_TEXT(t, want)                                 \
    do {                                                    \
        CHECK_MSG((t).ok, "not extracted: %s", (t).reason); \
        if ((t).ok && CHECK_EQ_INT((t).c.texts.len, 1))     \
            CHECK_EQ_SLICE((t).c.texts.at[0].text, (want)); \
        arena_drop(&(t).arena);                             \
    } while (0)

#define CHECK_MISSED(t, is_cut)             \
    do {                                    \
        CHECK(!(t).ok);                     \
        CHECK((t).reason && (t).reason[0]); \
        CHECK_EQ_INT((t).cut, (is_cut));    \
        arena_drop(&(t).arena);             \
    } while (0)

T_TEST(extract_first_fence_that_is_a_kernel)
{
    Arena arena = {0};
    Taken t = extract_answer(
        str_format(&arena, "Compile with\n```sh\nmake\n```\nThe kernel:\n```cpp\n%s```\n", kernel),
        FORM_ANY);
    CHECK_EQ_INT(t.c.form, FORM_KERNEL);
    CHECK_EQ_STR(t.c.extracted, "fenced block 2");
    CHECK_TEXT(t, kernel);
    arena_drop(&arena);
}

T_TEST(extract_whole_text_without_a_fence)
{
    Taken t = extract_answer(kernel, FORM_KERNEL);
    CHECK_EQ_STR(t.c.extracted, "whole answer");
    CHECK_TEXT(t, "extern \"C\" __global__ __aicore__ void f(GM_ADDR x, GM_ADDR y) {}");
}

T_TEST(extract_drops_thinking)
{
    Arena arena = {0};
    Taken t = extract_answer(
        str_format(&arena,
                   "<think>first\n```cpp\n__global__ __aicore__ no\n```\n</think>\n```cpp\n%s```",
                   kernel),
        FORM_ANY);
    CHECK_TEXT(t, kernel);
    Taken opened = extract_answer(str_format(&arena, "thoughts\n</think>\n```\n%s```", kernel),
                                  FORM_ANY);
    CHECK_TEXT(opened, kernel);
    Taken cut = extract_answer("<think>and so on and on", FORM_ANY);
    CHECK_MISSED(cut, true);
    arena_drop(&arena);
}

T_TEST(extract_sees_an_answer_that_breaks_off)
{
    Taken fence = extract_answer("```cpp\n__global__ __aicore__ void f(", FORM_ANY);
    CHECK_MISSED(fence, true);
    Taken tag = extract_answer("<kernel_impl>\n```cpp\n__global__ ", FORM_ANY);
    CHECK_MISSED(tag, true);
    Taken json = extract_answer("{\"sources\": [{\"path\": \"a.cpp\", \"content\": \"int",
                                FORM_ANY);
    CHECK_MISSED(json, true);
    Taken six = extract_answer("```python\nproject_json_src='''{}'''\nkernel_src='''...", FORM_MKB);
    CHECK_MISSED(six, true);
    Taken empty = extract_answer(" \n ", FORM_ANY);
    CHECK_MISSED(empty, false);
    Taken prose = extract_answer("I cannot help with that.", FORM_ANY);
    CHECK_MISSED(prose, false);
}

T_TEST(extract_npukb_kernel)
{
    Arena arena = {0};
    Taken t = extract_answer(
        str_format(&arena, "Sure.\n<kernel_impl>\n```cpp\n%s\n```\n</kernel_impl>", kernel),
        FORM_ANY);
    CHECK_EQ_INT(t.c.form, FORM_NPUKB_KERNEL);
    CHECK_TEXT(t, "extern \"C\" __global__ __aicore__ void f(GM_ADDR x, GM_ADDR y) {}");
    Taken bare = extract_answer(str_format(&arena, "<kernel_impl>%s</kernel_impl>", kernel),
                                FORM_NPUKB_KERNEL);
    CHECK_TEXT(bare, "extern \"C\" __global__ __aicore__ void f(GM_ADDR x, GM_ADDR y) {}");
    arena_drop(&arena);
}

T_TEST(extract_npukb_full)
{
    Taken t = extract_answer(
        "================== op_host/add_tiling.h ==================\n```cpp\nA\n```\n"
        "================== op_host/add.cpp ==================\n```cpp\nB\n```\n"
        "================== op_kernel/add.cpp ==================\n```cpp\nC\n```\n",
        FORM_ANY);
    CHECK(t.ok);
    CHECK_EQ_INT(t.c.form, FORM_NPUKB_FULL);
    if (t.ok && CHECK_EQ_INT(t.c.texts.len, 3)) {
        CHECK_EQ_STR(t.c.texts.at[0].path, "op_host/add_tiling.h");
        CHECK_EQ_SLICE(t.c.texts.at[2].text, "C\n");
    }
    arena_drop(&t.arena);
    Taken missing = extract_answer("===== op_host/add.cpp =====\n```cpp\nB\n```\n",
                                   FORM_NPUKB_FULL);
    CHECK_MISSED(missing, false);
    Taken cut = extract_answer("===== op_host/add.cpp =====\n```cpp\nB\n", FORM_NPUKB_FULL);
    CHECK_MISSED(cut, true);
}

T_TEST(extract_six_strings)
{
    static const char answer[] =
        "Here:\n```python\nproject_json_src='''[]'''\n"
        "host_tiling_src=\"\"\"T\"\"\"\nhost_operator_src='''#include "
        "\"relu_custom_tiling.h\"\n'''\n"
        "kernel_src='''K''' + '''L'''\npython_bind_src='''B'''.strip()\nmodel_src='''M'''\n```\n";
    Taken t = extract_answer(answer, FORM_ANY);
    CHECK_MSG(t.ok, "%s", t.reason);
    CHECK_EQ_INT(t.c.form, FORM_MKB);
    if (t.ok && CHECK_EQ_INT(t.c.texts.len, 6)) {
        CHECK_EQ_STR(t.c.texts.at[1].path, "op_host/relu_custom_tiling.h");
        CHECK_EQ_SLICE(t.c.texts.at[3].text, "KL");
        CHECK(eval_candidate_model(&t.c) == &t.c.texts.at[5]);
    }
    arena_drop(&t.arena);
    Taken five = extract_answer("kernel_src=''; model_src=''; host_operator_src=''", FORM_MKB);
    CHECK_MISSED(five, false);
}

/* What follows the six texts may change them: what is judged must be what Python would have. */
T_TEST(extract_six_strings_as_they_end)
{
    static const char six[] =
        "project_json_src = other = '[]'\nproject_json_src='[]'\nhost_tiling_src='T'\n"
        "host_operator_src='H'\nkernel_src='K'\npython_bind_src='B'\nmodel_src='M'\n";
    static const struct {
        const char *more, *kernel; /* NULL: nothing to judge */
    } rows[] = {{"", "K"},
                {"kernel_src += 'L'\n", "KL"},
                {"kernel_src = 'N'\n", "N"},
                {"print(kernel_src)\nimport os\nx = 3\n", "K"},
                {"if __name__ == '__main__':\n    kernel_src = ''\n", "K"},
                {"kernel_src = kernel_src.replace('K', 'Q')\n", NULL},
                {"kernel_src -= 3\n", NULL},
                {"kernel_src, x = 'a', 'b'\n", NULL},
                {"if True:\n    kernel_src = 'Q'\n", NULL},
                {"for kernel_src in ['Q']:\n    pass\n", NULL},
                {"del kernel_src\n", NULL},
                {"globals()['kernel_src'] = 'Q'\n", NULL},
                {"exec('kernel_src = 3')\n", NULL},
                {"def f():\n    global kernel_src\n    kernel_src = 'Q'\nf()\n", NULL}};
    const char *own = strchr(six, '\n') + 1; /* the first line has two targets */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena arena = {0};
        Taken t = extract_answer(str_format(&arena, "%s%s", own, rows[i].more), FORM_MKB);
        CHECK_MSG(t.ok == (rows[i].kernel != NULL), "%s: %s", rows[i].more, t.reason);
        if (t.ok && rows[i].kernel)
            CHECK_EQ_SLICE(t.c.texts.at[3].text, rows[i].kernel);
        arena_drop(&t.arena);
        arena_drop(&arena);
    }
    Taken two = extract_answer(six, FORM_MKB);
    CHECK_MISSED(two, false);
}

T_TEST(extract_direct_json)
{
    static const char answer[] =
        "```json\n{\"entry\": {\"model\": \"M.py::N\"}, \"sources\": [{\"path\": \"M.py\", "
        "\"content\": \"class N\"}, {\"path\": \"k/a.cpp\", \"content\": \"int a;\"}]}\n```";
    Taken t = extract_answer(answer, FORM_ANY);
    CHECK_MSG(t.ok, "%s", t.reason);
    CHECK_EQ_INT(t.c.form, FORM_MKB_DIRECT);
    CHECK_EQ_STR(t.c.entry, "M.py::N");
    CHECK(t.ok &&
          eval_candidate_model(&t.c) == &t.c.texts.at[0]); /* by the form, not by its text */
    arena_drop(&t.arena);
    Taken outside = extract_answer(
        "{\"entry\": {\"model\": \"M.py::N\"}, \"sources\": [{\"path\": \"../x\", "
        "\"content\": \"\"}]}",
        FORM_MKB_DIRECT);
    CHECK_MISSED(outside, false);
    Taken twice = extract_answer(
        "{\"entry\": {\"model\": \"a::N\"}, \"sources\": [{\"path\": \"a\", \"content\": \"\"}, "
        "{\"path\": \"a\", \"content\": \"\"}]}",
        FORM_MKB_DIRECT);
    CHECK_MISSED(twice, false);
}

/* Pieces of answers thrown together: never a crash, and a refusal always has a reason. */
T_TEST(extract_random_answers)
{
    static const char *const pieces[] = {"```",
                                         "```cpp\n",
                                         "\n",
                                         "<think>",
                                         "</think>",
                                         "<kernel_impl>",
                                         "</kernel_impl>",
                                         "===== op_host/a.cpp =====\n",
                                         "===== op_kernel/a.cpp =====\n",
                                         "===== op_host/a_tiling.h =====\n",
                                         "kernel_src='''",
                                         "'''",
                                         "model_src=''",
                                         "host_operator_src=\"\"\"",
                                         "{",
                                         "}",
                                         "\"sources\": [",
                                         "\"content\": \"",
                                         "__global__ __aicore__ void f(",
                                         "craft = 1\n",
                                         "\\",
                                         "\"",
                                         "\xff\xfe",
                                         "~~~",
                                         "====="};
    enum { PIECES = sizeof pieces / sizeof *pieces };
    for (uint64_t round = 0; round < 3000; round++) {
        char answer[2048] = "";
        int64_t count = rng_range(7, round, 0, 0, 40);
        for (int64_t i = 0; i < count; i++)
            strcat(answer, pieces[rng_range(7, round, (uint64_t)i + 1, 0, PIECES)]);
        Taken t = extract_answer(answer, (EvalForm)rng_range(7, round, 100, 0, EVAL_FORM_COUNT));
        CHECK(t.ok || t.reason[0]);
        arena_drop(&t.arena);
    }
}
