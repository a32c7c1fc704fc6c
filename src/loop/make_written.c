/* Judging what was written; see make_written.h. In: a Craft program that was judged. Out: its forms as
 * files, a verdict for each form at each size. */
#include "loop/make_written.h"

#include "base/temp.h"
#include "craft/craft.h"
#include "graph/numbers.h"
#include "loop/bench_pool.h"
#include "loop/make_int.h"
#include "loop/pieces.h"
#include <string.h>

/* How often an odd size is drawn until the program takes one whose inputs have at least FEW elements
 * together: single elements tell little. */
enum { TRIES = 20, MOST_KEPT = 24, FEW = 64, MOST_SIZES = 4 };
/* Elements of all values of a task whose own size is judged, too, and up to which it is when the program
 * takes no other. */
#define CHEAP_OWN 0x1p22
#define MOST_OWN 0x1p26

typedef struct Size {
    const char *name;
    TorchTask *task;
    TorchOptions options;
    TorchScale scale;
    uint64_t seed;
} Size;

typedef struct Written {
    Arena *arena;
    const MakeSpec *spec;
    MakeJob job;
    const MakeProgram *of;
    const IrProgram *program;
    Size sizes[MOST_SIZES];
    uint32_t size_count;
    uint32_t wanted, judged; /* pieces; for progress */
    MakeWritten *out;
    TempDir dir;
    MakeAnswer
        *answers; /* by piece: all forms at the first size, then at the next, so that a form's
                          * text is compiled once before two processes could both do so */
} Written;

/* ---- sizes that the program takes ---- */

static bool read_program(Written *w)
{
    Diag said = diag_make(w->arena, w->spec->path, w->of->craft);
    CraftFile *file = craft_read(w->arena, "written.craft", w->of->craft, &said);
    for (uint32_t v = 0; file && diag_ok(&said) && v < craft_variant_count(file); v++) {
        IrProgram *p = craft_program(w->arena, file, v, &said);
        if (p && (!w->program || eval_has_dtypes(p, w->job.result->task->graph)))
            w->program = p;
    }
    return w->program != NULL;
}

/* Whether the size has shapes that no size before it had. */
static bool is_new(const Written *w, const Graph *g)
{
    for (uint32_t k = 0; k < w->size_count; k++) {
        const Graph *old = w->sizes[k].task->graph;
        bool same = old->inputs.len == g->inputs.len && old->params.len == g->params.len;
        for (uint32_t i = 0; same && i < g->inputs.len + g->params.len; i++) {
            bool input = i < g->inputs.len;
            uint32_t at = input ? i : i - g->inputs.len;
            same = shape_equal(
                graph_value(g, input ? g->inputs.at[at] : g->params.at[at])->shape,
                graph_value(old, input ? old->inputs.at[at] : old->params.at[at])->shape);
        }
        if (same)
            return false;
    }
    return true;
}

/* Some sizes as the task has them; then all but one, of which there are two (odd: three), or one. */
static bool keep_sizes(const Written *w, bool odd, uint32_t draw, TorchOptions *options)
{
    const TorchTask *own = w->job.result->task;
    if (draw < MOST_KEPT)
        return sizes_keep(w->arena, own, draw, options);
    draw -= MOST_KEPT;
    return own->knobs.len && sizes_few(w->arena, own, draw % own->knobs.len,
                                       draw < own->knobs.len ? 2 + odd : 1, options);
}

/* `draw` from TRIES on keeps some sizes of the task: the program may have these alone. */
static bool read_size(Written *w, TorchScale scale, uint32_t draw, Size *size)
{
    const MakeSpec *spec = w->spec;
    Diag said = diag_make(w->arena, spec->path, spec->source);
    /* The first draw is the plan's own: numbers that the file draws are the program's then. */
    size->seed = spec->seed + (scale == SCALE_FULL || !draw ? 0 : 101 + draw);
    size->options = make_options(&w->job, size->seed);
    size->scale = scale;
    sizes_in_ranges(w->arena, &spec->ranges, w->job.result->task, scale, size->seed, 2 + draw,
                    &size->options);
    if (draw >= TRIES && !keep_sizes(w, scale == SCALE_FUZZ, draw - TRIES, &size->options))
        return false;
    size->task = scale == SCALE_FULL ? w->job.result->task
                                     : torch_read_scaled(w->arena, spec->path, spec->source,
                                                         &size->options, scale, &said);
    /* Where a file draws numbers (a diagonal, say), others make another operator. */
    bool own = scale == SCALE_FULL;
    return size->task && !graph_any_empty(size->task->graph) && is_new(w, size->task->graph) &&
           (own || make_elements(size->task->graph) <= MOST_OWN) &&
           graph_same_numbers(w->job.result->task->graph, size->task->graph) &&
           eval_takes(w->arena, w->program, size->task->graph, spec->chip);
}

