/* A checked candidate on the twin: lowered to AscendC text, compiled, run on simulated cores. */
#include "twin/twin.h"

#include "emit/emit.h"
#include "emit/tiling.h"
#include "eval/eval_int.h"
#include "eval/footprint.h"
#include "eval/sample.h"
#include "twin/observe.h"

static bool fail_twin(EvalRun *run, VerdictStatus status, VerdictStage stage)
{
    verdict_fail(run->verdict, status, stage, eval_first_error(run));
    return false;
}

static AscProgram *lower(EvalRun *run)
{
    AscProgram *p = lower_program(run->arena, run->program, run->config->chip, LOWER_ALIGN,
                                  run->diag);
    if (!p)
        fail_twin(run, VERDICT_UNSUPPORTED, STAGE_LOWER);
    return p;
}

static TwinKernel *compile(EvalRun *run, AscProgram *p, const TwinOptions *options, Str *kept)
{
    EmitInput in = {.file = run->candidate->file, .source = run->candidate->text, .lines = true};
    Buf text = {0};
    const char *name;
    vec_push(run->arena, &in.variants, p);
    emit_kernel_text(run->arena, &in, &text);
    TwinSource source = {.path = str_format(run->arena, "%s.cpp", p->name)};
    source.text = *kept = str_from(buf_take(&text, run->arena));
    buf_free(&text);
    source.prelude = emit_tiling_struct(run->arena, p, &name);
    const char *defines[] = {str_format(run->arena, "ACRAFT_TILING_STRUCT=%s", name), NULL};
    source.defines = defines;
    Diag own = diag_make(run->arena, source.path, source.text);
    TwinKernel *k = twin_compile(run->arena, &source, options, run->verdict, &own);
    for (uint32_t i = 0; i < own.items.len; i++)
        diag_error(run->diag, own.items.at[i].code, (Span){0}, "%s:%u: %s", source.path,
                   own.items.at[i].at.line, own.items.at[i].text);
    return k;
}

static IrShape shape_of(const Shape *from)
{
    IrShape s = {.rank = (uint32_t)from->rank};
    for (int i = 0; i < from->rank; i++)
        s.dim[i] = from->dim[i];
    return s;
}

IrHostInput eval_host_input(const EvalRun *run)
{
    const EvalCraft *c = run->candidate;
    IrShape *shapes = arena_array(run->arena, IrShape, c->operand_count + 1);
    IrSetting *settings = arena_array(run->arena, IrSetting, c->setting_count + 1);
    for (uint32_t i = 0; i < c->operand_count; i++)
        shapes[i] = shape_of(&c->operands[i].shape);
    for (uint32_t i = 0; i < c->setting_count; i++)
        settings[i] = (IrSetting){c->settings[i].name, c->settings[i].value};
    return (IrHostInput){shapes, settings, c->setting_count};
}

static bool tile(EvalRun *run, const AscProgram *p, EmitTiling *tiling)
{
    IrHostInput input = eval_host_input(run);
    if (emit_tiling(run->arena, p, &input, tiling, run->diag))
        return true;
    return fail_twin(run, VERDICT_BAD_TILING, STAGE_TILING);
}

static void *data_of(const EvalRun *run, uint32_t i)
{
    if (run->operands)
        return run->operands[i]->at;
    return run->indices && run->indices[i] ? run->indices[i]->at : NULL;
}

SimRole eval_role(const IrTensor *declared)
{
    bool writes = declared->role == IR_ROLE_OUT;
    return writes && !declared->upto                   ? SIM_OUT
           : writes || declared->role == IR_ROLE_INOUT ? SIM_INOUT
                                                       : SIM_IN;
}

/* Operand i, with its values or as a shape only. */
static TwinTensor tensor_of(const EvalRun *run, uint32_t i)
{
    const IrTensor *declared = &run->program->tensors.at[i];
    const Shape *shape = &run->candidate->operands[i].shape;
    TwinTensor out = {.name = declared->name,
                      .dtype = declared->dtype,
                      .rank = (uint32_t)shape->rank,
                      .role = eval_role(declared),
                      .data = data_of(run, i),
                      .bytes = dtype_bytes(declared->dtype)};
    if (declared->role == IR_ROLE_OUT && !eval_lengths_by_data(run->ref->graph))
        out.role = SIM_OUT; /* of fixed length, whatever the program says */
    for (int d = 0; d < shape->rank; d++) {
        out.shape[d] = (uint64_t)shape->dim[d];
        out.bytes *= (size_t)shape->dim[d];
    }
    const TwinTensor *own = run->sample
                                ? eval_sample_tensor(run->sample, run->candidate->operands[i].value)
                                : NULL;
    if (own && own->bytes == out.bytes) {
        out.data = own->data;
        out.fd = own->fd;
    }
    return out;
}

/* Every operand has its memory, and none is updated in place. */
static bool has_sample(const EvalRun *run, const TwinTensor *tensors)
{
    bool all = true;
    for (uint32_t i = 0; i < run->candidate->operand_count; i++)
        all = all && tensors[i].fd > 0 &&
              (run->program->tensors.at[i].role == IR_ROLE_IN ||
               run->program->tensors.at[i].role == IR_ROLE_OUT);
    return all;
}

const double *eval_needed_bytes(Arena *arena, const Graph *g, const EvalCraft *candidate)
{
    const double *need = eval_footprint(arena, g);
    double *bytes = arena_array(arena, double, candidate->operand_count + 1);
    for (uint32_t i = 0; i < candidate->operand_count; i++) {
        const Value *v = graph_value(g, candidate->operands[i].value);
        int64_t own, given;
        if (!shape_count(v->shape, &own) || !shape_count(candidate->operands[i].shape, &given) ||
            own * (v->dtype == DT_C64 ? 2 : 1) != given)
            return NULL;
        bytes[i] = need[candidate->operands[i].value] * (double)dtype_bytes(v->dtype);
    }
    return bytes;
}

