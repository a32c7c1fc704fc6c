/* The benchmarks' requests in our own words: the same answer is asked for, the sentences are not
 * theirs. */
#include "gen/prompt/original.h"

static const char *const asks[] = {
    [PROMPT_MKB_ADD] =
        "Answer with one Python text that assigns six strings: project_json_src (the operator as "
        "msopgen reads it), host_tiling_src (the tiling header), host_operator_src (op definition, "
        "shape inference, tiling function), kernel_src (the AscendC kernel), python_bind_src (the "
        "torch binding) and model_src (class ModelNew, used like Model). The kernel function is "
        "called %s_custom, the operator the same in PascalCase.",
    [PROMPT_NPUKB_KERNEL] =
        "Answer with <kernel_impl>, a fenced C++ block, </kernel_impl>: the AscendC kernel %s for "
        "these shapes, its tiling numbers as constants in a struct of its own, launched on all "
        "vector cores.",
    [PROMPT_NPUKB_FULL] =
        "Answer with three files, each after a line ===== path ===== and in a fenced block: the "
        "tiling header and the host file under op_host, the kernel under op_kernel, for the "
        "operator %s.",
};

bool original_reworded(Arena *arena, const PromptSpec *spec, Prompt *prompt)
{
    PromptStrategy s = spec->strategy == PROMPT_MKB_SELECTED ? PROMPT_MKB_ADD : spec->strategy;
    Buf user = {0};
    prompt_add_task(&user, spec);
    buf_puts(&user, "\n# Your answer\n\n");
    Str before = str_from(asks[s]);
    ptrdiff_t at = str_find(before, STR("%s"));
    buf_str(&user, str_slice(before, 0, (size_t)at));
    buf_puts(&user, spec->task);
    buf_str(&user, str_slice(before, (size_t)at + 2, before.len));
    buf_char(&user, '\n');
    prompt_say(arena, prompt, CHAT_USER, &user);
    prompt->reworded = true;
    return true;
}
