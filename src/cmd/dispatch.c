/* From the words of the command line to a subcommand: --help, --version, and what to say when
 * there is no such command. */
#include "cmd/cmd.h"

#include "cmd/man.h"
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

static const char statuses[] =
    "Exit status: 0 success, 1 the\nanswer is no, 2 bad usage or unreadable input, 3 something "
    "is lacking here.";

static void print_help(const CmdRow *rows)
{
    puts("acraft: a workshop for Ascend NPU kernels\n\nusage: acraft COMMAND [options]\n");
    for (const CmdRow *row = rows; row->name; row++)
        printf("  %-9s %s\n", row->name, row->help);
    printf("\n`acraft COMMAND --help` says more, with an example. %s\n", statuses);
}

static void print_man(const CmdRow *rows)
{
    man_head("acraft");
    puts(".SH NAME\nacraft \\- a workshop for Ascend NPU kernels\n.SH SYNOPSIS\n.B acraft\n"
         "COMMAND [options]\n.SH DESCRIPTION\nTurns a PyTorch operator into a kernel project whose "
         "values, hazards and speed are checked\nwithout an NPU, runs and judges kernels that "
         "others wrote, "
         "and measures models that write them.\n.SH COMMANDS");
    for (const CmdRow *row = rows; row->name; row++) {
        printf(".TP\n.BR acraft\\-%s (1)\n", row->name);
        man_text(row->help);
    }
    puts(".SH EXIT STATUS");
    man_text(statuses);
    puts(".SH ENVIRONMENT\n.TP\n.B ACRAFT_HOME\nwhere the program's own files are, if not beside "
         "it");
}

/* `--help`, `--help=man`, `--help=words`, `help`, `help COMMAND`; false: none of them. */
static bool help(const CmdRow *rows, int argc, char **argv, int *status)
{
    const char *word = argv[1];
    static char option[] = "--help";
    *status = CMD_OK;
    if (!strcmp(word, "help") && argc > 2) {
        char *command[] = {argv[0], argv[2], option, NULL};
        *status = cmd_dispatch(rows, 3, command);
    } else if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        print_help(rows);
    } else if (!strcmp(word, "--help=man")) {
        print_man(rows);
    } else if (!strcmp(word, "--help=words")) {
        for (const CmdRow *row = rows; row->name; row++)
            puts(row->name);
    } else {
        return false;
    }
    return true;
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
    int status;
    if (help(rows, argc, argv, &status))
        return status;
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
        puts("acraft " ACRAFT_VERSION);
        return CMD_OK;
    }
    for (const CmdRow *row = rows; row->name; row++)
        if (!strcmp(word, row->name))
            return row->function(argc - 1, argv + 1);
    return no_such_command(rows, word);
}
