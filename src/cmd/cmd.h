/* The command line: what each subcommand (src/cmd/cmd_NAME.c) looks like to main.c, and the
 * option reader they share.
 *
 *     int cmd_fmt(int argc, char **argv)
 *     {
 *         bool in_place = false;
 *         const CmdOption options[] = {{"in-place", CMD_FLAG, &in_place, NULL, "rewrite the file"}};
 *         CmdUsage usage = {"fmt", "FILE.craft", "Prints ...", "acraft fmt softmax.craft",
 *                           options, 1, 1, 1};
 *         CmdArgs args = {0};
 *         int status = CMD_OK;
 *         if (cmd_read(&usage, argc, argv, &args, &status))
 *             status = format_file(args.words[0], ...);
 *         cmd_done(&args);
 *         return status;
 *     }
 *
 * A new subcommand is one file and one row of the table in main.c.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/file.h"
#include "base/version.h"
#include "verdict/verdict.h"

/* Exit status. */
enum {
    CMD_OK = 0,    /* success */
    CMD_NO = 1,    /* the answer is no: wrong values, a hazard, a failed check */
    CMD_USAGE = 2, /* bad usage or unreadable input */
    CMD_LACKS = 3, /* the environment, or acraft itself, lacks something */
};

/* argv[0] is the subcommand's own name. Returns an exit status. */
typedef int CmdFunction(int argc, char **argv);

typedef struct CmdRow {
    const char *name;
    const char *help; /* one line */
    CmdFunction *function;
} CmdRow;

/* main() without the process around it; `rows` ends with a row without name. */
int cmd_dispatch(const CmdRow *rows, int argc, char **argv);

typedef enum CmdOptionKind {
    CMD_FLAG, /* bool */
    CMD_HEAD, /* no option: a line of --help above those that follow */
    CMD_TEXT, /* const char * */
    CMD_I64,  /* int64_t */
    CMD_F64,  /* double */
    CMD_LIST, /* NameList; may be given again */
} CmdOptionKind;

/* --name VALUE, --name=VALUE; a name of one letter is also -n VALUE or -nVALUE. */
typedef struct CmdOption {
    const char *name;
    CmdOptionKind kind;
    void *into;        /* of the kind's type; keeps its value when the option is not given */
    const char *value; /* what the value is called in the help, "FILE"; NULL for a flag */
    const char *help;
} CmdOption;

typedef struct CmdUsage {
    const char *name;     /* "run" */
    const char *synopsis; /* "PATH [--task MODEL.py]", without the options common to all */
    const char *text;     /* what it does: one or more lines */
    const char *example;  /* a command line that works */
    const CmdOption *options;
    size_t option_count;
    uint32_t least, most; /* number of words that are not options */
} CmdUsage;

typedef struct CmdArgs {
    /* options of every command */
    bool json;
    const char *chip;  /* "910B2" unless told */
    int64_t seed;      /* 0 unless told */
    const char *color; /* NULL: auto */
    /* what is not an option, in order */
    char **words;
    uint32_t word_count;
    Arena arena; /* holds the lists; free for the command's own use */
} CmdArgs;

/* False: the command is over (help was printed, or a complaint) and *status is its answer. */
bool cmd_read(const CmdUsage *usage, int argc, char **argv, CmdArgs *args, int *status);
void cmd_done(CmdArgs *args);

/* Prints the diagnostics to standard error and gives the status back: `return cmd_say(...)`. */
int cmd_say(const Diag *diag, int status);
void cmd_print(Buf *text); /* to standard output; the text is given back */
/* A verdict for people, with the source lines of its findings where they lie in the candidate `path`. */
void cmd_show_verdict(Arena *arena, const char *path, const Verdict *verdict, Buf *out);

/* --color: auto means on a terminal, unless NO_COLOR is set. */
typedef enum CmdColour { CMD_COLOUR_AUTO, CMD_COLOUR_ALWAYS, CMD_COLOUR_NEVER } CmdColour;
bool cmd_set_colour(const char *when); /* false: none of auto, always, never */
bool cmd_colour(int fd);               /* whether what goes there is coloured */

/* The name nearest to a mistyped one, or NULL when none is near. */
const char *cmd_nearest(const char *typed, const char *const *names, size_t count);

/* Where acraft's own files are (docs/, examples/, tasks/); NULL: not found. */
const char *cmd_home(Arena *arena);

/* The subcommands. */
int cmd_bench(int argc, char **argv);
int cmd_build(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_classify(int argc, char **argv);
int cmd_data(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_judge(int argc, char **argv);
int cmd_new(int argc, char **argv);
int cmd_make(int argc, char **argv);
int cmd_tune(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_fmt(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_prompt(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_task(int argc, char **argv);
int cmd_train(int argc, char **argv);

#endif
