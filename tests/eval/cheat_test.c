/* Right values that no kernel has computed: in host code, tiling functions, casts and moves. Each is
 * written as someone would who wants the point; none is ok. */
#include "tests/eval/eval_helper.h"

#include <string.h>

static void check_said(Judged *j, const char *what, VerdictStatus want, const char *reason)
{
    CHECK_MSG(j->verdict.status == want, "%s: %s, wanted %s: %s", what,
              verdict_status_row(j->verdict.status)->text, verdict_status_row(want)->text,
              j->verdict.reason);
    CHECK_MSG(strstr(j->verdict.reason, reason), "%s: reason '%s' lacks '%s'", what,
              j->verdict.reason, reason);
    arena_drop(&j->arena);
}

/* ---- a program with main: the mean of squares, worked out on the host ---- */

static const char loss_head[] =
    "#include \"data_utils.h\"\n#include \"acl/acl.h\"\n#include \"kernel_operator.h\"\n"
    "using namespace AscendC;\n"
    "struct One { float value; uint32_t total; };\n"
    "__global__ __aicore__ void hand_on(GM_ADDR from, GM_ADDR to, One one)\n{\n"
    "    if (GetBlockIdx() != 0) return;\n"
    "    TPipe pipe; TBuf<TPosition::VECCALC> buf; pipe.InitBuffer(buf, 32);\n"
    "    LocalTensor<float> t = buf.Get<float>();\n"
    "    GlobalTensor<float> in, out;\n"
    "    in.SetGlobalBuffer((__gm__ float *)from); out.SetGlobalBuffer((__gm__ float *)to);\n"
    "    t.SetValue(0, one.total ? one.value : in.GetValue(0));\n"
    "    SetFlag<HardEvent::S_MTE3>(EVENT_ID0); WaitFlag<HardEvent::S_MTE3>(EVENT_ID0);\n"
    "    DataCopyExtParams p{1, 4, 0, 0, 0};\n    DataCopyPad(out, t, p);\n}\n"
    "__global__ __aicore__ void copy_all(GM_ADDR from, GM_ADDR to)\n{\n"
    "    if (GetBlockIdx() != 0) return;\n"
    "    TPipe pipe; TBuf<TPosition::VECCALC> buf; pipe.InitBuffer(buf, 40032);\n"
    "    LocalTensor<float> t = buf.Get<float>();\n"
    "    GlobalTensor<float> in, out;\n"
    "    in.SetGlobalBuffer((__gm__ float *)from); out.SetGlobalBuffer((__gm__ float *)to);\n"
    "    DataCopyExtParams p{1, 10007 * 4, 0, 0, 0};\n"
    "    DataCopyPadExtParams<float> no{false, 0, 0, 0};\n"
    "    DataCopyPad(t, in, p, no);\n"
    "    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0); WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);\n"
    "    DataCopyPad(out, t, p);\n}\n"
    "struct Many { float v[400]; };\n"
    "__global__ __aicore__ void take_many(GM_ADDR from, GM_ADDR to, Many many) {}\n"
    "int32_t main(int32_t argc, char *argv[])\n{\n"
    "    size_t n = 10007, bytes = n * 4;\n    aclInit(nullptr);\n"
    "    aclrtStream s; aclrtCreateStream(&s);\n"
    "    float *hx, *hy, *hz; uint8_t *dx, *dy, *dz, *tmp;\n"
    "    aclrtMallocHost((void **)&hx, bytes); aclrtMallocHost((void **)&hy, bytes);\n"
    "    aclrtMallocHost((void **)&hz, 4);\n"
    "    aclrtMalloc((void **)&dx, bytes, ACL_MEM_MALLOC_HUGE_FIRST);\n"
    "    aclrtMalloc((void **)&dy, bytes, ACL_MEM_MALLOC_HUGE_FIRST);\n"
    "    aclrtMalloc((void **)&tmp, bytes, ACL_MEM_MALLOC_HUGE_FIRST);\n"
    "    aclrtMalloc((void **)&dz, 4, ACL_MEM_MALLOC_HUGE_FIRST);\n"
    "    ReadFile(\"./input/x.bin\", bytes, hx, bytes);\n"
    "    ReadFile(\"./input/y.bin\", bytes, hy, bytes);\n"
    "    double sum = 0;\n";
