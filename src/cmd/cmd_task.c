/* acraft task: what a model file asks for. In: a PyTorch model file or a directory of them.
 * Out: name, inputs, parameters, outputs, operators, cost; its graph. task_values.c runs it,
 * task_suite.c lists a directory, task_same.c compares two. */
#include "cmd/task.h"
#include "torch/eager.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The measured time of PyTorch eager, where the suite has one for these sizes. */
static const TorchEager *find_eager(Arena *arena, const char *path, const TorchTask *task)
{
    Diag diag = diag_make(arena, path, (Str){0});
    TorchEagerTable table = {0};
    return torch_eager_beside(arena, path, &table, &diag) ? torch_eager_find(&table, task) : NULL;
}

static void print_text(const TorchTask *task, const TorchEager *eager, Buf *out)
{
    const Graph *g = task->graph;
    OpCount counts[256];
    uint32_t n = count_ops(g, counts, 256);
    GraphCost cost = graph_cost(g);
    buf_printf(out, "task     %s\n", task->name);
    if (strcmp(task->category, ".") != 0) /* a file in a folder of tasks has its name */
        buf_printf(out, "category %s\n", task->category);
    print_values(g, "inputs", g->inputs.at, g->inputs.len, out);
    print_params(g, out);
    print_values(g, "outputs", g->outputs.at, g->outputs.len, out);
    task_operands_text(task, out);
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
    if (eager)
        buf_printf(out, "eager    %.9g us, measured on an Atlas A2 (KernelBench %s)\n", eager->us,
                   eager->problem);
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

static void print_json(const TorchTask *task, const TorchEager *eager, bool graph, Buf *out)
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
    task_operands_json(task, out);
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
    if (eager) {
        buf_puts(out, ", \"eager_us\": ");
        buf_json_double(out, eager->us);
        buf_puts(out, ", \"problem\": ");
        buf_json_str(out, str_from(eager->problem));
    }
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

static void show(Arena *arena, const char *path, const TorchTask *task, const TaskOptions *options)
{
    const TorchEager *eager = find_eager(arena, path, task);
    Buf out = {0};
    if (options->json)
        print_json(task, eager, options->graph, &out);
    else if (options->graph)
        graph_print(task->graph, &out);
    else
        print_text(task, eager, &out);
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
}

/* --- command ------------------------------------------------------------------------------ */

/* A branch that the values of an input decide has no graph of its own: what was read is one side of it,
 * guessed from the values drawn. Where a list beside the file says the inputs, they are the case's. */
static bool reads_for_any_values(Arena *arena, const char *path, const TorchTask *task, Diag *diag)
{
    TorchCases cases = {0};
    if (!torch_cases(arena, path, &cases, diag))
        return false;
    for (uint32_t i = 0; i < task->looks.len && !cases.lines.len; i++)
        if (task->looks.at[i].branch) {
            diag_error(diag, "G005", task->looks.at[i].at,
                       "values of an input decide which branch runs here; a graph has both "
                       "only with torch.where");
            return false;
        }
    return true;
}

static int one_task(Arena *arena, const char *path, const TaskOptions *options)
{
    Diag diag = diag_make(arena, path, (Str){0});
    TorchTask *task = task_load(arena, path, options, &diag);
    if (!task)
        return cmd_say(&diag, CMD_USAGE);
    if (!reads_for_any_values(arena, path, task, &diag))
        return cmd_say(&diag, CMD_NO);
    if (options->run || options->check || options->probe)
        return task_values(arena, task, options, &diag);
    show(arena, path, task, options);
    return CMD_OK;
}

static int all_tasks(Arena *arena, const char *path, const TaskOptions *options)
{
    if (options->same)
        return task_same(arena, path, options->same, options);
    return file_is_dir(path) ? task_suite(arena, path, options) : one_task(arena, path, options);
}

static void say_unknown(const char *what, const char *name, const char *(*nth)(int), int count)
{
    fprintf(stderr, "acraft task: there is no %s '%s'; there are", what, name);
    for (int i = 0; i < count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", nth(i));
    fputc('\n', stderr);
}

static const char *nth_law(int i) { return input_law_name((InputLaw)i); }
static const char *nth_rule(int i) { return compare_rule_name((CompareRule)i); }

/* Names to values, whether or not anything is run. */
static bool take_names(TaskOptions *o)
{
    if (!torch_scale_from_name(str_from(o->scale_name), &o->scale)) {
        fprintf(stderr, "acraft task: --scale is full, medium, small, tiny or fuzz\n");
        return false;
    }
    if (o->case_index < 0 || o->case_index > INT32_MAX) {
        fprintf(stderr, "acraft task: --case counts from 0\n");
        return false;
    }
    if (!input_law_from_name(str_from(o->law_name), &o->law)) {
        say_unknown("law", o->law_name, nth_law, LAW_COUNT);
        return false;
    }
    if (!compare_rule_from_name(str_from(o->rule_name), &o->rule)) {
        say_unknown("rule", o->rule_name, nth_rule, RULE_COUNT);
        return false;
    }
    return true;
}

int cmd_task(int argc, char **argv)
{
    TaskOptions o = {.scale_name = "full", .rule_name = "acraft", .law_name = "given"};
    const CmdOption options[] = {
        {"graph", CMD_FLAG, &o.graph, NULL, "print the graph and how its inputs are drawn"},
        {"run", CMD_FLAG, &o.run, NULL, "compute the reference values"},
        {"o", CMD_TEXT, &o.out, "FILE.npy|DIR", "with --run: write the output, or all values"},
        {"probe", CMD_FLAG, &o.probe, NULL, "do trivial answers pass on these inputs?"},
        {"check", CMD_TEXT, &o.check, "FILE.npy|DIR", "compare outputs, named as -o names them"},
        {"rule", CMD_TEXT, &o.rule_name, "NAME", "tolerance: acraft, mkb, mkb-loose, npukb, ..."},
        {"law", CMD_TEXT, &o.law_name, "NAME", "how inputs are drawn: given, signed, wide, ..."},
        {"scale", CMD_TEXT, &o.scale_name, "S", "full, medium, small, tiny or fuzz sizes"},
        {"set", CMD_LIST, &o.sets, "NAME=N", "one of the file's integers"},
        {"case", CMD_I64, &o.case_index, "N", "case of a list beside the file, from 0"},
        {"all-cases", CMD_FLAG, &o.all_cases, NULL,
         "with a directory: read (--same: compare) every case"},
        {"same", CMD_TEXT, &o.same, "OTHER",
         "do both files, or the files of both directories,\nmean the same?"},
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
        status = take_names(&o) ? all_tasks(&args.arena, args.words[0], &o) : CMD_USAGE;
    }
    cmd_done(&args);
    return status;
}
