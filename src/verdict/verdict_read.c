/* Reads a verdict back from JSON, with jansson. The text may come from anywhere: every field is
 * looked at, a wrong type is an error that names the key, a missing one keeps its default. */
#include "verdict/verdict.h"

#include <stdlib.h>
#include <jansson.h>
#include <math.h>

typedef struct Reader {
    Arena *arena;
    Diag *diag;
    bool ok;
} Reader;

static void bad(Reader *r, const char *key, const char *want)
{
    diag_error(r->diag, "V002", (Span){0}, "verdict: '%s' should be %s", key, want);
    r->ok = false;
}

/* The value under a key, or NULL when it is absent or null. */
static json_t *find(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

static void read_text(Reader *r, json_t *object, const char *key, const char **into)
{
    json_t *value = find(object, key);
    if (!value)
        return;
    if (!json_is_string(value)) {
        bad(r, key, "a string");
        return;
    }
    *into = str_dup(r->arena, (Str){json_string_value(value), json_string_length(value)});
}

static void read_count(Reader *r, json_t *object, const char *key, uint64_t *into)
{
    json_t *value = find(object, key);
    if (!value)
        return;
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        bad(r, key, "a whole number");
        return;
    }
    *into = (uint64_t)json_integer_value(value);
}

static void read_small(Reader *r, json_t *object, const char *key, uint32_t *into)
{
    uint64_t wide = *into;
    read_count(r, object, key, &wide);
    if (wide > UINT32_MAX)
        bad(r, key, "a smaller number");
    else
        *into = (uint32_t)wide;
}

static void read_number(Reader *r, json_t *object, const char *key, double *into)
{
    json_t *value = find(object, key);
    if (!value)
        return;
    const char *name = json_string_value(value);
    Str text = str_from(name);
    if (json_is_number(value))
        *into = json_number_value(value);
    else if (name && str_is(text, "nan"))
        *into = NAN;
    else if (name && str_is(text, "inf"))
        *into = INFINITY;
    else if (name && str_is(text, "-inf"))
        *into = -INFINITY;
    else
        bad(r, key, "a number");
}

static void read_bool(Reader *r, json_t *object, const char *key, bool *into)
{
    json_t *value = find(object, key);
    if (value && !json_is_boolean(value))
        bad(r, key, "true or false");
    else if (value)
        *into = json_is_true(value);
}

static void read_answer(Reader *r, json_t *object, const char *key, VerdictAnswer *into)
{
    bool yes = false;
    if (!find(object, key))
        return;
    read_bool(r, object, key, &yes);
    *into = yes ? VERDICT_YES : VERDICT_NO;
}

/* The list under a key; elements that are not of `type` spoil the verdict. */
static json_t *find_list(Reader *r, json_t *object, const char *key, json_type type)
{
    json_t *list = find(object, key);
    if (list && !json_is_array(list)) {
        bad(r, key, "a list");
        return NULL;
    }
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_typeof(item) != type) {
            bad(r, key, type == JSON_OBJECT ? "a list of objects" : "a list of strings");
            return NULL;
        }
    }
    return list;
}

static void read_enum(Reader *r, json_t *object, const char *key, int count,
                      const char *(*text)(int), int *into)
{
    const char *name = NULL;
    read_text(r, object, key, &name);
    if (!name)
        return;
    for (int i = 0; i < count; i++) {
        if (str_is(str_from(name), text(i))) {
            *into = i;
            return;
        }
    }
    bad(r, key, "a word of its list");
}

static const char *status_text(int i) { return verdict_status_row((VerdictStatus)i)->text; }
static const char *stage_text(int i) { return verdict_stage_text((VerdictStage)i); }
static const char *kind_text(int i) { return verdict_kind_text((FindingKind)i); }

static VerdictAccess read_access(Reader *r, json_t *object)
{
    VerdictAccess access = {.memory = "", .file = ""};
    read_text(r, object, "memory", &access.memory);
    read_text(r, object, "tensor", &access.tensor);
    read_bool(r, object, "write", &access.write);
    read_count(r, object, "from", &access.from);
    read_count(r, object, "to", &access.to);
    read_text(r, object, "file", &access.file);
    read_small(r, object, "line", &access.line);
    return access;
}

