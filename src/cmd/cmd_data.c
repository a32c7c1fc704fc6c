/* acraft data make: training rows of which every program was run. */
#include "cmd/data.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct DataArgs {
    const char *out, *mix, *tokenizer;
    int64_t rows, jobs, text_share, vocab;
    const char *families;
    int64_t operators, share, again;
    bool no_suites, brief, twins;
    ScoreArgs score;
} DataArgs;

static volatile int stop_now;
static volatile time_t stopped_at;

/* A second signal ends the program where it stands; timeout(1) sends one signal twice at once. */
static void on_signal(int number)
{
    (void)number;
    if (stop_now && time(NULL) > stopped_at + 1)
        _exit(CMD_NO);
    if (!stop_now)
        stopped_at = time(NULL);
    stop_now = 1;
}

static void show_progress(void *context, uint64_t rows, uint64_t of, double seconds_left)
{
    uint64_t *shown = context;
    bool terminal = isatty(2);
    if (!terminal && rows < *shown + of / 10 + 1)
        return;
    *shown = rows;
    fprintf(stderr, "%s%llu of %llu rows", terminal ? "\r" : "", (unsigned long long)rows,
            (unsigned long long)of);
    if (seconds_left >= 0)
        fprintf(stderr, ", about %.0f min %02.0f s left",
                seconds_left / 60 - 0.5 > 0 ? (double)(long)(seconds_left / 60) : 0.0,
                seconds_left - 60 * (double)(long)(seconds_left / 60));
    fprintf(stderr, terminal ? "   " : "\n");
}

/* "write=50,repair=50": kinds that are not named get nothing. */
static bool read_mix(const char *mix, uint32_t share[ROWS_KINDS])
{
    Str rest = str_from(mix), part, name;
    uint32_t sum = 0, named = 0;
    memset(share, 0, ROWS_KINDS * sizeof *share);
    while (str_next(&rest, ',', &part)) {
        int64_t n = -1;
        int kind = 0;
        str_next(&part, '=', &name);
        while (kind < ROWS_KINDS && !str_is(name, rows_kind_name((RowsKind)kind)))
            kind++;
        if (kind == ROWS_KINDS || !str_to_i64(part, &n) || n < 0 || n > 100 || named >> kind & 1)
            return false;
        named |= 1u << kind;
        share[kind] = (uint32_t)n;
        sum += (uint32_t)n;
    }
    return sum == 100;
}

static bool read_spec(CmdArgs *args, const DataArgs *a, RowsSpec *spec)
{
    if (a->rows < 1 || a->rows > 100000000 || a->jobs < 0 || a->jobs > 1024 || a->text_share < 0 ||
        a->text_share > 100 || a->vocab < 300 || a->vocab > 65536) {
        fprintf(stderr, "acraft data make: --rows, -j, --text or --vocab is out of range\n");
        return false;
    }
    *spec = (RowsSpec){.chip = npu_chip_find(str_from(args->chip)),
                       .dir = a->out,
                       .version = ACRAFT_VERSION,
                       .seed = (uint64_t)args->seed,
                       .rows = (uint64_t)a->rows,
                       .text_share = (uint32_t)a->text_share,
                       .brief = a->brief,
                       .twins = a->twins,
                       .jobs = (uint32_t)a->jobs,
                       .vocab = (uint32_t)a->vocab,
                       .tokenizer = a->tokenizer,
                       .progress = show_progress,
                       .stop = &stop_now};
    for (int i = 0; i < ROWS_KINDS; i++)
        spec->share[i] = rows_kind_share((RowsKind)i);
    if (!spec->text_share) { /* these are judged through the text alone */
        spec->share[ROWS_REPAIR] += spec->share[ROWS_MEND];
        spec->share[ROWS_MEND] = 0;
    }
    if (a->mix && !read_mix(a->mix, spec->share)) {
        fprintf(stderr, "acraft data make: --mix is like write=40,repair=30,optimise=15,choose=10,"
                        "explain=5: kinds of rows, each once; the shares add up to 100\n");
        return false;
    }
    if (spec->brief && spec->share[ROWS_OPTIMISE]) {
        fprintf(stderr, "acraft data make: --brief times nothing, so it has no optimise rows: say "
                        "with --mix which kinds there are, as write=70,repair=30\n");
        return false;
    }
    if (!spec->chip || !spec->chip->simulated) {
        fprintf(stderr, "acraft data make: no simulated chip is called '%s'\n", args->chip);
        return false;
    }
    return true;
}

