/* Inside the benchmarks' own prompts. */
#ifndef GEN_PROMPT_ORIGINAL_H
#define GEN_PROMPT_ORIGINAL_H

#include "gen/prompt/prompt_int.h"
#include "gen/prompt/pytext.h"

/* Always false. */
bool original_refuse(Diag *diag, const char *file, const char *why);
/* The literals of a file of the clone. */
bool original_texts(Arena *arena, const PromptSpec *spec, const char *name, PyTexts *texts,
                    Diag *diag);
Str original_fence(Arena *arena, const char *language, Str code);

/* original_npukb.c */
bool npukb_prompt(Arena *arena, const PromptSpec *spec, Prompt *prompt, Diag *diag);
/* A row of a table as pandas prints it: names to the left, values to the right. */
bool npukb_case_text(Arena *arena, Str table, uint32_t row, Buf *out);
/* Makes the benchmark's requests in our own words, where no clone of it is given (reworded.c). */
bool original_reworded(Arena *arena, const PromptSpec *spec, Prompt *prompt);

#endif
