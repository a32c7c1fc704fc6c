/* Writing training rows; see export.h. Attempts come run by run and task by task; those of one task
 * and run are held together, because pairs are made among them. */
#include "store/export.h"

#include "base/map.h"
#include "base/version.h"
#include "npu/npu.h"
#include "store/store_int.h"
#include <math.h>
#include <string.h>

static const ExportKindRow kinds[EXPORT_KIND_COUNT] = {
#define KIND(name, text, meaning, needs) {text, meaning, needs},
#include "store/export_kind.def"
#undef KIND
};

const ExportKindRow *export_kind_row(ExportKind kind) { return &kinds[kind]; }

bool export_kind_from_name(Str name, ExportKind *kind)
{
    for (int i = 0; i < EXPORT_KIND_COUNT; i++)
        if (str_is(name, kinds[i].name)) {
            *kind = (ExportKind)i;
            return true;
        }
    return false;
}

/* An attempt with its texts fetched. */
typedef struct Held {
    StoreAttempt a;
    Str prompt;      /* JSON list of messages */
    Str answer, log; /* plain */
    int rank;        /* 2 right, 1 compiles, 0 does not, -1: acraft cannot say */
} Held;

typedef struct Export {
    Store *store;
    const ExportSpec *spec;
    Diag *diag;
    uint64_t rows;
    bool stopped;
    Arena arena; /* of the tasks */
    StoreTasks tasks;
    /* of one run and task */
    Arena group_arena;
    VEC(Held) group;
} Export;

static const size_t most_log = 16 << 10;

/* ---- texts ---- */

static bool get_blob(Export *e, const char *hash, Str *text)
{
    *text = STR("");
    return *hash == 0 || store_blob_get(e->store, &e->group_arena, hash, text, e->diag);
}

static const StoreTask *task_of(const Export *e, const StoreAttempt *a)
{
    for (uint32_t i = 0; i < e->tasks.len; i++)
        if (e->tasks.at[i].id == a->task)
            return &e->tasks.at[i];
    return NULL;
}

/* The shortest prompt for a task, where none was stored. */
static bool default_prompt(Export *e, const StoreAttempt *a, Str *prompt)
{
    const StoreTask *task = task_of(e, a);
    Str source;
    if (!task || !get_blob(e, task->source, &source))
        return false;
    Buf text = {0}, json = {0};
    buf_printf(&text,
               "Write an Ascend NPU kernel (%s) that computes what this PyTorch model computes.\n\n"
               "```python\n%.*s```\n",
               *a->form ? a->form : "craft", STR_ARG(source));
    buf_puts(&json, "[{\"role\": \"user\", \"content\": ");
    buf_json_str(&json, buf_view(&text));
    buf_puts(&json, "}]");
    *prompt = str_copy(&e->group_arena, buf_view(&json));
    buf_free(&text);
    buf_free(&json);
    return true;
}

/* The candidate's files as an answer would show them. */
static bool answer_of_texts(Export *e, const StoreAttempt *a, Str *answer)
{
    Buf out = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < a->texts.len; i++) {
        Str text;
        ok = get_blob(e, a->texts.at[i].blob, &text);
        if (ok && a->texts.len > 1)
            buf_printf(&out, "===== %s =====\n", a->texts.at[i].path);
        if (ok)
            buf_printf(&out, "```%s\n%.*s%s```\n",
                       strstr(a->texts.at[i].path, ".c") ? "" : "python", STR_ARG(text),
                       str_ends(text, "\n") ? "" : "\n");
    }
    *answer = out.at ? str_copy(&e->group_arena, buf_view(&out)) : STR("");
    buf_free(&out);
    return ok;
}

/* A log of megabytes teaches nothing: its head and its tail stay. */
static Str shortened(Arena *arena, Str log)
{
    if (log.len <= most_log)
        return log;
    size_t half = most_log / 2;
    Str tail = str_slice(log, log.len - half, log.len);
    return str_from(str_format(arena, "%.*s\n... %zu bytes left out ...\n%.*s", (int)half, log.at,
                               log.len - most_log, STR_ARG(tail)));
}

static int rank_of(const StoreAttempt *a)
{
    if (!verdict_status_row(a->status)->counted)
        return -1;
    return a->status == VERDICT_OK ? 2 : a->compiled == VERDICT_YES ? 1 : 0;
}

