/* Any text to the reader of tile IR: what reads prints and reads back to the same text; of what
 * verifies a sample is run without data within small limits, and proved; nothing crashes. */
#include "tests/fuzz/text_mutate.h"

#include "base/hash.h"
#include "ir/prove.h"
#include "ir/run.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { RUN_EACH = 8, PROVE_EACH = 32 };

static char *print(Arena *arena, const IrProgram *p)
{
    Buf out = {0};
    ir_print(p, &out);
    char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

static void round_trip(Arena *arena, const IrProgram *p)
{
    Diag diag = diag_make(arena, "again", (Str){0});
    const char *text = print(arena, p);
    const IrProgram *again = ir_parse(arena, "again", str_from(text), &diag);
    if (!again || strcmp(print(arena, again), text) != 0)
        abort();
}

static void run_small(Arena *arena, const IrProgram *p, uint64_t seed)
{
    int64_t *dims = arena_array(arena, int64_t, p->dims.len + 1);
    for (uint32_t i = 0; i < p->dims.len; i++) {
        const IrVar *v = &p->vars.at[p->dims.at[i]];
        dims[i] = v->lo + (int64_t)(rng_u64(seed, 1, i) % 40);
        dims[i] = dims[i] > v->hi ? v->hi : dims[i];
    }
    IrRun run = {.p = p,
                 .chip = npu_chip_find(STR("910B2")),
                 .dims = dims,
                 .addresses_only = true,
                 .keep_going = seed % 2 == 0,
                 .max_steps = 20000,
                 .max_bytes = 8 << 20};
    ir_run(arena, &run);
}

static void check(Arena *arena, IrProgram *p)
{
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    Diag diag = diag_make(arena, "check", (Str){0});
    IrReport report = {0};
    ir_prove(arena, p, chip, &report, &diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena arena = {0};
    Str text = str_copy(&arena, (Str){(const char *)bytes, size});
    Diag diag = diag_make(&arena, "fuzz", text);
    IrProgram *p = ir_parse(&arena, "fuzz", text, &diag);
    if (p && ir_verify(p, &diag)) {
        uint64_t sample = hash64(bytes, size);
        round_trip(&arena, p);
        if (sample % RUN_EACH == 0)
            run_small(&arena, p, sample / RUN_EACH);
        if (sample % PROVE_EACH == 1)
            check(&arena, p);
    }
    arena_drop(&arena);
    return 0;
}
