/* acraft task: what a model file asks for. In: a PyTorch model file or a directory of them.
 * Out: name, inputs, parameters, outputs, operators, cost; its graph; whether two files mean the
 * same. task_values.c runs it, task_suite.c lists a directory. */
#include "cmd/task.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int task_say(const Diag *diag, int status)
{
    Buf out = {0};
    diag_print(diag, &out);
    if (out.len)
        fwrite(out.at, 1, out.len, stderr);
    buf_free(&out);
    return status;
}

void task_print_type(const Value *value, Buf *out)
{
    buf_puts(out, dtype_name(value->dtype));
    shape_print(value->shape, out);
}

/* --- reading ------------------------------------------------------------------------------ */

static bool parse_sets(Arena *arena, const NameList *texts, TorchSet **sets, Diag *diag)
{
    *sets = arena_array(arena, TorchSet, texts->len + 1);
    for (uint32_t i = 0; i < texts->len; i++) {
        const char *equal = strrchr(texts->at[i], '=');
        if (!equal || !str_to_i64(str_from(equal + 1), &(*sets)[i].value)) {
            diag_error(diag, "T021", (Span){0}, "--set wants NAME=NUMBER, not '%s'", texts->at[i]);
            return false;
        }
        (*sets)[i].name = str_dup(arena, (Str){texts->at[i], (size_t)(equal - texts->at[i])});
    }
    return true;
}

TorchTask *task_load(Arena *arena, const char *path, const TaskOptions *options, Diag *diag)
{
    TorchSet *sets;
    if (!parse_sets(arena, &options->sets, &sets, diag))
        return NULL;
    TorchOptions how = {.seed = (uint64_t)options->seed,
                        .sets = sets,
                        .n_sets = options->sets.len,
                        .case_index = (uint32_t)options->case_index};
    return torch_open(arena, path, &how, options->scale, diag);
}

/* --- printing ----------------------------------------------------------------------------- */

static void print_values(const Graph *g, const char *what, const ValueId *ids, uint32_t n, Buf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        const Value *v = graph_value(g, ids[i]);
        buf_printf(out, "%-8s %s ", i ? "" : what, v->name ? v->name : "");
        task_print_type(v, out);
        buf_char(out, '\n');
    }
}

static void print_amount(double amount, const char *unit, Buf *out)
{
    static const char *const prefix[] = {"", "K", "M", "G", "T", "P"};
    int p = 0;
    for (; amount >= 1000 && p < 5; p++)
        amount /= 1000;
    buf_printf(out, "%.4g %s%s", amount, prefix[p], unit);
}

static void print_params(const Graph *g, Buf *out)
{
    double bytes = 0;
    for (uint32_t i = 0; i < g->params.len; i++) {
        int64_t each = 0;
        shape_bytes(graph_value(g, g->params.at[i])->shape, graph_value(g, g->params.at[i])->dtype,
                    &each);
        bytes += (double)each;
    }
    buf_printf(out, "params   %u tensors, ", g->params.len);
    print_amount(bytes, "B", out);
    buf_char(out, '\n');
}

typedef struct OpCount {
    Op op;
    uint16_t kind;
    uint32_t count;
} OpCount;

static uint32_t count_ops(const Graph *g, OpCount *counts, uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const Node *node = &g->nodes.at[i];
        uint32_t k = 0;
        while (k < n && !(counts[k].op == node->op && counts[k].kind == node->kind))
            k++;
        if (k == n && n < most)
            counts[n++] = (OpCount){node->op, node->kind, 0};
        if (k < n)
            counts[k].count++;
    }
    return n;
}

static void op_name(const OpCount *c, Buf *out)
{
    const OpRow *row = &op_rows[c->op];
    buf_puts(out, row->name);
    if (row->n_kinds)
        buf_printf(out, ".%s", row->kinds[c->kind]);
}

