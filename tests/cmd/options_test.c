/* The option reader and the dispatch of subcommands. */
#include "cmd/cmd.h"
#include "cmd/progress.h"
#include "craft/craft.h"
#include "ir/prove.h"
#include "ir/run.h"
#include "sim/sim.h"
#include "tests/t.h"
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Values {
    bool strict;
    const char *trace;
    int64_t blocks;
    double limit;
    NameList in;
    CmdArgs args;
} Values;

/* Reads a command line; returns the status, or -1 when the command may go on. */
static int read_line(Values *v, char **argv)
{
    CmdOption options[] = {
        {"strict", CMD_FLAG, &v->strict, NULL, "s"}, {"trace", CMD_TEXT, &v->trace, "FILE", "t"},
        {"blocks", CMD_I64, &v->blocks, "N", "b"},   {"limit", CMD_F64, &v->limit, "X", "l"},
        {"in", CMD_LIST, &v->in, "NAME=VALUE", "i"}, {"o", CMD_TEXT, &v->trace, "FILE", "o"},
    };
    CmdUsage usage = {"run", "PATH [PATH]", "text", "acraft run x", options, 6, 1, 2};
    int argc = 0, status = CMD_OK;
    while (argv[argc])
        argc++;
    return cmd_read(&usage, argc, argv, &v->args, &status) ? -1 : status;
}

#define LINE(...) ((char *[]){"run", __VA_ARGS__, NULL})

T_TEST(options_of_all_kinds)
{
    Values v = {.blocks = 7};
    CHECK_EQ_INT(read_line(&v, LINE("a", "--strict", "--trace", "f", "--blocks=-3", "--limit",
                                    "1.5", "--in=x=1", "b", "--in", "y=2", "--json", "--seed=9")),
                 -1);
    CHECK(v.strict && v.args.json);
    CHECK_EQ_STR(v.trace, "f");
    CHECK_EQ_INT(v.blocks, -3);
    CHECK_NEAR(v.limit, 1.5, 0);
    REQUIRE(v.in.len == 2);
    CHECK_EQ_STR(v.in.at[0], "x=1");
    CHECK_EQ_STR(v.in.at[1], "y=2");
    CHECK_EQ_INT(v.args.seed, 9);
    CHECK_EQ_STR(v.args.chip, "910B2");
    REQUIRE(v.args.word_count == 2);
    CHECK_EQ_STR(v.args.words[0], "a");
    CHECK_EQ_STR(v.args.words[1], "b");
    cmd_done(&v.args);
}

T_TEST(options_short_forms_and_the_double_dash)
{
    Values v = {.blocks = 7};
    CHECK_EQ_INT(read_line(&v, LINE("-ofile", "--", "--strict", "-")), -1);
    CHECK_EQ_STR(v.trace, "file");
    CHECK(!v.strict);
    CHECK_EQ_INT(v.blocks, 7);
    REQUIRE(v.args.word_count == 2);
    CHECK_EQ_STR(v.args.words[0], "--strict");
    CHECK_EQ_STR(v.args.words[1], "-");
    CHECK_EQ_INT(read_line(&v, LINE("-o", "g", "x")), -1);
    CHECK_EQ_STR(v.trace, "g");
}

/* Both streams of what follows go to a file, whose text can be read back. */
static int capture;

static void begin_capture(void)
{
    char name[] = "/tmp/acraft-test-XXXXXX";
    capture = mkstemp(name);
    unlink(name);
    fflush(stdout);
    dup2(capture, 2);
}

static bool was_said(const char *text)
{
    static char said[4096];
    ssize_t len = pread(capture, said, sizeof said - 1, 0);
    said[len > 0 ? len : 0] = 0;
    CHECK(ftruncate(capture, 0) == 0 && lseek(capture, 0, SEEK_SET) == 0);
    return strstr(said, text) != NULL;
}