static bool has_text(const StoreAttempt *a)
{
    return a->status != VERDICT_OK || a->texts.len || *a->dialogue.answer;
}

static bool hold(Export *e, const StoreAttempt *a)
{
    Held h = {.a = *a, .rank = rank_of(a)};
    bool ok = get_blob(e, a->dialogue.prompt, &h.prompt) &&
              get_blob(e, a->dialogue.answer, &h.answer) &&
              get_blob(e, a->dialogue.diagnostics, &h.log);
    if (ok && h.prompt.len == 0)
        ok = default_prompt(e, a, &h.prompt);
    if (ok && h.answer.len == 0)
        ok = answer_of_texts(e, a, &h.answer);
    h.log = shortened(&e->group_arena, h.log);
    if (ok)
        vec_push(&e->group_arena, &e->group, h);
    return ok;
}

/* ---- rows ---- */

static void put_text(Buf *out, const char *key, const char *text)
{
    buf_printf(out, ", \"%s\": ", key);
    buf_json_str(out, str_from(text));
}

static void put_number(Buf *out, const char *key, double value)
{
    buf_printf(out, ", \"%s\": ", key);
    if (isfinite(value))
        buf_json_double(out, value);
    else
        buf_puts(out, "null");
}

static void put_message(Buf *out, const char *role, Str text)
{
    buf_printf(out, "{\"role\": \"%s\", \"content\": ", role);
    buf_json_str(out, text);
    buf_puts(out, "}");
}

static void put_assistant(Buf *out, const char *key, Str text)
{
    buf_printf(out, ", \"%s\": [", key);
    put_message(out, "assistant", text);
    buf_puts(out, "]");
}

/* Where the row comes from, and the end of the line. */
static void end_row(Export *e, Buf *out, const Held *h)
{
    const StoreAttempt *a = &h->a;
    const StoreTask *task = task_of(e, a);
    buf_printf(out, ", \"schema\": %d", VERDICT_SCHEMA);
    put_text(out, "program", "acraft " ACRAFT_VERSION);
    put_text(out, "task", a->task_name);
    put_text(out, "suite", a->suite);
    put_text(out, "category", a->category);
    put_text(out, "wording", task ? task->wording : "");
    put_text(out, "form", a->form);
    put_text(out, "generator", a->generator);
    put_text(out, "model", a->dialogue.model);
    put_text(out, "status", verdict_status_row(a->status)->text);
    put_text(out, "source", a->source);
    put_text(out, "rule", a->rule);
    put_text(out, "provenance", a->provenance);
    put_text(out, "licence", a->licence);
    put_text(out, "task_licence", task ? task->licence : "");
    buf_puts(out, "}\n");
    e->rows++;
    e->stopped = !e->spec->line(e->spec->context, buf_view(out)) ||
                 (e->spec->most && e->rows >= e->spec->most);
    buf_clear(out);
}

static void put_prompt(Buf *out, const Held *h)
{
    buf_printf(out, "{\"prompt\": %.*s", STR_ARG(h->prompt));
}

/* The messages of the prompt without the closing bracket. */
static void open_messages(Buf *out, const Held *h)
{
    Str inner = str_trim(h->prompt);
    buf_printf(out, "{\"messages\": %.*s, ", STR_ARG(str_slice(inner, 0, inner.len - 1)));
}

static void write_attempt(Export *e, Buf *out, const Held *h)
{
    const StoreAttempt *a = &h->a;
    put_prompt(out, h);
    put_assistant(out, "completion", h->answer);
    buf_printf(out, ", \"run\": %lld, \"sample\": %u, \"turn\": %u, \"hazards\": %u",
               (long long)a->run, a->sample, a->turn, a->hazards);
    put_text(out, "reason", a->reason);
    buf_puts(out, ", \"diagnostics\": ");
    buf_json_str(out, h->log);
    put_number(out, "predicted_us", a->predicted_us);
    put_number(out, "bound_us", a->bound_us);
    put_number(out, "baseline_us", a->baseline_us);
    buf_puts(out, ", \"verdicts\": [");
    for (uint32_t i = 0; i < a->cases.len; i++)
        buf_printf(out, "%s%s", i ? ", " : "", a->cases.at[i].verdict);
    buf_puts(out, "]");
    end_row(e, out, h);
}

static void write_sft(Export *e, Buf *out, const Held *h)
{
    if (h->rank != 2)
        return;
    open_messages(out, h);
    put_message(out, "assistant", h->answer);
    buf_puts(out, "]");
    end_row(e, out, h);
}

