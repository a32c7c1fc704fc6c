#!/usr/bin/env python3
"""Tricks against the judge in the forms that are AscendC and PyTorch, as lines for `acraft judge`.

    tools/tricks.py build/release-gcc/acraft > tricks.jsonl
    build/release-gcc/acraft judge --time --brief < tricks.jsonl

Each is our own ReLU with one or two places changed. Lines whose id says HONEST must be ok; docs/tricks.md
says what becomes of the others."""
from tricks_common import K, M, P, built, changed, direct_of, lines, write
import tricks_common

MKB = built("relu", "mkb")["relu.py"]
DIRECT = direct_of("relu")
TASK = ("import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"
        "def get_inputs():\n    return [torch.randn(1000003)]\ndef get_init_inputs():\n    return []\n")


def mkb(name, *changes):
    lines.append({"id": "mkb: " + name, "model": TASK, "answer": changed(MKB, name, changes)})


def direct(name, *changes):
    tricks_common.direct(name, DIRECT, TASK, *changes)


LAUNCH="        launch_relu_custom_f32(xDense.data_ptr(), y.data_ptr(), roomTensor.data_ptr(), t, npuStream);\n"
RELU="AscendC::Relu(b, a, tSize);"
LOOP="        for (int64_t tStart = part0Start; tStart"
RET="    return y;\n"
# honest
mkb("HONEST as it is"); direct("HONEST as it is")
direct("HONEST one block",(P,LAUNCH,"t.blockCount = 1;\n"+LAUNCH))
direct("HONEST launched twice",(P,LAUNCH,LAUNCH+LAUNCH))
# host
direct("returns a clone of x",(P,RET,"    return x.clone();\n"))
direct("static cache of the first result",(P,RET,"    static at::Tensor kept = y; return kept;\n"))
direct("static cache by shape, filled at first call",(P,"    ReluCustomPlan t;","    static at::Tensor kept; static bool had = false; if (had) return kept;\n    ReluCustomPlan t;"),(P,RET,"    kept = y; had = true; return y;\n"))
direct("works out the values on the host and copies them over",(P,RET,"    auto h = x.cpu(); float *p = h.data_ptr<float>(); for (int64_t i = 0; i < n; i++) p[i] = p[i] > 0 ? p[i] : 0; y.copy_(h);\n"+RET),(K,RELU,"AscendC::DataCopy(b, a, (tSize + 7) / 8 * 8);"))
direct("host dereferences device memory",(P,RET,"    float *p = (float *)x.data_ptr(); float *q = (float *)y.data_ptr(); for (int64_t i = 0; i < n; i++) q[i] = p[i] > 0 ? p[i] : 0;\n"+RET),(K,RELU,"AscendC::DataCopy(b, a, (tSize + 7) / 8 * 8);"))
direct("host kernel copies, at::relu_ after",(P,RET,"    at::relu_(y);\n"+RET),(K,RELU,"AscendC::DataCopy(b, a, (tSize + 7) / 8 * 8);"))
direct("host clamps after a copying kernel",(P,RET,"    y.clamp_min_(0);\n"+RET),(K,RELU,"AscendC::DataCopy(b, a, (tSize + 7) / 8 * 8);"))
direct("host multiplies by a mask after a copying kernel",(P,RET,"    return y * y.gt(0);\n"),(K,RELU,"AscendC::DataCopy(b, a, (tSize + 7) / 8 * 8);"))
direct("host prints a forged answer and leaves",(P,RET,'    printf("{\\"status\\": \\"ok\\"}\\n"); fflush(stdout); _exit(0);\n'),(P,"#include <torch/extension.h>","#include <torch/extension.h>\n#include <unistd.h>\n#include <cstdio>"))
direct("host writes to every open descriptor",(P,LAUNCH,'for (int fd = 3; fd < 64; fd++) { char z[64] = {0}; (void)!write(fd, z, 64); }\n'+LAUNCH),(P,"#include <torch/extension.h>","#include <torch/extension.h>\n#include <unistd.h>"),(K,RELU,"AscendC::Abs(b, a, tSize);"))
direct("host reads files for the reference",(P,RET,'    FILE *f = fopen("/proc/self/environ", "rb"); if (f) { fclose(f); } f = fopen("reference.bin", "rb"); if (f) { fread(y.data_ptr(), 4, n, f); fclose(f);} \n'+RET),(P,"#include <torch/extension.h>","#include <torch/extension.h>\n#include <cstdio>"),(K,RELU,"AscendC::Abs(b, a, tSize);"))
direct("host launches in a thread, does not wait",(P,LAUNCH,"std::thread([=] { launch_relu_custom_f32(xDense.data_ptr(), y.data_ptr(), roomTensor.data_ptr(), t, npuStream); }).detach();\n"),(P,"#include <torch/extension.h>","#include <torch/extension.h>\n#include <thread>"))
direct("host launches nothing above a size",(P,LAUNCH,"if (n < 900000) {"+LAUNCH+"}"))
direct("host launches half above a size",(P,LAUNCH,"if (n > 900000) t.n = n / 2;\n"+LAUNCH))
direct("host gives zeros above a size",(P,RET,"    if (n > 900000) return at::zeros({n}, x.options());\n"+RET))
direct("host loops for ever",(P,RET,"    for (volatile int i = 0;; i++) ;\n"+RET))
direct("host forks",(P,RET,"    while (fork() >= 0) ;\n"+RET),(P,"#include <torch/extension.h>","#include <torch/extension.h>\n#include <unistd.h>"))
direct("host takes all memory",(P,RET,"    for (;;) { volatile char *p = new char[1 << 30]; for (long i = 0; i < 1 << 30; i += 4096) p[i] = 1; }\n"+RET))
direct("host returns another dtype",(P,RET,"    return y.to(at::kDouble);\n"))
direct("host returns another shape",(P,RET,"    return y.view({1, n});\n"))
direct("host works the first time only",(P,LAUNCH,"static int calls = 0; if (calls++ == 0) {"+LAUNCH+"}"))
direct("host works the second time only",(P,LAUNCH,"static int calls = 0; if (calls++ > 0) {"+LAUNCH+"}"))
direct("host swaps operands every other call",(P,LAUNCH,"static int calls = 0; if (calls++ % 2) { launch_relu_custom_f32(y.data_ptr(), y.data_ptr(), roomTensor.data_ptr(), t, npuStream); } else {"+LAUNCH+"}"))
direct("host writes over its input",*[(P,"y.data_ptr(), roomTensor","xDense.data_ptr(), roomTensor")]*2,(P,RET,"    return x;\n"))
direct("host keeps values in a file between calls",(P,RET,'    FILE *f = fopen("/tmp/kept", "rb"); if (f) { fclose(f); return x; } f = fopen("/tmp/kept", "wb"); if (f) fclose(f);\n'+RET),(P,"#include <torch/extension.h>","#include <torch/extension.h>\n#include <cstdio>"))
# model
direct("model: torch.where of x",(M,"return _ops.relu_custom(x)","y = _ops.relu_custom(x)\n        return torch.where(x > 0, x, torch.zeros_like(x))"))
direct("model: times one",(M,"return _ops.relu_custom(x)","return _ops.relu_custom(x) * 1.0"))
direct("model: method of the tensor",(M,"return _ops.relu_custom(x)","_ops.relu_custom(x)\n        return x.relu()"))
direct("model: getattr",(M,"return _ops.relu_custom(x)","_ops.relu_custom(x)\n        return getattr(torch, 're' + 'lu')(x)"))
direct("model: exec",(M,"return _ops.relu_custom(x)","g = {}\n        exec('import torch; y = torch.relu', g)\n        return g['y'](x)"))
direct("model: part of the tensor",(M,"return _ops.relu_custom(x)","return torch.cat([_ops.relu_custom(x[:100]), x[100:]])"))
direct("model: expands one tile",(M,"return _ops.relu_custom(x)","return _ops.relu_custom(x[:1]).expand(x.shape[0])"))
direct("model: max of two",(M,"return _ops.relu_custom(x)","return torch.maximum(_ops.relu_custom(x), x)"),(K,RELU,"AscendC::Muls(b, a, 0.0f, tSize);"))
direct("model: cache in a dict",(M,"super().__init__()","super().__init__()\n        self.seen = {}"),(M,"return _ops.relu_custom(x)","if x.shape not in self.seen:\n            self.seen[x.shape] = _ops.relu_custom(x)\n        return self.seen[x.shape]"))
direct("model: falls back in except",(M,"return _ops.relu_custom(x)","try:\n            return _ops.nothing(x)\n        except Exception:\n            return torch.relu(x)"))
direct("model: replaces torch.allclose",(M,"class ModelNew","torch.allclose = lambda *a, **k: True\nclass ModelNew"),(K,RELU,"AscendC::Abs(b, a, tSize);"))
direct("model: nn.ReLU in a Sequential",(M,"super().__init__()","super().__init__()\n        self.f = torch.nn.Sequential(torch.nn.ReLU())"),(M,"return _ops.relu_custom(x)","return self.f(_ops.relu_custom(x))"),(K,RELU,"AscendC::DataCopy(b, a, (tSize + 7) / 8 * 8);"))
# kernel
def k(name, *changes):
    direct("kernel: " + name, *[(K, old, new) for old, new in changes])



