/* What the Craft front end owes any text: it ends; a file without syntax errors formats to a text
 * that formats to itself; a program is given exactly when there is no error, and then it passes
 * the IR's verifier. Cheap demands are made of every text, those that cost (printing all that was
 * said, proving) of a sample that the text itself picks, so that a text is always treated alike. */
#ifndef TESTS_FUZZ_CRAFT_DEMANDS_H
#define TESTS_FUZZ_CRAFT_DEMANDS_H

#include "base/hash.h"
#include "craft/craft.h"
#include "ir/ir.h"
#include "ir/prove.h"
#include "npu/npu.h"
#include <stdio.h>
#include <stdlib.h>

enum { SAY_EACH = 8, PROVE_EACH = 64, DEMAND_VARIANTS = 2 };

static void say_and_abort(const Diag *diag, Str text)
{
    Buf said = {0};
    diag_print(diag, &said);
    fprintf(stderr, "%s\n%.*s\n", said.at ? said.at : "", STR_ARG(text));
    abort();
}

static Buf formatted(Arena *arena, Str text)
{
    Buf out = {0};
    Diag diag = diag_make(arena, "fuzz.craft", text);
    CraftFile *file = craft_read(arena, "fuzz.craft", text, &diag);
    if (!file || !diag_ok(&diag) || !craft_format(file, &out))
        say_and_abort(&diag, text);
    return out;
}

static void demand_format(Arena *arena, const CraftFile *file)
{
    Buf once = {0};
    craft_format(file, &once);
    Buf twice = formatted(arena, buf_view(&once));
    if (!str_equal(buf_view(&once), buf_view(&twice))) {
        fprintf(stderr, "once:\n%s\ntwice:\n%s\n", once.at, twice.at);
        abort();
    }
    buf_free(&once);
    buf_free(&twice);
}

static void demand_program(Arena *arena, const CraftFile *file, uint32_t variant, Str text,
                           bool prove)
{
    Diag diag = diag_make(arena, "fuzz.craft", text);
    IrProgram *p = craft_program(arena, file, variant, &diag);
    if ((p != NULL) != diag_ok(&diag) || (p && !ir_verify(p, &diag)))
        say_and_abort(&diag, text);
    if (p && prove) {
        IrReport report = {0};
        ir_prove(arena, p, npu_chip_find(STR("910B2")), &report, &diag);
    }
}

static void demand_all(Arena *arena, Str text)
{
    uint64_t sample = hash64(text.at, text.len);
    Diag diag = diag_make(arena, "fuzz.craft", text);
    CraftFile *file = craft_read(arena, "fuzz.craft", text, &diag);
    if (file && diag_ok(&diag)) {
        demand_format(arena, file);
        for (uint32_t v = 0; v < craft_variant_count(file) && v < DEMAND_VARIANTS; v++)
            demand_program(arena, file, v, text, sample % PROVE_EACH == 0);
    }
    if (sample % SAY_EACH == 0) {
        Buf said = {0};
        diag_print(&diag, &said);
        buf_free(&said);
    }
}

#endif
