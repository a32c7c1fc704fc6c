/* A candidate's Python model, read as far as its first call of a binding. In: sizes. Out: what it compares there. */
#include "eval/candidate.h"

#include "base/hash.h"
#include <string.h>

enum { MOST_COMPARED = 256 };

typedef struct Walk {
    Arena *arena;
    EvalComparisons *list;
} Walk;

static void on_compared(void *context, Span at, double a, double b)
{
    Walk *w = context;
    EvalCompared one = {(uint64_t)at.line << 32 | at.col, b - a};
    if (w->list->len < MOST_COMPARED)
        vec_push(w->arena, w->list, one);
}

static TorchCall *on_call(void *context, TorchCall *call)
{
    (void)context;
    call->error = "";
    return NULL;
}

void eval_model_walk(Arena *arena, const EvalCandidate *c, const char *task, Str source,
                     const TorchOptions *given, EvalComparisons *list)
{
    const EvalText *text = eval_candidate_model(c);
    const char *colons = strstr(c->entry, "::");
    Walk walk = {arena, list};
    if (!text || !colons)
        return;
    TorchOutside outside = {.path = text->path,
                            .class_name = colons + 2,
                            .source = text->text,
                            .call = on_call,
                            .compared = on_compared,
                            .context = &walk};
    TorchOptions options = *given;
    Diag quiet = diag_make(arena, task, source);
    options.outside = &outside;
    torch_read(arena, task, source, &options, &quiet);
}
