/* acraft task --run, --check and --probe: reference values of a task. */
#include "cmd/task.h"
#include "graph/export.h"
#include "graph/npy.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Values {
    Arena *arena;
    const TorchTask *task;
    const TaskOptions *options;
    Diag *diag;
    TaskInputs in;
    Tensor **outputs;
    uint32_t n;
} Values;

/* Refuses what does not fit in memory, before anything is allocated. */
static bool check_memory(const Values *v, const EvalOptions *how)
{
    int64_t need, page = sysconf(_SC_PAGESIZE), have = sysconf(_SC_PHYS_PAGES);
    int64_t room = page > 0 && have > 0 ? page * have / 10 * 8 : INT64_MAX;
    if (graph_eval_bytes(v->task->graph, how, &need) && need <= room)
        return true;
    diag_error(v->diag, "T023", (Span){0},
               "the task needs %.3g GB at once, this machine has %.3g GB for it",
               (double)need / 1e9, (double)room / 1e9);
    diag_hint(v->diag, "--scale medium or --scale small makes it fit, --set NAME=N sets one size");
    return false;
}

static bool evaluate(Values *v)
{
    EvalOptions how = {.seed = (uint64_t)v->options->seed, .wide = true};
    v->n = v->task->graph->outputs.len;
    v->outputs = arena_array(v->arena, Tensor *, v->n + 1);
    return check_memory(v, &how) &&
           graph_inputs(v->task->graph, how.seed, v->options->law, &v->in, v->diag) &&
           graph_eval(v->task->graph, v->in.inputs, v->in.params, &how, v->outputs, v->diag);
}

static void print_output(const Tensor *t, uint32_t i, bool json)
{
    double low = INFINITY, high = -INFINITY, sum = 0, squares = 0;
    int64_t odd = 0;
    for (int64_t k = 0; k < t->count; k++) {
        double x = tensor_get(t, k);
        if (!isfinite(x)) {
            odd++;
            continue;
        }
        low = x < low ? x : low;
        high = x > high ? x : high;
        sum += x;
        squares += x * x;
    }
    double finite = (double)(t->count - odd), part = finite > 0 ? 1 / finite : 0;
    Buf out = {0};
    if (json) {
        buf_printf(&out, "%s{\"dtype\": \"%s\", \"shape\": ", i ? ", " : "", dtype_name(t->dtype));
        shape_print(t->shape, &out);
        buf_puts(&out, ", \"min\": ");
        buf_json_double(&out, low);
        buf_puts(&out, ", \"max\": ");
        buf_json_double(&out, high);
        buf_puts(&out, ", \"mean\": ");
        buf_json_double(&out, sum * part);
        buf_printf(&out, ", \"not_finite\": %lld}", (long long)odd);
    } else {
        buf_printf(&out, "output %u %s", i, dtype_name(t->dtype));
        shape_print(t->shape, &out);
        buf_printf(&out, " min %.9g max %.9g mean %.9g rms %.9g", low, high, sum * part,
                   sqrt(squares * part));
        if (odd)
            buf_printf(&out, " not finite %lld", (long long)odd);
        buf_char(&out, '\n');
    }
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
}

/* Where an output stands: in `outputs/` of a directory, else in the file named; of several outputs
 * each in its own, with its number before `.npy`. */
static const char *output_path(const Values *v, const char *name, uint32_t i)
{
    Str path = str_from(name);
    if (!str_ends(path, ".npy"))
        return str_format(v->arena, "%s/outputs/%u.npy", name, i);
    return v->n == 1 ? name : str_format(v->arena, "%.*s.%u.npy", (int)(path.len - 4), path.at, i);
}

static bool write_outputs(const Values *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (!npy_write(output_path(v, v->options->out, i), v->outputs[i], v->diag))
            return false;
    return true;
}

static void print_check(const Values *v, const CompareResult *r, uint32_t i)
{
    Buf line = {0};
    if (v->options->json) {
        buf_printf(&line, "%s{\"ok\": %s, \"max_abs_err\": ", i ? ", " : "",
                   compare_ok(r) ? "true" : "false");
        buf_json_double(&line, r->max_abs_err);
        buf_printf(&line, ", \"bad\": %lld}", (long long)r->bad);
    } else {
        if (v->n > 1)
            buf_printf(&line, "output %u: ", i);
        buf_printf(&line, "%s: largest error %.9g, %lld of %lld off%s%s\n",
                   compare_ok(r) ? "right" : "wrong", r->max_abs_err, (long long)r->bad,
                   (long long)r->count, *r->pattern ? ", " : "", r->pattern);
    }
    fwrite(line.at, 1, line.len, stdout);
    buf_free(&line);
}