static void print_text(const TorchTask *task, Buf *out)
{
    const Graph *g = task->graph;
    OpCount counts[256];
    uint32_t n = count_ops(g, counts, 256);
    GraphCost cost = graph_cost(g);
    buf_printf(out, "task     %s\ncategory %s\n", task->name, task->category);
    print_values(g, "inputs", g->inputs.at, g->inputs.len, out);
    print_params(g, out);
    print_values(g, "outputs", g->outputs.at, g->outputs.len, out);
    buf_printf(out, "nodes    %u:", g->nodes.len);
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(out, "%s", i ? ", " : " ");
        op_name(&counts[i], out);
        if (counts[i].count > 1)
            buf_printf(out, " x%u", counts[i].count);
    }
    buf_puts(out, "\nflops    ");
    print_amount(cost.flops, "FLOP", out);
    buf_puts(out, "\nbytes    ");
    print_amount(cost.bytes, "B", out);
    buf_puts(out, " at least\n");
    for (uint32_t i = 0; i < task->knobs.len; i++) {
        const TorchKnob *k = &task->knobs.at[i];
        if (k->value != k->original)
            buf_printf(out, "set      %s=%lld (file: %lld)\n", k->name, (long long)k->value,
                       (long long)k->original);
    }
    if (task->used_data)
        buf_puts(out,
                 "data     some shapes or branches follow from the values drawn with this seed\n");
    for (uint32_t i = 0; i < g->notes.len; i++)
        buf_printf(out, "note     %s\n", g->notes.at[i]);
}

static void json_values(const Graph *g, const char *what, const ValueId *ids, uint32_t n, Buf *out)
{
    buf_printf(out, "\"%s\": [", what);
    for (uint32_t i = 0; i < n; i++) {
        const Value *v = graph_value(g, ids[i]);
        buf_puts(out, i ? ", {\"name\": " : "{\"name\": ");
        buf_json_str(out, str_from(v->name));
        buf_printf(out, ", \"dtype\": \"%s\", \"shape\": ", dtype_name(v->dtype));
        shape_print(v->shape, out);
        buf_char(out, '}');
    }
    buf_puts(out, "], ");
}

static void print_json(const TorchTask *task, bool graph, Buf *out)
{
    const Graph *g = task->graph;
    OpCount counts[256];
    uint32_t n = count_ops(g, counts, 256);
    GraphCost cost = graph_cost(g);
    buf_puts(out, "{\"name\": ");
    buf_json_str(out, str_from(task->name));
    buf_puts(out, ", \"category\": ");
    buf_json_str(out, str_from(task->category));
    buf_puts(out, ", ");
    json_values(g, "inputs", g->inputs.at, g->inputs.len, out);
    json_values(g, "params", g->params.at, g->params.len, out);
    json_values(g, "outputs", g->outputs.at, g->outputs.len, out);
    buf_puts(out, "\"operators\": {");
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(out, i ? ", \"" : "\"");
        op_name(&counts[i], out);
        buf_printf(out, "\": %u", counts[i].count);
    }
    buf_puts(out, "}, \"flops\": ");
    buf_json_double(out, cost.flops);
    buf_puts(out, ", \"bytes\": ");
    buf_json_double(out, cost.bytes);
    buf_puts(out, ", \"knobs\": {");
    for (uint32_t i = 0; i < task->knobs.len; i++) {
        buf_puts(out, i ? ", " : "");
        buf_json_str(out, str_from(task->knobs.at[i].name));
        buf_printf(out, ": %lld", (long long)task->knobs.at[i].value);
    }
    buf_printf(out, "}, \"data_dependent\": %s, \"notes\": [", task->used_data ? "true" : "false");
    for (uint32_t i = 0; i < g->notes.len; i++) {
        buf_puts(out, i ? ", " : "");
        buf_json_str(out, str_from(g->notes.at[i]));
    }
    buf_char(out, ']');
    if (graph) {
        Buf text = {0};
        graph_print(g, &text);
        buf_puts(out, ", \"graph\": ");
        buf_json_str(out, buf_view(&text));
        buf_free(&text);
    }
    buf_puts(out, "}\n");
}

static void show(const TorchTask *task, const TaskOptions *options)
{
    Buf out = {0};
    if (options->json)
        print_json(task, options->graph, &out);
    else if (options->graph)
        graph_print(task->graph, &out);
    else
        print_text(task, &out);
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
}

/* --- the same? ---------------------------------------------------------------------------- */

