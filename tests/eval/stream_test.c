/* Records straight from the lowered program are those that come through text, compiler and twin:
 * every core's stream, byte for byte, with addresses, names and lines; with values and without.
 * T_ALL=1 takes every example and every planned vector task. */
#include "craft/craft.h"
#include "emit/sim.h"
#include "eval/time.h"
#include "gen/plan/plan.h"
#include "ir/run.h"
#include "torch/torch.h"
#include "twin/observe.h"

#include "base/file.h"
#include "base/rng.h"
#include "tests/t.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a program with its operands ---- */

typedef struct Program {
    Arena *arena;
    const char *file;
    Str text;
    AscProgram *asc;
    IrShape shapes[64];
    EmitSimTensor tensors[64];
    uint32_t count;
    bool time_only;
} Program;

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

static bool lower_text(Program *p)
{
    Diag diag = diag_make(p->arena, p->file, p->text);
    CraftFile *file = craft_read(p->arena, p->file, p->text, &diag);
    IrProgram *ir = file && diag_ok(&diag) ? craft_program(p->arena, file, 0, &diag) : NULL;
    p->asc = ir ? lower_program(p->arena, ir, chip(), LOWER_ALIGN, &diag) : NULL;
    return CHECK_MSG(p->asc || !ir, "%s: %s", p->file,
                     diag.items.len ? diag.items.at[0].text : "not lowered") &&
           p->asc;
}

static void set_operand(Program *p, uint32_t i, uint32_t rank, const int64_t *dims)
{
    const IrTensor *t = &p->asc->ir->tensors.at[i];
    EmitSimTensor *to = &p->tensors[i];
    *to = (EmitSimTensor){.name = t->name, .dtype = t->dtype, .bytes = dtype_bytes(t->dtype)};
    bool writes = t->role == IR_ROLE_OUT;
    to->role = writes && !t->upto                   ? SIM_OUT
               : writes || t->role == IR_ROLE_INOUT ? SIM_INOUT
                                                    : SIM_IN;
    p->shapes[i] = (IrShape){.rank = rank};
    for (uint32_t d = 0; d < rank; d++) {
        p->shapes[i].dim[d] = dims[d];
        to->bytes *= (uint64_t)dims[d];
    }
    p->count = i + 1;
}

/* Small numbers that are neither huge nor all alike; integers stay small, so that indices fit. */
static void fill_tensor(EmitSimTensor *t, uint32_t stream)
{
    uint32_t size = (uint32_t)dtype_bytes(t->dtype);
    for (uint64_t i = 0; i < t->bytes / size; i++) {
        double u = rng_uniform(3, stream, i);
        float f = (float)(u * 4 - 2);
        uint64_t bits = (uint64_t)(u * 3);
        if (t->dtype == DT_F32)
            memcpy(&bits, &f, sizeof f);
        else if (t->dtype == DT_F16)
            bits = half_from_float(f);
        else if (t->dtype == DT_BF16)
            bits = bf16_from_float(f);
        memcpy((char *)t->data + i * size, &bits, size);
    }
}

/* ---- one side: the twin ---- */

typedef struct Noted {
    uint32_t core;
    Record record;
} Noted;

typedef struct Notes {
    Buf bytes; /* of Noted, in the order of execution */
    double us;
    TwinObserver observer;
    bool watched;
} Notes;

static void note(void *context, Sim *sim, uint32_t core, uint64_t index, const Record *r)
{
    Notes *n = context;
    Noted one = {core, *r};
    (void)sim, (void)index;
    buf_add(&n->bytes, &one, sizeof one);
}

static void prepare(void *context, Sim *sim)
{
    Notes *n = context;
    sim_observe(sim, note, n);
    n->observer.cycle = cycle_open(sim);
}

static void inspect(void *context, Sim *sim, Buf *seen)
{
    Notes *n = context;
    CycleReport report;
    (void)sim;
    cycle_report(n->observer.cycle, &report);
    cycle_close(n->observer.cycle);
    buf_add(seen, &report.us, sizeof report.us);
    buf_str(seen, buf_view(&n->bytes));
}

