/* An example of ours as a candidate of any form, for tests that change a part of it. */
#ifndef TESTS_EVAL_AS_FORM_H
#define TESTS_EVAL_AS_FORM_H

#include "base/file.h"
#include "craft/craft.h"
#include "emit/emit.h"
#include "eval/candidate.h"
#include "tests/t.h"

/* The example as a candidate in the form that a target writes. */
static inline bool candidate_as(Arena *arena, const char *name, const char *target,
                                EvalCandidate *c)
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

#endif
