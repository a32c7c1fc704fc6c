/* Verdicts that rest on last bits which no document fixes. */
#include "eval/fragile.h"
#include "tests/eval/eval_helper.h"

#include <string.h>

/* 2x, plus what two exponentials of the same number differ by, a million times. */
static const char kernel[] =
    "#include \"kernel_operator.h\"\nusing namespace AscendC;\n"
    "extern \"C\" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y)\n{\n"
    "    if (GetBlockIdx() != 0) return;\n"
    "    GlobalTensor<float> in, out;\n"
    "    in.SetGlobalBuffer((__gm__ float *)x);\n    out.SetGlobalBuffer((__gm__ float *)y);\n"
    "    TPipe pipe;\n    TQue<TPosition::VECIN, 1> inQue;\n    TQue<TPosition::VECOUT, 1> "
    "outQue;\n"
    "    TBuf<TPosition::VECCALC> bufA, bufB;\n"
    "    pipe.InitBuffer(inQue, 1, 8192);\n    pipe.InitBuffer(outQue, 1, 8192);\n"
    "    pipe.InitBuffer(bufA, 8192);\n    pipe.InitBuffer(bufB, 8192);\n"
    "    LocalTensor<float> a = inQue.AllocTensor<float>();\n"
    "    DataCopy(a, in, 2048);\n    inQue.EnQue(a);\n    a = inQue.DeQue<float>();\n"
    "    LocalTensor<float> c = outQue.AllocTensor<float>();\n"
    "    LocalTensor<float> e = bufA.Get<float>(), f = bufB.Get<float>();\n"
    "    Add(c, a, a, 2048);\n"
    "#ifdef FRAGILE\n"
    "    Exp(e, a, 2048);\n    Exp(f, a, 2048);\n    PipeBarrier<PIPE_V>();\n"
    "    Sub(e, e, f, 2048);\n    PipeBarrier<PIPE_V>();\n"
    "    Muls(e, e, 1e6f, 2048);\n    PipeBarrier<PIPE_V>();\n    Add(c, c, e, 2048);\n"
    "#endif\n"
    "    outQue.EnQue(c);\n    c = outQue.DeQue<float>();\n    DataCopy(out, c, 2048);\n"
    "    outQue.FreeTensor(c);\n    inQue.FreeTensor(a);\n}\n";

static void check_fragile(const char *head, VerdictStatus want)
{
    static const char path[] = "tests/eval/tasks/double.py";
    Arena arena = {0};
    EvalConfig config = {.chip = npu_chip_find(STR("910B2"))};
    TorchOptions options = {.seed = 5};
    Diag diag = diag_make(&arena, path, STR(""));
    Verdict v = verdict_make();
    EvalReference ref;
    EvalCandidate c = {.form = FORM_KERNEL, .name = "twice.cpp", .entry = "", .extracted = ""};
    EvalText text = {"twice.cpp", str_from(str_format(&arena, "%s%s", head, kernel))};
    vec_push(&arena, &c.texts, text);
    TorchTask *task = torch_read_file(&arena, path, &options, &diag);
    REQUIRE(task && eval_reference(&arena, task->graph, 5, RULE_ACRAFT, &ref, &diag));
    eval_fragile(&arena, &c, &ref, &config, 2, &v, &diag);
    CHECK_MSG(v.status == want, "status %s: %s", verdict_status_row(v.status)->text, v.reason);
    eval_reference_free(&ref);
    arena_drop(&arena);
}

T_TEST(fragile_rests_on_last_bits) { check_fragile("#define FRAGILE\n", VERDICT_FRAGILE); }
T_TEST(fragile_not) { check_fragile("", VERDICT_OK); }