static const char loss_tail[] = "    aclrtSynchronizeStream(s);\n"
                                "    aclrtMemcpy(hz, 4, dz, 4, ACL_MEMCPY_DEVICE_TO_HOST);\n"
                                "    WriteFile(\"./output/z.bin\", hz, 4);\n    return 0;\n}\n";
#define SUM "    for (size_t i = 0; i < n; i++) sum += double(hx[i] - hy[i]) * (hx[i] - hy[i]);\n"

static void check_loss(const char *what, const char *body, const char *reason)
{
    Judged j = {.verdict = verdict_make()};
    EvalCandidate c = {.form = FORM_DIRECT, .name = "loss.cpp", .entry = "", .extracted = ""};
    j.diag = diag_make(&j.arena, "loss.cpp", STR(""));
    EvalText text = {"loss.cpp",
                     str_from(str_format(&j.arena, "%s%s%s", loss_head, body, loss_tail))};
    vec_push(&j.arena, &c.texts, text);
    judge_candidate(&j, &c, "tests/eval/tasks/mse_loss.py");
    check_said(&j, what, VERDICT_NOT_COMPUTED, reason);
}

T_TEST(cheat_host_computes_a_loss)
{
    check_loss("four bytes to the device",
               SUM "    float r = float(sum / n);\n"
                   "    aclrtMemcpy(dx, 4, &r, 4, ACL_MEMCPY_HOST_TO_DEVICE);\n"
                   "    hand_on<<<1, nullptr, s>>>(dx, dz, One{0, 0});\n",
               "depends on the elements");
    check_loss("by value",
               SUM "    aclrtMemcpy(dx, bytes, hx, bytes, ACL_MEMCPY_HOST_TO_DEVICE);\n"
                   "    hand_on<<<1, nullptr, s>>>(dx, dz, One{float(sum / n), 1});\n",
               "depends on the elements");
    check_loss("from a copy that a kernel made",
               "    aclrtMemcpy(dx, bytes, hx, bytes, ACL_MEMCPY_HOST_TO_DEVICE);\n"
               "    copy_all<<<1, nullptr, s>>>(dx, tmp);\n"
               "    aclrtMemcpy(hx, bytes, tmp, bytes, ACL_MEMCPY_DEVICE_TO_HOST);\n" SUM
               "    hand_on<<<1, nullptr, s>>>(dx, dz, One{float(sum / n), 1});\n",
               "depends on the elements");
    check_loss("as the number of blocks' worth",
               SUM "    aclrtMemcpy(dx, bytes, hx, bytes, ACL_MEMCPY_HOST_TO_DEVICE);\n"
                   "    uint32_t bits; float r = float(sum / n); memcpy(&bits, &r, 4);\n"
                   "    for (int i = 0; i < 4; i++)\n"
                   "        aclrtMemset(dy + i, 1, (bits >> (8 * i)) & 255, 1);\n"
                   "    hand_on<<<1, nullptr, s>>>(dy, dz, One{0, 0});\n",
               "depends on the elements");
    check_loss("signs alone",
               "    int signs = 0;\n    for (size_t i = 0; i < n; i++) signs += hx[i] < 0;\n"
               "    aclrtMemcpy(dx, bytes, hx, bytes, ACL_MEMCPY_HOST_TO_DEVICE);\n"
               "    hand_on<<<1, nullptr, s>>>(dx, dz, One{float(signs), 1});\n",
               "depends on the elements");
    check_loss(
        "an element that it looked for",
        "    size_t at = 0;\n    for (size_t i = 0; i < n; i++) if (hx[i] > hx[at]) at = i;\n"
        "    aclrtMemcpy(dx, 4, hx + at, 4, ACL_MEMCPY_HOST_TO_DEVICE);\n"
        "    hand_on<<<1, nullptr, s>>>(dx, dz, One{0, 0});\n",
        "depends on the elements");
    check_loss("numbers that look like small integers",
               "    long small = 0;\n    for (size_t i = 0; i < n; i++) small += ((unsigned char "
               "*)hx)[4 * "
               "i + 3] >> 1;\n"
               "    aclrtMemcpy(dx, bytes, hx, bytes, ACL_MEMCPY_HOST_TO_DEVICE);\n"
               "    hand_on<<<1, nullptr, s>>>(dx, dz, One{float(small), 1});\n",
               "depends on the elements");
    check_loss("results in a large struct",
               "    Many many;\n"
               "    for (int i = 0; i < 400; i++) many.v[i] = i;\n"
               "    aclrtMemcpy(dx, bytes, hx, bytes, ACL_MEMCPY_HOST_TO_DEVICE);\n"
               "    take_many<<<1, nullptr, s>>>(dx, dz, many);\n",
               "bytes of its own");
}

