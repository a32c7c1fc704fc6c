/* Rows in AscendC of one task: kernels for one shape and whole operators, right ones and broken ones; and the
 * twins of rows in Craft. In: a task with its program and cases. Out: rows. */
#include "rows/kinds_int.h"

#include "gen/prompt/prompt.h"
#include "loop/feedback.h"
#include <string.h>

enum {
    MOST_KERNEL_BYTES = 9500, /* AscendC has longer tokens */
    MOST_LONG_BYTES = 36000,  /* of a row with whole operators */
    MOST_MESSAGE = 700,       /* of a message in a question */
};

static EvalForm form_of(RowsKind kind)
{
    return rows_kind_is_long(kind) ? FORM_NPUKB_FULL : FORM_NPUKB_KERNEL;
}

/* Judges AscendC that is right by its making. False: it is not, which is a contradiction. */
static bool confirm_ascendc(Work *w, const EvalCandidate *candidate, const EvalReference *ref,
                            Row *row)
{
    Verdict verdict;
    Diag diag;
    bool ok = rows_judge_ascendc(w->arena, candidate, ref, w->maker->chip, &verdict, &diag);
    if (!ok && !rows_is_unjudged(verdict.status)) {
        Buf out = {0};
        rows_put_ascendc(candidate, &out);
        verdict_to_text(&verdict, &out);
        w->made->contradiction = str_format(
            w->arena, "task %llu: its AscendC kernel is wrong\n%.*s",
            (unsigned long long)w->task.number, (int)out.len, out.at);
        buf_free(&out);
        return false;
    }
    row->verdict = ok ? "interpreter and text" : "interpreter";
    return true;
}

/* A kernel with wrong values has them on the twin, too. */
static bool confirm_wrong(Work *w, const EvalCandidate *candidate, const EvalReference *ref,
                          Row *row)
{
    Verdict verdict;
    Diag diag;
    bool ok = rows_judge_ascendc(w->arena, candidate, ref, w->maker->chip, &verdict, &diag);
    if (rows_is_unjudged(verdict.status))
        row->verdict = "interpreter";
    else if (ok)
        w->made->contradiction = str_format(
            w->arena, "task %llu: the interpreter says wrong, the text right\n%.*s",
            (unsigned long long)w->task.number, STR_ARG(rows_kernel_text(candidate)));
    return !ok;
}

/* A kernel that is a twin may stand among the long rows. */
static bool is_too_long(const Work *w, const Row *row)
{
    bool may = rows_kind_is_long(row->kind) || row->is_twin;
    size_t most = may ? MOST_LONG_BYTES : MOST_KERNEL_BYTES;
    if (row->prompt.len + row->answer.len <= most)
        return false;
    w->made->dropped[DROP_LONG]++;
    return true;
}

/* Question and answer. False: there is no such kernel, or the judges disagree. */
static bool fill_ascendc(Work *w, Row *row)
{
    const EvalReference *ref = rows_kernel_case(&w->cases);
    EvalCandidate candidate;
    Buf prompt = {0}, answer = {0};
    if (!rows_ascendc(w->arena, w->at[0].craft, form_of(row->kind), ref->graph, w->maker->chip,
                      &candidate))
        return work_drop(w, DROP_KERNEL);
    rows_ask_ascendc(candidate.form, ref->graph, w->maker->chip, &prompt);
    rows_put_ascendc(&candidate, &answer);
    row->prompt = work_text(w, &prompt);
    row->answer = work_text(w, &answer);
    return !is_too_long(w, row) &&
           (!work_is_confirmed(w, row) || confirm_ascendc(w, &candidate, ref, row));
}

void work_ascendc(Work *w, RowsKind kind)
{
    Row row = work_row(w, kind, &w->at[0]);
    if (fill_ascendc(w, &row))
        vec_push(w->arena, &w->made->rows, row);
}

static Str ascendc_text(Work *w, const EvalCandidate *candidate)
{
    Buf out = {0};
    rows_put_ascendc(candidate, &out);
    return work_text(w, &out);
}