T_TEST(options_that_are_wrong)
{
    Values v = {0};
    begin_capture();
    CHECK_EQ_INT(read_line(&v, LINE("a", "--trce", "f")), CMD_USAGE);
    CHECK(was_said("did you mean '--trace'?"));
    CHECK_EQ_INT(read_line(&v, LINE("a", "--zzzzzzzz")), CMD_USAGE);
    CHECK(was_said("no option '--zzzzzzzz'; there are --strict"));
    CHECK_EQ_INT(read_line(&v, LINE("a", "-q")), CMD_USAGE);
    CHECK_EQ_INT(read_line(&v, LINE("--o", "x", "a")), -1); /* as -o x */
    CHECK(was_said("no option"));
    CHECK_EQ_INT(read_line(&v, LINE("a", "--trace")), CMD_USAGE);
    CHECK(was_said("option '--trace' needs a value: FILE"));
    CHECK_EQ_INT(read_line(&v, LINE("a", "--strict=1")), CMD_USAGE);
    CHECK(was_said("takes no value"));
    CHECK_EQ_INT(read_line(&v, LINE("a", "--blocks", "3x")), CMD_USAGE);
    CHECK(was_said("no whole number"));
    CHECK_EQ_INT(read_line(&v, LINE("a", "--chip", "910Z")), CMD_USAGE);
    CHECK(was_said("no chip '910Z'; there are 910B1, 910B2, "));
    CHECK_EQ_INT(read_line(&v, LINE("a", "--limit=")), CMD_USAGE);
    CHECK(was_said("is no number"));
    CHECK_EQ_INT(read_line(&v, LINE("--strict")), CMD_USAGE);
    CHECK(was_said("an argument is missing: acraft run PATH"));
    CHECK_EQ_INT(read_line(&v, LINE("a", "b", "c")), CMD_USAGE);
    CHECK(was_said("'c' is one too many"));
}

static int answer_four(int argc, char **argv)
{
    return argc == 2 && !strcmp(argv[0], "four") ? 4 : 5;
}

T_TEST(dispatch_finds_the_command)
{
    const CmdRow rows[] = {{"four", "gives 4", answer_four}, {NULL, NULL, NULL}};
    CHECK_EQ_INT(cmd_dispatch(rows, 3, (char *[]){"acraft", "four", "x", NULL}), 4);
    begin_capture();
    CHECK_EQ_INT(cmd_dispatch(rows, 1, (char *[]){"acraft", NULL}), CMD_USAGE);
    CHECK_EQ_INT(cmd_dispatch(rows, 2, (char *[]){"acraft", "fuor", NULL}), CMD_USAGE);
    CHECK(was_said("did you mean 'four'?"));
    CHECK_EQ_INT(cmd_dispatch(rows, 2, (char *[]){"acraft", "entirely", NULL}), CMD_USAGE);
    CHECK(!was_said("did you mean"));
}

T_TEST(codes_stand_once)
{
    static const char *const codes[] = {
#define CODE(code_, brief_, repair_) code_,
#include "cmd/code.def"
#undef CODE
    };
    for (size_t i = 1; i < sizeof codes / sizeof *codes; i++)
        CHECK(strcmp(codes[i - 1], codes[i]) < 0);
}

static const char *const with_example[] = {
#define EXAMPLE(code_, bad_, good_) code_,
#include "cmd/example.def"
#undef EXAMPLE
};
enum { WITH_EXAMPLE = sizeof with_example / sizeof *with_example };

static int count_examples(const char *code)
{
    int found = 0;
    for (int i = 0; i < WITH_EXAMPLE; i++)
        found += !strcmp(with_example[i], code);
    return found;
}

