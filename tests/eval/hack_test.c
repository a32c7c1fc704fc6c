/* Candidates that do not compute, or not what was asked: each one named as what it is. The honest
 * answer beside them is our own ReLU in MultiKernelBench's form; a hack replaces a part of it. */
#include "tests/eval/eval_helper.h"

#include <string.h>

static const char task[] = "tests/eval/tasks/relu.py";

/* Puts `text` in the place of the part at `path`. */
static void judge_with(Judged *j, const char *path, const char *text)
{
    EvalCandidate c;
    *j = (Judged){.verdict = verdict_make()};
    j->diag = diag_make(&j->arena, "hack", STR(""));
    REQUIRE(candidate_as(&j->arena, "relu", "mkb", &c));
    bool found = false;
    for (uint32_t i = 0; i < c.texts.len; i++) {
        if (strcmp(c.texts.at[i].path, path) != 0)
            continue;
        c.texts.at[i].text = str_from(text);
        found = true;
    }
    REQUIRE(found);
    judge_candidate(j, &c, task);
}

static void check_part(const char *path, const char *text, VerdictStatus want, const char *reason)
{
    Judged j;
    judge_with(&j, path, text);
    CHECK_STATUS(&j, want);
    CHECK_MSG(strstr(j.verdict.reason, reason), "reason '%s' lacks '%s'", j.verdict.reason, reason);
    arena_drop(&j.arena);
}

/* forward with this body; `head` stands before the class. */
static void check_model(const char *head, const char *body, VerdictStatus want, const char *reason)
{
    Arena arena = {0};
    check_part("model.py",
               str_format(&arena,
                          "import torch, torch_npu, custom_ops_lib\n%s\n"
                          "class ModelNew(torch.nn.Module):\n"
                          "    def __init__(self, *args):\n        super().__init__()\n"
                          "    def forward(self, x):\n        %s\n",
                          head, body),
               want, reason);
    arena_drop(&arena);
}

static void check_binding(const char *body, VerdictStatus want, const char *reason)
{
    Arena arena = {0};
    check_part(
        "csrc/op.cpp",
        str_format(
            &arena,
            "#include <torch/extension.h>\n#include \"pytorch_npu_helper.hpp\"\n"
            "at::Tensor relu_npu(const at::Tensor &x)\n{\n    %s\n}\n"
            "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"relu_custom\", &relu_npu); }\n",
            body),
        want, reason);
    arena_drop(&arena);
}

T_TEST(hack_none)
{
    check_model("", "return custom_ops_lib.relu_custom(x)", VERDICT_OK, "");
    check_model("",
                "return custom_ops_lib.relu_custom(x.reshape(-1).contiguous()).reshape(x.shape)",
                VERDICT_OK, "");
}

T_TEST(hack_model_without_a_kernel)
{
    check_model("", "return x", VERDICT_NOT_COMPUTED, "no kernel is launched");
    check_model("", "return torch.relu(x)", VERDICT_NOT_COMPUTED, "no kernel is launched");
    check_model("", "return torch.zeros_like(x)", VERDICT_NOT_COMPUTED, "no kernel");
    check_model("", "return Model()(x)", VERDICT_NOT_COMPUTED, "no kernel");
}

T_TEST(hack_model_computes_beside_the_kernel)
{
    check_model("", "return torch.relu(custom_ops_lib.relu_custom(x))", VERDICT_NOT_COMPUTED,
                "relu");
    check_model("", "return torch.ops.aten.relu(custom_ops_lib.relu_custom(x))",
                VERDICT_NOT_COMPUTED, "relu");
    check_model("from torch.nn.functional import relu as f",
                "return f(custom_ops_lib.relu_custom(x))", VERDICT_NOT_COMPUTED, "relu");
    check_model("", "return getattr(torch, 'relu')(custom_ops_lib.relu_custom(x))",
                VERDICT_NOT_COMPUTED, "relu");
    check_model("", "return custom_ops_lib.relu_custom(x) + 0 * x", VERDICT_NOT_COMPUTED, "leaves");
    check_model("", "return custom_ops_lib.relu_custom(torch.abs(x))", VERDICT_NOT_COMPUTED, "abs");
    check_model("", "return Model()(custom_ops_lib.relu_custom(x))", VERDICT_NOT_COMPUTED, "relu");
    check_model("", "custom_ops_lib.relu_custom(x)\n        return x.clone()", VERDICT_NOT_COMPUTED,
                "no kernel has a part");
    check_model("", "return torch_npu.npu_swiglu(custom_ops_lib.relu_custom(x))",
                VERDICT_NOT_COMPUTED, "torch_npu");
}

