/* Lowers a planned program to learn how much of UB it takes. In: Craft text. Out: which of its
 * kernels are too large. */
#include "gen/plan/fit.h"

#include "craft/craft.h"
#include "ir/prove.h"
#include "lower/lower.h"

/* Only what is said of room counts here; the rest is found again by whoever uses the plan. */
static bool is_room(const DiagItem *item)
{
    static const char *const codes[] = {"E094", "W094", "E105", "W105", NULL};
    for (int i = 0; codes[i]; i++)
        if (str_is(str_from(item->code), codes[i]))
            return true;
    return false;
}

static uint64_t exceeds(Arena *arena, Str craft, const NpuChip *chip)
{
    Diag said = diag_make(arena, "plan", craft);
    CraftFile *file = craft_read(arena, "plan", craft, &said);
    IrProgram *p = file && diag_ok(&said) ? craft_program(arena, file, 0, &said) : NULL;
    uint64_t bits = 0;
    if (!p)
        return 0;
    IrReport report;
    ir_prove(arena, p, chip, &report, &said);
    Diag lowered = diag_make(arena, "plan", craft);
    lower_program(arena, p, chip, LOWER_COMPUTE, &lowered);
    for (uint32_t i = 0; i < lowered.items.len; i++)
        vec_push(arena, &said.items, lowered.items.at[i]);
    for (uint32_t i = 0; i < said.items.len; i++)
        for (uint32_t k = 0; k < p->kernels.len && k < 64 && is_room(&said.items.at[i]); k++)
            if (said.items.at[i].at.line == p->kernels.at[k].at.line)
                bits |= UINT64_C(1) << k;
    return bits;
}

uint64_t fit_exceeds(Str craft, const NpuChip *chip)
{
    Arena arena = {0};
    uint64_t bits = exceeds(&arena, craft, chip);
    arena_drop(&arena);
    return bits;
}
