/* A candidate of any form, judged: the stages all forms share. In: texts and a case. Out: a verdict. */
#include "eval/candidate.h"

#include "craft/craft.h"
#include "eval/bound.h"
#include "base/hash.h"
#include "eval/candidate_int.h"
#include "eval/sample.h"
#include "eval/eval_int.h"
#include <math.h>
#include <time.h>

bool eval_judge_fail(EvalJudge *j, VerdictStatus status, VerdictStage stage, const char *reason)
{
    verdict_fail(j->verdict, status, stage, reason);
    return false;
}

void eval_launched(EvalJudge *j)
{
    Verdict *v = j->verdict;
    uint64_t cycles = v->cycles;
    double us = isfinite(v->predicted_us) ? v->predicted_us : 0;
    v->pipes.len = 0;
    v->cycles = 0;
    v->predicted_us = 0;
    twin_observed(j->arena, j->config->chip, &j->observer, v);
    v->cycles += cycles;
    v->predicted_us += us;
    eval_keep_observed(j->config, &j->observer);
    j->observer = eval_observer(j->config);
}

/* ---- Craft ---- */

/* Attributes that the user or the task gives; others have their defaults. */
static void set_attributes(EvalJudge *j, const IrProgram *p, EvalCraft *craft, NameList *names)
{
    EvalSetting *settings = arena_array(j->arena, EvalSetting, p->attrs.len + 1);
    for (uint32_t i = 0; i < p->attrs.len; i++) {
        EvalSetting *s = &settings[craft->setting_count];
        s->name = p->vars.at[p->attrs.at[i]].name;
        craft->setting_count += eval_attribute(j, s->name, &s->value);
        vec_push(j->arena, names, p->vars.at[p->attrs.at[i]].name);
    }
    craft->settings = settings;
}

/* A choice decides how, never what: whoever tunes the program may take any of its values. Those that do not fit
 * these sizes say nothing. */
static void judge_choice(EvalJudge *j, const EvalCraft *craft, const char *name, int64_t value)
{
    EvalCraft other = *craft;
    EvalConfig config = *j->config;
    Verdict aside = verdict_make();
    Diag quiet = diag_make(j->arena, craft->file, craft->text);
    EvalSetting *settings = arena_array(j->arena, EvalSetting, craft->setting_count + 1);
    for (uint32_t i = 0; i < craft->setting_count; i++)
        settings[i] = craft->settings[i];
    settings[other.setting_count++] = (EvalSetting){name, (double)value};
    other.settings = settings;
    config.trace = config.explain = config.costs = NULL;
    eval_craft(j->arena, &other, j->ref, &config, &aside, &quiet);
    if (aside.status == VERDICT_WRONG || aside.status == VERDICT_NOT_COMPUTED)
        eval_judge_fail(
            j, aside.status, aside.stage,
            str_format(j->arena, "with %s = %lld: %s", name, (long long)value, aside.reason));
}

/* One other value of each choice, drawn by the text. */
static void judge_choices(EvalJudge *j, const IrProgram *p, const EvalCraft *craft)
{
    uint64_t drawn = hash64(craft->text.at, craft->text.len);
    for (uint32_t i = 0; i < p->vars.len && j->verdict->status == VERDICT_OK; i++) {
        const IrVar *v = &p->vars.at[i];
        if (v->kind == IR_VAR_CHOICE && v->choices.len > 1)
            judge_choice(j, craft, v->name, v->choices.at[1 + drawn % (v->choices.len - 1)]);
    }
    if (j->verdict->status != VERDICT_OK)
        j->verdict->correct = VERDICT_NO;
}

static bool judge_craft(EvalJudge *j)
{
    const EvalCandidate *c = j->candidate;
    if (!c->texts.len)
        return eval_judge_fail(j, VERDICT_NO_ANSWER, STAGE_EXTRACT, "no Craft text");
    EvalCraft craft = {.file = c->texts.at[0].path, .text = c->texts.at[0].text};
    Diag own = diag_make(j->arena, craft.file, craft.text), said = own;
    CraftFile *file = craft_read(j->arena, craft.file, craft.text, &own);
    IrProgram *p = file && diag_ok(&own) ? craft_program(j->arena, file, 0, &own) : NULL;
    EvalOperand *operands;
    bool bound = p && eval_bind(j->arena, p, j->ref->graph, &operands, &own);
    if (bound) {
        craft.operands = operands;
        craft.operand_count = p->operand_count;
        EvalNarrow narrow;
        NameList attrs = {0};
        set_attributes(j, p, &craft, &attrs);
        eval_narrow(j, &attrs, &narrow);
        if (eval_craft(j->arena, &craft, j->ref, j->config, j->verdict, &said) &&
            j->config->all_choices)
            judge_choices(j, p, &craft);
        eval_narrow_end(j, &narrow);
        own = said;
    }
    for (uint32_t i = 0; i < own.items.len; i++) {
        vec_push(j->diag->arena, &j->diag->items, own.items.at[i]);
        j->diag->errors += own.items.at[i].level == DIAG_ERROR;
    }
    if (!bound)
        verdict_fail(j->verdict, VERDICT_NOT_PARSED, STAGE_CHECK,
                     own.items.len ? own.items.at[0].text : "no program");
    return j->verdict->status == VERDICT_OK;
}