static double input_elements(const Graph *g)
{
    double all = 0;
    for (uint32_t i = 0; i < g->inputs.len; i++) {
        int64_t count = 0;
        shape_count(graph_value(g, g->inputs.at[i])->shape, &count);
        all += (double)count;
    }
    return all;
}

static void try_size(Written *w, const char *name, TorchScale scale, uint32_t tries)
{
    Size best = {0};
    double most = 0;
    for (uint32_t i = 0; i < tries && (i < TRIES ? most < FEW : !best.task); i++) {
        Size size = {.name = name};
        double elements = read_size(w, scale, i, &size) ? input_elements(size.task->graph) : 0;
        if (elements > most) {
            best = size;
            most = elements;
        }
    }
    if (best.task)
        w->sizes[w->size_count++] = best;
}

/* The first size once more, with other values of the attributes that are free. */
static void try_attributes(Written *w)
{
    Size size = w->sizes[0];
    Diag said = diag_make(w->arena, w->spec->path, w->spec->source);
    if (!w->size_count || !w->of->free.len)
        return;
    size.name = "attributes";
    size.options.numbers = w->of->free.at;
    size.options.n_numbers = w->of->free.len;
    size.task = torch_read_scaled(w->arena, w->spec->path, w->spec->source, &size.options,
                                  size.scale, &said);
    if (size.task && eval_takes(w->arena, w->program, size.task->graph, w->spec->chip))
        w->sizes[w->size_count++] = size;
}

static void find_sizes(Written *w)
{
    double own = make_elements(w->job.result->task->graph);
    uint32_t tries = TRIES + MOST_KEPT + 2 * w->job.result->task->knobs.len;
    try_size(w, "small", SCALE_SMALL, tries);
    try_size(w, "odd", SCALE_FUZZ, tries);
    if (own <= (w->size_count ? CHEAP_OWN : MOST_OWN) || own <= w->spec->written_own)
        try_size(w, "own", SCALE_FULL, 1);
    try_attributes(w);
}

/* ---- one form at one size ---- */

static void judge_form(const Written *w, Arena *arena, uint32_t form, uint32_t size,
                       MakeAnswer *answer)
{
    const MakeSpec *spec = w->spec;
    const Size *s = &w->sizes[size];
    const EvalWrittenForm *f = &w->out->forms.forms.at[form];
    EvalConfig config = {
        .chip = spec->chip, .trust = spec->trust, .strict = spec->strict, .inferred = true};
    EvalReference ref = {0};
    double start = pool_clock();
    *answer = (MakeAnswer){.end = MAKE_JUDGED, .verdict = verdict_make()};
    answer->said = diag_make(arena, spec->path, spec->source);
    answer->verdict.task = w->job.result->task->name;
    answer->verdict.candidate = eval_form_text(f->form);
    answer->verdict.kase = str_format(arena, "written-%s", s->name);
    answer->verdict.inputs = make_inputs(arena, s->task->graph);
    if (eval_reference(arena, s->task->graph, s->seed, RULE_ACRAFT, &ref, &answer->said)) {
        eval_reference_model(arena, spec->path, spec->source, s->task, &s->options, &ref);
        eval_written_form(arena, w->dir.path, f, &ref, &config, &answer->verdict, &answer->said);
    } else {
        verdict_fail(&answer->verdict, VERDICT_INTERNAL, STAGE_EXTRACT,
                     "the task has no reference values at this size");
    }
    make_excuse(spec, &answer->verdict);
    answer->verdict.seconds = pool_clock() - start;
    eval_reference_free(&ref);
}

static uint32_t form_of(const Written *w, uint32_t piece)
{
    return piece % w->out->forms.forms.len;
}
static uint32_t size_of(const Written *w, uint32_t piece)
{
    return piece / w->out->forms.forms.len;
}

