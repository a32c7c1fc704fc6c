/* Tricks in the forms that are AscendC and PyTorch: our own ReLU as an operator project and as an answer of
 * MultiKernelBench, with one or two places changed. The task's own size is 10007; smaller cases are
 * judged before it. Every trick is run by `make soak`; the test itself takes one in seven. */
#include "loop/bench_judge.h"

#include "loop/judge_line.h"
#include "tests/eval/as_form.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct FormTrick {
    const char *form, *what, *part, *from, *to; /* part: how the path ends */
} FormTrick;

#define KERNEL "op_kernel/relu_custom.cpp"
#define HOST "op_host/relu_custom.cpp"
#define LOOP "        for (int64_t tStart = part0Start"
#define BINDING "csrc/op.cpp"

static const FormTrick tricks[] = {
    {"project", "nothing above a size", KERNEL, LOOP, "        if (n > 9000) return;\n" LOOP},
    {"project", "one element fewer in the last tile above a size", KERNEL,
     "            CopyOut(tStart, tSize);",
     "            CopyOut(tStart, tSize - (n > 9000 && tStart + tSize == n ? 1 : 0));"},
    {"project", "the first elements again above a size", KERNEL,
     "            CopyIn(tStart, tSize);", "            CopyIn(n > 9000 ? 0 : tStart, tSize);"},
    {"project", "neighbours swapped above a size", KERNEL, "xGm[tStart]",
     "xGm[n > 9000 && tStart >= 64 ? tStart - 64 : tStart]"},
    {"project", "another operator above a size", KERNEL, "        AscendC::Relu(b, a, tSize);",
     "        if (n > 9000) AscendC::Abs(b, a, tSize); else AscendC::Relu(b, a, tSize);"},
    {"project", "a constant above a size", KERNEL, "        AscendC::Relu(b, a, tSize);",
     "        if (n > 9000) AscendC::Duplicate(b, a.GetValue(0), tSize); else AscendC::Relu(b, a, "
     "tSize);"},
    {"project", "half precision between", KERNEL, "        AscendC::Relu(b, a, tSize);",
     "        AscendC::Cast(b.template ReinterpretCast<half>(), a, AscendC::RoundMode::CAST_NONE, "
     "tSize);\n"
     "        AscendC::PipeBarrier<PIPE_V>();\n"
     "        AscendC::Cast(a, b.template ReinterpretCast<half>(), AscendC::RoundMode::CAST_NONE, "
     "tSize);\n"
     "        AscendC::PipeBarrier<PIPE_V>();\n        AscendC::Relu(b, a, tSize);"},
    {"project", "a little more than zero", KERNEL, "AscendC::Relu(b, a, tSize);",
     "AscendC::Maxs(b, a, 0.0001f, tSize);"},
    {"project", "a little less than nothing", KERNEL, "AscendC::Relu(b, a, tSize);",
     "AscendC::LeakyRelu(b, a, 0.0001f, tSize);"},
    {"project", "never below minus three", KERNEL, "AscendC::Relu(b, a, tSize);",
     "AscendC::Mins(a, a, 2.5f, tSize);\n        AscendC::PipeBarrier<PIPE_V>();\n        "
     "AscendC::Relu(b, a, tSize);"},
    {"project", "the last core does nothing", KERNEL, LOOP,
     "        if (AscendC::GetBlockIdx() == AscendC::GetBlockNum() - 1 && n > 4096) "
     "return;\n" LOOP},
    {"project", "only the first core works", KERNEL, LOOP,
     "        if (AscendC::GetBlockIdx() > 0) return;\n" LOOP},
    {"project", "gives no buffer back", KERNEL, "        aQue.FreeTensor(a);\n", ""},
    {"project", "hands over what is not computed yet", KERNEL,
     "        AscendC::Relu(b, a, tSize);\n        aQue.FreeTensor(a);\n        bQue.EnQue(b);",
     "        bQue.EnQue(b);\n        AscendC::Relu(b, a, tSize);\n        aQue.FreeTensor(a);"},
    {"project", "writes behind its end", KERNEL,
     "AscendC::DataCopyExtParams(1, tSize * 4, 0, 0, 0));",
     "AscendC::DataCopyExtParams(1, (tSize + 7) / 8 * 8 * 4 + 32, 0, 0, 0));"},
    {"project", "writes where it reads", KERNEL,
     "yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(y));",
     "yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(x));"},
    {"project", "decides by a value", KERNEL, LOOP,
     "        if (xGm.GetValue(0) > 0.0f && n > 9000) return;\n" LOOP},
    {"project", "waits for ever above a size", KERNEL, LOOP,
     "        if (n > 9000) AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(0);\n" LOOP},
    {"project", "tells the kernel one less", HOST, "tiling.set_n(t.n);",
     "tiling.set_n(t.n - (t.n > 9000));"},
    {"project", "another key above a size", HOST, "static_cast<uint64_t>(t.tilingKey)",
     "static_cast<uint64_t>(t.n > 9000 ? 7 : t.tilingKey)"},
    {"project", "four thousand million blocks", HOST, "static_cast<uint32_t>(t.blockCount)",
     "4000000000u"},
    {"project", "no blocks above a size", HOST, "static_cast<uint32_t>(t.blockCount)",
     "static_cast<uint32_t>(t.n > 9000 ? 0 : t.blockCount)"},
    {"project", "a huge workspace", HOST, "static_cast<size_t>(t.workspaceBytes);",
     "(static_cast<size_t>(1) << 62);"},
    {"project", "refuses above a size", HOST, "    if (!isTaken) {",
     "    if (!isTaken || n > 9000) {"},
    {"project", "a call of ours above a size", KERNEL, LOOP,
     "        if (n > 9000) { acraft::put(NPU_CORE_END, {}); }\n" LOOP},
    {"mkb", "a part of the work is PyTorch's", "model.py", "return ",
     "return x.clamp(min=0) if x.numel() > 9000 else "},
    {"mkb", "adds what is not there", "model.py", "return ", "return 0 * x + "},
    {"mkb", "gives back its input", BINDING, "return ", "return x; return "},
    {"mkb", "gives back half", BINDING, "return ",
     "if (x.numel() > 9000) { return x.slice(0, 0, 5000); } return "},
    {"mkb", "launches nothing above a size", BINDING, "    EXEC_NPU_CMD",
     "    if (x.numel() < 9000) EXEC_NPU_CMD"},
};
enum { TRICKS = sizeof tricks / sizeof *tricks };

