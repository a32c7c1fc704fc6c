/* A text that holds the answers to the inputs of a seed everybody knows is right there, and wrong on
 * inputs that follow from the text itself. */
#include "loop/bench_judge.h"

#include "tests/t.h"
#include <stdlib.h>
#include <string.h>

static const char model[] = "import torch\nimport torch.nn as nn\n\n\n"
                            "class Model(nn.Module):\n"
                            "    def forward(self, x):\n"
                            "        return x.sum(dim=1)\n\n\n"
                            "def get_inputs():\n    return [torch.randn(8, 64)]\n\n\n"
                            "def get_init_inputs():\n    return []\n";

/* The right answers of the first case as literals. */
static Str text_with_answers(Arena *arena, const JudgeTask *task, uint64_t seed)
{
    Buf out = {0};
    Diag diag = diag_make(arena, task->path, task->source);
    TorchOptions options = {.seed = seed};
    EvalReference ref;
    TorchTask *read = torch_read_scaled(arena, task->path, task->source, &options, SCALE_SMALL,
                                        &diag);
    REQUIRE(read && eval_reference(arena, read->graph, seed, RULE_ACRAFT, &ref, &diag));
    buf_puts(&out, "#include \"kernel_operator.h\"\nusing namespace AscendC;\n"
                   "extern \"C\" __global__ __aicore__ void sums(GM_ADDR x, GM_ADDR y)\n{\n"
                   "    if (GetBlockIdx() != 0) return;\n"
                   "    TPipe pipe; TBuf<TPosition::VECCALC> buf; pipe.InitBuffer(buf, 4096);\n"
                   "    LocalTensor<float> t = buf.Get<float>();\n"
                   "    GlobalTensor<float> out; out.SetGlobalBuffer((__gm__ float *)y);\n");
    buf_printf(&out,
               "    GlobalTensor<float> in; in.SetGlobalBuffer((__gm__ float *)x); float s = 0;\n"
               "    for (int i = 0; i < %lld; i++) s += in.GetValue(i);\n",
               (long long)ref.in.inputs[0]->count);
    for (int64_t i = 0; i < ref.want[0]->count; i++)
        buf_printf(&out, "    t.SetValue(%lld, %.9gf);\n", (long long)i,
                   tensor_get(ref.want[0], i));
    buf_printf(
        &out,
        "    SetFlag<HardEvent::S_MTE3>(EVENT_ID0); WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);\n"
        "    DataCopyExtParams p{1, %lld * 4, 0, 0, 0};\n    DataCopyPad(out, t, p);\n}\n",
        (long long)ref.want[0]->count);
    eval_reference_free(&ref);
    Str text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return text;
}

T_TEST(bench_again_finds_answers_that_were_known)
{
    Arena arena = {0};
    JudgeTask task = {.path = "sums.py", .name = "sums", .category = "", .source = STR(model)};
    JudgeSpec spec = {
        .chip = npu_chip_find(STR("910B2")), .seed = 3, .baseline_name = "", .trust = true};
    Judged judged;
    EvalCandidate c = {.form = FORM_KERNEL, .name = "sums.cpp", .entry = "", .extracted = ""};
    EvalText text = {"sums.cpp", text_with_answers(&arena, &task, spec.seed)};
    vec_push(&arena, &c.texts, text);
    CHECK(!judge_candidate(&arena, &spec, &task, &c, &judged));
    REQUIRE(judged.cases.len == 2);
    CHECK_MSG(judged.cases.at[0].verdict.status == VERDICT_OK, "%s",
              judged.cases.at[0].verdict.reason);
    CHECK_EQ_STR(judged.cases.at[1].name, "again");
    CHECK_EQ_STR(verdict_status_row(judged.status)->text, "wrong");
    CHECK(strstr(judged.reason, "again: ") == judged.reason);
    arena_drop(&arena);
}
