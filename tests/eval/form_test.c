/* Every form of candidate, made by our own targets from examples, comes back ok. */
#include "tests/eval/eval_helper.h"

#include "craft/craft.h"
#include "emit/emit.h"
#include <stdlib.h>

static const char *const examples[] = {"softmax", "less",   "mse_loss",   "layernorm",
                                       "relu",    "gelu",   "leaky_relu", "add",
                                       "rmsnorm", "cumsum", "reduce_last"};

/* The example as a candidate in the form that a target writes. */
static bool candidate_as(Arena *arena, const char *name, const char *target, EvalCandidate *c)
{
    const char *path = str_format(arena, "examples/%s.craft", name);
    EmitInput in = {.file = path};
    EmitFiles files = {0};
    Diag diag = diag_make(arena, path, STR(""));
    const char *reason = "";
    bool cut;
    REQUIRE(file_read(arena, path, 0, &in.source, &diag));
    CraftFile *file = craft_read(arena, path, in.source, &diag);
    for (uint32_t v = 0; file && v < craft_variant_count(file); v++)
        vec_push(arena, &in.variants,
                 lower_program(arena, craft_program(arena, file, v, &diag),
                               npu_chip_find(STR("910B2")), LOWER_ALIGN, &diag));
    REQUIRE(diag_ok(&diag) && emit_target(str_from(target))->emit(arena, &in, &files, &diag));
    if (files.len == 1) {
        bool read = eval_candidate_extract(arena, files.at[0].text, FORM_ANY, c, &reason, &cut);
        CHECK_MSG(read, "%s as %s: %s", name, target, reason);
        return read;
    }
    *c = (EvalCandidate){.form = FORM_PROJECT, .name = name, .entry = "", .extracted = ""};
    if (str_is(str_from(target), "direct"))
        c->form = FORM_DIRECT;
    for (uint32_t i = 0; i < files.len; i++) {
        EvalText text = {files.at[i].path, files.at[i].text};
        vec_push(arena, &c->texts, text);
    }
    return true;
}

/* Compilers take their time: a few of them, or all with T_ALL=1. */
static size_t how_many(void) { return getenv("T_ALL") ? sizeof examples / sizeof *examples : 4; }

static void check_form(const char *target)
{
    for (size_t i = 0; i < how_many(); i++) {
        Judged j = {.verdict = verdict_make()};
        EvalCandidate c;
        j.diag = diag_make(&j.arena, examples[i], STR(""));
        if (candidate_as(&j.arena, examples[i], target, &c))
            judge_candidate(&j, &c, str_format(&j.arena, "tests/eval/tasks/%s.py", examples[i]));
        CHECK_MSG(j.verdict.status == VERDICT_OK && j.verdict.predicted_us > 0, "%s as %s: %s: %s",
                  examples[i], target, verdict_status_row(j.verdict.status)->text,
                  j.verdict.reason);
        arena_drop(&j.arena);
    }
}

T_TEST(form_project) { check_form("project"); }
T_TEST(form_mkb) { check_form("mkb"); }
T_TEST(form_mkb_direct) { check_form("mkb-direct"); }

T_TEST(form_craft)
{
    for (size_t i = 0; i < how_many(); i++) {
        Judged j;
        Arena arena = {0};
        judge_path(&j, str_format(&arena, "examples/%s.craft", examples[i]),
                   str_format(&arena, "tests/eval/tasks/%s.py", examples[i]));
        CHECK_STATUS(&j, VERDICT_OK);
        arena_drop(&j.arena);
        arena_drop(&arena);
    }
}
