/* Training rows: one JSON object a line, whatever was in the texts. */
#include "store/export.h"

#include "base/file.h"
#include "tests/schema.h"
#include "tests/t.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

typedef struct Place {
    Arena arena;
    Diag diag;
    const char *dir;
    Store *store;
    StoreRun run;
    int64_t task;
    uint32_t rows;
    json_t *last;
} Place;

static const char *blob(Place *p, Str text)
{
    char hash[STORE_HASH];
    REQUIRE(store_blob_put(p->store, text, hash, &p->diag));
    return str_dup(&p->arena, str_from(hash));
}

static void make_place(Place *p)
{
    *p = (Place){.run = {.suite = "s", .generator = "g", .settings = "{}", .label = ""}};
    p->diag = diag_make(&p->arena, "", STR(""));
    REQUIRE(file_temp_dir(&p->arena, "acraft-export-test", &p->dir, &p->diag));
    p->store = store_open(path_join(&p->arena, p->dir, "r.db"), STORE_MAKE, &p->diag);
    REQUIRE(p->store && store_run_begin(p->store, &p->run, &p->diag));
    StoreTask task = {.suite = "s",
                      .name = "relu",
                      .source = blob(p, STR("class Model: \"\\\n")),
                      .wording = "reworded",
                      .licence = "Apache-2.0"};
    REQUIRE(store_tasks_put(p->store, &task, 1, &p->diag));
    p->task = task.id;
}

static void add_attempt(Place *p, uint32_t sample, uint32_t turn, VerdictStatus status, double us,
                        Str answer, Str log)
{
    StoreAttempt a = {.run = p->run.id,
                      .task = p->task,
                      .sample = sample,
                      .turn = turn,
                      .status = status,
                      .compiled = status == VERDICT_NOT_PARSED ? VERDICT_NO : VERDICT_YES,
                      .predicted_us = us,
                      .bound_us = (double)NAN,
                      .baseline_us = (double)NAN,
                      .unfused_us = (double)NAN,
                      .measured_us = (double)NAN,
                      .copy_us = (double)NAN,
                      .licence = "CC0",
                      .provenance = "test"};
    a.dialogue.answer = answer.len ? blob(p, answer) : "";
    a.dialogue.diagnostics = blob(p, log);
    REQUIRE(store_attempt_add(p->store, &a, &p->diag));
}

static bool take_line(void *context, Str line)
{
    Place *p = context;
    json_error_t error;
    json_decref(p->last);
    p->last = json_loadb(line.at, line.len - 1, JSON_ALLOW_NUL, &error);
    CHECK_MSG(json_is_object(p->last), "row %u: %s", p->rows, error.text);
    Arena scratch = {0};
    const char *place = schema_refuses("export.schema.json", str_dup(&scratch, line));
    CHECK_MSG(!place, "row %u: the schema does not take %s", p->rows, place);
    arena_drop(&scratch);
    CHECK(line.at[line.len - 1] == '\n' && !memchr(line.at, '\n', line.len - 1));
    CHECK_EQ_STR(json_string_value(json_object_get(p->last, "licence")), "CC0");
    CHECK_EQ_STR(json_string_value(json_object_get(p->last, "task_licence")), "Apache-2.0");
    p->rows++;
    return true;
}

static uint64_t export_kind(Place *p, ExportKind kind)
{
    ExportSpec spec = {.kind = kind, .pairs = 8, .line = take_line, .context = p};
    uint64_t rows = 0;
    CHECK(export_rows(p->store, &spec, &rows, &p->diag));
    return rows;
}

static void drop_place(Place *p)
{
    json_decref(p->last);
    store_close(p->store);
    CHECK(file_remove_tree(p->dir, &p->diag));
    arena_drop(&p->arena);
}

T_TEST(export_every_kind)
{
    Place p;
    make_place(&p);
    char *huge = arena_alloc(&p.arena, 1 << 20);
    memset(huge, 'e', 1 << 20);
    add_attempt(&p, 0, 0, VERDICT_NOT_PARSED, (double)NAN,
                STR("odd \xff\xfe \x01 \"\\ \xf0\x9f\x9a\x80"), (Str){huge, 1 << 20});
    add_attempt(&p, 0, 1, VERDICT_OK, 10, STR("right"), STR(""));
    add_attempt(&p, 1, 0, VERDICT_OK, 20, STR("right and slow"), STR(""));
    add_attempt(&p, 2, 0, VERDICT_WRONG, (double)NAN, STR(""), STR("wrong"));
    add_attempt(&p, 3, 0, VERDICT_UNSUPPORTED, (double)NAN, STR("who knows"), STR(""));
    CHECK_EQ_INT(export_kind(&p, EXPORT_ATTEMPTS), 5);
    CHECK_EQ_INT(export_kind(&p, EXPORT_SFT), 2);
    CHECK_EQ_INT(export_kind(&p, EXPORT_REPAIR), 1);
    json_t *messages = json_object_get(p.last, "messages");
    CHECK_EQ_INT(json_array_size(messages), 4);
    json_t *said = json_object_get(json_array_get(messages, 2), "content");
    CHECK(json_string_length(said) < 20000); /* the log of a megabyte is cut */
    CHECK_EQ_INT(export_kind(&p, EXPORT_KTO), 4);
    CHECK_EQ_INT(export_kind(&p, EXPORT_GRPO), 1);
    /* right over wrong and over unparsed, twice; the faster over the slower */
    CHECK_EQ_INT(export_kind(&p, EXPORT_PREFERENCE), 6);
    drop_place(&p);
}

T_TEST(export_prefers_no_answer_within_the_models_error)
{
    Place p;
    make_place(&p);
    add_attempt(&p, 0, 0, VERDICT_OK, 100, STR("right"), STR(""));
    add_attempt(&p, 1, 0, VERDICT_OK, 115, STR("perhaps slower"), STR(""));
    CHECK_EQ_INT(export_kind(&p, EXPORT_PREFERENCE), 0);
    add_attempt(&p, 2, 0, VERDICT_OK, 130, STR("slower than the first"), STR(""));
    CHECK_EQ_INT(export_kind(&p, EXPORT_PREFERENCE), 1);
    drop_place(&p);
}
