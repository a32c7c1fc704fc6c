/* What a model is sent: the reference of the language, exemplars that do not give the answer
 * away, the task, its shapes and the chip.
 *
 * The benchmarks' own strategies are built from a user's clone, byte for byte as the original would
 * send them; without a clone they are ours in other words, and say so (`reworded`). */
#ifndef GEN_PROMPT_PROMPT_H
#define GEN_PROMPT_PROMPT_H

#include "base/file.h"
#include "gen/chat.h"
#include "graph/graph.h"
#include "npu/npu.h"

typedef enum PromptStrategy {
#define STRATEGY(name, ...) PROMPT_##name,
#include "gen/prompt/strategy.def"
#undef STRATEGY
    PROMPT_STRATEGY_COUNT
} PromptStrategy;

typedef struct PromptStrategyRow {
    const char *name;
    const char *form; /* of the answer, as src/eval names it */
    uint32_t exemplars;
    const char *meaning;
} PromptStrategyRow;

const PromptStrategyRow *prompt_strategy_row(PromptStrategy strategy);
bool prompt_strategy_from_name(Str name, PromptStrategy *strategy);

typedef struct PromptSpec {
    PromptStrategy strategy;
    const char *home;  /* of acraft: docs/, examples/ */
    const char *clone; /* of the benchmark, for its own strategies; NULL: none */
    const char *task, *category;
    Str task_text;
    const Graph *graph; /* at the shapes the kernel is for; NULL: the text is all there is */
    const NpuChip *chip;
    uint32_t kase; /* of those a suite lists */
} PromptSpec;

typedef struct Prompt {
    ChatMessages messages;
    const char *form;
    NameList exemplars; /* names of those shown */
    bool reworded;
    bool raw;       /* the original sends it as a raw completion that ends inside a think tag */
    int64_t tokens; /* estimated */
} Prompt;

/* Questions in the form of the training rows (rows_prompt.c), which models of our own are asked. */
/* The graph without lines of the file and without sources. */
void prompt_rows_graph(const Graph *graph, Buf *out);
void prompt_rows_program(Str craft, Buf *out); /* in a fence */
Str prompt_rows_fenced(Str answer);            /* what stands in the last fence, or all of it */
/* `message`: what is wrong with the program; its end is left out where it is long. */
void prompt_rows_repair(Str task, Str craft, Str message, Buf *out);
/* The one question that a conversation comes to: the task, or the repair of the last answer. */
Str prompt_rows_of(Arena *arena, const ChatMessages *messages);

/* Without a graph only the strategies of ours that show the text can be made. */
bool prompt_needs_graph(PromptStrategy strategy);
bool prompt_make(Arena *arena, const PromptSpec *spec, Prompt *prompt, Diag *diag);

#endif
