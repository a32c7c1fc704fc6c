/* For the tests of tile IR: programs from text, operands from numbers. */
#ifndef TESTS_IR_HELP_H
#define TESTS_IR_HELP_H

#include "tests/t.h"

#include "base/file.h"
#include "base/rng.h"
#include "ir/run.h"

#include <math.h>
#include <string.h>

ATTR_UNUSED static void help_say(const Diag *diag)
{
    Buf out = {0};
    diag_print(diag, &out);
    CHECK_MSG(out.len == 0, "%s", out.at);
    buf_free(&out);
}

/* A verified program; ends the test when it is none. */
ATTR_UNUSED static IrProgram *help_program(Arena *arena, const char *text)
{
    Diag diag = diag_make(arena, "text", str_from(text));
    IrProgram *p = ir_parse(arena, "text", str_from(text), &diag);
    bool ok = p && ir_verify(p, &diag);
    help_say(&diag);
    REQUIRE(ok);
    return p;
}

ATTR_UNUSED static IrProgram *help_file(Arena *arena, const char *path)
{
    Diag diag = diag_make(arena, path, (Str){0});
    Str text;
    REQUIRE(file_read(arena, path, 0, &text, &diag));
    return help_program(arena, text.at);
}

/* An operand of that shape; values from rng in lo..hi, whole numbers for integers. */
ATTR_UNUSED static IrOperand help_tensor(Arena *arena, DType dtype, uint32_t rank,
                                         const int64_t *dims, uint64_t stream, double lo, double hi)
{
    IrOperand o = {.count = 1, .items = arena_new(arena, IrData)};
    size_t n = 1;
    o.items[0].rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        o.items[0].dims[i] = dims[i];
        n *= (size_t)dims[i];
    }
    o.items[0].data = arena_alloc(arena, n * dtype_bytes(dtype) + 1);
    for (size_t i = 0; i < n; i++) {
        double v = lo + (hi - lo) * rng_uniform(7, stream, i);
        dtype_store(dtype, o.items[0].data, i, dtype_is_float(dtype) ? v : floor(v));
    }
    return o;
}

ATTR_UNUSED static IrOperand help_output(Arena *arena)
{
    return (IrOperand){.count = 1, .items = arena_new(arena, IrData)};
}

ATTR_UNUSED static const char *help_why(const IrRun *run)
{
    return run->status == IR_RUN_REFUSED ? run->text
           : run->faults.len             ? run->faults.at[0].text
                                         : "ok";
}

ATTR_UNUSED static bool help_run(Arena *arena, IrRun *run)
{
    bool ok = ir_run(arena, run);
    return CHECK_MSG(ok, "line %u: %s", run->faults.len ? run->faults.at[0].at.line : 0,
                     help_why(run));
}

#endif