static bool is_wanted(void *context, uint32_t piece)
{
    const Written *w = context;
    uint32_t form = form_of(w, piece), asked = w->spec->written_forms;
    /* The module around the torch extension is constructed with the model's own numbers. */
    bool numbers = w->sizes[size_of(w, piece)].options.n_numbers;
    return !w->out->forms.forms.at[form].lacks &&
           !(numbers && w->out->forms.forms.at[form].form == FORM_TORCH) &&
           (!asked || asked >> w->out->forms.forms.at[form].form & 1) &&
           !(w->spec->written_once && size_of(w, piece) != form % w->size_count);
}

static void judge_piece(void *context, uint32_t piece, Buf *text)
{
    const Written *w = context;
    Arena scratch = {0};
    MakeAnswer answer;
    judge_form(w, &scratch, form_of(w, piece), size_of(w, piece), &answer);
    make_answer_put(&answer, text);
    arena_drop(&scratch);
}

static void take_piece(void *context, uint32_t piece, Str text, const char *died)
{
    Written *w = context;
    MakeAnswer *answer = &w->answers[piece];
    if (!make_answer_take(w->arena, text, answer))
        make_answer_lost(w->arena, w->job.result->task->name, "written", died, answer);
    w->judged++;
    if (w->spec->progress_written)
        w->spec->progress_written(w->spec->context, w->judged, w->wanted);
}

/* ---- all of them ---- */

static bool judge_all(Written *w, Diag *diag)
{
    uint32_t count = w->out->forms.forms.len * w->size_count;
    bool ok = true;
    w->answers = arena_array(w->arena, MakeAnswer, count + 1);
    for (uint32_t i = 0; i < count; i++)
        w->wanted += is_wanted(w, i);
    pieces_do(&(Pieces){count, w->spec->jobs, is_wanted, judge_piece, take_piece, w});
    for (uint32_t i = 0; i < count; i++) {
        const Verdict *v = &w->answers[i].verdict;
        const EvalWrittenForm *f = &w->out->forms.forms.at[form_of(w, i)];
        if (f->lacks || w->answers[i].end != MAKE_JUDGED)
            continue;
        vec_push(w->arena, &w->out->verdicts, *v);
        if (v->status == VERDICT_OK || !ok)
            continue;
        ok = false;
        diag_error(diag, "M020", (Span){0},
                   "what would be written is not right: form %s, %s, %s: %s: %s",
                   eval_form_text(f->form), w->sizes[size_of(w, i)].name, v->inputs,
                   verdict_status_row(v->status)->text, v->reason);
    }
    return ok;
}

/* "odd: x f32[4,33]", "attributes: x f32[4,32], eps = 1.25e-06" */
static const char *case_text(Arena *arena, const Size *size)
{
    Buf out = {0};
    buf_printf(&out, "%s: %s", size->name, make_inputs(arena, size->task->graph));
    for (uint32_t i = 0; i < size->options.n_numbers; i++) {
        buf_printf(&out, ", %s = ", size->options.numbers[i].name);
        buf_double(&out, size->options.numbers[i].value);
    }
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

bool make_written(Arena *arena, const MakeSpec *spec, const MakeResult *result,
                  const MakeProgram *program, MakeWritten *written, Diag *diag)
{
    Written w = {.arena = arena, .spec = spec, .of = program, .out = written};
    MakeResult copy = *result;
    Diag said = diag_make(arena, spec->path, spec->source);
    w.job = (MakeJob){.spec = spec, .result = &copy, .rounds = result->rounds};
    *written = (MakeWritten){0};
    torch_cases(arena, spec->path, &w.job.cases, &said);
    if (!eval_forms(arena, result->plan.name, program->craft, result->task, spec->source,
                    spec->chip, &written->forms, diag) ||
        !read_program(&w) || !temp_dir_make(arena, "acraft-written", &w.dir, diag))
        return false;
    find_sizes(&w);
    for (uint32_t i = 0; i < w.size_count; i++)
        vec_push(arena, &written->cases, case_text(arena, &w.sizes[i]));
    bool ok = emit_write(arena, path_join(arena, w.dir.path, "out"), &written->forms.files, diag);
    const char *root = w.dir.path;
    w.dir.path = path_join(arena, root, "out");
    ok = ok && judge_all(&w, diag);
    w.dir.path = root;
    temp_dir_remove(&w.dir, diag);
    return ok;
}
