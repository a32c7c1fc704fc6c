/* Judged to JSON and JSON to an attempt; see bench_wire.h. */
#include "loop/bench_wire.h"

#include "base/hash.h"
#include <math.h>
#include <string.h>

void wire_source_hash(const EvalCandidate *candidate, char hash[STORE_HASH])
{
    Sha256 sha = sha256_begin();
    for (uint32_t i = 0; i < candidate->texts.len; i++) {
        const EvalText *t = &candidate->texts.at[i];
        sha256_add(&sha, t->path, strlen(t->path) + 1);
        sha256_add(&sha, t->text.at, t->text.len);
        sha256_add(&sha, "", 1);
    }
    sha256_end(&sha, hash);
}

/* ---- writing ---- */

static void put_key(Buf *out, const char *key) { buf_printf(out, ", \"%s\": ", key); }

static void put_text(Buf *out, const char *key, const char *text)
{
    put_key(out, key);
    buf_json_str(out, str_from(text));
}

static void put_number(Buf *out, const char *key, double value)
{
    put_key(out, key);
    if (isfinite(value))
        buf_json_double(out, value);
    else
        buf_puts(out, "null");
}

static void put_texts(Buf *out, const EvalCandidate *c)
{
    put_key(out, "texts");
    for (uint32_t i = 0; i < c->texts.len; i++) {
        buf_puts(out, i ? ", [" : "[[");
        buf_json_str(out, str_from(c->texts.at[i].path));
        buf_puts(out, ", ");
        buf_json_str(out, c->texts.at[i].text);
        buf_puts(out, "]");
    }
    buf_puts(out, c->texts.len ? "]" : "[]");
}

static void put_case(Buf *out, const JudgedCase *c)
{
    Buf verdict = {0};
    verdict_to_json(&c->verdict, &verdict);
    buf_printf(out, "{\"seed\": \"%llu\"", (unsigned long long)c->seed);
    put_text(out, "name", c->name);
    put_text(out, "shapes", c->shapes);
    put_text(out, "status", verdict_status_row(c->verdict.status)->text);
    put_text(out, "verdict", verdict.at);
    put_key(out, "trace");
    buf_json_str(out, c->trace);
    buf_puts(out, "}");
    buf_free(&verdict);
}

/* The names every case lacks, each once. */
static void put_unsupported(Buf *out, const Judged *judged)
{
    Buf names = {0};
    for (uint32_t i = 0; i < judged->cases.len; i++)
        for (uint32_t k = 0; k < judged->cases.at[i].verdict.unsupported.len; k++) {
            const char *name = judged->cases.at[i].verdict.unsupported.at[k];
            if (!names.at || !strstr(names.at, name))
                buf_printf(&names, "%s%s", names.len ? ", " : "", name);
        }
    put_text(out, "unsupported", names.at ? names.at : "");
    buf_free(&names);
}

void wire_judged(const Judged *judged, Buf *out)
{
    char hash[STORE_HASH];
    wire_source_hash(&judged->candidate, hash);
    buf_printf(out, "{\"hazards\": %u, \"compiled\": %d, \"correct\": %d", judged->hazards,
               (int)judged->compiled, (int)judged->correct);
    put_text(out, "form",
             judged->candidate.texts.len ? eval_form_text(judged->candidate.form) : "");
    put_text(out, "extracted", judged->candidate.extracted);
    put_text(out, "status", verdict_status_row(judged->status)->text);
    put_text(out, "reason", judged->reason);
    put_text(out, "source", hash);
    put_text(out, "log", judged->log);
    put_unsupported(out, judged);
    put_number(out, "predicted_us", judged->predicted_us);
    put_number(out, "bound_us", judged->bound_us);
    put_number(out, "baseline_us", judged->baseline_us);
    put_number(out, "unfused_us", judged->unfused_us);
    put_number(out, "measured_us", judged->measured_us);
    put_number(out, "copy_us", judged->copy_us);
    put_texts(out, &judged->candidate);
    put_key(out, "cases");
    for (uint32_t i = 0; i < judged->cases.len; i++) {
        buf_puts(out, i ? ", " : "[");
        put_case(out, &judged->cases.at[i]);
    }
    buf_puts(out, judged->cases.len ? "]}" : "[]}");
}

/* ---- reading ---- */

static const char *get_text(Arena *arena, json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    const char *text = json_string_value(value);
    return text ? str_dup(arena, (Str){text, json_string_length(value)}) : "";
}

