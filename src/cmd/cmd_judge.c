/* acraft judge: JSON Lines in, one verdict line each out, as they finish. */
#include "cmd/cmd.h"

#include "cmd/judge.h"
#include "cmd/names.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct JudgeArgs {
    const char *tasks, *form, *rule;
    int64_t jobs, fuzz, port, recycle;
    double seconds;
    bool strict, trust, brief, time, own_sizes;
} JudgeArgs;

/* ---- the desk ---- */

bool judge_desk_free(const JudgeDesk *desk) { return pool_busy(desk->pool) < desk->count; }

bool judge_desk_send(JudgeDesk *desk, Str line, void *asker, uint32_t index)
{
    uint32_t i = 0;
    while (desk->items[i].used)
        i++;
    JudgeItem *item = &desk->items[i];
    buf_clear(&item->line);
    buf_str(&item->line, line);
    item->asker = asker;
    item->index = index;
    item->used = pool_send(desk->pool, i, line);
    return item->used;
}

static void answer_failure(const JudgeDesk *desk, const PoolReply *r, Str line, Buf *reply)
{
    char reason[160];
    if (r->end == POOL_LATE)
        snprintf(reason, sizeof reason, "not judged within %g s", desk->seconds);
    else if (r->signal)
        snprintf(reason, sizeof reason, "the judging process died: %s", strsignal(r->signal));
    else
        snprintf(reason, sizeof reason, "the judging process ended with status %d", r->status);
    judge_line_failed(line, r->end == POOL_LATE ? VERDICT_TIMEOUT : VERDICT_INTERNAL, reason,
                      reply);
}

JudgeItem *judge_desk_next(JudgeDesk *desk, double seconds, int wake, Buf *reply)
{
    PoolReply r;
    if (!pool_next(desk->pool, seconds, wake, &r))
        return NULL;
    JudgeItem *item = &desk->items[r.id];
    buf_clear(reply);
    if (r.end == POOL_DONE)
        buf_str(reply, r.text);
    else
        answer_failure(desk, &r, buf_view(&item->line), reply);
    item->used = false;
    desk->judged++;
    desk->bad += str_find(buf_view(reply), STR("\"status\": \"bad-request\"")) >= 0;
    return item;
}

/* ---- standard input ---- */

typedef struct Input {
    Buf held;    /* read, not yet judged */
    size_t from; /* where the next line starts */
    bool ended;
} Input;