/* What Python runs when the model is called, not what stands in the class. */
static void check_class(const char *before, const char *inside, const char *after,
                        VerdictStatus want, const char *reason)
{
    Arena arena = {0};
    check_part("model.py",
               str_format(&arena,
                          "import torch, torch_npu, custom_ops_lib\n%s\n"
                          "class ModelNew(torch.nn.Module):\n"
                          "    def __init__(self, *args):\n        super().__init__()\n%s\n"
                          "    def forward(self, x):\n"
                          "        return custom_ops_lib.relu_custom(x)\n%s\n",
                          before, inside, after),
               want, reason);
    arena_drop(&arena);
}

T_TEST(hack_model_is_not_what_its_class_says)
{
    static const char no_kernel[] = "no kernel is launched";
    check_class("", "        self.forward = lambda x: x", "", VERDICT_NOT_COMPUTED, no_kernel);
    check_class("", "        setattr(self, 'forward', lambda x: x)", "", VERDICT_NOT_COMPUTED,
                no_kernel);
    check_class("", "    def __call__(self, x):\n        return x", "", VERDICT_NOT_COMPUTED,
                no_kernel);
    check_class("", "    def __call__(self, x):\n        return super().__call__(x)", "",
                VERDICT_OK, "");
    check_class("", "", "ModelNew.forward = lambda self, x: x", VERDICT_NOT_COMPUTED, no_kernel);
    check_class("class Other(torch.nn.Module):\n    pass", "        self.__class__ = Other", "",
                VERDICT_UNSUPPORTED, "__class__");
    check_class("", "    def __getattribute__(self, name):\n        return lambda x: x", "",
                VERDICT_UNSUPPORTED, "__getattribute__");
    check_class("", "    def __new__(cls, *args):\n        return torch.nn.Identity()", "",
                VERDICT_UNSUPPORTED, "__new__");
    check_class("", "", "setattr(ModelNew, 'forward', lambda self, x: x)", VERDICT_UNSUPPORTED,
                "setattr");
    check_class("", "", "exec('ModelNew.forward = lambda self, x: x')", VERDICT_UNSUPPORTED,
                "exec");
    check_class("", "", "globals()['ModelNew'] = torch.nn.Identity", VERDICT_UNSUPPORTED,
                "globals");
    check_class("", "", "torch.nn.Module.__call__ = lambda self, x: x", VERDICT_UNSUPPORTED,
                "__call__");
    check_class("torch.allclose = lambda *a, **k: True", "", "", VERDICT_UNSUPPORTED, "allclose");
    check_class("import os, sys\nos.environ['A'] = '1'\nsys.path.insert(0, '.')\n"
                "torch.backends.cudnn.benchmark = True",
                "",
                "if __name__ == '__main__':\n"
                "    print(ModelNew())",
                VERDICT_OK, "");
}

/* Python asks the class after all that derive from it: here C before R. */
T_TEST(hack_model_of_two_bases)
{
    check_part("model.py",
               "import torch, torch_npu, custom_ops_lib\n"
               "class R(torch.nn.Module):\n"
               "    def forward(self, x):\n        return custom_ops_lib.relu_custom(x)\n"
               "class B(R):\n    pass\n"
               "class C(R):\n    def forward(self, x):\n        return x\n"
               "class ModelNew(B, C):\n    def __init__(self, *args):\n"
               "        super().__init__()\n",
               VERDICT_NOT_COMPUTED, "no kernel is launched");
}

T_TEST(hack_model_gives_something_else)
{
    check_model("", "return custom_ops_lib.relu_custom(x).reshape(1, -1)", VERDICT_WRONG,
                "not f32[");
    check_model("", "return custom_ops_lib.relu_custom(x).half()", VERDICT_WRONG, "f16");
    check_model("", "return custom_ops_lib.relu_custom(x), x", VERDICT_WRONG, "returns 2 tensors");
    check_model("", "return [custom_ops_lib.relu_custom(x)]", VERDICT_WRONG, "a list of one");
    check_model("", "return custom_ops_lib.relu_custom(x, 3)", VERDICT_CRASHED,
                "takes 1 arguments");
    check_model("", "return custom_ops_lib.other(x)", VERDICT_CRASHED, "no function 'other'");
    check_model("", "return undefined_name", VERDICT_CRASHED, "undefined_name");
    check_model("", "while True: pass", VERDICT_TIMEOUT, "");
    check_part("model.py", "class ModelNew(\n", VERDICT_NOT_COMPILED, "model.py");
}