static void receive(void *context, Str seen)
{
    Notes *n = context;
    n->watched = seen.len >= sizeof n->us;
    if (!n->watched)
        return;
    memcpy(&n->us, seen.at, sizeof n->us);
    buf_clear(&n->bytes);
    buf_str(&n->bytes, str_slice(seen, sizeof n->us, seen.len));
}

static bool through_text(Program *p, Notes *notes)
{
    EmitInput in = {.file = p->file, .source = p->text, .lines = true};
    Buf text = {0};
    const char *name;
    Verdict verdict = verdict_make();
    TwinOptions options = {.chip = chip(),
                           .trust = true,
                           .keep_going = true,
                           .time_only = p->time_only,
                           .no_memo = true,
                           .steady = true,
                           .seed = 5,
                           .prepare = prepare,
                           .inspect = inspect,
                           .receive = receive,
                           .context = notes};
    vec_push(p->arena, &in.variants, p->asc);
    emit_kernel_text(p->arena, &in, &text);
    TwinSource source = {.path = str_format(p->arena, "%s.cpp", p->asc->name)};
    source.text = str_from(buf_take(&text, p->arena));
    buf_free(&text);
    source.prelude = emit_tiling_struct(p->arena, p->asc, &name);
    const char *defines[] = {str_format(p->arena, "ACRAFT_TILING_STRUCT=%s", name), NULL};
    source.defines = defines;
    Diag diag = diag_make(p->arena, source.path, source.text);
    EmitTiling tiling;
    IrHostInput host = {.operands = p->shapes};
    if (!emit_tiling(p->arena, p->asc, &host, &tiling, &diag))
        return false;
    TwinKernel *k = twin_compile(p->arena, &source, &options, &verdict, &diag);
    if (!CHECK_MSG(k, "%s: %s", p->file, verdict.reason))
        return false;
    TwinTensor *tensors = arena_array(p->arena, TwinTensor, p->count + 1);
    TwinArg *args = arena_array(p->arena, TwinArg, 2 * p->count + 2);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const EmitSimTensor *t = &p->tensors[i];
        tensors[i] = (TwinTensor){.name = t->name,
                                  .dtype = t->dtype,
                                  .rank = p->shapes[i].rank,
                                  .role = t->role,
                                  .data = t->data,
                                  .bytes = t->bytes};
        if (p->asc->ir->tensors.at[i].role != IR_ROLE_OUT)
            args[n++] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = i, .count = 1};
    }
    for (uint32_t i = 0; i < p->count; i++) /* what is updated in place comes in twice */
        if (p->asc->ir->tensors.at[i].role != IR_ROLE_IN)
            args[n++] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = i, .count = 1};
    args[n++] = (TwinArg){.kind = TWIN_ARG_WORKSPACE};
    args[n++] = (TwinArg){.kind = TWIN_ARG_TILING};
    TwinLaunch launch = {.tensors = tensors,
                         .tensor_count = p->count,
                         .args = args,
                         .arg_count = n,
                         .blocks = tiling.blocks,
                         .tiling = tiling.bytes,
                         .tiling_key = tiling.key,
                         .workspace = tiling.workspace};
    TwinRun run;
    bool ok = twin_run(p->arena, k, &launch, &options, &run, &verdict);
    twin_release(k);
    if (p->time_only && verdict.status == VERDICT_NEEDS_DATA)
        return false; /* what it does depends on values */
    return CHECK_MSG(ok && notes->watched, "%s on the twin: %s", p->file, verdict.reason);
}

/* ---- the other: straight ---- */