static int run_split(CmdArgs *args, const DataArgs *a, Diag *diag)
{
    uint64_t n[4];
    RowsSplitSpec spec = {args->words[1], a->out, a->families, a->operators, (uint32_t)a->share};
    if (!a->out || a->share < 0 || a->share > 999 || a->operators < 0) {
        fprintf(stderr, "acraft data split: -o is missing, or --unseen or --operators is out of "
                        "range\n");
        return CMD_USAGE;
    }
    if (!rows_split(&args->arena, &spec, n, diag))
        return cmd_say(diag, CMD_USAGE);
    printf("train %llu, families %llu, longer %llu, unseen %llu\n", (unsigned long long)n[0],
           (unsigned long long)n[1], (unsigned long long)n[2], (unsigned long long)n[3]);
    return CMD_OK;
}

static void print_least(const char *rows, uint64_t n, const char *what, const RowsLeast *least)
{
    if (n)
        printf("%llu %s rows: %u of %u %s, %u of them in %d rows or more, rarest %s (%llu)\n",
               (unsigned long long)n, rows, least->there, least->all, what, least->enough,
               ROWS_ENOUGH, least->name, (unsigned long long)least->rows);
}

/* Exit status 1: the text's verdict on a program is not what its row says. */
static int run_again(CmdArgs *args, const DataArgs *a, Diag *diag)
{
    RowsAgain again;
    uint64_t shown = 0;
    RowsAgainSpec spec = {.chip = npu_chip_find(str_from(args->chip)),
                          .dir = args->words[1],
                          .seed = (uint64_t)args->seed,
                          .rows = (uint32_t)a->again,
                          .jobs = (uint32_t)a->jobs,
                          .progress = show_progress,
                          .context = &shown};
    if (!spec.chip || !spec.chip->simulated || a->again > 10000000 || a->jobs < 0 ||
        a->jobs > 1024) {
        fprintf(stderr, "acraft data check: --chip, --again or -j is out of range\n");
        return CMD_USAGE;
    }
    bool ok = rows_again(&args->arena, &spec, &again, diag);
    if (isatty(2))
        fputc('\n', stderr);
    printf(
        "%.*s%llu rows judged again through the text: %llu right programs and %llu wrong ones as "
        "the rows say, %llu not judged, %llu contradictions\n",
        (int)again.said.len, again.said.len ? again.said.at : "", (unsigned long long)again.rows,
        (unsigned long long)again.right, (unsigned long long)again.wrong,
        (unsigned long long)again.unjudged, (unsigned long long)again.contradictions);
    buf_free(&again.said);
    if (!ok)
        return cmd_say(diag, CMD_LACKS);
    return again.contradictions ? CMD_NO : CMD_OK;
}