static void write_kto(Export *e, Buf *out, const Held *h)
{
    if (h->rank < 0)
        return;
    put_prompt(out, h);
    put_assistant(out, "completion", h->answer);
    buf_printf(out, ", \"label\": %s", h->rank == 2 ? "true" : "false");
    end_row(e, out, h);
}

static void write_repair(Export *e, Buf *out, const Held *h, const Held *next)
{
    bool follows = next->a.sample == h->a.sample && next->a.turn == h->a.turn + 1;
    if (!follows || h->rank < 0 || next->rank <= h->rank)
        return;
    open_messages(out, h);
    put_message(out, "assistant", h->answer);
    buf_puts(out, ", ");
    put_message(out, "user", h->log);
    buf_puts(out, ", ");
    put_message(out, "assistant", next->answer);
    buf_puts(out, "]");
    end_row(e, out, next);
}

/* Right over wrong over not compiling; of two right ones the one that is faster by more than the model's error. */
static bool better(const Held *x, const Held *y)
{
    if (x->rank != y->rank)
        return x->rank > y->rank && y->rank >= 0;
    return x->rank == 2 && x->a.predicted_us > 0 &&
           y->a.predicted_us > npu_longest(x->a.predicted_us);
}

static void write_pairs(Export *e, Buf *out)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < e->group.len; i++)
        for (uint32_t k = 0; k < e->group.len && made < e->spec->pairs && !e->stopped; k++) {
            const Held *good = &e->group.at[i], *bad = &e->group.at[k];
            if (!better(good, bad) || str_equal(good->answer, bad->answer))
                continue;
            put_prompt(out, good);
            put_assistant(out, "chosen", good->answer);
            put_assistant(out, "rejected", bad->answer);
            put_text(out, "rejected_status", verdict_status_row(bad->a.status)->text);
            put_number(out, "chosen_us", good->a.predicted_us);
            put_number(out, "rejected_us", bad->a.predicted_us);
            end_row(e, out, good);
            made++;
        }
}

static void write_task(Export *e, Buf *out)
{
    put_prompt(out, &e->group.at[0]);
    end_row(e, out, &e->group.at[0]);
}

static void write_group(Export *e)
{
    Buf out = {0};
    if (e->group.len && e->spec->kind == EXPORT_PREFERENCE)
        write_pairs(e, &out);
    else if (e->group.len && e->spec->kind == EXPORT_GRPO)
        write_task(e, &out);
    for (uint32_t i = 0; i < e->group.len && !e->stopped; i++) {
        const Held *h = &e->group.at[i];
        if (e->spec->kind == EXPORT_ATTEMPTS)
            write_attempt(e, &out, h);
        else if (e->spec->kind == EXPORT_SFT)
            write_sft(e, &out, h);
        else if (e->spec->kind == EXPORT_KTO)
            write_kto(e, &out, h);
        else if (e->spec->kind == EXPORT_REPAIR && i + 1 < e->group.len)
            write_repair(e, &out, h, h + 1);
    }
    buf_free(&out);
    e->group.len = e->group.cap = 0;
    e->group.at = NULL;
    arena_drop(&e->group_arena);
}

bool export_rows(Store *store, const ExportSpec *spec, uint64_t *rows, Diag *diag)
{
    Export e = {.store = store, .spec = spec, .diag = diag};
    StoreFilter filter = spec->filter;
    filter.with_texts = true;
    filter.with_cases = spec->kind == EXPORT_ATTEMPTS;
    uint32_t before = diag->errors;
    bool ok = store_tasks(store, &e.arena, 0, &e.tasks, diag);
    StoreRows *from = ok ? store_attempts(store, &filter, diag) : NULL;
    StoreAttempt a;
    int64_t run = 0, task = 0;
    while (ok && from && !e.stopped && store_next(from, &e.arena, &a)) {
        if (a.run != run || a.task != task)
            write_group(&e);
        run = a.run;
        task = a.task;
        if (has_text(&a)) /* a kernel for another platform is kept as its times only */
            ok = e.stopped || hold(&e, &a);
    }
    if (ok && from && !e.stopped)
        write_group(&e);
    store_done(from);
    arena_drop(&e.group_arena);
    arena_drop(&e.arena);
    *rows = e.rows;
    return ok && from && diag->errors == before;
}
