/* From the words of the command line to a subcommand: --help, --version, and what to say when
 * there is no such command. */
#include "cmd/cmd.h"
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 64 };

const char *cmd_nearest(const char *typed, const char *const *names, size_t count)
{
    const char *best = NULL;
    Str t = str_from(typed);
    size_t best_distance = t.len / 3 + 2; /* anything as far as this is another word */
    for (size_t i = 0; i < count; i++) {
        size_t distance = str_distance(t, str_from(names[i]));
        if (distance < best_distance) {
            best = names[i];
            best_distance = distance;
        }
    }
    return best;
}

static void print_help(const CmdRow *rows)
{
    puts("acraft: a workshop for Ascend NPU kernels\n\nusage: acraft COMMAND [options]\n");
    for (const CmdRow *row = rows; row->name; row++)
        printf("  %-9s %s\n", row->name, row->help);
    puts("\n`acraft COMMAND --help` says more, with an example. Exit status: 0 as asked, 1 the\n"
         "answer is no, 2 bad usage or unreadable input, 3 something is lacking here.");
}

static int no_such_command(const CmdRow *rows, const char *typed)
{
    const char *names[MAX_ROWS];
    size_t count = 0;
    for (const CmdRow *row = rows; row->name && count < MAX_ROWS; row++)
        names[count++] = row->name;
    const char *near = cmd_nearest(typed, names, count);
    fprintf(stderr, "acraft: no command '%s'", typed);
    if (near)
        fprintf(stderr, "; did you mean '%s'?", near);
    fprintf(stderr, "\nacraft --help lists the commands\n");
    return CMD_USAGE;
}

int cmd_dispatch(const CmdRow *rows, int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: acraft COMMAND [options]; acraft --help lists the commands\n");
        return CMD_USAGE;
    }
    const char *word = argv[1];
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        print_help(rows);
        return CMD_OK;
    }
    if (!strcmp(word, "--version")) {
        puts("acraft " ACRAFT_VERSION);
        return CMD_OK;
    }
    for (const CmdRow *row = rows; row->name; row++)
        if (!strcmp(word, row->name))
            return row->function(argc - 1, argv + 1);
    return no_such_command(rows, word);
}