static bool straight(Program *p, Notes *notes)
{
    EmitInput in = {.file = p->file, .source = p->text, .lines = true};
    Diag diag = diag_make(p->arena, p->file, p->text);
    vec_push(p->arena, &in.variants, p->asc);
    EmitSim *s = emit_sim_open(p->arena, &in, &diag);
    EmitSimLaunch launch = {.host = {.operands = p->shapes},
                            .tensors = p->tensors,
                            .tensor_count = p->count,
                            .time_only = p->time_only,
                            .seed = 5};
    EmitSimRun *run = s ? emit_sim_start(s, &launch, &diag) : NULL;
    if (!CHECK_MSG(run, "%s: %s", p->file, diag.items.len ? diag.items.at[0].text : "refused"))
        return false;
    Sim *sim = emit_sim_simulator(run, (SimConfig){.keep_going = true, .no_memo = true});
    REQUIRE(sim);
    prepare(notes, sim);
    EmitSimEnd end = emit_sim_feed(run, sim, NULL, NULL);
    CHECK_MSG(end == EMIT_SIM_DONE, "%s ended with %d", p->file, end);
    CHECK(emit_sim_records(run) * sizeof(Noted) >= notes->bytes.len);
    if (end == EMIT_SIM_DONE)
        sim_finish(sim);
    /* Arbitrary indices may lead anywhere, on both sides. */
    for (uint32_t i = 0; i < sim_fault_count(sim) && i < 1 && !p->time_only; i++)
        CHECK_MSG(sim_fault_row(sim_fault(sim, i)->code)->kind == SIM_KIND_WARNING, "%s: %s",
                  p->file, sim_fault(sim, i)->message);
    Buf seen = {0};
    inspect(notes, sim, &seen);
    receive(notes, buf_view(&seen));
    buf_free(&seen);
    bool clean = sim_fault_count(sim) == 0;
    sim_close(sim);
    emit_sim_stop(run);
    double us = 0; /* in one call, with records that repeat passed over */
    if (clean && p->time_only)
        CHECK_MSG(emit_sim_us(s, &launch, &us, &diag) && us == notes->us, "%s: %g us at once, %g",
                  p->file, us, notes->us);
    emit_sim_close(s);
    return end == EMIT_SIM_DONE;
}

/* ---- comparison ---- */

static void tell_difference(const Program *p, uint64_t at, const Noted *a, const Noted *b)
{
    const Record *r = &a->record, *s = &b->record;
    const NpuIsa *x = npu_isa(r->op), *y = npu_isa(s->op);
    CHECK_MSG(
        false,
        "%s: record %llu of core %u is %s line %u mode %u n %u %u %u %u %u %u scalar %llx mask "
        "%llx d %llx+%u/%u/%u s %llx+%u; straight: core %u %s line %u mode %u n %u %u %u %u %u "
        "%u scalar %llx mask %llx d %llx+%u/%u/%u s %llx+%u (flags %u %u api %u %u file %u %u "
        "pipe %u %u dtype %u%u%u %u%u%u)",
        p->file, (unsigned long long)at, a->core, x ? x->name : "?", r->line, r->mode, r->n[0],
        r->n[1], r->n[2], r->n[3], r->n[4], r->n[5], (unsigned long long)r->scalar,
        (unsigned long long)r->mask[0], (unsigned long long)r->operand[0].address,
        r->operand[0].bytes, r->operand[0].block_stride, r->operand[0].repeat_stride,
        (unsigned long long)r->operand[1].address, r->operand[1].bytes, b->core, y ? y->name : "?",
        s->line, s->mode, s->n[0], s->n[1], s->n[2], s->n[3], s->n[4], s->n[5],
        (unsigned long long)s->scalar, (unsigned long long)s->mask[0],
        (unsigned long long)s->operand[0].address, s->operand[0].bytes, s->operand[0].block_stride,
        s->operand[0].repeat_stride, (unsigned long long)s->operand[1].address, s->operand[1].bytes,
        r->flags, s->flags, r->api, s->api, r->file, s->file, r->pipe, s->pipe, r->dtype[0],
        r->dtype[1], r->dtype[2], s->dtype[0], s->dtype[1], s->dtype[2]);
}

/* Without what serves messages alone and is no part of the program: numbers of names, and where the
 * text declared and moved a GM tensor. */