static void first_difference(Str a, Str b)
{
    uint32_t line = 1;
    Str x, y;
    while (str_next(&a, '\n', &x) && str_next(&b, '\n', &y)) {
        if (!str_equal(x, y)) {
            printf("first difference, line %u of the normal forms:\n  %.*s\n  %.*s\n", line,
                   STR_ARG(x), STR_ARG(y));
            return;
        }
        line++;
    }
    printf("one normal form is longer than the other\n");
}

static int compare_files(Arena *arena, const TorchTask *task, const char *other,
                         const TaskOptions *options)
{
    Diag diag = diag_make(arena, other, (Str){0});
    TorchTask *second = task_load(arena, other, options, &diag);
    if (!second)
        return task_say(&diag, CMD_USAGE);
    Buf a = {0}, b = {0};
    graph_print(graph_normal(arena, task->graph), &a);
    graph_print(graph_normal(arena, second->graph), &b);
    bool same = str_equal(buf_view(&a), buf_view(&b));
    if (options->json)
        printf("{\"same\": %s}\n", same ? "true" : "false");
    else
        puts(same ? "the same" : "not the same");
    if (!same && !options->json)
        first_difference(buf_view(&a), buf_view(&b));
    buf_free(&a);
    buf_free(&b);
    return same ? CMD_OK : CMD_NO;
}

/* --- command ------------------------------------------------------------------------------ */

static int one_task(Arena *arena, const char *path, const TaskOptions *options)
{
    Diag diag = diag_make(arena, path, (Str){0});
    TorchTask *task = task_load(arena, path, options, &diag);
    if (!task)
        return task_say(&diag, CMD_USAGE);
    if (options->same)
        return compare_files(arena, task, options->same, options);
    if (options->run || options->check || options->probe)
        return task_values(arena, task, options, &diag);
    show(task, options);
    return CMD_OK;
}

int cmd_task(int argc, char **argv)
{
    TaskOptions o = {.scale_name = "full", .rule = "acraft", .law = "given"};
    const CmdOption options[] = {
        {"graph", CMD_FLAG, &o.graph, NULL, "print the graph and how its inputs are drawn"},
        {"run", CMD_FLAG, &o.run, NULL, "compute the reference values"},
        {"o", CMD_TEXT, &o.out, "FILE.npy|DIR", "with --run: write the output, or all values"},
        {"probe", CMD_FLAG, &o.probe, NULL, "do trivial answers pass on these inputs?"},
        {"check", CMD_TEXT, &o.check, "FILE.npy", "compare an output with the reference"},
        {"rule", CMD_TEXT, &o.rule, "NAME", "tolerance: acraft, mkb, mkb-loose, npukb, ..."},
        {"law", CMD_TEXT, &o.law, "NAME", "how inputs are drawn: given, signed, wide, ..."},
        {"scale", CMD_TEXT, &o.scale_name, "S", "full, medium, small or fuzz sizes"},
        {"set", CMD_LIST, &o.sets, "NAME=N", "one of the file's integers"},
        {"case", CMD_I64, &o.case_index, "N", "case of a list beside the file, from 0"},
        {"all-cases", CMD_FLAG, &o.all_cases, NULL, "with a directory: read every case"},
        {"same", CMD_TEXT, &o.same, "OTHER.py", "do both files mean the same?"},
    };
    CmdUsage usage = {
        "task",
        "MODEL.py|DIR",
        "Reads a PyTorch model file (or all below a directory) without Python, and shows its\n"
        "inputs, parameters, outputs, operators and cost.",
        "acraft task model.py --scale small --run",
        options,
        sizeof options / sizeof *options,
        1,
        1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status)) {
        o.json = args.json;
        o.seed = args.seed;
        if (!torch_scale_from_name(str_from(o.scale_name), &o.scale) || o.case_index < 0 ||
            o.case_index > INT32_MAX) {
            fprintf(stderr,
                    "acraft task: --scale is full, medium, small or fuzz; --case counts from 0\n");
            status = CMD_USAGE;
        } else {
            status = file_is_dir(args.words[0]) ? task_suite(&args.arena, args.words[0], &o)
                                                : one_task(&args.arena, args.words[0], &o);
        }
    }
    cmd_done(&args);
    return status;
}