/* Exit status 1: a row is there twice, too long, or near a suite's task. */
static int run_check(CmdArgs *args, const DataArgs *a, Diag *diag)
{
    const char *home = cmd_home(&args->arena);
    RowsCheckSpec spec = {.dir = args->words[1], .tokenizer = a->tokenizer};
    RowsCheck c;
    if (a->again < 0) {
        fprintf(stderr, "acraft data check: --again is out of range\n");
        return CMD_USAGE;
    }
    if (home && !a->no_suites)
        spec.tasks = path_join(&args->arena, home, "tasks");
    if (!rows_check(&args->arena, &spec, &c, diag))
        return cmd_say(diag, CMD_USAGE);
    printf("%llu rows, %llu twins and whole operators, %llu of them twice; rows.jsonl %016llx\n"
           "%llu rows of more than 2,048 tokens (long.jsonl: 8,192), the longest has %llu\n",
           (unsigned long long)c.rows, (unsigned long long)c.others, (unsigned long long)c.twice,
           (unsigned long long)c.hash, (unsigned long long)c.over, (unsigned long long)c.longest);
    print_least("repair", c.repairs, "diagnostics", &c.diagnostics);
    print_least("mend", c.mends, "findings", &c.findings);
    if (spec.tasks)
        printf("%llu tasks drawn again: %llu distinct graphs, %u of %u operators of the reader, "
               "%llu with a suite's graph, %llu with 13 tokens of a suite's file, %llu not drawn\n",
               (unsigned long long)c.tasks, (unsigned long long)c.graphs, c.operators,
               c.of_operators, (unsigned long long)c.near_graph, (unsigned long long)c.near_words,
               (unsigned long long)c.lost);
    int judged = a->again > 0 ? run_again(args, a, diag) : CMD_OK;
    return judged != CMD_OK                                              ? judged
           : c.twice || c.over || c.near_graph || c.near_words || c.lost ? CMD_NO
                                                                         : CMD_OK;
}

static int run_data(CmdArgs *args, const DataArgs *a)
{
    const char *about = a->out ? a->out : args->word_count > 1 ? args->words[1] : "";
    Diag diag = diag_make(&args->arena, about, STR(""));
    RowsSpec spec;
    uint64_t shown = 0;
    ScoreArgs score = a->score;
    score.tokenizer = a->tokenizer;
    if (!strcmp(args->words[0], "score") && args->word_count == 2)
        return data_score(args, &score, a->jobs);
    if (!strcmp(args->words[0], "check") && args->word_count == 2)
        return run_check(args, a, &diag);
    if (!strcmp(args->words[0], "split") && args->word_count == 2)
        return run_split(args, a, &diag);
    if (strcmp(args->words[0], "make") || args->word_count != 1) {
        fprintf(stderr, "acraft data: make -o DIR, check DIR, split ROWS.jsonl -o DIR, or score "
                        "ROWS.jsonl\n");
        return CMD_USAGE;
    }
    if (!a->out) {
        fprintf(stderr, "acraft data make: say with -o in which directory the rows go\n");
        return CMD_USAGE;
    }
    if (!read_spec(args, a, &spec))
        return CMD_USAGE;
    const char *home = cmd_home(&args->arena);
    if (home && !a->no_suites)
        spec.tasks = path_join(&args->arena, home, "tasks");
    if (!spec.tasks && !a->no_suites) {
        fprintf(stderr, "acraft data make: the suites' files are not found, so nothing can be kept "
                        "away from them; --no-suites goes on without\n");
        return CMD_LACKS;
    }
    spec.context = &shown;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    RowsEnd end = rows_make(&args->arena, &spec, &diag);
    if (isatty(2))
        fputc('\n', stderr);
    switch (end) {
    case ROWS_DONE: printf("%s\n", path_join(&args->arena, a->out, "card.md")); return CMD_OK;
    case ROWS_STOPPED:
        fprintf(stderr, "acraft data make: stopped; the same command goes on\n");
        return CMD_NO;
    case ROWS_CONTRADICTION: return cmd_say(&diag, CMD_NO);
    case ROWS_FAILED: break;
    }
    return cmd_say(&diag, CMD_USAGE);
}