/* ---- a tiling function that sees values ---- */

T_TEST(cheat_tiling_function_computes)
{
    Judged j = {.verdict = verdict_make()};
    EvalCandidate c;
    j.diag = diag_make(&j.arena, "project", STR(""));
    REQUIRE(candidate_as(&j.arena, "relu", "mkb", &c));
    c.form = FORM_PROJECT;
    c.entry = "";
    for (uint32_t i = 0; i < c.texts.len; i++) {
        Str text = c.texts.at[i].text;
        ptrdiff_t at = strstr(c.texts.at[i].path, "op_host/op.cpp")
                           ? str_find(text, STR("ParamType(REQUIRED)"))
                           : -1;
        if (at >= 0)
            c.texts.at[i].text = str_from(str_format(&j.arena, "%.*sValueDepend(REQUIRED).%.*s",
                                                     (int)at, text.at, (int)(text.len - (size_t)at),
                                                     text.at + at));
    }
    judge_candidate(&j, &c, "tests/eval/tasks/relu.py");
    check_said(&j, "ValueDepend", VERDICT_NOT_COMPUTED, "asks for the values");
}

/* It is called for every launch, in one process. */
/* The project of relu, whose tiling function does this where it sets n. */
static void judge_tiling(Judged *j, const char *instead)
{
    EvalCandidate c;
    static const char set[] = "tiling.set_n(t.n);";
    *j = (Judged){.verdict = verdict_make()};
    j->diag = diag_make(&j->arena, "project", STR(""));
    REQUIRE(candidate_as(&j->arena, "relu", "mkb", &c));
    c.form = FORM_PROJECT;
    c.entry = "";
    for (uint32_t i = 0; i < c.texts.len; i++) {
        Str text = c.texts.at[i].text;
        ptrdiff_t at = str_find(text, str_from(set));
        if (at >= 0)
            c.texts.at[i].text = str_from(str_format(
                &j->arena, "#include <cstdio>\n%.*s%s%.*s", (int)at, text.at, instead,
                (int)(text.len - (size_t)at - sizeof set + 1), text.at + at + sizeof set - 1));
    }
    judge_candidate(j, &c, "tests/eval/tasks/relu.py");
}

T_TEST(cheat_tiling_function_counts)
{
    Judged j;
    judge_tiling(&j, "static int calls; tiling.set_n(calls++ ? t.n - 1 : t.n);");
    check_said(&j, "calls", VERDICT_BAD_TILING, "decides otherwise when it is called again");
}

/* What it prints in all its calls together is no fault: it is called more often here than on a board. */
T_TEST(cheat_tiling_function_may_print)
{
    Judged j;
    judge_tiling(
        &j, "for (int i = 0; i < 100; i++) std::printf(\"tiling, line %d of 100 lines\\n\", i);"
            "tiling.set_n(t.n);");
    check_said(&j, "prints", VERDICT_OK, "");
}

/* ---- PyTorch around a kernel that copies ---- */

/* A part of the candidate in another text. */
static void replace_part(Arena *arena, EvalCandidate *c, const char *path, const char *text)
{
    for (uint32_t i = 0; i < c->texts.len; i++)
        if (strcmp(c->texts.at[i].path, path) == 0)
            c->texts.at[i].text = str_from(str_dup(arena, str_from(text)));
}

/* relu's project with a kernel that only copies; `forward` is the model's, `binding` the body of its
 * function, NULL: as it was. */
