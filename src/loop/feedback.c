/* Verdicts in words for the one who wrote the kernel. */
#include "loop/feedback.h"

#include <string.h>

enum { MOST_MESSAGES = 6, MOST_FINDINGS = 4, MOST_OF_A_CODE = 2, MOST_REASON = 600 };

static const char *opening(VerdictStatus status)
{
    switch (status) {
#define OPENING(name, text) \
    case VERDICT_##name:    \
        return text;
#define CAUSE(pattern, text)
#include "loop/feedback.def"
#undef CAUSE
#undef OPENING
    default: return "The judge could not decide on the kernel.";
    }
}

static const char *cause(const char *reason)
{
    static const struct {
        const char *pattern, *text;
    } rows[] = {
#define OPENING(name, text)
#define CAUSE(pattern, text) {pattern, text},
#include "loop/feedback.def"
#undef CAUSE
#undef OPENING
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(reason, rows[i].pattern))
            return rows[i].text;
    return NULL;
}

/* ---- diagnostics ---- */

/* A text of the candidate: the one of that very path, else the only one of that name. */
static const EvalText *text_of(const EvalCandidate *candidate, const char *file)
{
    const EvalText *same_name = NULL;
    uint32_t found = 0;
    for (uint32_t i = 0; candidate && i < candidate->texts.len; i++) {
        const EvalText *t = &candidate->texts.at[i];
        if (!strcmp(t->path, file))
            return t;
        if (!file[0] || str_equal(path_base(t->path), path_base(file))) {
            same_name = t;
            found++;
        }
    }
    return found == 1 ? same_name : NULL;
}

static bool said_before(const Diag *diag, uint32_t item)
{
    const DiagItem *d = &diag->items.at[item];
    for (uint32_t i = 0; i < item; i++)
        if (diag->items.at[i].level == d->level && !strcmp(diag->items.at[i].text, d->text))
            return true;
    return false;
}

/* A caller that failed for a reason that stands above: "op.cpp:45: " and the same words. */
static bool is_echo(const Diag *diag, uint32_t item)
{
    Str text = str_from(diag->items.at[item].text);
    for (uint32_t i = 0; i < item; i++) {
        Str before = str_from(diag->items.at[i].text);
        if (text.len > before.len && str_ends(text, diag->items.at[i].text))
            return true;
    }
    return false;
}

static DiagItem with_source(const Feedback *f, const DiagItem *item)
{
    DiagItem d = *item;
    const EvalText *text = d.file ? text_of(f->candidate, d.file) : NULL;
    if (!d.source.len && text)
        d.source = text->text;
    return d;
}

/* Errors, first ones first, each message once; warnings only where there is no error. */
static void add_diagnostics(Arena *arena, const Feedback *f, Buf *out)
{
    const Diag *diag = f->diag;
    Diag first = diag_make(arena, diag->file, diag->source);
    DiagLevel level = diag->errors ? DIAG_ERROR : DIAG_WARNING;
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < diag->items.len; i++) {
        const DiagItem *d = &diag->items.at[i];
        if (d->level != level)
            continue;
        if (is_echo(diag, i))
            continue;
        if (first.items.len < MOST_MESSAGES && !said_before(diag, i))
            vec_push(arena, &first.items, with_source(f, d));
        else
            left_out++;
    }
    if (!first.items.len)
        return;
    buf_char(out, '\n');
    diag_print(&first, out);
    if (left_out)
        buf_printf(out, "(%u more like these are left out)\n", left_out);
}

/* ---- findings ---- */

static Str line_of(const EvalCandidate *candidate, const char *file, uint32_t number)
{
    const EvalText *text = text_of(candidate, file);
    Str rest = text ? text->text : (Str){0}, line;
    for (uint32_t n = 1; number && str_next(&rest, '\n', &line); n++)
        if (n == number)
            return line;
    return (Str){0};
}

static void add_line(const EvalCandidate *candidate, const char *file, uint32_t number, Buf *out)
{
    Str line = line_of(candidate, file, number);
    if (line.len)
        buf_printf(out, "  %4u | %.*s\n", number, STR_ARG(str_slice(line, 0, 160)));
}