int cmd_data(int argc, char **argv)
{
    DataArgs a = {.rows = 1000, .text_share = 5, .vocab = 2048, .share = ROWS_UNSEEN};
    a.score = (ScoreArgs){.gen = "local", .samples = 10, .tasks = 200, .temperature = 0.7};
    const CmdOption options[] = {
        {"o", CMD_TEXT, &a.out, "DIR", "where the rows go; a stopped run there is taken up"},
        {"rows", CMD_I64, &a.rows, "N", "how many (1000)"},
        {"mix", CMD_TEXT, &a.mix, "LIST",
         "shares of the kinds (write=40,repair=26,mend=4,optimise=15,choose=10,explain=5); ascendc "
         "and "
         "mend are kernels in AscendC and their repair"},
        {"text", CMD_I64, &a.text_share, "N",
         "of a hundred rows, how many are judged through AscendC text and the twin, too (5); 0: "
         "none, optimise rows neither, and repair=30 in place of mend=4"},
        {"tokenizer", CMD_TEXT, &a.tokenizer, "FILE",
         "tokenizer.json (make: trained on the rows; score: beside the weights)"},
        {"vocab", CMD_I64, &a.vocab, "N", "size of the tokenizer that is trained (2048)"},
        {"brief", CMD_FLAG, &a.brief, NULL,
         "answers of schedule and program alone, with round tiles; questions show the graph"},
        {"twins", CMD_FLAG, &a.twins, NULL,
         "write and repair rows a second time in AscendC: kernels for one shape in twins.jsonl, "
         "whole operators in long.jsonl"},
        {"no-suites", CMD_FLAG, &a.no_suites, NULL, "do not keep away from the suites' tasks"},
        {"j", CMD_I64, &a.jobs, "N", "processes (one for each processor); the rows are the same"},
        {"", CMD_HEAD, NULL, NULL, "check"},
        {"again", CMD_I64, &a.again, "N",
         "judge the programs of so many rows, drawn by --seed, again through AscendC text and the "
         "twin"},
        {"", CMD_HEAD, NULL, NULL, "split"},
        {"families", CMD_TEXT, &a.families, "LIST", "families that are held out"},
        {"operators", CMD_I64, &a.operators, "N", "rows of more operators are held out"},
        {"unseen", CMD_I64, &a.share, "N", "of a thousand compositions, how many are (20)"},
        {"", CMD_HEAD, NULL, NULL, "score"},
        {"gen", CMD_TEXT, &a.score.gen, "WHO",
         "local (default), untrained, 5-gram, nearest, file (samples that --from holds), or "
         "several "
         "of these: local,untrained,5-gram,nearest"},
        {"weights", CMD_TEXT, &a.score.weights, "FILE", "checkpoint of --gen local"},
        {"from", CMD_TEXT, &a.score.from, "FILE", "rows that 5-gram or nearest has seen; samples"},
        {"keep", CMD_TEXT, &a.score.keep, "FILE", "write all samples there, each with its mark"},
        {"n", CMD_I64, &a.score.samples, "N", "samples of a task (10)"},
        {"most", CMD_I64, &a.score.tasks, "N", "tasks, the first of the file (200)"},
        {"turns", CMD_I64, &a.score.turns, "N", "repairs after an answer (0)"},
        {"temperature", CMD_F64, &a.score.temperature, "T", "of --gen local (0.7)"},
        {"limit", CMD_F64, &a.score.limit, "SECONDS",
         "of a task; one that takes longer counts as not right (600)"},
        {"no-mask", CMD_FLAG, &a.score.no_mask, NULL, "local draws freely, as --decode free"},
        {"decode", CMD_TEXT, &a.score.decode, "HOW",
         "local: free, mask, lines, again (default; docs/models.md)"},
    };
    CmdUsage usage = {
        "data",
        "make -o DIR [--rows N] [--mix LIST] | check DIR [--again N] | split ROWS.jsonl -o DIR | "
        "score ROWS.jsonl "
        "--gen WHO",
        "Makes rows to train a model on: random tasks, kernels for them, errors and "
        "their repair, faster\n"
        "schedules, questions. Every program is run before its row is written. DIR "
        "gets rows.jsonl\n"
        "(messages), preferences.jsonl, labels.jsonl, tokenizer.json, rows.tokens "
        "(for acraft train) and\n"
        "card.md. The rows depend on --seed and the options alone. score asks a "
        "model, or a baseline,\n"
        "for kernels to held-out rows and says how many are right; split holds rows "
        "out; check looks "
        "for rows\n"
        "that are there twice, too long, or near a suite's task.",
        "acraft data make --rows 1000 -o rows",
        options,
        sizeof options / sizeof *options,
        1,
        2};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = run_data(&args, &a);
    cmd_done(&args);
    return status;
}
