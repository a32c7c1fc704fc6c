/* acraft task DIR: every model file below a directory, one line each, and what was refused for
 * which reason. */
#include "cmd/task.h"
#include <stdio.h>
#include <string.h>

typedef struct Reason {
    const char *text;
    uint32_t count;
} Reason;

typedef struct Suite {
    Arena *arena;
    const TaskOptions *options;
    uint32_t files, read, cases, cases_read;
    VEC(Reason) reasons;
} Suite;

static void add_reason(Suite *s, const Diag *diag)
{
    const char *text = "unknown";
    for (uint32_t i = 0; i < diag->items.len; i++) {
        if (diag->items.at[i].level == DIAG_ERROR) {
            text = str_format(s->arena, "%s [%s]", diag->items.at[i].text, diag->items.at[i].code);
            break;
        }
    }
    for (uint32_t i = 0; i < s->reasons.len; i++) {
        if (strcmp(s->reasons.at[i].text, text) == 0) {
            s->reasons.at[i].count++;
            return;
        }
    }
    vec_push(s->arena, &s->reasons, ((Reason){text, 1}));
}

static void print_read(const Suite *s, const char *path, const TorchTask *task)
{
    GraphCost cost = graph_cost(task->graph);
    Buf out = {0};
    if (s->options->json) {
        buf_puts(&out, "{\"path\": ");
        buf_json_str(&out, str_from(path));
        buf_puts(&out, ", \"name\": ");
        buf_json_str(&out, str_from(task->name));
        buf_puts(&out, ", \"category\": ");
        buf_json_str(&out, str_from(task->category));
        buf_printf(&out, ", \"read\": true, \"nodes\": %u, \"params\": %u, \"flops\": ",
                   task->graph->nodes.len, task->graph->params.len);
        buf_json_double(&out, cost.flops);
        buf_puts(&out, ", \"bytes\": ");
        buf_json_double(&out, cost.bytes);
        buf_puts(&out, "}\n");
    } else {
        buf_printf(&out, "%-24s %-60s %5u nodes %9.3g FLOP %9.3g B%s\n", task->category, task->name,
                   task->graph->nodes.len, cost.flops, cost.bytes, task->used_data ? "  data" : "");
    }
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
}

static void print_refused(const Suite *s, const char *path, const Diag *diag)
{
    if (!s->options->json) {
        cmd_say(diag, 0);
        return;
    }
    Buf out = {0};
    buf_puts(&out, "{\"path\": ");
    buf_json_str(&out, str_from(path));
    buf_puts(&out, ", \"read\": false, \"diagnostics\": ");
    diag_json(diag, &out);
    buf_puts(&out, "}\n");
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
}

static void print_probe(const Suite *s, const char *path, const TorchTask *task, Diag *diag)
{
    Probe probe = {0};
    if (!task_probe(task, s->options, &probe, diag)) {
        print_refused(s, path, diag);
        return;
    }
    Buf out = {0};
    if (s->options->json) {
        buf_puts(&out, "{\"path\": ");
        buf_json_str(&out, str_from(path));
        buf_printf(&out, ", \"given\": %u, \"left\": %u, \"law\": \"%s\"}", probe.given, probe.left,
                   input_law_name(probe.law));
    } else {
        buf_printf(&out, "%-24s %-60s ", task->category, task->name);
        probe_print(&probe, &out);
    }
    printf("%s\n", out.at);
    buf_free(&out);
}

static bool read_case(Suite *s, const char *path, int64_t index, bool print)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, (Str){0});
    TaskOptions options = *s->options;
    options.case_index = index;
    TorchTask *task = task_load(&arena, path, &options, &diag);
    bool good = task != NULL;
    s->cases++;
    s->cases_read += good;
    if (!good) {
        add_reason(s, &diag);
        print_refused(s, path, &diag);
    } else if (print && s->options->probe) {
        print_probe(s, path, task, &diag);
    } else if (print) {
        print_read(s, path, task);
    }
    arena_drop(&arena);
    return good;
}

static uint32_t case_count(Suite *s, const char *path)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, (Str){0});
    TorchCases cases = {0};
    bool good = torch_cases(&arena, path, &cases, &diag);
    uint32_t count = good && s->options->all_cases ? cases.lines.len : 0;
    arena_drop(&arena);
    return count ? count : 1;
}

static void read_file(Suite *s, const char *path)
{
    uint32_t count = case_count(s, path);
    bool good = true;
    for (uint32_t i = 0; i < count; i++)
        good = read_case(s, path, s->options->all_cases ? i : s->options->case_index, i == 0) &&
               good;
    s->files++;
    s->read += good;
}

int task_suite(Arena *arena, const char *dir, const TaskOptions *options)
{
    Suite s = {.arena = arena, .options = options};
    Diag diag = diag_make(arena, dir, (Str){0});
    NameList paths = {0};
    if (!torch_suite(arena, dir, &paths, &diag))
        return cmd_say(&diag, CMD_USAGE);
    for (uint32_t i = 0; i < paths.len; i++)
        read_file(&s, paths.at[i]);
    if (options->json)
        return s.read == s.files ? CMD_OK : CMD_NO;
    for (uint32_t i = 0; i < s.reasons.len; i++)
        printf("refused %5u  %s\n", s.reasons.at[i].count, s.reasons.at[i].text);
    printf("%u of %u model files read", s.read, s.files);
    if (options->all_cases)
        printf(", %u of %u cases", s.cases_read, s.cases);
    putchar('\n');
    return s.read == s.files ? CMD_OK : CMD_NO;
}