/* Question, answer and the pair of a right and a wrong answer. `said`: what is wrong. */
static void fill_mend(Work *w, Row *row, const EvalCandidate *right, const Feedback *feedback,
                      const EvalReference *ref, const char *said)
{
    Buf prompt = {0}, answer = {0}, task = {0}, message = {0};
    row->right = ascendc_text(w, right);
    row->worse = ascendc_text(w, feedback->candidate);
    feedback_text(w->arena, feedback, &message);
    buf_printf(&prompt, "This AscendC %s fails. Say why and repair it.\n\n",
               rows_kind_is_long(row->kind) ? "operator" : "kernel");
    prompt_rows_graph(ref->graph, &prompt);
    buf_str(&prompt, row->worse);
    buf_str(&prompt, str_slice(buf_view(&message), 0, MOST_MESSAGE));
    buf_printf(&answer, "%s\n\n%.*s", said, STR_ARG(row->right));
    rows_ask_ascendc(right->form, ref->graph, w->maker->chip, &task);
    row->prompt = work_text(w, &prompt);
    row->answer = work_text(w, &answer);
    row->task = work_text(w, &task);
    buf_free(&message);
}

/* A kernel with an error, and what the twin says. False: it says nothing. */
static WorkEnd make_mend(Work *w, RowsKind kind, const EvalCandidate *candidate,
                         const EvalReference *ref, const RowsBreak *error, uint32_t want)
{
    RowsBreak broken = *error;
    Verdict verdict;
    Diag diag;
    EvalCandidate worse = rows_with_kernel(w->arena, candidate, broken.craft);
    if (rows_judge_ascendc(w->arena, &worse, ref, w->maker->chip, &verdict, &diag) ||
        rows_is_unjudged(verdict.status)) {
        w->made->dropped[DROP_HARMLESS]++;
        return WORK_MISSED;
    }
    Row row = work_row(w, kind, &w->at[0]);
    row.error = broken.class;
    row.code = verdict.status == VERDICT_WRONG ? "wrong values"
               : verdict.hazards.len           ? verdict.hazards.at[0].code
                                               : verdict_status_row(verdict.status)->text;
    if (!work_is_explained(&broken, &verdict, &diag) || !work_is_wanted(&row, want)) {
        w->made->dropped[DROP_OTHER]++;
        return WORK_MISSED;
    }
    row.verdict = "text";
    const char *said = str_format(w->arena, "%s Line %u of the repaired kernel reads `%.*s`.",
                                  broken.cause, broken.line, STR_ARG(str_trim(broken.right)));
    Feedback feedback = {.verdict = &verdict, .diag = &diag, .candidate = &worse};
    fill_mend(w, &row, candidate, &feedback, ref, said);
    Row right = {.kind = kind};
    if (is_too_long(w, &row) || !confirm_ascendc(w, candidate, ref, &right))
        return WORK_NO_PLACE;
    vec_push(w->arena, &w->made->rows, row);
    return WORK_MADE;
}

WorkEnd work_mend(Work *w, RowsKind kind, uint32_t want)
{
    const EvalReference *ref = rows_kernel_case(&w->cases);
    EvalCandidate candidate;
    RowsBreak broken;
    Row right = {.kind = kind};
    if (!rows_ascendc(w->arena, w->at[0].craft, form_of(kind), ref->graph, w->maker->chip,
                      &candidate)) {
        w->made->dropped[DROP_KERNEL]++;
        return WORK_NO_PLACE;
    }
    right.prompt = right.answer = ascendc_text(w, &candidate);
    if (is_too_long(w, &right) || !work_break(w, rows_kernel_text(&candidate), want, &broken))
        return WORK_NO_PLACE;
    return make_mend(w, kind, &candidate, ref, &broken, want);
}

/* ---- twins ---- */

/* Rows of a task do not depend on whether they have twins: these draw from a stretch of their own. */
static Work twin_work(const Work *w)
{
    Work own = *w;
    own.dice.at += 500;
    return own;
}

static void add_twin(Work *w, Row *row, Row twin, char mark)
{
    if (!row->twin)
        row->twin = arena_array(w->arena, Row, 2);
    twin.number = str_format(w->arena, "%s-%c", row->number, mark);
    row->twin[row->twins++] = twin;
}

void work_twins_of_write(Work *w, Row *row)
{
    Work own = twin_work(w);
    static const RowsKind kinds[] = {ROWS_ASCENDC, ROWS_FULL};
    for (int i = 0; i < 2 && w->maker->twins; i++) {
        Row twin = work_row(&own, kinds[i], &w->at[0]);
        twin.is_twin = true;
        if (fill_ascendc(&own, &twin))
            add_twin(w, row, twin, i ? 'f' : 'k');
        else
            work_drop(w, DROP_TWIN);
    }
}