static Record bare_record(const Record *record)
{
    Record r = *record;
    r.api = r.file = 0;
    for (int i = 0; i < 4; i++)
        if (rec_space(r.operand[i].address) == NPU_GM) {
            r.operand[i].block_stride = 0;
            r.operand[i].repeat_stride = 0;
        }
    return r;
}

static bool same_record(const Record *a, const Record *b)
{
    Record x = bare_record(a), y = bare_record(b);
    return memcmp(&x, &y, sizeof x) == 0;
}

/* The next record of the core from *at on; false: there is none. */
static bool next_of(const Noted *notes, uint64_t n, uint32_t core, uint64_t *at)
{
    while (*at < n && notes[*at].core != core)
        ++*at;
    return *at < n;
}

/* The same records in the same order on every core. Names that only the text announces take places in its
 * ring, so that cores may take turns elsewhere. */
static bool same_notes(const Program *p, const Notes *text, const Notes *own)
{
    enum { CORES = 256 };
    uint64_t n = text->bytes.len / sizeof(Noted), m = own->bytes.len / sizeof(Noted);
    const Noted *a = (const Noted *)(const void *)text->bytes.at;
    const Noted *b = (const Noted *)(const void *)own->bytes.at;
    for (uint32_t core = 0; core < CORES; core++) {
        uint64_t i = 0, k = 0;
        for (; next_of(a, n, core, &i) && next_of(b, m, core, &k); i++, k++)
            if (!same_record(&a[i].record, &b[k].record)) {
                tell_difference(p, i, &a[i], &b[k]);
                return false;
            }
    }
    return CHECK_MSG(n == m, "%s: %llu records, straight %llu", p->file, (unsigned long long)n,
                     (unsigned long long)m) &&
           CHECK_MSG(text->us == own->us, "%s: %g us, straight %g", p->file, text->us, own->us) &&
           CHECK(n > 0);
}

static void *copied(Arena *arena, const void *from, uint64_t bytes)
{
    return bytes ? memcpy(arena_alloc(arena, bytes), from, bytes) : NULL;
}

/* Both sides from the same data; outputs must be the same bytes. */
static bool compare_program(Program *p, bool time_only)
{
    Notes text = {0}, own = {0};
    void *outputs[64] = {0};
    p->time_only = time_only;
    for (uint32_t i = 0; i < p->count; i++) {
        EmitSimTensor *t = &p->tensors[i];
        t->data = time_only ? NULL : arena_alloc(p->arena, t->bytes + 1);
        if (!time_only && t->role != SIM_OUT)
            fill_tensor(t, i);
        if (!time_only)
            outputs[i] = copied(p->arena, t->data, t->bytes);
    }
    bool ok = through_text(p, &text);
    for (uint32_t i = 0; i < p->count && ok && !time_only; i++) {
        void *done = p->tensors[i].data;
        p->tensors[i].data = outputs[i];
        outputs[i] = done;
    }
    ok = ok && straight(p, &own) && same_notes(p, &text, &own);
    for (uint32_t i = 0; i < p->count && ok && !time_only; i++)
        CHECK_MSG(memcmp(p->tensors[i].data, outputs[i], p->tensors[i].bytes) == 0,
                  "%s: other values in %s", p->file, p->tensors[i].name);
    buf_free(&text.bytes);
    buf_free(&own.bytes);
    return ok;
}

/* ---- examples ---- */

static int64_t pick_dim(const IrVar *v, int64_t wish)
{
    int64_t n = (wish + v->multiple - 1) / v->multiple * v->multiple;
    n = n < v->lo ? v->lo : n;
    return n > v->hi ? v->hi / v->multiple * v->multiple : n;
}