/* ---- all forms ---- */

static bool judge(EvalJudge *j)
{
    bool ok;
    if ((j->candidate->form == FORM_NPUKB_KERNEL || j->candidate->form == FORM_NPUKB_FULL) &&
        eval_judge_in_clone(j, &ok))
        return ok;
    switch (j->candidate->form) {
    case FORM_CRAFT: return judge_craft(j);
    case FORM_KERNEL:
    case FORM_NPUKB_KERNEL: return eval_judge_kernel(j);
    case FORM_PROJECT:
    case FORM_NPUKB_FULL: return eval_judge_project(j);
    case FORM_MKB:
    case FORM_MKB_DIRECT:
    case FORM_TORCH: return eval_judge_model(j);
    case FORM_DIRECT: return eval_judge_direct(j);
    default:
        return eval_judge_fail(j, VERDICT_UNSUPPORTED, STAGE_EXTRACT,
                               str_format(j->arena, "form '%s' is not judged yet",
                                          eval_form_text(j->candidate->form)));
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct TwinKept *eval_kept_make(Arena *arena)
{
    TwinKept *kept = arena_new(arena, TwinKept);
    *kept = (TwinKept){.arena = arena};
    return kept;
}

struct TwinSeen *eval_seen_make(Arena *arena)
{
    TwinSeen *seen = arena_new(arena, TwinSeen);
    *seen = (TwinSeen){.arena = arena};
    return seen;
}

bool eval_seen_in(const struct TwinSeen *full, const struct TwinSeen *seen)
{
    return twin_seen_in(full, seen);
}

uint32_t eval_seen_new(const struct TwinSeen *one, struct TwinSeen *const *seen, uint32_t n)
{
    return twin_seen_new(one, seen, n);
}

uint32_t eval_seen_gaps(const struct TwinSeen *one, const EvalRuns *runs, EvalGap *gaps,
                        uint32_t most)
{
    enum { MOST = 64 };
    TwinGap found[MOST];
    TwinRuns in = {runs->all, runs->count, runs->had, runs->had_count};
    uint32_t count = twin_seen_gaps(one, &in, found, most < MOST ? most : MOST);
    for (uint32_t i = 0; i < count; i++)
        gaps[i] = (EvalGap){found[i].place, found[i].gap, found[i].constant, found[i].beyond};
    return count;
}

struct TwinScan *eval_scan_make(Arena *arena, struct TwinSeen *const *seen, uint32_t n)
{
    TwinScan *scan = arena_new(arena, TwinScan);
    *scan = (TwinScan){.arena = arena, .seen = seen, .count = n};
    return scan;
}

uint32_t eval_scan_sizes(const struct TwinScan *scan, EvalSize *sizes, uint32_t most)
{
    uint32_t n = scan->sizes.len < most ? scan->sizes.len : most;
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = (EvalSize){scan->sizes.at[i].from, scan->sizes.at[i].to};
    return n;
}

EvalJudge eval_judge_make(Arena *arena, const EvalCandidate *candidate, const EvalReference *ref,
                          const EvalConfig *config, Verdict *verdict, Diag *diag)
{
    if (!verdict->candidate[0])
        verdict->candidate = candidate->name;
    return (EvalJudge){.arena = arena,
                       .candidate = candidate,
                       .ref = ref,
                       .config = config,
                       .verdict = verdict,
                       .diag = diag,
                       .twin = {.chip = config->chip,
                                .seed = config->seed,
                                .place = config->place,
                                .nudge = config->nudge,
                                .compile_seconds = 60,
                                .run_seconds = config->seconds,
                                .trust = config->trust,
                                .kept = config->kept,
                                .seen = config->seen,
                                .scan = config->scan,
                                .time_only = config->no_values && !config->sample,
                                .sample = config->sample ? config->sample->twin : (TwinSample){0},
                                .keep_going = true},
                       .observer = eval_observer(config)};
}

bool eval_candidate(Arena *arena, const EvalCandidate *candidate, const EvalReference *ref,
                    const EvalConfig *config, Verdict *verdict, Diag *diag)
{
    EvalJudge j = eval_judge_make(arena, candidate, ref, config, verdict, diag);
    double start = now();
    NpuWork work = eval_work(ref->graph);
    verdict->bound_us = npu_bound(config->chip, &work).us;
    twin_observe(&j.twin, &j.observer);
    judge(&j);
    bool ok = config->no_values ? verdict->status == VERDICT_OK : verdict_settle(verdict);
    verdict->seconds = now() - start;
    twin_observer_free(&j.observer);
    return ok;
}