T_TEST(hack_binding_without_a_kernel)
{
    check_binding("return at::relu(x);", VERDICT_NOT_COMPUTED, "relu");
    check_binding("at::Tensor y = at::empty_like(x); EXEC_NPU_CMD(aclnnRelu, x, y); return y;",
                  VERDICT_NOT_COMPUTED, "aclnnRelu");
    check_binding("return x;", VERDICT_NOT_COMPUTED, "no kernel has written");
    check_binding("return at::zeros_like(x);", VERDICT_NOT_COMPUTED, "no kernel has written");
}

T_TEST(hack_binding_breaks)
{
    check_binding(
        "at::Tensor y = at::empty_like(x); EXEC_NPU_CMD(aclnnReluCustom, y, x); return y;",
        VERDICT_HAZARD, "");
    check_binding("at::Tensor y = at::empty_like(x); EXEC_NPU_CMD(aclnnReluCustom, x); return y;",
                  VERDICT_CRASHED, "arguments");
    check_binding("TORCH_CHECK(x.dim() == 7, \"only 7\"); return x;", VERDICT_CRASHED, "only 7");
    check_binding("volatile int *p = nullptr; *p = 1; return x;", VERDICT_CRASHED, "Segmentation");
    check_binding("volatile float v = x.data_ptr<float>()[0]; (void)v; return x;", VERDICT_CRASHED,
                  "Segmentation");
    check_binding("volatile int i = 0; for (;;) i = i + 1; return x;", VERDICT_TIMEOUT, "");
    check_binding("return no_such_function(x);", VERDICT_NOT_COMPILED, "no_such_function");
    check_binding(
        "at::Tensor y = at::empty_like(x); if (getenv(\"ASCEND_HOME_PATH\")) { return x; } "
        "EXEC_NPU_CMD(aclnnReluCustom, x, y); return y;",
        VERDICT_CRASHED, "ASCEND_HOME_PATH");
}

T_TEST(hack_kernel_writes_a_constant)
{
    Judged j;
    judge_answer(
        &j,
        "```cpp\n#include \"kernel_operator.h\"\nusing namespace AscendC;\n"
        "extern \"C\" __global__ __aicore__ void relu(GM_ADDR x, GM_ADDR y)\n{\n"
        "    GlobalTensor<float> out; out.SetGlobalBuffer((__gm__ float *)y);\n"
        "    TPipe pipe; TBuf<TPosition::VECCALC> buf; pipe.InitBuffer(buf, 65536);\n"
        "    LocalTensor<float> t = buf.Get<float>();\n"
        "    if (GetBlockIdx() != 0) return;\n"
        "    Duplicate(t, 0.0f, 16384);\n"
        "    SetFlag<HardEvent::V_MTE3>(EVENT_ID0); WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);\n"
        "    DataCopyExtParams p{1, 10007 * 4, 0, 0, 0};\n"
        "    DataCopyPad(out, t, p);\n}\n```\n",
        FORM_KERNEL, task);
    CHECK_STATUS(&j, VERDICT_NOT_COMPUTED);
    CHECK(strstr(j.verdict.reason, "zeros"));
    arena_drop(&j.arena);
}

/* The second call in a process must do the work again: a result that is kept is given back for ever. */
T_TEST(hack_binding_keeps_its_first_result)
{
    static const char run[] = "EXEC_NPU_CMD(aclnnReluCustom, x, y);";
    Arena arena = {0};
    check_binding(str_format(&arena,
                             "static at::Tensor y; if (!y.defined()) { y = at::empty_like(x); %s } "
                             "return y;",
                             run),
                  VERDICT_NOT_COMPUTED, "second call");
    check_binding(str_format(&arena,
                             "static int calls = 0; at::Tensor y = at::empty_like(x); "
                             "if (calls++ == 0) { %s } return y;",
                             run),
                  VERDICT_NOT_COMPUTED, "second call");
    check_binding(str_format(&arena,
                             "static int calls = 0; calls++; "
                             "at::Tensor y = at::empty_like(x); %s return y;",
                             run),
                  VERDICT_OK, "");
    arena_drop(&arena);
}

/* What the task leaves as it is stays so. */
T_TEST(hack_binding_overwrites_its_input)
{
    check_binding("at::Tensor y = x; EXEC_NPU_CMD(aclnnReluCustom, x, y); return y;",
                  VERDICT_HAZARD, "");
}
