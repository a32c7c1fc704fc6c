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
     .judge = platform_cpu_judge},
    {.name = "pallas",
     .language = "Pallas",
     .roles = "grid, block",
     .instead = "Pallas text is not there yet"},
};
const uint32_t platform_count = sizeof platforms / sizeof *platforms;

const Platform *platform_find(Str name)
{
    for (uint32_t i = 0; i < platform_count; i++)
        if (str_is(name, platforms[i].name))
            return &platforms[i];
    return NULL;
}
