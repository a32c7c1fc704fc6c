/* Runs a kernel text with a launch written as options of `acraft run`: races looked for, every finding kept. */
#ifndef TESTS_TWIN_VISIT_H
#define TESTS_TWIN_VISIT_H

#include "tests/t.h"

#include "twin/observe.h"
#include "twin/twin.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 32, MOST_TENSORS = 4 };

typedef struct Visit {
    Arena arena;
    Str text;
    Diag diag;
    TwinOptions options;
    TwinObserver observer;
    TwinTensor tensors[MOST_TENSORS];
    TwinLaunch launch;
    const char *attrs[MOST_TENSORS];
    uint32_t attr_count;
    Verdict verdict;
} Visit;

static inline void visit_add_tensor(Visit *v, const char *text, SimRole role)
{
    REQUIRE(v->launch.tensor_count < MOST_TENSORS);
    TwinTensor *t = &v->tensors[v->launch.tensor_count++];
    const char *file;
    REQUIRE(v->options.time_only ? twin_tensor_shape(&v->arena, text, role, t, &v->diag)
                                 : twin_tensor_parse(&v->arena, text, role, 0, t, &file, &v->diag));
}

static inline uint32_t visit_split(Arena *arena, Str line, const char *words[MOST_WORDS])
{
    uint32_t n = 0;
    Str word;
    line = str_trim(line);
    while (line.len && str_next(&line, ' ', &word))
        if (word.len && n < MOST_WORDS)
            words[n++] = str_format(arena, "%.*s", (int)word.len, word.at);
    return n;
}

static inline void visit_read_launch(Visit *v, Str line)
{
    const char *words[MOST_WORDS];
    uint32_t n = visit_split(&v->arena, line, words);
    v->launch.blocks = 1;
    v->launch.tensors = v->tensors;
    for (uint32_t i = 0; i < n; i++) {
        const char *word = words[i], *value = i + 1 < n ? words[i + 1] : "";
        if (strcmp(word, "--strict") == 0 || strcmp(word, "--time-only") == 0) {
            *(word[2] == 's' ? &v->observer.strict : &v->options.time_only) = true;
            continue;
        }
        i++;
        if (strcmp(word, "--in") == 0)
            visit_add_tensor(v, value, SIM_IN);
        else if (strcmp(word, "--out") == 0)
            visit_add_tensor(v, value, SIM_OUT);
        else if (strcmp(word, "--inout") == 0)
            visit_add_tensor(v, value, SIM_INOUT);
        else if (strcmp(word, "--blocks") == 0)
            v->launch.blocks = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(word, "--attr") == 0)
            v->attrs[v->attr_count++ % MOST_TENSORS] = value;
        else
            CHECK_MSG(false, "the museum knows no option %s", word);
    }
}

static inline void visit_bind_launch(Visit *v, const TwinKernel *kernel)
{
    const TwinParams *params = twin_kernel_params(kernel);
    NameList attrs = {0};
    for (uint32_t i = 0; i < v->attr_count; i++)
        vec_push(&v->arena, &attrs, v->attrs[i]);
    TwinArg *args;
    REQUIRE(
        twin_bind(&v->arena, params, v->tensors, v->launch.tensor_count, &attrs, &args, &v->diag));
    v->launch.args = args;
    v->launch.arg_count = params->len;
}

static inline void run_visit(Visit *v, const char *path, Str line)
{
    TwinSource source = {.path = path, .text = v->text};
    v->diag = diag_make(&v->arena, path, v->text);
    v->options.keep_going = true;
    v->verdict = verdict_make();
    visit_read_launch(v, line);
    twin_observe(&v->options, &v->observer);
    TwinKernel *kernel = twin_compile(&v->arena, &source, &v->options, &v->verdict, &v->diag);
    CHECK_MSG(kernel, "%s does not compile", path);
    if (!kernel)
        return;
    visit_bind_launch(v, kernel);
    TwinRun run;
    twin_run(&v->arena, kernel, &v->launch, &v->options, &run, &v->verdict);
    twin_release(kernel);
}

static inline void leave(Visit *v)
{
    for (uint32_t i = 0; i < v->launch.tensor_count; i++)
        twin_tensor_free(&v->tensors[i]);
    twin_observer_free(&v->observer);
    arena_drop(&v->arena);
}

#endif