/* False: it takes lists. */
static bool size_example(Program *p, double elements)
{
    const IrProgram *ir = p->asc->ir;
    int64_t *dims = arena_array(p->arena, int64_t, ir->dims.len + 1);
    int64_t wish = (int64_t)pow(elements, 1.0 / (ir->dims.len ? ir->dims.len : 1));
    for (uint32_t i = 0; i < ir->dims.len; i++)
        dims[i] = pick_dim(&ir->vars.at[ir->dims.at[i]], wish + (int64_t)i * 3);
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        IrRole role = ir->tensors.at[i].role;
        IrData shape = {0};
        if (role == IR_ROLE_IN_LIST || role == IR_ROLE_OUT_LIST ||
            !ir_operand_shape(ir, chip(), dims, NULL, NULL, i, &shape))
            return false;
        set_operand(p, i, shape.rank, shape.dims);
    }
    return ir->operand_count <= 64;
}

static void compare_example(const char *path, double elements)
{
    Arena arena = {0};
    Program p = {.arena = &arena, .file = path};
    Diag diag = diag_make(&arena, path, STR(""));
    REQUIRE(file_read(&arena, path, 0, &p.text, &diag));
    if (lower_text(&p) && size_example(&p, elements)) {
        compare_program(&p, true);
        compare_program(&p, false);
    }
    arena_drop(&arena);
}

static void compare_folder(const char *dir, uint32_t first, uint32_t step)
{
    Arena arena = {0};
    NameList names = {0};
    Diag diag = diag_make(&arena, dir, STR(""));
    REQUIRE(file_list(&arena, dir, &names, &diag));
    for (uint32_t i = first; i < names.len; i += step)
        if (str_ends(str_from(names.at[i]), ".craft"))
            compare_example(path_join(&arena, dir, names.at[i]), 20000);
    arena_drop(&arena);
}

T_TEST(stream_of_examples_is_that_of_the_text)
{
    static const char *const few[] = {"softmax",       "argmax",     "layernorm",
                                      "sort_rows",     "reduce_all", "scatter_add",
                                      "masked_select", "cumsum",     "running"};
    for (size_t i = 0; i < sizeof few / sizeof *few && !getenv("T_ALL"); i++) {
        char path[64];
        snprintf(path, sizeof path, "examples/%s.craft", few[i]);
        compare_example(path, 20000);
    }
    compare_example("tests/craft/cube_wide.craft", 2000000);
    compare_example("tests/craft/cube_hf32.craft", 30000);
    if (getenv("T_ALL"))
        compare_folder("examples", 0, 1);
}

/* ---- planned tasks ---- */

static void compare_task(const char *path)
{
    Arena arena = {0};
    TorchOptions options = {0};
    Diag diag = diag_make(&arena, path, STR(""));
    Plan plan = {0};
    TorchTask *task = torch_open(&arena, path, &options, SCALE_TINY, &diag);
    Program p = {.arena = &arena, .file = "plan.craft"};
    if (task && plan_make(&arena, task->graph, chip(), 0, &plan, &diag) &&
        plan.operands.len <= 64) {
        p.text = plan.craft;
        p.file = str_format(&arena, "%.*s.craft", STR_ARG(path_stem(path)));
        REQUIRE(lower_text(&p));
        for (uint32_t i = 0; i < plan.operands.len; i++)
            set_operand(&p, i, (uint32_t)plan.operands.at[i].shape.rank,
                        plan.operands.at[i].shape.dim);
        compare_program(&p, true);
        compare_program(&p, false);
    }
    arena_drop(&arena);
}

static void compare_tasks(const char *folder)
{
    Arena arena = {0};
    NameList names = {0};
    const char *dir = path_join(&arena, "tasks", folder);
    Diag diag = diag_make(&arena, dir, STR(""));
    REQUIRE(file_list(&arena, dir, &names, &diag));
    for (uint32_t i = 0; i < names.len; i++)
        if (str_ends(str_from(names.at[i]), ".py"))
            compare_task(path_join(&arena, dir, names.at[i]));
    arena_drop(&arena);
}