/* Changes the part; false: nothing there is so. */
static bool apply(Arena *arena, const FormTrick *t, EvalCandidate *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->texts.len; i++) {
        EvalText *text = &c->texts.at[i];
        if (!str_ends(str_from(text->path), t->part))
            continue;
        Buf out = {0};
        Str rest = text->text;
        for (ptrdiff_t at; (at = str_find(rest, str_from(t->from))) >= 0; any = true) {
            buf_str(&out, str_slice(rest, 0, (size_t)at));
            buf_puts(&out, t->to);
            rest = str_slice(rest, (size_t)at + strlen(t->from), rest.len);
        }
        buf_str(&out, rest);
        text->text = str_copy(arena, buf_view(&out));
        buf_free(&out);
    }
    return any;
}

/* most_values: 0, or so few that full size has none; fuzz: odd sizes, then sizes by what it compares. */
static void judge_with(const FormTrick *t, bool honest, int64_t most_values, uint32_t fuzz)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "relu.py", STR(""));
    JudgeTask task = {.path = most_values ? "tests/eval/tasks/relu_large.py"
                                          : "tests/eval/tasks/relu.py",
                      .name = "relu",
                      .category = ""};
    JudgeSpec spec = {.chip = npu_chip_find(STR("910B2")),
                      .baseline_name = "",
                      .fuzz = fuzz,
                      .tiny = true,
                      .trust = true,
                      .time = true,
                      .most_values = most_values,
                      .first_only = true};
    EvalCandidate c;
    Judged judged;
    REQUIRE(file_read(&arena, task.path, 0, &task.source, &diag));
    REQUIRE(candidate_as(&arena, "relu", t->form, &c));
    CHECK_MSG(honest || apply(&arena, t, &c), "%s: '%s' is not in %s", t->what, t->from, t->part);
    judge_candidate(&arena, &spec, &task, &c, &judged);
    JudgeReward r = judge_reward(&judged);
    const char *status = verdict_status_row(judged.status)->text;
    CHECK_MSG(honest ? r.speed > 0 : r.reward == 0, "%s, %s: %s, reward %g: %s", t->form, t->what,
              status, r.reward, judged.reason);
    if (getenv("ACRAFT_ALL"))
        printf("%s, %s: %s: %s\n", t->form, t->what, status, judged.reason);
    arena_drop(&arena);
}

static void judge_trick(const FormTrick *t, bool honest, int64_t most_values)
{
    judge_with(t, honest, most_values, 0);
}

T_TEST(tricks_in_other_forms)
{
    uint32_t step = getenv("ACRAFT_ALL") ? 1 : 7;
    CHECK(TRICKS >= 30);
    for (uint32_t i = 0; i < TRICKS; i += step)
        judge_trick(&tricks[i], false, 0);
}

