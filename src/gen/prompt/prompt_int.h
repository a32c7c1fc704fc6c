/* Inside the prompts: what the strategies share. */
#ifndef GEN_PROMPT_PROMPT_INT_H
#define GEN_PROMPT_PROMPT_INT_H

#include "gen/prompt/prompt.h"

/* Adds a message; the buffer is used up. */
void prompt_say(Arena *arena, Prompt *prompt, ChatRole role, Buf *text);
/* The task, its operands and the chip. */
void prompt_add_task(Buf *out, const PromptSpec *spec);
/* Asks with the task alone, as training rows do (rows_prompt.c). */
bool prompt_rows(Arena *arena, const PromptSpec *spec, Prompt *prompt);
/* Asks as the benchmarks' own strategies do (original.c). */
bool prompt_original(Arena *arena, const PromptSpec *spec, Prompt *prompt, Diag *diag);

#endif
