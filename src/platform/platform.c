/* The platforms, one row each. */
#include "platform/platform.h"

const Platform platforms[] = {
    {.name = "ascend",
     .language = "AscendC",
     .chips = {{"910B2", 48, 0}},
     .memories = {{"UB", 196608, "tiles"}, {"L1", 524288, "matrices"}, {"L2", 192 << 20, ""}},
     .roles = "core, tile, lane",
     .compiler = "clang++",
     .instead = "leave --platform out: acraft make MODEL.py"},
    {.name = "cuda",
     .language = "CUDA C++",
     .chips = {{"H200", 132, 4274}, {"H100", 132, 0}, {"A100", 108, 0}},
     .memories = {{"registers", 256 << 10, "elements between two exchanges, rows"},
                  {"shared", 227 << 10, "partial results of a team"},
                  {"L2", 60 << 20, ""}},
     .roles = "grid, cluster, block, warp, lane, vector",
     .compiler = "nvcc",
     .runner = "nvidia-smi",
     .target = "sm_90",
     .write = platform_cuda_write,
     .tf32 = true,
     .compile = platform_cuda_compile},
    {.name = "cpu",
     .language = "C",
     .chips = {{"x86-64 (AVX-512, AVX2, SSE2)", 0, 0}, {"AArch64", 0, 0}},
     .memories = {{"vector registers", 2048, "lanes"}, {"L1", 32 << 10, "tiles of lanes"}},
     .roles = "thread, tile, lane",
     .compiler = "cc",
     .target = "this machine",
     .write = platform_cpu_write,
     .compile = platform_cpu_compile,
     .judge = platform_cpu_judge,
     .own_most = INT64_C(2) << 30},
    {.name = "pallas",
     .language = "Pallas",
     .chips = {{"TPU v5e", 1, 0}},
     .memories = {{"VMEM", 16 << 20, "blocks, twice each"}, {"SMEM", 1 << 20, ""}},
     .roles = "grid, block",
     .compiler = "python3",
     .target = "Python 3 (parsed)",
     .write = platform_pallas_write,
     .compile = platform_pallas_compile,
     .judge = platform_pallas_judge,
     .ready = platform_pallas_ready,
     .needs = "JAX",
     .judged_by = ", in JAX's interpreter",
     .not_measured = "no TPU ran it",
     .own_most = 8 << 20},
};
const uint32_t platform_count = sizeof platforms / sizeof *platforms;

const Platform *platform_find(Str name)
{
    for (uint32_t i = 0; i < platform_count; i++)
        if (str_is(name, platforms[i].name))
            return &platforms[i];
    return NULL;
}