/* The first line in which they differ, and how many do; 0: none, or one text has more lines. */
static uint32_t count_differing(Str right, Str wrong, uint32_t *line, Str *is, Str *was)
{
    uint32_t n = 0, at = 0;
    Str a, b;
    while (right.len && wrong.len && str_next(&right, '\n', &a) && str_next(&wrong, '\n', &b)) {
        at++;
        if (str_equal(a, b) || n++)
            continue;
        *line = at;
        *is = str_trim(a);
        *was = str_trim(b);
    }
    return right.len || wrong.len ? 0 : n;
}

/* The kernel with wrong values that the broken program is lowered to; its verdict is that of the program at the same
 * sizes. */
static bool fill_twin_mend(Work *w, Row *row, const RowsBreak *broken)
{
    const EvalReference *ref = rows_kernel_case(&w->cases);
    EvalCandidate right, worse;
    Verdict verdict = verdict_make();
    Diag diag = diag_make(w->arena, "kernel.craft", STR(""));
    RowsCases one = {.n = 1, .ref = {*ref}, .inputs = {w->cases.inputs[ref - w->cases.ref]}};
    uint32_t line = 0;
    Str is, was;
    if (!rows_ascendc(w->arena, w->at[0].craft, form_of(row->kind), ref->graph, w->maker->chip,
                      &right) ||
        !rows_ascendc(w->arena, broken->craft, form_of(row->kind), ref->graph, w->maker->chip,
                      &worse) ||
        rows_judge(w->arena, broken->craft, &one, w->maker->chip, false, &verdict, &diag) ||
        verdict.status != VERDICT_WRONG)
        return false;
    uint32_t n = count_differing(rows_kernel_text(&right), rows_kernel_text(&worse), &line, &is,
                                 &was);
    if (!n)
        return false;
    const char *more = n > 1 ? str_format(w->arena, ", and %u more lines differ", n - 1) : "";
    const char *said = str_format(
        w->arena,
        "The values are wrong: line %u of the kernel reads `%.*s` where `%.*s` belongs%s.", line,
        STR_ARG(was), STR_ARG(is), more);
    diag = diag_make(w->arena, "kernel.cpp", STR(""));
    Feedback feedback = {.verdict = &verdict, .diag = &diag, .candidate = &worse};
    row->error = broken->class;
    row->code = "wrong values";
    fill_mend(w, row, &right, &feedback, ref, said);
    return !is_too_long(w, row) &&
           (!work_is_confirmed(w, row) ||
            (confirm_ascendc(w, &right, ref, row) && confirm_wrong(w, &worse, ref, row)));
}

static bool is_twin_there(const Work *w, Str craft)
{
    for (uint32_t i = 0; i < w->twins.len; i++)
        if (str_equal(w->twins.at[i], craft))
            return true;
    return false;
}

/* An error that gives wrong values and is in no twin yet. */
static bool break_values(Work *w, RowsBreak *broken)
{
    uint32_t n = rows_break_count(), first = (uint32_t)dice_below(&w->dice, n);
    Verdict verdict = verdict_make();
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = (first + i) % n;
        Diag diag = diag_make(w->arena, "kernel.craft", STR(""));
        if (!*rows_break_code(row) &&
            rows_break(w->arena, w->at[0].craft, row, w->maker->chip, &w->dice, broken) &&
            !is_twin_there(w, broken->craft) &&
            !rows_judge(w->arena, broken->craft, &w->cases, w->maker->chip, false, &verdict,
                        &diag) &&
            verdict.status == VERDICT_WRONG)
            return true;
    }
    return false;
}

void work_twins_of_repair(Work *w, Row *row, const RowsBreak *broken, bool wrong_values)
{
    Work own = twin_work(w);
    static const RowsKind kinds[] = {ROWS_MEND, ROWS_MEND_FULL};
    RowsBreak other = *broken;
    bool found = w->maker->twins &&
                 ((wrong_values && !is_twin_there(w, other.craft)) || break_values(&own, &other));
    if (found)
        vec_push(w->arena, &w->twins, other.craft);
    for (int i = 0; i < 2 && w->maker->twins; i++) {
        Row twin = work_row(&own, kinds[i], &w->at[0]);
        twin.is_twin = true;
        if (found && fill_twin_mend(&own, &twin, &other))
            add_twin(w, row, twin, i ? 'f' : 'k');
        else
            work_drop(w, DROP_TWIN);
    }
}
