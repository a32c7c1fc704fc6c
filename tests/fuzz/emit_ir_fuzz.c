/* Any tile IR to the four passes and the targets: what verifies, and what the checker does not
 * refuse, is lowered or refused with a diagnostic; what was lowered is written as an AscendC project
 * and as C; nothing crashes, and the same program gives the same bytes twice. */
#include "tests/fuzz/text_mutate.h"

#include "emit/emit.h"
#include "emit/emit_c.h"
#include "ir/prove.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static Buf kernel_text(Arena *arena, const IrProgram *p, Diag *diag)
{
    Buf out = {0};
    EmitInput in = {.file = "fuzz.craft"};
    AscProgram *asc = lower_program(arena, p, npu_chip_find(STR("910B2")), LOWER_ALIGN, diag);
    if ((asc != NULL) != diag_ok(diag))
        abort();
    if (!asc)
        return out;
    vec_push(arena, &in.variants, asc);
    EmitFiles files = {0};
    emit_target(STR("project"))->emit(arena, &in, &files, diag);
    emit_kernel_text(arena, &in, &out);
    return out;
}

static void lower_twice(Arena *arena, const IrProgram *p)
{
    Diag first = diag_make(arena, "fuzz", (Str){0}), second = diag_make(arena, "fuzz", (Str){0});
    Buf once = kernel_text(arena, p, &first), twice = kernel_text(arena, p, &second);
    if (!str_equal(buf_view(&once), buf_view(&twice)))
        abort();
    buf_free(&once);
    buf_free(&twice);
}

static void write_c(Arena *arena, const IrProgram *p)
{
    Buf out = {0};
    Diag diag = diag_make(arena, "fuzz", (Str){0});
    emit_c(p, &out, &diag);
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena arena = {0};
    Str text = str_copy(&arena, (Str){(const char *)bytes, size});
    Diag diag = diag_make(&arena, "fuzz", text);
    IrProgram *p = ir_parse(&arena, "fuzz", text, &diag);
    if (p && ir_verify(p, &diag)) {
        IrReport report = {0};
        write_c(&arena, p);
        if (ir_prove(&arena, p, npu_chip_find(STR("910B2")), &report, &diag))
            lower_twice(&arena, p);
    }
    arena_drop(&arena);
    return 0;
}
