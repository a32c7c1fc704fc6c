/* acraft classify: what category of tasks a text is about. */
#include "cmd/cmd.h"

#include "gen/prompt/category.h"
#include <stdio.h>

static void print_guess(const CmdArgs *args, CategoryMethod method, const CategoryGuess *g)
{
    Buf out = {0};
    if (args->json)
        buf_printf(&out,
                   "{\"category\": \"%s\", \"likely\": \"%s\", \"probability\": %.4f, \"method\": "
                   "\"%s\"}\n",
                   g->name, g->likely, g->probability, category_method_name(method));
    else
        buf_printf(&out, "%s\n", *g->name ? g->name : "none");
    if (!args->json && *g->likely)
        fprintf(stderr, "by %s: %s with %.0f %%\n", category_method_name(method), g->likely,
                100 * g->probability);
    cmd_print(&out);
}

static int classify(CmdArgs *args, const char *name)
{
    Arena *arena = &args->arena;
    const char *path = args->words[0], *home = cmd_home(arena);
    Diag diag = diag_make(arena, path, STR(""));
    CategoryMethod method = category_default(path);
    CategoryGuess guess;
    Str text;
    if (name && !category_method_from_name(str_from(name), &method)) {
        fprintf(stderr, "acraft: no method is called '%s': keywords, bag, texting\n", name);
        return CMD_USAGE;
    }
    if (!file_read(arena, path, 16 << 20, &text, &diag))
        return cmd_say(&diag, CMD_USAGE);
    if (!home) {
        fprintf(stderr, "acraft: tasks/ is not found; set ACRAFT_HOME\n");
        return CMD_LACKS;
    }
    if (!category_of_text(arena, home, method, text, &guess, &diag))
        return cmd_say(&diag, CMD_LACKS);
    print_guess(args, method, &guess);
    return *guess.name ? CMD_OK : CMD_NO;
}

int cmd_classify(int argc, char **argv)
{
    const char *method = NULL;
    const CmdOption options[] = {
        {"method", CMD_TEXT, &method, "M",
         "keywords, bag or texting; default: bag for .py, keywords for prose"},
    };
    CmdUsage usage = {
        "classify",
        "FILE [--method M]",
        "Says which category of tasks a model file or a description in words is about, as\n"
        "prompts choose their exemplars by it; `none`, and status 1, where no category is\n"
        "likely enough.",
        "acraft classify tasks/activation/softmax.py",
        options,
        sizeof options / sizeof *options,
        1,
        1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = classify(&args, method);
    cmd_done(&args);
    return status;
}