/* What was run has read what the task needs of each operand. */
static bool reads_enough(EvalRun *run, const TwinObserver *observer, const TwinTensor *tensors)
{
    for (uint32_t i = 0; run->need && i < run->candidate->operand_count; i++) {
        SimReadOf of = twin_read_of(observer, tensors, i);
        if (!of.known || (double)of.read >= run->need[i])
            continue;
        run->unread = str_format(run->arena,
                                 "it reads %llu of the %llu bytes of '%s'; the task needs %.0f",
                                 (unsigned long long)of.read, (unsigned long long)of.bytes,
                                 tensors[i].name, run->need[i]);
        if (run->operands) /* a fault of its values is reported first */
            return true;
        verdict_fail(run->verdict, VERDICT_NOT_COMPUTED, STAGE_RUN, run->unread);
        return false;
    }
    return true;
}

/* A kernel takes the tensors it reads, then those it writes. */
static bool is_passed(IrRole role, bool results)
{
    bool written = role == IR_ROLE_OUT || role == IR_ROLE_OUT_LIST;
    return role == IR_ROLE_INOUT || written == results;
}

static bool launch(EvalRun *run, const TwinKernel *kernel, const EmitTiling *tiling,
                   const TwinOptions *options, const TwinObserver *observer)
{
    uint32_t n = run->candidate->operand_count;
    TwinTensor *tensors = arena_array(run->arena, TwinTensor, n + 1);
    TwinArg *args = arena_array(run->arena, TwinArg, 2 * n + 2);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        tensors[i] = tensor_of(run, i);
    if (run->sample && !has_sample(run, tensors))
        return false;
    for (int results = 0; results < 2; results++) /* what is updated in place is both */
        for (uint32_t i = 0; i < n; i++)
            if (is_passed(run->program->tensors.at[i].role, results))
                args[count++] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = i, .count = 1};
    args[count++] = (TwinArg){.kind = TWIN_ARG_WORKSPACE};
    args[count++] = (TwinArg){.kind = TWIN_ARG_TILING};
    TwinLaunch l = {.tensors = tensors,
                    .tensor_count = n,
                    .args = args,
                    .arg_count = count,
                    .blocks = tiling->blocks,
                    .tiling = tiling->bytes,
                    .tiling_key = tiling->key,
                    .workspace = tiling->workspace};
    TwinRun done;
    return twin_run(run->arena, kernel, &l, options, &done, run->verdict) &&
           (run->sample || reads_enough(run, observer, tensors));
}

static TwinOptions options_of(const EvalRun *run)
{
    return (TwinOptions){.chip = run->config->chip,
                         .seed = run->config->seed,
                         .nudge = run->config->nudge,
                         .no_memo = run->config->no_memo,
                         .run_seconds = run->config->seconds,
                         .trust = run->config->trust,
                         .keep_going = true};
}

bool eval_twin_open(EvalRun *run, EvalKernel *kernel)
{
    TwinOptions options = options_of(run);
    *kernel = (EvalKernel){.program = lower(run)};
    if (kernel->program)
        kernel->kernel = compile(run, kernel->program, &options, &kernel->text);
    if (kernel->kernel)
        run->verdict->compiled = VERDICT_YES;
    return kernel->kernel != NULL;
}

void eval_twin_close(EvalKernel *kernel)
{
    if (kernel->kernel)
        twin_release(kernel->kernel);
    kernel->kernel = NULL;
}

TwinObserver eval_observer(const EvalConfig *config)
{
    return (TwinObserver){.strict = config->strict,
                          .only_time = config->only_time,
                          .trace = config->trace != NULL,
                          .explain = config->explain != NULL,
                          .costs = config->costs != NULL};
}

void eval_keep_observed(const EvalConfig *config, TwinObserver *observer)
{
    if (config->trace && observer->done && !config->trace->len)
        buf_str(config->trace, buf_view(&observer->json));
    if (config->explain && observer->done)
        buf_str(config->explain, buf_view(&observer->text));
    if (config->costs && observer->done)
        buf_str(config->costs, buf_view(&observer->lines));
    twin_observer_free(observer);
}

bool eval_twin_launch(EvalRun *run, const EvalKernel *kernel)
{
    TwinObserver observer = eval_observer(run->config);
    TwinOptions options = options_of(run);
    EmitTiling tiling;
    if (!tile(run, kernel->program, &tiling))
        return false;
    options.time_only = run->operands == NULL;
    options.steady = run->config->only_time && eval_is_steady(run->program);
    twin_observe(&options, &observer);
    bool ok = launch(run, kernel->kernel, &tiling, &options, &observer);
    twin_observed(run->arena, run->config->chip, &observer, run->verdict);
    if (run->config->costs && observer.done) {
        eval_craft_costs(run->arena, kernel->text, run->candidate->file, buf_view(&observer.lines),
                         run->config->costs);
        buf_clear(&observer.lines);
    }
    eval_keep_observed(run->config, &observer);
    return ok;
}

bool eval_twin_sample(EvalRun *run, const EvalKernel *kernel)
{
    TwinOptions options = options_of(run);
    EmitTiling tiling;
    options.sample = run->sample->twin;
    return tile(run, kernel->program, &tiling) &&
           launch(run, kernel->kernel, &tiling, &options, NULL);
}

bool eval_run_twin(EvalRun *run)
{
    EvalKernel kernel;
    bool ok = eval_twin_open(run, &kernel) && eval_twin_launch(run, &kernel);
    eval_twin_close(&kernel);
    return ok;
}