static void read_more(Input *in)
{
    char bytes[65536];
    if (in->from) {
        memmove(in->held.at, in->held.at + in->from, in->held.len - in->from);
        in->held.len -= in->from;
        in->from = 0;
    }
    ssize_t got = read(0, bytes, sizeof bytes);
    if (got > 0)
        buf_add(&in->held, bytes, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        in->ended = true;
}

/* The next line that is not blank; a line without end counts when the input has ended, or when it
 * is longer than any line may be. */
static bool take_line(Input *in, Str *line)
{
    while (in->from < in->held.len) {
        Str rest = str_slice(buf_view(&in->held), in->from, in->held.len);
        const char *end = memchr(rest.at, '\n', rest.len);
        if (!end && !in->ended && rest.len < JUDGE_MOST_LINE)
            return false;
        size_t len = end ? (size_t)(end - rest.at) : rest.len;
        *line = str_slice(rest, 0, len);
        in->from += len + (end ? 1 : 0);
        if (str_trim(*line).len)
            return true;
    }
    return false;
}

static bool print_next(JudgeDesk *desk, double seconds, int wake, Buf *reply)
{
    if (!judge_desk_next(desk, seconds, wake, reply))
        return false;
    puts(reply->at);
    fflush(stdout);
    return true;
}

static int judge_input(JudgeDesk *desk)
{
    Input in = {0};
    Buf reply = {0};
    Str line;
    bool ok = true;
    fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
    while (ok) {
        while (ok && judge_desk_free(desk) && take_line(&in, &line))
            ok = judge_desk_send(desk, line, NULL, 0);
        bool wants = judge_desk_free(desk) && !in.ended;
        if (!wants && pool_busy(desk->pool) == 0 && in.from >= in.held.len)
            break;
        if (!print_next(desk, 3600, wants ? 0 : -1, &reply) && wants)
            read_more(&in);
    }
    if (!ok)
        fprintf(stderr, "acraft judge: no process can be started\n");
    buf_free(&in.held);
    buf_free(&reply);
    return ok ? CMD_OK : CMD_LACKS;
}

/* ---- the command ---- */

static bool read_spec(Arena *arena, const CmdArgs *args, const JudgeArgs *given, JudgeLines *lines,
                      BenchSuite *suite)
{
    Diag diag = diag_make(arena, "", STR(""));
    BenchPick pick = {.suite = given->tasks, .home = cmd_home(arena)};
    if (!pick.suite && pick.home)
        pick.suite = path_join(arena, pick.home, "tasks");
    lines->spec = (JudgeSpec){.chip = npu_chip_find(str_from(args->chip)),
                              .seed = (uint64_t)args->seed,
                              .fuzz = (uint32_t)given->fuzz,
                              .listed = 4,
                              .baseline_name = "",
                              .time = given->time,
                              .strict = given->strict,
                              .own_sizes = given->own_sizes,
                              .trust = given->trust};
    lines->brief = given->brief;
    lines->names_only = given->port != 0;
    const char *wrong = NULL;
    if (!lines->spec.chip)
        wrong = "no such chip";
    else if (!compare_rule_from_name(str_from(given->rule), &lines->spec.rule))
        wrong = str_format(arena, "no rule is called '%s'; there are %s", given->rule,
                           names_of_rules(arena));
    else if (!eval_form_from_text(str_from(given->form), &lines->spec.form))
        wrong = str_format(arena, "no form is called '%s'; there are %s", given->form,
                           names_of_forms(arena));
    else if (given->jobs < 0 || given->jobs > 1024 || given->fuzz < 0 || given->fuzz > 1000 ||
             given->recycle < 1 || given->recycle > 1000000 || given->port < 0 ||
             given->port > 65535)
        wrong = "-j, --fuzz, --recycle and --serve are counts";
    else if (pick.suite && bench_suite(arena, &pick, suite, &diag))
        lines->tasks = &suite->tasks;
    else if (given->tasks)
        wrong = diag.items.at[0].text;
    if (wrong)
        fprintf(stderr, "acraft judge: %s\n", wrong);
    return !wrong;
}

static int judge(CmdArgs *args, const JudgeArgs *given)
{
    JudgeLines lines = {0};
    BenchSuite suite;
    uint64_t descriptors;
    if (!pool_descriptors(&descriptors)) {
        fprintf(stderr, "acraft judge: %llu file descriptors are too few: ulimit -n 256\n",
                (unsigned long long)descriptors);
        return CMD_LACKS;
    }
    if (!read_spec(&args->arena, args, given, &lines, &suite))
        return CMD_USAGE;
    lines.spec.cache = judge_cache_open(); /* each worker's own after the fork */
    PoolSpec spec = {.jobs = (uint32_t)given->jobs,
                     .seconds = given->seconds,
                     .recycle = (uint32_t)given->recycle,
                     .alone = true,
                     .work = judge_line,
                     .context = &lines};
    JudgeDesk desk = {.pool = pool_open(&spec), .seconds = given->seconds};
    desk.count = pool_jobs(desk.pool);
    desk.items = arena_array(&args->arena, JudgeItem, desk.count);
    double start = pool_clock();
    int status = given->port ? judge_serve(&desk, given->port) : judge_input(&desk);
    double seconds = pool_clock() - start;
    fprintf(stderr, "acraft judge: %llu rewards in %.1f s, %.2f a second\n",
            (unsigned long long)desk.judged, seconds,
            seconds > 0 ? (double)desk.judged / seconds : 0);
    for (uint32_t i = 0; i < desk.count; i++)
        buf_free(&desk.items[i].line);
    pool_close(desk.pool);
    judge_cache_close(lines.spec.cache);
    if (desk.bad)
        fprintf(stderr,
                "acraft judge: %llu lines ask for nothing that can be judged (bad-request)\n",
                (unsigned long long)desk.bad);
    return status == CMD_OK && desk.bad && !given->port ? CMD_USAGE : status;
}

int cmd_judge(int argc, char **argv)
{
    JudgeArgs a = {.form = "any", .rule = "acraft", .fuzz = 3, .recycle = 64, .seconds = 120};
    const CmdOption options[] = {
        {"tasks", CMD_TEXT, &a.tasks, "SUITE|DIR", "where task names are looked up (tasks/)"},
        {"form", CMD_TEXT, &a.form, "FORM", "form of the answers (any)"},
        {"rule", CMD_TEXT, &a.rule, "RULE", "tolerance (acraft)"},
        {"fuzz", CMD_I64, &a.fuzz, "N", "cases of odd sizes beside the small one (3)"},
        {"own-sizes", CMD_FLAG, &a.own_sizes, NULL,
         "values at the task's own sizes only, for answers with sizes written in"},
        {"time", CMD_FLAG, &a.time, NULL, "predict the time at full size: the term speed"},
        {"timeout", CMD_F64, &a.seconds, "S", "longest judging of one item (120)"},
        {"j", CMD_I64, &a.jobs, "N", "processes at once (one for each processor)"},
        {"recycle", CMD_I64, &a.recycle, "N", "items after which a process is replaced (64)"},
        {"brief", CMD_FLAG, &a.brief, NULL, "leave out the verdict of each case"},
        {"serve", CMD_I64, &a.port, "PORT", "answer POST requests on 127.0.0.1 instead"},
        {"strict", CMD_FLAG, &a.strict, NULL, "count only synchronisation that is written"},
        {"trust", CMD_FLAG, &a.trust, NULL, "run without a full sandbox"},
    };
    CmdUsage usage = {
        "judge",
        "< ITEMS.jsonl > VERDICTS.jsonl",
        "Reads lines {\"id\", \"task\", \"answer\"} and writes one verdict line each as "
        "they finish:\nthe reward function of a trainer. Every line gets an answer.",
        "echo '{\"id\": 1, \"task\": \"relu\", \"answer\": \"craft = 1 ...\"}' | acraft "
        "judge",
        options,
        sizeof options / sizeof *options,
        0,
        0};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = judge(&args, &a);
    cmd_done(&args);
    return status;
}