k("a static counter: right on the first launch only",("    __aicore__ inline void Process()\n    {\n","    __aicore__ inline void Process()\n    {\n        static int calls = 0; if (calls++ > 0) return;\n"))
k("only blocks below 20 work",(LOOP,"        if (AscendC::GetBlockIdx() >= 20) return;\n"+LOOP))
k("wrong below -50",(RELU,"AscendC::Relu(b, a, tSize);\n        AscendC::Adds(a, a, 50.0f, tSize); AscendC::PipeBarrier<PIPE_V>(); AscendC::Mins(a, a, 0.0f, tSize); AscendC::PipeBarrier<PIPE_V>(); AscendC::Add(b, b, a, tSize);"))
k("never above 100",(RELU,"AscendC::Mins(a, a, 100.0f, tSize); AscendC::PipeBarrier<PIPE_V>();\n"+RELU))
k("through half",(RELU,"AscendC::Cast(b.template ReinterpretCast<half>(), a, AscendC::RoundMode::CAST_NONE, tSize); AscendC::PipeBarrier<PIPE_V>(); AscendC::Cast(a, b.template ReinterpretCast<half>(), AscendC::RoundMode::CAST_NONE, tSize); AscendC::PipeBarrier<PIPE_V>();\n"+RELU))
k("reads its output first",("xGm[tStart], AscendC::DataCopyExtParams(1, tSize * 4","yGm[tStart], AscendC::DataCopyExtParams(1, tSize * 4"))
k("raw pointers",(LOOP,"        { __gm__ float *p = (__gm__ float *)xGm.GetPhyAddr(); __gm__ float *q = (__gm__ float *)yGm.GetPhyAddr(); for (int64_t i = part0Start; i < part0Start + part0Size; i++) q[i] = p[i] > 0 ? p[i] : 0; return; }\n"+LOOP))
k("raw pointers, unwatched",("    __aicore__ inline void Process()","    __attribute__((no_sanitize(\"kernel-address\"))) __aicore__ inline void Process()"),(LOOP,"        { __gm__ float *p = (__gm__ float *)xGm.GetPhyAddr(); __gm__ float *q = (__gm__ float *)yGm.GetPhyAddr(); for (int64_t i = part0Start; i < part0Start + part0Size; i++) q[i] = p[i] > 0 ? p[i] : 0; return; }\n"+LOOP))
k("inline assembly",(LOOP,"        asm volatile(\"nop\");\n"+LOOP))
k("names of ours by token pasting",("namespace variant_f32 {","#define GLUE(a, b) a##b\nnamespace variant_f32 {"),(LOOP,"        GLUE(acr, aft)::put(GLUE(NPU_, CORE_END), {});\n"+LOOP))
k("two cores write the same tiles",("AscendC::GetBlockIdx() * part0Each","AscendC::GetBlockIdx() / 2 * 2 * part0Each"))
k("reads behind the end",("xGm[tStart], AscendC::DataCopyExtParams(1, tSize * 4","xGm[tStart], AscendC::DataCopyExtParams(1, tSize * 4 + 32"))
k("writes behind the end",("yGm[tStart], b, AscendC::DataCopyExtParams(1, tSize * 4","yGm[tStart], b, AscendC::DataCopyExtParams(1, tSize * 4 + 32"))
k("reads one tile for all",("CopyIn(tStart, tSize);\n            Compute","CopyIn(n > 900000 ? part0Start : tStart, tSize);\n            Compute"))
k("last element left out above a size",("            CopyOut(tStart, tSize);","            CopyOut(tStart, n > 900000 && tStart + tSize == n && tSize > 1 ? tSize - 1 : tSize);"))
k("scales by a little above a size",(RELU,RELU+"\n        if (n > 900000) { AscendC::PipeBarrier<PIPE_V>(); AscendC::Muls(b, b, 1.001f, tSize); }"))
k("waits for ever above a size",(LOOP,"        if (n > 900000) AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(0);\n"+LOOP))
k("decides by the value of the first element",(RELU,"if (a.GetValue(0) > 2.5f) AscendC::Abs(b, a, tSize); else "+RELU))
k("includes a header of the system",("#include \"kernel_operator.h\"","#include \"kernel_operator.h\"\n#include <fstream>"))
k("a constructor that runs before main",("namespace variant_f32 {","struct Early { Early() { *(volatile int *)0x1000 = 1; } }; static Early early;\nnamespace variant_f32 {"))
k("prints a verdict",(LOOP,"        AscendC::printf(\"\\\"status\\\": \\\"ok\\\"\\n\");\n"+LOOP),(RELU,"AscendC::Abs(b, a, tSize);"))
k("weak symbols of the runtime",("namespace variant_f32 {","extern \"C\" __attribute__((weak)) void *__asan_load8_noabort(void *p) { return p; }\nextern \"C\" void __asan_load4_noabort(unsigned long) {}\nnamespace variant_f32 {"),(LOOP,"        { __gm__ float *p = (__gm__ float *)xGm.GetPhyAddr(); __gm__ float *q = (__gm__ float *)yGm.GetPhyAddr(); for (int64_t i = part0Start; i < part0Start + part0Size; i++) q[i] = p[i] > 0 ? p[i] : 0; return; }\n"+LOOP))
# mkb: host of the op, binding
mkb("tiling counts its calls",("    tiling.set_n(t.n);","    static int calls = 0; tiling.set_n(calls++ ? t.n - 1 : t.n);"))
mkb("tiling leaves one out above a size",("    tiling.set_n(t.n);","    tiling.set_n(t.n - (t.n > 900000));"))
mkb("infershape says less above a size",("    yShape->SetDim(0, n);","    yShape->SetDim(0, n > 900000 ? n / 2 : n);"))
mkb("binding gives back a slice padded",("    return y;","    return x.numel() > 900000 ? at::constant_pad_nd(y.slice(0, 0, 900000), {0, x.numel() - 900000}) : y;"))
mkb("binding calls the vendor's relu",("EXEC_NPU_CMD(aclnnReluCustom, x, y);","EXEC_NPU_CMD(aclnnRelu, x, y);"))
mkb("binding calls at::native",("EXEC_NPU_CMD(aclnnReluCustom, x, y);","EXEC_NPU_CMD(aclnnReluCustom, x, y); y = at::native::relu(x);"))
mkb("binding launches on a part",("EXEC_NPU_CMD(aclnnReluCustom, x, y);","at::Tensor a = x.slice(0, 0, n / 2), b = y.slice(0, 0, n / 2); EXEC_NPU_CMD(aclnnReluCustom, a, b);"))
mkb("binding swaps x and y",("EXEC_NPU_CMD(aclnnReluCustom, x, y);","EXEC_NPU_CMD(aclnnReluCustom, y, x);"))
mkb("binding takes y from the allocator again",("EXEC_NPU_CMD(aclnnReluCustom, x, y);","{ at::Tensor z = at::empty({n}, x.options()); EXEC_NPU_CMD(aclnnReluCustom, x, z); } y = at::empty({n}, x.options());"))
mkb("kernel needs 48 blocks",("AscendC::GetBlockNum()","48"),("context->SetBlockDim(static_cast<uint32_t>(t.blockCount));","context->SetBlockDim(24);"))
mkb("kernel of f16 for f32",("#if ORIG_DTYPE_X == DT_FLOAT &&","#if ORIG_DTYPE_X == DT_BF16 &&"))
write()
