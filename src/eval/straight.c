/* Timing without text: records come straight from the lowered program (emit/sim.h), the
 * simulator and its observers run in this process. In: a checked program that does the same
 * whatever its values are. Out: the predicted time; anything else (a finding, a hang) is left to
 * the text and the twin. */
#include "eval/eval_int.h"

#include "emit/sim.h"
#include "eval/time.h"

struct EvalStraight {
    AscProgram *program;
    EmitSim *sim;
};

/* Pictures and explanations speak of a run through the text. */
static bool wants_more(const EvalConfig *config)
{
    return config->trace || config->explain || config->costs || config->nudge;
}

EvalStraight *eval_straight_open(EvalRun *run)
{
    if (!run->config->straight || wants_more(run->config) || !eval_is_steady(run->program))
        return NULL;
    EvalStraight *s = arena_new(run->arena, EvalStraight);
    Diag quiet = diag_make(run->arena, run->candidate->file, run->candidate->text);
    EmitInput in = {.file = run->candidate->file, .source = run->candidate->text, .lines = true};
    s->program = lower_program(run->arena, run->program, run->config->chip, LOWER_ALIGN, &quiet);
    if (!s->program)
        return NULL;
    vec_push(run->arena, &in.variants, s->program);
    s->sim = emit_sim_open(run->arena, &in, &quiet);
    return s->sim ? s : NULL;
}

void eval_straight_close(EvalStraight *straight)
{
    if (straight)
        emit_sim_close(straight->sim);
}

static EmitSimTensor *tensors_of(const EvalRun *run)
{
    uint32_t n = run->candidate->operand_count;
    EmitSimTensor *tensors = arena_array(run->arena, EmitSimTensor, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const IrTensor *declared = &run->program->tensors.at[i];
        const Shape *shape = &run->candidate->operands[i].shape;
        tensors[i] = (EmitSimTensor){.name = declared->name,
                                     .dtype = declared->dtype,
                                     .role = eval_role(declared),
                                     .bytes = dtype_bytes(declared->dtype)};
        for (int d = 0; d < shape->rank; d++)
            tensors[i].bytes *= (uint64_t)shape->dim[d];
    }
    return tensors;
}

static bool found_nothing(const Sim *sim)
{
    for (uint32_t i = 0; i < sim_fault_count(sim); i++)
        if (sim_fault_row(sim_fault(sim, i)->code)->kind != SIM_KIND_WARNING)
            return false;
    return true;
}

/* The records of one launch, checked as on the twin. False: there are findings beside the time. */
static bool simulate(EvalRun *run, EmitSimRun *launched)
{
    TwinObserver observer = eval_observer(run->config);
    TwinOptions options = {0};
    Buf seen = {0};
    Sim *sim = emit_sim_simulator(launched,
                                  (SimConfig){.keep_going = true, .no_memo = run->config->no_memo});
    if (!sim)
        return false;
    twin_observe(&options, &observer);
    options.prepare(options.context, sim);
    bool done = emit_sim_feed(launched, sim, NULL, NULL) == EMIT_SIM_DONE;
    if (done)
        sim_finish(sim);
    options.inspect(options.context, sim, &seen);
    bool clean = done && found_nothing(sim);
    if (clean) {
        options.receive(options.context, buf_view(&seen));
        twin_observed(run->arena, run->config->chip, &observer, run->verdict);
    }
    twin_observer_free(&observer);
    buf_free(&seen);
    sim_close(sim);
    return clean;
}

bool eval_straight_launch(EvalRun *run, EvalStraight *straight)
{
    EmitSimLaunch launch = {.host = eval_host_input(run),
                            .tensors = tensors_of(run),
                            .tensor_count = run->candidate->operand_count,
                            .time_only = true,
                            .seed = run->config->seed};
    EmitSimRun *launched = emit_sim_start(straight->sim, &launch, run->diag);
    run->verdict->stage = STAGE_RUN;
    if (!launched) {
        verdict_fail(run->verdict, VERDICT_BAD_TILING, STAGE_TILING, eval_first_error(run));
        return true;
    }
    bool ok = simulate(run, launched);
    emit_sim_stop(launched);
    return ok;
}

/* ---- kernel by kernel ---- */

static EvalShare *kernel_named(EvalShares *all, const char *name)
{
    for (uint32_t i = 0; i < all->len; i++)
        if (all->at[i].name == name)
            return &all->at[i];
    all->at[all->len] = (EvalShare){.name = name, .pipe = ""};
    return &all->at[all->len++];
}

static void add_part(EvalShares *all, const AscProgram *p, const EmitSimPart *part)
{
    EvalShare *k = kernel_named(all, p->kernels.at[part->kernel].source->name);
    uint32_t most = 0;
    for (uint32_t i = 1; i < NPU_PIPE_ALL; i++)
        most = part->busy[i] > part->busy[most] ? i : most;
    /* The longest launch tells what bounds the kernel. */
    if (!k->launches || part->us > k->us / k->launches) {
        k->pipe = npu_pipe_name((enum NpuPipe)most);
        k->busy = part->busy[most];
        k->cores = part->cores;
    }
    k->launches++;
    k->us += part->us;
    all->us += part->us;
}

bool eval_straight_kernels(EvalRun *run, EvalStraight *straight, EvalShares *kernels)
{
    enum { MOST_RECORDS = 1 << 24 };
    EmitSimLaunch launch = {.host = eval_host_input(run),
                            .tensors = tensors_of(run),
                            .tensor_count = run->candidate->operand_count,
                            .most_records = MOST_RECORDS};
    EmitSimPart *parts = NULL;
    uint32_t count = 0;
    *kernels = (EvalShares){0};
    if (!emit_sim_parts(straight->sim, &launch, run->arena, &parts, &count, &kernels->workspace,
                        run->diag))
        return false;
    kernels->at = arena_array(run->arena, EvalShare, count + 1);
    for (uint32_t i = 0; i < count; i++)
        add_part(kernels, straight->program, &parts[i]);
    return true;
}