T_TEST(stream_of_planned_tasks_is_that_of_the_text)
{
    static const char *const few[] = {
        "tasks/activation/gelu.py", "tasks/normalization/layer_norm.py",
        "tasks/reduce/max_reduction_over_a_dimension.py", "tasks/loss/cross_entropy_loss.py"};
    static const char *const folders[] = {"activation", "broadcast",     "index",     "loss",
                                          "math",       "normalization", "optimizer", "pooling",
                                          "reduce",     "resize",        "mhc"};
    for (size_t i = 0; i < sizeof few / sizeof *few && !getenv("T_ALL"); i++)
        compare_task(few[i]);
    compare_example("tests/craft/cube_pair.craft",
                    20000); /* two vector cores beside each cube core */
    for (size_t f = 0; f < sizeof folders / sizeof *folders && getenv("T_ALL"); f++)
        compare_tasks(folders[f]);
}

/* Products alone, of both roles, of several launches. */
T_TEST(stream_of_cube_tasks_is_that_of_the_text)
{
    static const char *const few[] = {"tasks/matmul/square_matrix_multiplication.py",
                                      "tasks/attention/causal_attention.py",
                                      "tasks/convolution/conv_standard_1d_dilated_strided.py"};
    static const char *const folders[] = {"matmul", "convolution", "attention", "fuse"};
    for (size_t i = 0; i < sizeof few / sizeof *few && !getenv("T_ALL"); i++)
        compare_task(few[i]);
    for (size_t f = 0; f < sizeof folders / sizeof *folders && getenv("T_ALL"); f++)
        compare_tasks(folders[f]);
}

/* ---- the timer ---- */

static Verdict time_task(Arena *arena, const EvalCraft *c, const Graph *graph, bool straight)
{
    EvalConfig config = {.chip = chip(), .trust = true, .straight = straight};
    Verdict v = verdict_make();
    Diag diag = diag_make(arena, c->file, c->text);
    EvalTimer *t = eval_timer_open(arena, c, graph, &config, &v, &diag);
    for (int i = 0; t && i < 2; i++) { /* the second launch uses what the first left */
        v = verdict_make();
        eval_timer_run(arena, t, c->operands, NULL, 0, &v);
    }
    eval_timer_close(t);
    return v;
}

/* Time, pipes and bound are the same; values that decide, shapes that are refused and findings
 * go through the text. */
T_TEST(stream_times_are_those_of_the_text)
{
    static const char *const tasks[] = {"tasks/activation/softmax.py",
                                        "tasks/pooling/max_pooling_2d.py", "tasks/index/gather.py"};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        Arena arena = {0};
        TorchOptions options = {0};
        Diag diag = diag_make(&arena, tasks[i], STR(""));
        Plan plan = {0};
        TorchTask *task = torch_open(&arena, tasks[i], &options, SCALE_SMALL, &diag);
        REQUIRE(task && plan_make(&arena, task->graph, chip(), 0, &plan, &diag));
        EvalOperand *operands = arena_array(&arena, EvalOperand, plan.operands.len + 1);
        for (uint32_t k = 0; k < plan.operands.len; k++)
            operands[k] = (EvalOperand){.value = plan.operands.at[k].value,
                                        .shape = plan.operands.at[k].shape};
        EvalCraft c = {.file = "plan.craft",
                       .text = plan.craft,
                       .operands = operands,
                       .operand_count = plan.operands.len};
        Verdict text = time_task(&arena, &c, task->graph, false);
        Verdict own = time_task(&arena, &c, task->graph, true);
        CHECK_MSG(text.status == own.status && text.predicted_us == own.predicted_us &&
                      text.bound_us == own.bound_us && text.cycles == own.cycles &&
                      text.pipes.len == own.pipes.len,
                  "%s: %s, %g us; straight %s, %g us", tasks[i],
                  verdict_status_row(text.status)->text, text.predicted_us,
                  verdict_status_row(own.status)->text, own.predicted_us);
        if (plan.operands.len > 1 && own.status == VERDICT_OK) {
            operands[0].shape.dim[0] += 1; /* no longer what the others are */
            own = time_task(&arena, &c, task->graph, true);
            text = time_task(&arena, &c, task->graph, false);
            CHECK(own.status == text.status && own.stage == text.stage);
            CHECK_EQ_STR(own.reason, text.reason);
        }
        arena_drop(&arena);
    }
}