static void check_around(const char *task, const char *forward, const char *binding,
                         VerdictStatus want, const char *reason)
{
    Judged j = {.verdict = verdict_make()};
    EvalCandidate c;
    j.diag = diag_make(&j.arena, "copy", STR(""));
    REQUIRE(candidate_as(&j.arena, "relu", "mkb", &c));
    replace_part(&j.arena, &c, "model.py",
                 str_format(&j.arena,
                            "import torch, custom_ops_lib\nclass ModelNew(torch.nn.Module):\n"
                            "    def __init__(self, *a):\n        super().__init__()\n"
                            "    def forward(self, x):\n        %s\n",
                            forward));
    if (binding)
        replace_part(&j.arena, &c, "csrc/op.cpp",
                     str_format(&j.arena,
                                "#include <torch/extension.h>\n"
                                "#include \"pytorch_npu_helper.hpp\"\n"
                                "at::Tensor f(const at::Tensor &x)\n{\n    %s\n}\n"
                                "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"relu_custom\", "
                                "&f); }\n",
                                binding));
    for (uint32_t i = 0; i < c.texts.len; i++)
        if (strstr(c.texts.at[i].path, "op_kernel/"))
            c.texts.at[i].text = str_from(
                str_format(&j.arena, "#define Relu(d, s, n) Adds(d, s, 0.0f, n)\n%.*s",
                           STR_ARG(c.texts.at[i].text)));
    judge_candidate(&j, &c, task);
    check_said(&j, binding ? binding : forward, want, reason);
}

static void check_copy(const char *task, const char *forward, VerdictStatus want,
                       const char *reason)
{
    check_around(task, forward, NULL, want, reason);
}

#define COPY(x) "custom_ops_lib.relu_custom((" x ").reshape(-1)).reshape((" x ").shape)"

T_TEST(cheat_pytorch_moves_and_casts)
{
    static const char truncate[] = "tests/eval/tasks/truncate.py";
    static const char turn[] = "tests/eval/tasks/turn.py";
    check_copy(truncate, "return " COPY("x") ".to(torch.int32).to(torch.float32)",
               VERDICT_NOT_COMPUTED, "cast");
    check_copy(truncate, "return " COPY("x.to(torch.int64).to(torch.float32)"),
               VERDICT_NOT_COMPUTED, "cast");
    check_copy(turn, "return " COPY("x.permute(1, 0).contiguous()"), VERDICT_NOT_COMPUTED,
               "permute");
    check_copy(turn, "return " COPY("x") ".permute(1, 0).contiguous()", VERDICT_NOT_COMPUTED,
               "permute");
}

/* Views, expansion and slices around a kernel that copies do the work of a task that computes. */
T_TEST(cheat_moves_around_a_copy)
{
    static const char nearest[] = "tests/eval/tasks/nearest.py";
    check_copy(nearest,
               "return " COPY("x") ".reshape(2, 3, 8, 1, 16, 1).expand(2, 3, 8, 2, 16, "
                                   "2).reshape(2, 3, 16, 32)",
               VERDICT_NOT_COMPUTED, "only copy");
    check_copy("tests/eval/tasks/mean_one.py", "return custom_ops_lib.relu_custom(x.reshape(-1))",
               VERDICT_OK, "");
}

/* What a launch wrote twice, once of it in its own workspace, is no copy of what it was given. */
T_TEST(a_result_like_the_workspace_is_computed)
{
    Judged j = {.verdict = verdict_make()};
    EvalCandidate c;
    j.diag = diag_make(&j.arena, "room", STR(""));
    REQUIRE(candidate_as(&j.arena, "../tests/eval/room", "direct", &c));
    judge_candidate(&j, &c, "tests/eval/tasks/relu.py");
    check_said(&j, "room", VERDICT_OK, "");
}

static void replace_first(Arena *arena, EvalText *t, const char *from, const char *to)
{
    ptrdiff_t at = str_find(t->text, str_from(from));
    REQUIRE(at >= 0);
    t->text = str_from(
        str_format(arena, "%.*s%s%s", (int)at, t->text.at, to, t->text.at + at + strlen(from)));
}