static int check_outputs(const Values *v)
{
    CompareSpec spec = compare_spec(v->task->graph, v->options->rule);
    Tensor **got = arena_array(v->arena, Tensor *, v->n + 1);
    uint32_t have = 0, good = 0;
    while (have < v->n &&
           (got[have] = npy_read(output_path(v, v->options->check, have), v->diag)) != NULL)
        have++;
    Tensor **others = arena_array(v->arena, Tensor *, 2 * v->n + 1);
    EvalOptions options = {.seed = v->in.seed, .wide = true};
    bool all = have == v->n && graph_eval_others(v->task->graph, v->in.inputs, v->in.params,
                                                 &options, &spec, v->outputs, others, v->diag);
    if (all && v->options->json)
        printf("{\"outputs\": [");
    for (uint32_t i = 0; all && i < v->n; i++) {
        for (int side = 0; side < 2; side++)
            spec.others[side] = others[(uint32_t)side * v->n + i];
        CompareResult r = compare_tensors(got[i], v->outputs[i], &spec,
                                          (const Tensor *const *)v->in.inputs, v->in.n_inputs);
        print_check(v, &r, i);
        good += compare_ok(&r);
    }
    if (all && v->options->json)
        printf("], \"ok\": %s}\n", good == v->n ? "true" : "false");
    for (uint32_t i = 0; i < have; i++)
        tensor_free(got[i]);
    for (uint32_t i = 0; i < 2 * v->n; i++)
        tensor_free(others[i]);
    return !all ? CMD_USAGE : good == v->n ? CMD_OK : CMD_NO;
}

static bool export_values(const Values *v)
{
    Buf more = {0};
    buf_puts(&more, "\"knobs\": [");
    for (uint32_t i = 0; i < v->task->knobs.len; i++) {
        const TorchKnob *k = &v->task->knobs.at[i];
        buf_puts(&more, i ? ", {\"name\": " : "{\"name\": ");
        buf_json_str(&more, str_from(k->name));
        buf_printf(&more, ", \"line\": %u, \"col\": %u, \"value\": %lld, \"original\": %lld}",
                   k->at.line, k->at.col, (long long)k->value, (long long)k->original);
    }
    buf_char(&more, ']');
    bool good = graph_export(v->options->out, v->task->graph, &v->in, v->outputs, buf_view(&more),
                             v->diag);
    buf_free(&more);
    return good;
}

static int report(const Values *v)
{
    if (v->options->check)
        return check_outputs(v);
    bool one_file = v->options->out && str_ends(str_from(v->options->out), ".npy");
    if (v->options->out && !(one_file ? write_outputs(v) : export_values(v)))
        return CMD_USAGE;
    if (v->options->json)
        printf("{\"outputs\": [");
    for (uint32_t i = 0; i < v->n; i++)
        print_output(v->outputs[i], i, v->options->json);
    if (v->options->json)
        printf("]}\n");
    return CMD_OK;
}

bool task_probe(const TorchTask *task, const TaskOptions *options, Probe *probe, Diag *diag)
{
    Values v = {.task = task, .options = options, .diag = diag};
    EvalOptions how = {.seed = (uint64_t)options->seed, .wide = true};
    CompareSpec spec = compare_spec(task->graph, options->rule);
    return check_memory(&v, &how) && graph_probe(task->graph, &spec, &how, probe, diag);
}

/* Which trivial answers the task lets pass, and the law of inputs that tells them apart. */
static int probe_task(const Values *v)
{
    Probe probe = {0};
    if (!task_probe(v->task, v->options, &probe, v->diag))
        return CMD_LACKS;
    Buf out = {0};
    probe_print(&probe, &out);
    if (v->options->json)
        printf("{\"given\": %u, \"left\": %u, \"law\": \"%s\"}\n", probe.given, probe.left,
               input_law_name(probe.law));
    else
        printf("%s\n", out.len ? out.at : "no trivial answer passes");
    buf_free(&out);
    return CMD_OK;
}

int task_values(Arena *arena, const TorchTask *task, const TaskOptions *options, Diag *diag)
{
    Values v = {.arena = arena, .task = task, .options = options, .diag = diag};
    int status = options->probe ? probe_task(&v) : evaluate(&v) ? report(&v) : CMD_LACKS;
    for (uint32_t i = 0; i < v.n; i++)
        tensor_free(v.outputs[i]);
    graph_inputs_free(&v.in);
    return diag_ok(diag) ? status : cmd_say(diag, status ? status : CMD_USAGE);
}