static double get_number(json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static uint32_t get_count(json_t *from, const char *key)
{
    return (uint32_t)json_integer_value(json_object_get(from, key));
}

static VerdictStatus get_status(Arena *arena, json_t *from)
{
    VerdictStatus status = VERDICT_INTERNAL;
    verdict_status_from_text(str_from(get_text(arena, from, "status")), &status);
    return status;
}

static bool put_blob(Store *store, Arena *arena, Str text, const char **name, Diag *diag)
{
    char hash[STORE_HASH];
    if (!store_blob_put(store, text, hash, diag))
        return false;
    *name = str_dup(arena, str_from(hash));
    return true;
}

static bool get_texts(Store *store, Arena *arena, json_t *list, StoreAttempt *a, Diag *diag)
{
    size_t i;
    json_t *pair;
    json_array_foreach(list, i, pair)
    {
        json_t *path = json_array_get(pair, 0), *text = json_array_get(pair, 1);
        StoreText t = {.path = str_dup(arena, str_from(json_string_value(path)))};
        if (!put_blob(store, arena, (Str){json_string_value(text), json_string_length(text)},
                      &t.blob, diag))
            return false;
        vec_push(arena, &a->texts, t);
    }
    return true;
}

static bool put_text_of(Store *store, Arena *arena, json_t *from, const char *key,
                        const char **name, Diag *diag)
{
    json_t *value = json_object_get(from, key);
    Str text = {json_string_value(value), json_string_length(value)};
    return !text.len || put_blob(store, arena, text, name, diag);
}

static bool get_cases(Store *store, Arena *arena, json_t *list, StoreAttempt *a, Diag *diag)
{
    size_t i;
    json_t *of;
    json_array_foreach(list, i, of)
    {
        int64_t seed = 0;
        str_to_i64(str_from(get_text(arena, of, "seed")), &seed);
        StoreCase c = {.name = get_text(arena, of, "name"),
                       .seed = (uint64_t)seed,
                       .shapes = get_text(arena, of, "shapes"),
                       .status = get_status(arena, of),
                       .verdict = get_text(arena, of, "verdict"),
                       .trace = ""};
        if (!put_text_of(store, arena, of, "trace", &c.trace, diag))
            return false;
        vec_push(arena, &a->cases, c);
    }
    return true;
}

static int64_t get_tokens(json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

/* The turn of a conversation, where a model wrote the answer. */
static bool get_dialogue(Store *store, Arena *arena, json_t *from, StoreTurn *turn, Diag *diag)
{
    if (!from)
        return true;
    turn->model = get_text(arena, from, "model");
    turn->tokens_in = get_tokens(from, "tokens_in");
    turn->tokens_out = get_tokens(from, "tokens_out");
    turn->seconds = get_number(from, "seconds");
    return put_text_of(store, arena, from, "prompt", &turn->prompt, diag) &&
           put_text_of(store, arena, from, "answer", &turn->answer, diag) &&
           put_text_of(store, arena, from, "said", &turn->diagnostics, diag);
}

bool wire_attempt(Store *store, Arena *arena, json_t *reply, StoreAttempt *a, Diag *diag)
{
    a->hazards = get_count(reply, "hazards");
    a->compiled = (VerdictAnswer)get_count(reply, "compiled");
    a->correct = (VerdictAnswer)get_count(reply, "correct");
    a->form = get_text(arena, reply, "form");
    a->status = get_status(arena, reply);
    a->reason = get_text(arena, reply, "reason");
    a->source = get_text(arena, reply, "source");
    a->unsupported = get_text(arena, reply, "unsupported");
    a->predicted_us = get_number(reply, "predicted_us");
    a->bound_us = get_number(reply, "bound_us");
    a->baseline_us = get_number(reply, "baseline_us");
    a->unfused_us = get_number(reply, "unfused_us");
    a->measured_us = get_number(reply, "measured_us");
    a->copy_us = get_number(reply, "copy_us");
    json_t *log = json_object_get(reply, "log");
    return get_cases(store, arena, json_object_get(reply, "cases"), a, diag) &&
           get_texts(store, arena, json_object_get(reply, "texts"), a, diag) &&
           put_blob(store, arena, (Str){json_string_value(log), json_string_length(log)},
                    &a->dialogue.diagnostics, diag) &&
           get_dialogue(store, arena, json_object_get(reply, "dialogue"), &a->dialogue, diag);
}