static void add_finding(const Feedback *f, const VerdictFinding *h, Buf *out)
{
    buf_printf(out, "\n%s%s", h->file, h->file[0] ? ":" : "");
    if (h->line)
        buf_printf(out, "%u: ", h->line);
    buf_printf(out, "%s: %s [%s]", verdict_kind_text(h->kind), h->message, h->code);
    if (h->count > 1)
        buf_printf(out, " (%llu times)", (unsigned long long)h->count);
    buf_char(out, '\n');
    add_line(f->candidate, h->file, h->line, out);
    for (uint32_t i = 0; i < h->accesses.len; i++) {
        const VerdictAccess *a = &h->accesses.at[i];
        if (a->line && a->line != h->line)
            add_line(f->candidate, a->file[0] ? a->file : h->file, a->line, out);
    }
    if (h->repair[0])
        buf_printf(out, "hint: %s\n", h->repair);
}

/* One code over and over hides what else is wrong. */
static bool of_a_shown_code(const Verdict *v, uint32_t item)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < item; i++)
        same += !strcmp(v->hazards.at[i].code, v->hazards.at[item].code);
    return same >= MOST_OF_A_CODE;
}

static void add_findings(const Feedback *f, Buf *out)
{
    const Verdict *v = f->verdict;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < v->hazards.len && shown < MOST_FINDINGS; i++) {
        if (of_a_shown_code(v, i))
            continue;
        add_finding(f, &v->hazards.at[i], out);
        shown++;
    }
    if (v->hazards.len > shown)
        buf_printf(out, "(%u more are left out)\n", v->hazards.len - shown);
}

/* ---- the whole ---- */

static void add_cause(const Verdict *v, Buf *out)
{
    bool ran = v->status == VERDICT_WRONG || v->status == VERDICT_NOT_COMPUTED ||
               v->status == VERDICT_BAD_TILING || v->status == VERDICT_CRASHED;
    const char *why = ran ? cause(v->reason) : NULL;
    if (why)
        buf_printf(out, "hint: %s\n", why);
}

static void add_reason(const Verdict *v, Buf *out)
{
    Str reason = str_slice(str_from(v->reason), 0, MOST_REASON);
    if (!reason.len)
        return;
    buf_printf(out, "\n%.*s", STR_ARG(reason));
    if (v->kase && v->kase[0])
        buf_printf(out, " (case %s)", v->kase);
    buf_char(out, '\n');
    add_cause(v, out);
}

/* Whether a diagnostic with a line says the same as the verdict. */
static bool placed(const Feedback *f)
{
    for (uint32_t i = 0; f->diag && i < f->diag->items.len; i++) {
        const DiagItem *d = &f->diag->items.at[i];
        if (d->level == DIAG_ERROR && d->at.line && !strcmp(d->text, f->verdict->reason))
            return true;
    }
    return false;
}

/* A core that ended because the simulator found it waiting for ever did not crash by itself. */
static VerdictStatus class_of(const Verdict *v)
{
    if (v->status != VERDICT_CRASHED || !v->hazards.len)
        return v->status;
    return v->hazards.at[0].kind == FINDING_HANG ? VERDICT_HANG : VERDICT_HAZARD;
}

void feedback_text(Arena *arena, const Feedback *f, Buf *out)
{
    const Verdict *v = f->verdict;
    VerdictStatus status = class_of(v);
    bool from_compiler = status == VERDICT_NOT_PARSED || status == VERDICT_NOT_COMPILED;
    bool found = (status == VERDICT_HANG || status == VERDICT_HAZARD) && v->hazards.len;
    buf_printf(out, "%s\n", opening(status));
    if (f->cut)
        buf_puts(out, "The answer breaks off in the middle: give a shorter one, whole.\n");
    if (!found && !placed(f) && (!from_compiler || !f->diag || !f->diag->errors))
        add_reason(v, out);
    add_findings(f, out);
    if (f->diag && (from_compiler || f->diag->errors))
        add_diagnostics(arena, f, out);
    if (placed(f))
        add_cause(v, out);
    buf_puts(out, "\nRepair it and give the whole program again, in one fenced block.\n");
}

void feedback_json(Arena *arena, const Feedback *f, Buf *out)
{
    Buf text = {0};
    feedback_text(arena, f, &text);
    buf_puts(out, "{\"verdict\": ");
    verdict_to_json(f->verdict, out);
    buf_puts(out, ", \"diagnostics\": ");
    if (f->diag)
        diag_json(f->diag, out);
    else
        buf_puts(out, "[]");
    buf_puts(out, ", \"message\": ");
    buf_json_str(out, buf_view(&text));
    buf_char(out, '}');
    buf_free(&text);
}
