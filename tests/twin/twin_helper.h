/* Compiles and runs one text with the twin, for tests. */
#ifndef TESTS_TWIN_HELPER_H
#define TESTS_TWIN_HELPER_H

#include "twin/twin.h"

typedef struct Trial {
    const char *text;
    const char *kernel;
    const TwinLaunch *launch; /* NULL: compile only */
    TwinOptions options;
    const char *const *defines, *const *include_dirs;
    /* out */
    Arena arena;
    Verdict verdict;
    Buf messages;
    TwinRun run;
    bool compiled, ran;
} Trial;

static inline void trial_run(Trial *t)
{
    TwinSource source = {.path = "kernel.cpp",
                         .text = str_from(t->text),
                         .kernel = t->kernel,
                         .defines = t->defines,
                         .include_dirs = t->include_dirs};
    Diag diag = diag_make(&t->arena, "kernel.cpp", source.text);
    t->verdict = verdict_make();
    TwinKernel *kernel = twin_compile(&t->arena, &source, &t->options, &t->verdict, &diag);
    t->compiled = kernel != NULL;
    if (kernel && t->launch)
        t->ran = twin_run(&t->arena, kernel, t->launch, &t->options, &t->run, &t->verdict);
    if (kernel)
        twin_release(kernel);
    buf_puts(&t->messages, "");
    diag_print(&diag, &t->messages);
}

static inline void trial_drop(Trial *t)
{
    buf_free(&t->messages);
    arena_drop(&t->arena);
}

#endif
