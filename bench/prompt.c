/* How large prompts are: strategy craft (the whole reference of the language and two exemplars) for
 * every shipped task outside NPUKernelBench, against the 16,384 tokens they must fit. */
#include "gen/prompt/prompt.h"

#include "torch/torch.h"
#include <stdio.h>

enum { MOST = 16384 };

static int64_t tokens_of(const char *path)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, (Str){0});
    Str source;
    TorchOptions options = {0};
    Prompt prompt = {0};
    TorchTask *task = NULL;
    if (file_read(&arena, path, 0, &source, &diag))
        task = torch_read(&arena, path, source, &options, &diag);
    if (task) {
        PromptSpec spec = {.strategy = PROMPT_CRAFT,
                           .home = ".",
                           .task = task->name,
                           .category = task->category,
                           .task_text = source,
                           .graph = task->graph,
                           .chip = npu_chip_find(STR("910B2"))};
        prompt_make(&arena, &spec, &prompt, &diag);
    }
    int64_t tokens = prompt.tokens;
    arena_drop(&arena);
    return tokens;
}

int main(void)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks", (Str){0});
    NameList paths = {0};
    int64_t least = INT64_MAX, largest = 0, sum = 0, count = 0, over = 0;
    const char *longest = "";
    torch_suite(&arena, "tasks", &paths, &diag);
    for (uint32_t i = 0; i < paths.len; i++) {
        if (str_find(str_from(paths.at[i]), STR("npukernelbench")) >= 0)
            continue;
        int64_t tokens = tokens_of(paths.at[i]);
        if (!tokens)
            continue;
        least = tokens < least ? tokens : least;
        longest = tokens > largest ? paths.at[i] : longest;
        largest = tokens > largest ? tokens : largest;
        sum += tokens;
        count++;
        over += tokens > MOST;
    }
    printf("prompts   %lld tasks, tokens (estimated) least %lld, mean %lld, most %lld (%s)\n",
           (long long)count, (long long)least, (long long)(count ? sum / count : 0),
           (long long)largest, longest);
    printf("          %lld over the %d they must fit\n", (long long)over, MOST);
    arena_drop(&arena);
    return over || !count;
}
