/* Fuzzes the Craft front end with any bytes: it ends, and what it accepts is valid. A file
 * without syntax errors formats to a text that formats to itself; a program without errors
 * passes the IR's verifier. */
#include "craft/craft.h"
#include "ir/ir.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Buf formatted(Arena *arena, Str text)
{
    Buf out = {0};
    Diag diag = diag_make(arena, "fuzz.craft", text);
    CraftFile *file = craft_read(arena, "fuzz.craft", text, &diag);
    if (!file || !diag_ok(&diag) || !craft_format(file, &out)) {
        diag_print(&diag, &out);
        fprintf(stderr, "does not read back:\n%.*s\n%s\n", STR_ARG(text), out.at);
        abort();
    }
    return out;
}

static void check_format(Arena *arena, const CraftFile *file)
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

static void check_program(Arena *arena, const CraftFile *file, uint32_t variant)
{
    Diag diag = diag_make(arena, "fuzz.craft", (Str){0});
    IrProgram *p = craft_program(arena, file, variant, &diag);
    if ((p != NULL) != diag_ok(&diag))
        abort();
    if (!p || ir_verify(p, &diag))
        return;
    Buf said = {0};
    diag_print(&diag, &said);
    ir_print(p, &said);
    fprintf(stderr, "%s\n", said.at);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena = {0};
    Str text = {(const char *)data, size};
    Diag diag = diag_make(&arena, "fuzz.craft", text);
    CraftFile *file = craft_read(&arena, "fuzz.craft", text, &diag);
    Buf said = {0};
    diag_print(&diag, &said);
    buf_free(&said);
    if (file && diag_ok(&diag)) {
        check_format(&arena, file);
        for (uint32_t v = 0; v < craft_variant_count(file) && v < 3; v++)
            check_program(&arena, file, v);
    }
    arena_drop(&arena);
    return 0;
}