static VerdictFinding read_finding(Reader *r, json_t *object)
{
    VerdictFinding f = {
        .code = "", .message = "", .file = "", .api = "", .device = "", .repair = ""};
    int kind = FINDING_FAULT;
    read_enum(r, object, "kind", FINDING_LEAK + 1, kind_text, &kind);
    f.kind = (FindingKind)kind;
    read_bool(r, object, "warning", &f.warning);
    read_bool(r, object, "inserted", &f.inserted);
    read_text(r, object, "code", &f.code);
    read_text(r, object, "message", &f.message);
    read_text(r, object, "file", &f.file);
    read_small(r, object, "line", &f.line);
    read_small(r, object, "core", &f.core);
    read_count(r, object, "count", &f.count);
    read_text(r, object, "api", &f.api);
    read_text(r, object, "device", &f.device);
    read_text(r, object, "repair", &f.repair);
    size_t i;
    json_t *item;
    json_array_foreach(find_list(r, object, "accesses", JSON_OBJECT), i, item)
        vec_push(r->arena, &f.accesses, read_access(r, item));
    return f;
}

static void read_first_bad(Reader *r, json_t *root, Verdict *v)
{
    json_t *object = find(root, "first_bad");
    if (!object)
        return;
    if (!json_is_object(object)) {
        bad(r, "first_bad", "an object");
        return;
    }
    v->first_bad.any = true;
    v->first_bad.tensor = "";
    read_text(r, object, "tensor", &v->first_bad.tensor);
    read_count(r, object, "index", &v->first_bad.index);
    read_number(r, object, "got", &v->first_bad.got);
    read_number(r, object, "want", &v->first_bad.want);
}

static void read_lists(Reader *r, json_t *root, Verdict *v)
{
    size_t i;
    json_t *item;
    json_array_foreach(find_list(r, root, "hazards", JSON_OBJECT), i, item)
        vec_push(r->arena, &v->hazards, read_finding(r, item));
    json_array_foreach(find_list(r, root, "unsupported", JSON_STRING), i, item)
        vec_push(r->arena, &v->unsupported,
                 str_dup(r->arena, (Str){json_string_value(item), json_string_length(item)}));
    json_array_foreach(find_list(r, root, "pipes", JSON_OBJECT), i, item)
    {
        VerdictPipe pipe = {.name = "", .cycles = NAN, .share = NAN};
        read_text(r, item, "name", &pipe.name);
        read_number(r, item, "cycles", &pipe.cycles);
        read_number(r, item, "share", &pipe.share);
        vec_push(r->arena, &v->pipes, pipe);
    }
}

/* The seed is text, because not every JSON reader holds 64 bits in a number. */
static void read_seed(Reader *r, json_t *root, Verdict *v)
{
    const char *text = "";
    read_text(r, root, "seed", &text);
    v->seeded = *text != 0;
    v->seed = strtoull(text, NULL, 10);
}

static void read_verdict(Reader *r, json_t *root, Verdict *v)
{
    int status = VERDICT_OK, stage = STAGE_EXTRACT;
    read_enum(r, root, "status", VERDICT_STATUS_COUNT, status_text, &status);
    read_enum(r, root, "stage", VERDICT_STAGE_COUNT, stage_text, &stage);
    v->status = (VerdictStatus)status;
    v->stage = (VerdictStage)stage;
    read_text(r, root, "config", &v->config);
    read_seed(r, root, v);
    read_text(r, root, "task", &v->task);
    read_text(r, root, "candidate", &v->candidate);
    read_text(r, root, "case", &v->kase);
    read_text(r, root, "inputs", &v->inputs);
    read_text(r, root, "reason", &v->reason);
    read_answer(r, root, "compiled", &v->compiled);
    read_answer(r, root, "correct", &v->correct);
    read_number(r, root, "max_abs_err", &v->max_abs_err);
    read_number(r, root, "max_rel_err", &v->max_rel_err);
    read_number(r, root, "tolerance_used", &v->tolerance_used);
    read_first_bad(r, root, v);
    read_lists(r, root, v);
    read_count(r, root, "cycles", &v->cycles);
    read_number(r, root, "predicted_us", &v->predicted_us);
    read_number(r, root, "bound_us", &v->bound_us);
    read_count(r, root, "proved", &v->proved);
    read_count(r, root, "watched", &v->watched);
    read_text(r, root, "walls_missing", &v->walls_missing);
    read_number(r, root, "seconds", &v->seconds);
}

bool verdict_from_json(Arena *arena, Str text, Verdict *verdict, Diag *diag)
{
    json_error_t error;
    json_t *root = json_loadb(text.at ? text.at : "", text.len, JSON_REJECT_DUPLICATES, &error);
    *verdict = verdict_make();
    if (!json_is_object(root)) {
        diag_error(diag, "V001", (Span){0}, "verdict: %s", root ? "not a JSON object" : error.text);
        json_decref(root);
        return false;
    }
    Reader reader = {.arena = arena, .diag = diag, .ok = true};
    if (!find(root, "status"))
        bad(&reader, "status", "given");
    read_verdict(&reader, root, verdict);
    json_decref(root);
    return reader.ok;
}
