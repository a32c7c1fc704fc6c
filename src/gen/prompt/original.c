/* The benchmarks' own prompts, from a user's clone. */
#include "gen/prompt/prompt_int.h"

bool prompt_original(Arena *arena, const PromptSpec *spec, Prompt *prompt, Diag *diag)
{
    (void)arena;
    (void)prompt;
    diag_error(diag, "M010", (Span){0}, "strategy %s cannot be built yet",
               prompt_strategy_row(spec->strategy)->name);
    return false;
}
