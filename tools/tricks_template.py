"""Answers in NPUKernelBench's kernel template: a square root with places changed, as a run of the benchmark leaves answers.
Imported by tricks_more.py and tricks_paid.py."""
import json
import os

TEMPLATE = """#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t ALL = 32 * 32 * 768, TILE = 4096;
%(outside)s
extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> in;
    TQue<QuePosition::VECOUT, 2> out;
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float *)x, ALL);
    to.SetGlobalBuffer((__gm__ float *)y, ALL);
    pipe.InitBuffer(in, 2, TILE * sizeof(float));
    pipe.InitBuffer(out, 2, TILE * sizeof(float));
    %(inside)s
    for (uint32_t at = GetBlockIdx() * TILE; at < ALL; at += GetBlockNum() * TILE) {
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a, from[%(source)s], TILE);
        in.EnQue(a);
        a = in.DeQue<float>();
        LocalTensor<float> b = out.AllocTensor<float>();
        %(compute)s
        out.EnQue(b);
        in.FreeTensor(a);
        b = out.DeQue<float>();
        DataCopy(to[at], b, %(count)s);
        out.FreeTensor(b);
    }
}
"""
templates = []


def add(name, outside="", inside="", source="at", compute="Sqrt(b, a, TILE);", count="TILE"):
    parts = {"outside": outside, "inside": inside, "source": source, "compute": compute, "count": count}
    templates.append((name, TEMPLATE % parts))


def write(folder):
    for i, (name, text) in enumerate(templates):
        log = os.path.join(folder, "lvl1/Math/Sqrt/fixed_case_2/sample%d/log" % i)
        os.makedirs(log, exist_ok=True)
        with open(os.path.join(log, "sqrt_code_gen_prompt.json"), "w") as out:
            json.dump({"gen_content": "<kernel_impl>\n```cpp\n%s\n```\n</kernel_impl>" % text}, out)
        print("%d template: %s" % (i, name))
