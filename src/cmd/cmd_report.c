/* acraft report: the results as a page. */
#include "cmd/cmd.h"

#include "cmd/report.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_K = 8, PORT = 8765 };

typedef struct ReportArgs {
    const char *store, *out, *ks, *trace;
    NameList runs, training;
    bool serve;
} ReportArgs;

static bool read_ks(const char *text, uint32_t *ks)
{
    Str rest = str_from(text), one;
    uint32_t n = 0;
    while (str_next(&rest, ',', &one)) {
        int64_t k;
        if (n == MOST_K || !str_to_i64(one, &k) || k < 1 || k > 100000) {
            fprintf(stderr, "acraft report: '%s' are no numbers like 1,5,10\n", text);
            return false;
        }
        ks[n++] = (uint32_t)k;
    }
    ks[n] = 0;
    return n > 0;
}

typedef VEC(int64_t) Numbers;

static bool read_runs(Arena *arena, const NameList *names, Numbers *runs)
{
    for (uint32_t i = 0; i < names->len; i++) {
        Str rest = str_from(names->at[i]), one;
        while (str_next(&rest, ',', &one)) {
            int64_t id;
            if (!str_to_i64(one, &id) || id < 1) {
                fprintf(stderr, "acraft report: '%s' is not the number of a run\n", names->at[i]);
                return false;
            }
            vec_push(arena, runs, id);
        }
    }
    return true;
}

static void print_json(const char *path, size_t bytes)
{
    Buf out = {0};
    buf_puts(&out, "{\"file\": ");
    buf_json_str(&out, str_from(path));
    buf_printf(&out, ", \"bytes\": %zu}", bytes);
    puts(out.at);
    buf_free(&out);
}

static int write_out(CmdArgs *args, const Buf *html, const char *path, Diag *diag)
{
    if (!strcmp(path, "-"))
        fwrite(html->at, 1, html->len, stdout);
    else if (!file_write(path, buf_view(html), diag))
        return cmd_say(diag, CMD_LACKS);
    else if (args->json)
        print_json(path, html->len);
    else
        fprintf(stderr, "acraft report: %s, %.1f MB\n", path, (double)html->len / 1e6);
    return CMD_OK;
}

static int write_page(CmdArgs *args, Store *store, const ReportAsk *ask, const char *path)
{
    Diag diag = diag_make(&args->arena, ask->store, STR(""));
    Buf html = {0};
    int status = report_make(store, ask, &html, &diag) ? write_out(args, &html, path, &diag)
                                                       : cmd_say(&diag, CMD_USAGE);
    buf_free(&html);
    return status;
}

/* The page of a run that `acraft run --trace` has drawn. */
static int show_trace(CmdArgs *args, const ReportArgs *given)
{
    Diag diag = diag_make(&args->arena, given->trace, STR(""));
    Buf page = {0}, drawn = {0};
    ReportKernel kernel = {
        .name = str_dup(&args->arena, path_stem(given->trace)),
        .chip = "a trace of acraft run",
        .version = ACRAFT_VERSION,
        .task = "",
        .summary = "Every instruction of a simulated run, with predicted times."};
    int status = CMD_OK;
    if (!file_read(&args->arena, given->trace, 0, &kernel.trace, &diag))
        return cmd_say(&diag, CMD_USAGE);
    if (report_timeline(kernel.trace, &drawn)) {
        report_kernel(&kernel, &page);
        status = write_out(args, &page, given->out, &diag);
    } else {
        fprintf(stderr, "acraft report: '%s' is not a trace of acraft run\n", given->trace);
        status = CMD_USAGE;
    }
    buf_free(&drawn);
    buf_free(&page);
    return status;
}

static bool read_port(const CmdArgs *args, const ReportArgs *given, int64_t *port)
{
    if (!args->word_count)
        return true;
    if (given->serve && str_to_i64(str_from(args->words[0]), port) && *port >= 1 && *port <= 65535)
        return true;
    fprintf(stderr, "acraft report: '%s' is not a port for --serve\n", args->words[0]);
    return false;
}

/* The page of training runs; it is made once before it is served, so that a wrong name is said at once. */
static int show_training(CmdArgs *args, const ReportArgs *given, int64_t port)
{
    Diag diag = diag_make(&args->arena, given->training.at[0], STR(""));
    Buf html = {0};
    int status = CMD_OK;
    if (!report_training(&given->training, &html, &diag))
        status = cmd_say(&diag, CMD_USAGE);
    else if (given->serve)
        status = report_serve_training(&given->training, port);
    else
        status = write_out(args, &html, given->out, &diag);
    buf_free(&html);
    return status;
}

static int run_report(CmdArgs *args, const ReportArgs *given)
{
    if (given->trace)
        return show_trace(args, given);
    uint32_t ks[MOST_K + 1];
    Numbers runs = {0};
    int64_t port = PORT;
    if (!read_ks(given->ks, ks) || !read_runs(&args->arena, &given->runs, &runs) ||
        !read_port(args, given, &port))
        return CMD_USAGE;
    if (given->training.len)
        return show_training(args, given, port);
    ReportAsk ask = {given->store, runs.at, runs.len, ks, given->serve};
    Diag diag = diag_make(&args->arena, given->store, STR(""));
    Store *store = store_open(given->store, STORE_READ, &diag);
    if (!store)
        return cmd_say(&diag, CMD_USAGE);
    int status = given->serve ? report_serve(store, &ask, port)
                              : write_page(args, store, &ask, given->out);
    store_close(store);
    return status;
}

int cmd_report(int argc, char **argv)
{
    ReportArgs a = {.store = "acraft.db", .out = "report.html", .ks = "1"};
    const CmdOption options[] = {
        {"o", CMD_TEXT, &a.out, "FILE", "write there (report.html); - is standard output"},
        {"store", CMD_TEXT, &a.store, "FILE", "results of acraft bench (acraft.db)"},
        {"run", CMD_LIST, &a.runs, "N", "only this run, 3 or 3,5; may be given again (all)"},
        {"k", CMD_TEXT, &a.ks, "LIST", "the k of Pass@k, a table each (1)"},
        {"training", CMD_LIST, &a.training, "RUN",
         "curves of acraft train -o RUN instead of a store; again: beside each other"},
        {"trace", CMD_TEXT, &a.trace, "FILE", "show a trace of acraft run instead of a store"},
        {"serve", CMD_FLAG, &a.serve, NULL, "serve it on 127.0.0.1, live; PORT may follow (8765)"},
    };
    CmdUsage usage = {"report",
                      "[-o FILE.html] [--store FILE] [--run N] [--serve [PORT]]",
                      "Writes stored results as one HTML page that needs no network: scores with "
                      "intervals,\nruns side by side, the papers' figures, every attempt with its "
                      "source, verdicts,\nconversation and timeline. --serve shows a store while a "
                      "bench fills it, or a training run while it goes on.",
                      "acraft report --store results.db -o report.html",
                      options,
                      sizeof options / sizeof *options,
                      0,
                      1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = run_report(&args, &a);
    cmd_done(&args);
    return status;
}