/* Every code has a wrong and a right example, in its own table or in example.def. */
T_TEST(codes_have_examples)
{
    static const char *const others[] = {
#define CODE(code_, brief_, repair_) code_,
#include "cmd/code.def"
#undef CODE
    };
    for (int i = 1; i < WITH_EXAMPLE; i++)
        CHECK(strcmp(with_example[i - 1], with_example[i]) < 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_MSG(count_examples(others[i]) == 1, "%s", others[i]);
    for (int f = 0; f < SIM_FAULT_COUNT; f++) {
        const char *code = sim_fault_row((enum SimFaultCode)f)->code;
        CHECK_MSG(count_examples(code) == 1, "%s", code);
    }
    for (const CraftCode *row = craft_codes; row->code; row++)
        CHECK_MSG((count_examples(row->code) == 1) == !*row->bad, "%s", row->code);
    for (int i = 0; i < IR_PROOF_COUNT; i++)
        CHECK_MSG(*ir_proof_rows[i].bad && *ir_proof_rows[i].good, "%s", ir_proof_rows[i].watch);
    for (int i = IR_PROOF_COUNT; i < IR_FAULT_COUNT; i++)
        CHECK_MSG(count_examples(ir_fault_rows[i].code) == 1, "%s", ir_fault_rows[i].code);
}

T_TEST(colours_are_as_asked)
{
    Values v = {0};
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    CHECK(!cmd_colour(STDOUT_FILENO) || isatty(STDOUT_FILENO));
    CHECK_EQ_INT(read_line(&v, LINE("a", "--color=always")), -1);
    CHECK(cmd_colour(STDOUT_FILENO));
    CHECK_EQ_INT(read_line(&v, LINE("a", "--color", "never")), -1);
    CHECK(!cmd_colour(STDOUT_FILENO));
    begin_capture();
    CHECK_EQ_INT(read_line(&v, LINE("a", "--color=yes")), CMD_USAGE);
    CHECK(was_said("--color takes auto, always or never, not 'yes'"));
    cmd_done(&v.args);
}

T_TEST(unknown_options_list_those_there_are)
{
    Values v = {0};
    begin_capture();
    CHECK_EQ_INT(read_line(&v, LINE("a", "--entirely-else")), CMD_USAGE);
    CHECK(was_said("there are --strict, --trace, --blocks, --limit, --in, -o, --json"));
    cmd_done(&v.args);
}

T_TEST(progress_says_what_is_left)
{
    char text[80];
    progress_text(text, sizeof text, "judging", 3, 15, 8);
    CHECK_EQ_STR(text, "judging 3 of 15, 8 s, about 32 s left");
    progress_text(text, sizeof text, "planning", 0, 0, 75.2);
    CHECK_EQ_STR(text, "planning, 1 min 15 s");
    progress_text(text, sizeof text, "judging", 1, 3, 3700);
    CHECK_EQ_STR(text, "judging 1 of 3, 1 h 01 min, about 2 h 03 min left");
    progress_text(text, sizeof text, "judging", 0, 3, 4);
    CHECK_EQ_STR(text, "judging 0 of 3, 4 s");
}

T_TEST(progress_is_shown_without_a_terminal_too)
{
    CHECK(!progress_due(true, 1.5, 1.5));
    CHECK(progress_due(true, 2, 0.5)); /* twice a second */
    CHECK(!progress_due(false, 29, 29));
    CHECK(progress_due(false, 30, 30));
    CHECK(!progress_due(false, 45, 15));
    CHECK(progress_due(false, 60, 30));
}

/* What a command line prints to standard output. */
static const char *printed(Values *v, char **argv, char *text, size_t size, int *status)
{
    int out = dup(STDOUT_FILENO), pipes[2];
    fflush(stdout);
    REQUIRE(pipe(pipes) == 0 && dup2(pipes[1], STDOUT_FILENO) >= 0);
    *status = read_line(v, argv);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    close(pipes[1]);
    ssize_t got = read(pipes[0], text, size - 1);
    close(pipes[0]);
    text[got > 0 ? got : 0] = 0;
    return text;
}

T_TEST(options_as_words_and_as_a_manual_page)
{
    Values v = {0};
    char text[4096];
    int status;
    CHECK_EQ_STR(printed(&v, LINE("--help=words"), text, sizeof text, &status),
                 "--strict\n--trace=\n--blocks=\n--limit=\n--in=\n-o=\n--json\n--chip=\n--seed=\n"
                 "--color=\n--help\n");
    CHECK_EQ_INT(status, CMD_OK);
    const char *page = printed(&v, LINE("--help=man"), text, sizeof text, &status);
    CHECK(!strncmp(page, ".TH acraft-run 1", 16));
    CHECK(strstr(page, ".BI \\-\\-blocks \" N\"\nb\n"));
    CHECK(strstr(page, ".B \\-\\-strict\ns\n"));
    CHECK_EQ_INT(read_line(&v, LINE("--help=html")), CMD_USAGE);
    CHECK_EQ_INT(read_line(&v, LINE("a", "--strict=1")), CMD_USAGE);
    cmd_done(&v.args);
}
