/* Any text to the reader of tile IR: what reads prints and reads back to the same text; what
 * verifies is proved and run without data within small limits; nothing crashes. */
#include "base/rng.h"
#include "ir/prove.h"
#include "ir/run.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);

/* ---- mutation that knows tokens and lines ---- */

typedef struct Piece {
    size_t at, len;
} Piece;

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '.';
}

/* The token at or after a random place. */
static Piece pick_token(const uint8_t *bytes, size_t size, uint64_t r)
{
    size_t at = size ? r % size : 0;
    while (at < size && (bytes[at] == ' ' || bytes[at] == '\n'))
        at++;
    size_t end = at;
    while (at > 0 && end < size && is_word(bytes[at]) && is_word(bytes[at - 1]))
        at--;
    while (end < size && is_word(bytes[end]))
        end++;
    return (Piece){at, end > at ? end - at : at < size};
}

static Piece pick_line(const uint8_t *bytes, size_t size, uint64_t r)
{
    size_t at = size ? r % size : 0, end = at;
    while (at > 0 && bytes[at - 1] != '\n')
        at--;
    while (end < size && bytes[end] != '\n')
        end++;
    return (Piece){at, end - at + (end < size)};
}

/* Replaces `gone` by a copy of `with`; 0 when there is no room. */
static size_t splice(uint8_t *bytes, size_t size, size_t most, Piece gone, Piece with)
{
    uint8_t copy[512];
    if (with.len > sizeof copy || size - gone.len + with.len > most)
        return 0;
    memcpy(copy, bytes + with.at, with.len);
    memmove(bytes + gone.at + with.len, bytes + gone.at + gone.len, size - gone.at - gone.len);
    memcpy(bytes + gone.at, copy, with.len);
    return size - gone.len + with.len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    uint64_t r[4];
    for (uint64_t i = 0; i < 4; i++)
        r[i] = rng_u64(seed, 5, i);
    if (size == 0)
        return 0;
    Piece token = pick_token(bytes, size, r[1]), line = pick_line(bytes, size, r[1]);
    size_t made = 0;
    switch (r[0] % 8) {
    case 0: made = splice(bytes, size, most, line, (Piece){0, 0}); break;
    case 1:
        made = splice(bytes, size, most, (Piece){line.at, 0}, pick_line(bytes, size, r[2]));
        break;
    case 2: made = splice(bytes, size, most, line, pick_line(bytes, size, r[2])); break;
    case 3: made = splice(bytes, size, most, token, (Piece){0, 0}); break;
    case 4: bytes[r[1] % size] = (uint8_t)r[2]; break;
    default: made = splice(bytes, size, most, token, pick_token(bytes, size, r[2])); break;
    }
    return made ? made : size;
}

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
        round_trip(&arena, p);
        run_small(&arena, p, size);
        run_small(&arena, p, size + 1);
        if (size % 4 == 0)
            check(&arena, p);
    }
    arena_drop(&arena);
    return 0;
}