static void check_padded(const char *given_back, VerdictStatus want, const char *reason)
{
    Judged j = {.verdict = verdict_make()};
    EvalCandidate c;
    j.diag = diag_make(&j.arena, "relu", STR(""));
    REQUIRE(candidate_as(&j.arena, "relu", "direct", &c));
    for (uint32_t i = 0; i < c.texts.len; i++)
        if (str_ends(str_from(c.texts.at[i].path), "pybind11.cpp")) {
            replace_first(&j.arena, &c.texts.at[i], "at::empty({n},", "at::empty({2 * n},");
            replace_first(&j.arena, &c.texts.at[i], "return y;", given_back);
        }
    judge_candidate(&j, &c, "tests/eval/tasks/relu.py");
    check_said(&j, given_back, want, reason);
}

/* A result with room behind it: what is given back must be written, the rest need not. */
T_TEST(a_part_of_a_buffer_is_given_back)
{
    check_padded("return y.slice(0, 0, n);", VERDICT_OK, "");
    check_padded("return y.slice(0, n, 2 * n);", VERDICT_NOT_COMPUTED, "output 0 is all equal");
    check_padded("return y.slice(0, n / 2, n / 2 + n);", VERDICT_WRONG, "output 0");
}

/* A kernel that copies, and at:: calls that do the rest before, after and beside it. */
#define RUN(from, to) "EXEC_NPU_CMD(aclnnReluCustom, " from ", " to ");"

T_TEST(cheat_binding_moves_and_casts)
{
    static const char truncate[] = "tests/eval/tasks/truncate.py";
    static const char turn[] = "tests/eval/tasks/turn.py", relu[] = "tests/eval/tasks/relu.py";
    static const char forward[] = "return custom_ops_lib.relu_custom(x)";
    check_around(turn, forward,
                 "at::Tensor a = x.reshape({-1}), b = at::empty_like(a); " RUN(
                     "a", "b") " at::Tensor y = at::empty({x.size(1), x.size(0)}, x.options()); "
                               "y.copy_(b.view({x.size(0), x.size(1)}).t()); return y;",
                 VERDICT_NOT_COMPUTED, "moving of elements");
    check_around(turn, forward,
                 "at::Tensor a = x.reshape({-1}), b = at::empty_like(a); " RUN(
                     "a", "b") " return x.t().contiguous();",
                 VERDICT_NOT_COMPUTED, "moving of elements");
    check_around(truncate, forward,
                 "at::Tensor a = x.reshape({-1}), b = at::empty_like(a); " RUN(
                     "a", "b") " at::Tensor i = at::empty(b.sizes(), b.options().dtype(at::kInt)); "
                               "i.copy_(b); b.copy_(i); return b.view({x.size(0), x.size(1)});",
                 VERDICT_NOT_COMPUTED, "cuts numbers");
    check_around(relu, forward,
                 "at::Tensor b = at::empty_like(x); " RUN("x", "b") " return x.clone();",
                 VERDICT_NOT_COMPUTED, "no kernel has written");
    check_around(relu, forward,
                 "at::Tensor b = at::empty_like(x); " RUN("x", "b") " b.copy_(x); return b;",
                 VERDICT_NOT_COMPUTED, "no kernel has written");
    check_around(
        relu, forward,
        "at::Tensor b = at::empty_like(x); " RUN("x", "b") " return at::full_like(x, 0.5);",
        VERDICT_NOT_COMPUTED, "no kernel has written");
}

/* ---- state between calls ---- */

T_TEST(cheat_second_call_takes_other_tensors)
{
    check_around("tests/eval/tasks/relu.py", "return custom_ops_lib.relu_custom(x)",
                 "static int calls; at::Tensor y = at::empty_like(x); if (calls++ == 0) { "
                 "EXEC_NPU_CMD(aclnnReluCustom, x, y); } else { EXEC_NPU_CMD(aclnnReluCustom, y, "
                 "y); } return y;",
                 VERDICT_NOT_COMPUTED, "a second call");
}

T_TEST(cheat_model_keeps_a_result)
{
    check_around("tests/eval/tasks/relu.py",
                 "self.y = custom_ops_lib.relu_custom(x)\n        return self.y", NULL,
                 VERDICT_NOT_COMPUTED, "keeps a result for its next call: y");
}