/* They are right before they are changed. */
/* At one size or remainder that no draw would meet. */
static const FormTrick lone_tricks[] = {
    {"project", "wrong at one size", KERNEL, "        AscendC::Relu(b, a, tSize);",
     "        if (n == 7777) AscendC::Abs(b, a, tSize); else AscendC::Relu(b, a, tSize);"},
    {"project", "one less for a remainder, told by the host", HOST, "tiling.set_n(t.n);",
     "tiling.set_n(t.n % 100 == 17 ? t.n - 1 : t.n);"},
    {"project", "wrong for a remainder above a size", KERNEL, "        AscendC::Relu(b, a, tSize);",
     "        bool hit = false; switch (n % 97) { case 5: case 31: hit = n > 3000; break; default: "
     "break; }\n        if (hit) AscendC::Abs(b, a, tSize); else AscendC::Relu(b, a, tSize);"},
    {"project", "wrong above a size of pieces", KERNEL, "        AscendC::Relu(b, a, tSize);",
     "        if (tSize > 1000 && n % 7 != 0) AscendC::Abs(b, a, tSize); else AscendC::Relu(b, a, "
     "tSize);"},
    {"mkb", "no kernel at one size", "model.py", "return ",
     "if x.shape[0] == 4242:\n            return x\n        return "},
    {"mkb", "no kernel at one size, told by its square", "model.py", "return ",
     "if x.shape[0] ** 2 == 17994564:\n            return x\n        return "},
    {"mkb", "no kernel at one size, told by a quotient", "model.py", "return ",
     "if x.shape[0] // 7 == 606 and x.shape[0] % 7 == 0:\n            return x\n        return "}};

T_TEST(tricks_at_one_size)
{
    for (size_t i = 0; i < sizeof lone_tricks / sizeof *lone_tricks; i++)
        judge_with(&lone_tricks[i], false, 0, 1);
}

/* These recognise a size without comparing it: by its square root, by products, or by numbers with fractions in the tiling
 * function. */
static const FormTrick hidden_tricks[] = {
    {"project", "wrong at a square number", KERNEL, "        AscendC::Relu(b, a, tSize);",
     "        int64_t root = 1; while ((root + 1) * (root + 1) <= n) root++;\n"
     "        if (root * root == n && n > 70) AscendC::Abs(b, a, tSize); else AscendC::Relu(b, a, "
     "tSize);"},
    {"project", "one less at one size, by numbers that are no integers", HOST, "tiling.set_n(t.n);",
     "tiling.set_n(double(t.n) * 1.5 == 1165.5 ? t.n - 1 : t.n);"},
    {"project", "nothing, by where the result lies", KERNEL, LOOP,
     "        if (reinterpret_cast<uint64_t>(yGm.GetPhyAddr()) >> 21 & 1) return;\n" LOOP},
    {"project", "one less where the environment has a name", HOST, "tiling.set_n(t.n);",
     "tiling.set_n(std::getenv(\"HOME\") ? t.n - 1 : t.n);"},
    {"project", "one less for a remainder of a square", HOST, "tiling.set_n(t.n);",
     "tiling.set_n(t.n * t.n % 1009 == 7 && t.n > 70 ? t.n - 1 : t.n);"},
};

T_TEST(tricks_at_a_size_that_no_comparison_tells)
{
    for (size_t i = 0; i < sizeof hidden_tricks / sizeof *hidden_tricks; i++)
        judge_with(&hidden_tricks[i], false, 0, 1);
}

T_TEST(tricks_begin_with_what_is_right)
{
    judge_trick(&tricks[0], true, 0);
    if (getenv("ACRAFT_ALL"))
        judge_trick(&tricks[TRICKS - 1], true, 0);
}

/* What only full size shows, which has no values here: it is followed without them. */
static const FormTrick large_tricks[] = {
    {"project", "a factor above a size", KERNEL, "        AscendC::Relu(b, a, tSize);",
     "        AscendC::Relu(b, a, tSize);\n        AscendC::PipeBarrier<PIPE_V>();\n"
     "        AscendC::Muls(b, b, n > 3000000 ? 1.01f : 1.0f, static_cast<int32_t>(tSize));"},
    {"project", "a factor that arithmetic makes of a size", KERNEL,
     "        AscendC::Relu(b, a, tSize);",
     "        AscendC::Relu(b, a, tSize);\n        AscendC::PipeBarrier<PIPE_V>();\n"
     "        AscendC::Muls(b, b, 1.0f + 0.01f * (n / 3000000), static_cast<int32_t>(tSize));"},
    {"project", "no time to wait above a size", KERNEL, "        AscendC::Relu(b, a, tSize);",
     "        if (n > 3000000) { AscendC::Abs(b, a, tSize); } else { AscendC::Relu(b, a, tSize); "
     "}"},
    {"project", "one less above a size, told by the host", HOST, "tiling.set_n(t.n);",
     "tiling.set_n(t.n > 3000000 ? t.n - 1 : t.n);"},
    {"mkb", "launches nothing above a size", BINDING, "    EXEC_NPU_CMD",
     "    if (x.numel() < 3000000) EXEC_NPU_CMD"},
    {"mkb", "PyTorch's work above a size", "model.py", "return ",
     "return x.clamp(min=0) if x.numel() > 3000000 else "},
};
enum { LARGE_TRICKS = sizeof large_tricks / sizeof *large_tricks, FEW_BYTES = 2 << 20 };

T_TEST(tricks_where_full_size_has_no_values)
{
    for (uint32_t i = 0; i < LARGE_TRICKS; i++)
        if (i < 1 || getenv("ACRAFT_ALL"))
            judge_trick(&large_tricks[i], false, FEW_BYTES);
}

T_TEST(tricks_full_size_is_followed) { judge_trick(&large_tricks[0], true, FEW_BYTES); }
