/* acraft prompt: exactly what a model would be sent for a task. */
#include "cmd/generator.h"

#include "gen/prompt/category.h"
#include "torch/torch.h"
#include <stdio.h>
#include <string.h>

typedef struct PromptArgs {
    GenOptions gen;
    const char *scale;
    int64_t kase;
} PromptArgs;

static void print_json(const Prompt *p, const PromptSpec *spec)
{
    const PromptStrategyRow *row = prompt_strategy_row(spec->strategy);
    Buf out = {0};
    buf_printf(&out,
               "{\"strategy\": \"%s\", \"form\": \"%s\", \"category\": \"%s\", \"reworded\": %s, "
               "\"tokens\": %lld, "
               "\"exemplars\": [",
               row->name, p->form, spec->category, p->reworded ? "true" : "false",
               (long long)p->tokens);
    for (uint32_t i = 0; i < p->exemplars.len; i++) {
        buf_puts(&out, i ? ", " : "");
        buf_json_str(&out, str_from(p->exemplars.at[i]));
    }
    buf_puts(&out, "], \"messages\": ");
    chat_messages_json(&p->messages, &out);
    buf_char(&out, '}');
    puts(out.at);
    buf_free(&out);
}

static void print_text(const Prompt *p, const PromptSpec *spec)
{
    const PromptStrategyRow *row = prompt_strategy_row(spec->strategy);
    for (uint32_t i = 0; i < p->messages.len; i++) {
        const ChatMessage *m = &p->messages.at[i];
        printf("===== %s =====\n", chat_role_text(m->role));
        fwrite(m->text.at, 1, m->text.len, stdout);
        if (!str_ends(m->text, "\n"))
            putchar('\n');
    }
    fprintf(stderr, "strategy %s%s, category %s, about %lld tokens", row->name,
            p->reworded ? " (reworded: no clone was given)" : "",
            *spec->category ? spec->category : "not told", (long long)p->tokens);
    for (uint32_t i = 0; i < p->exemplars.len; i++)
        fprintf(stderr, "%s%s", i ? ", " : "; exemplars: ", p->exemplars.at[i]);
    fputc('\n', stderr);
}

/* The file's graph at the scale asked for; NULL where the reader refuses it. */
static TorchTask *read_model(CmdArgs *args, const PromptArgs *given, PromptSpec *spec,
                             TorchScale scale, Diag *diag)
{
    TorchCases cases = {0};
    if (!torch_cases(&args->arena, args->words[0], &cases, diag))
        return NULL;
    if (given->kase < 0 || (cases.lines.len && given->kase >= (int64_t)cases.lines.len)) {
        diag_error(diag, "M011", (Span){0}, "the task has cases 0 to %d", (int)cases.lines.len - 1);
        return NULL;
    }
    spec->kase = (uint32_t)given->kase;
    TorchOptions options = {
        .seed = (uint64_t)args->seed, .cases = &cases, .case_index = spec->kase};
    return torch_read_scaled(&args->arena, args->words[0], spec->task_text, &options, scale, diag);
}

/* Prose has no graph, nor has a model file that the reader refuses: the text alone is shown then, after
 * the reader's diagnostics. */
static int read_task(CmdArgs *args, const PromptArgs *given, PromptSpec *spec)
{
    Diag diag = diag_make(&args->arena, args->words[0], spec->task_text);
    TorchScale scale;
    TorchTask *task = NULL;
    if (!torch_scale_from_name(str_from(given->scale), &scale)) {
        fprintf(stderr, "acraft: no scale is called '%s': full, medium, small\n", given->scale);
        return CMD_USAGE;
    }
    if (str_ends(str_from(args->words[0]), ".py"))
        task = read_model(args, given, spec, scale, &diag);
    spec->task = task ? task->name : str_dup(&args->arena, path_stem(args->words[0]));
    spec->graph = task ? task->graph : NULL;
    if (task)
        return CMD_OK;
    if (!diag_ok(&diag))
        cmd_say(&diag, CMD_OK);
    if (prompt_needs_graph(spec->strategy) || given->kase) {
        fprintf(stderr, "acraft: without a graph there are the strategies craft, craft-bare and "
                        "ascendc, and no cases\n");
        return CMD_USAGE;
    }
    return CMD_OK;
}

static int prompt(CmdArgs *args, const PromptArgs *given)
{
    Arena *arena = &args->arena;
    PromptSpec spec = {.home = cmd_home(arena), .clone = given->gen.clone};
    Diag diag = diag_make(arena, args->words[0], (Str){0});
    if (!gen_strategy(&given->gen, &spec.strategy))
        return CMD_USAGE;
    spec.chip = npu_chip_find(str_from(args->chip));
    if (!spec.chip || !spec.home) {
        fprintf(stderr, spec.chip ? "acraft: docs/craft.md is not found; set ACRAFT_HOME\n"
                                  : "acraft: no such chip\n");
        return spec.chip ? CMD_LACKS : CMD_USAGE;
    }
    if (!file_read(arena, args->words[0], 0, &spec.task_text, &diag))
        return cmd_say(&diag, CMD_USAGE);
    int status = read_task(args, given, &spec);
    if (status != CMD_OK)
        return status;
    spec.category = category_of_task(arena, spec.home, args->words[0], spec.task_text);
    Prompt made = {0};
    if (!prompt_make(arena, &spec, &made, &diag))
        return cmd_say(&diag, CMD_LACKS);
    args->json ? print_json(&made, &spec) : print_text(&made, &spec);
    return CMD_OK;
}

int cmd_prompt(int argc, char **argv)
{
    PromptArgs given = {gen_options(), "full", 0};
    const CmdOption options[] = {
        GEN_PROMPT_OPTIONS(given.gen),
        {"case", CMD_I64, &given.kase, "N", "which of the cases a suite lists (0)"},
        {"scale", CMD_TEXT, &given.scale, "S", "sizes shown: full (default), medium, small"},
    };
    CmdUsage usage = {"prompt",
                      "MODEL.py|TEXT [--strategy S]",
                      "Prints exactly what a model would be sent for the task; the strategy, the\n"
                      "exemplars shown and an estimate of the tokens go to standard error. A file\n"
                      "that is no Python, or that the reader refuses, is shown as it is.",
                      "acraft prompt tasks/activation/softmax.py --strategy craft",
                      options,
                      sizeof options / sizeof *options,
                      0,
                      1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (!cmd_read(&usage, argc, argv, &args, &status)) {
        cmd_done(&args);
        return status;
    }
    if (!strcmp(given.gen.strategy, "list")) {
        gen_list_strategies(stdout);
    } else if (!args.word_count) {
        fprintf(stderr, "acraft prompt: which task? acraft prompt %s\n", usage.synopsis);
        status = CMD_USAGE;
    } else {
        status = prompt(&args, &given);
    }
    cmd_done(&args);
    return status;
}
