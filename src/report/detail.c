/* One attempt as the page shows it: files, cases with their verdicts, the conversation. In: an
 * attempt with its texts and cases. Out: a JSON object; texts go to the pack, or stay in the store
 * and are named. A blob that is missing becomes a sentence, not a failure. */
#include "report/report_int.h"

static void put_key(Buf *json, const char *key, const char *text)
{
    buf_printf(json, ",\"%s\":", key);
    buf_json_str(json, str_from(text));
}

static Str read_blob(const ReportTexts *t, Arena *arena, const char *hash)
{
    Str text;
    Diag diag = diag_make(arena, "", STR(""));
    if (store_blob_get(t->store, arena, hash, &text, &diag))
        return text;
    return STR("(this text is missing from the store, or damaged)");
}

static int64_t piece_of(const ReportTexts *t, const char *hash)
{
    int64_t piece;
    if (report_pack_find(t->pack, hash, &piece))
        return piece;
    Arena arena = {0};
    Str text = report_cut(&arena, read_blob(t, &arena, hash), t->most_text);
    piece = report_pack_add(t->pack, hash, text);
    arena_drop(&arena);
    return piece;
}

static void put_number_or_null(Buf *json, int64_t piece)
{
    if (piece < 0)
        buf_puts(json, "null");
    else
        buf_printf(json, "%lld", (long long)piece);
}

static void put_text(const ReportTexts *t, const char *hash, Buf *json)
{
    if (!*hash)
        buf_puts(json, "null");
    else if (t->pack)
        put_number_or_null(json, piece_of(t, hash));
    else
        buf_json_str(json, str_from(hash));
}

static int64_t timeline_piece(ReportTexts *t, const char *hash)
{
    Arena arena = {0};
    Buf timeline = {0};
    int64_t piece;
    const char *name = str_format(&arena, "timeline %s", hash);
    if (!report_pack_find(t->pack, name, &piece) && t->draw && t->drawing_room &&
        report_timeline(read_blob(t, &arena, hash), &timeline)) {
        piece = report_pack_add(t->pack, name, buf_view(&timeline));
        t->drawing_room -= timeline.len < t->drawing_room ? timeline.len : t->drawing_room;
    }
    buf_free(&timeline);
    arena_drop(&arena);
    return piece;
}

/* A page that is one file has room for some timelines only. */
static void put_timeline(ReportTexts *t, const char *hash, Buf *json)
{
    int64_t piece = *hash && t->pack ? timeline_piece(t, hash) : -1;
    buf_puts(json, ",\"timeline\":");
    if (*hash && t->pack)
        put_number_or_null(json, piece);
    else
        put_text(t, hash, json);
    if (*hash && t->pack && piece < 0)
        buf_puts(json, ",\"left_out\":true");
}

/* A verdict is read and written again, so that no other JSON gets into the page. */
static void put_verdict(const char *text, Buf *json)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Verdict verdict;
    if (verdict_from_json(&arena, str_from(text), &verdict, &diag))
        verdict_to_json(&verdict, json);
    else
        buf_puts(json, "null");
    arena_drop(&arena);
}

static void put_case(ReportTexts *t, const StoreCase *c, Buf *json)
{
    buf_puts(json, "{\"name\":");
    buf_json_str(json, str_from(c->name));
    buf_printf(json, ",\"seed\":\"%llu\"", (unsigned long long)c->seed);
    put_key(json, "shapes", c->shapes);
    put_key(json, "status", verdict_status_row(c->status)->text);
    buf_puts(json, ",\"verdict\":");
    put_verdict(c->verdict, json);
    put_timeline(t, c->trace, json);
    buf_puts(json, "}");
}

static void put_talk(const ReportTexts *t, const StoreTurn *d, Buf *json)
{
    put_key(json, "model", d->model);
    buf_printf(json, ",\"tokens\":[%lld,%lld],\"prompt\":", (long long)d->tokens_in,
               (long long)d->tokens_out);
    put_text(t, d->prompt, json);
    buf_puts(json, ",\"answer\":");
    put_text(t, d->answer, json);
    buf_puts(json, ",\"said\":");
    put_text(t, d->diagnostics, json);
}

static void put_file(const ReportTexts *t, const char *path, const char *blob, Buf *json)
{
    buf_puts(json, str_ends(buf_view(json), "[") ? "[" : ",[");
    buf_json_str(json, str_from(path));
    buf_puts(json, ",");
    put_text(t, blob, json);
    buf_puts(json, "]");
}

/* The candidate's files, then the model file of its task. */
static void put_files(const ReportTexts *t, const StoreAttempt *a, Buf *json)
{
    buf_puts(json, ",\"files\":[");
    for (uint32_t i = 0; i < a->texts.len; i++)
        put_file(t, a->texts.at[i].path, a->texts.at[i].blob, json);
    for (uint32_t i = 0; i < t->tasks.len; i++)
        if (t->tasks.at[i].id == a->task)
            put_file(t, "the task", t->tasks.at[i].source, json);
    buf_puts(json, "]");
}

void report_detail(ReportTexts *t, const StoreAttempt *a, Buf *json)
{
    buf_puts(json, "{\"form\":");
    buf_json_str(json, str_from(a->form));
    put_key(json, "generator", a->generator);
    put_key(json, "rule", a->rule);
    put_key(json, "provenance", a->provenance);
    put_key(json, "licence", a->licence);
    put_key(json, "lacks", a->unsupported);
    put_key(json, "reason", a->reason);
    put_files(t, a, json);
    buf_puts(json, ",\"cases\":[");
    for (uint32_t i = 0; i < a->cases.len; i++) {
        buf_puts(json, i ? "," : "");
        put_case(t, &a->cases.at[i], json);
    }
    buf_puts(json, "]");
    put_talk(t, &a->dialogue, json);
    buf_puts(json, "}");
}

bool report_attempt(Store *store, int64_t attempt, Buf *json, Diag *diag)
{
    StoreFilter filter = {.attempt = attempt, .with_texts = true, .with_cases = true};
    ReportTexts texts = {.store = store};
    Arena arena = {0};
    StoreAttempt a;
    StoreRows *rows = attempt > 0 ? store_attempts(store, &filter, diag) : NULL;
    bool found = rows && store_next(rows, &arena, &a) &&
                 store_tasks(store, &arena, a.run, &texts.tasks, diag);
    if (found)
        report_detail(&texts, &a, json);
    store_done(rows);
    arena_drop(&arena);
    return found;
}
