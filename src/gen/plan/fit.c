/* Lowers a planned program to learn what it takes of the chip. In: Craft text. Out: which of its
 * kernels are too large. */
#include "gen/plan/fit.h"

#include "craft/craft.h"
#include "ir/prove.h"
#include "lower/lower.h"

/* Only diagnostics about room count here; whoever uses the plan finds the others again. */
static bool has_code(const DiagItem *item, const char *const *codes)
{
    for (int i = 0; codes[i]; i++)
        if (str_is(str_from(item->code), codes[i]))
            return true;
    return false;
}

/* The kernel that the line belongs to, as a bit. */
static uint64_t kernel_bit(const IrProgram *p, uint32_t line)
{
    uint64_t bit = 0;
    for (uint32_t k = 0; k < p->kernels.len && k < 64; k++)
        if (p->kernels.at[k].at.line <= line)
            bit = UINT64_C(1) << k;
    return bit;
}

static Fit fit_in(Arena *arena, Str craft, const NpuChip *chip, bool prove, const char **why)
{
    static const char *const room[] = {"E094", "W094", "E105", "W105", NULL};
    static const char *const slots[] = {"E093", NULL};
    Diag said = diag_make(arena, "plan", craft);
    CraftFile *file = craft_read(arena, "plan", craft, &said);
    IrProgram *p = file && diag_ok(&said) ? craft_program(arena, file, 0, &said) : NULL;
    Fit fit = {0};
    if (!p)
        return fit;
    IrReport report;
    if (prove)
        ir_prove(arena, p, chip, &report, &said);
    Diag lowered = diag_make(arena, "plan", craft);
    lower_program(arena, p, chip, LOWER_COMPUTE, &lowered);
    for (uint32_t i = 0; i < lowered.items.len; i++)
        vec_push(arena, &said.items, lowered.items.at[i]);
    for (uint32_t i = 0; i < said.items.len; i++) {
        uint64_t bit = kernel_bit(p, said.items.at[i].at.line);
        fit.exceeds |= has_code(&said.items.at[i], room) ? bit : 0;
        fit.crowded |= has_code(&said.items.at[i], slots) ? bit : 0;
        if ((fit.exceeds || fit.crowded) && !*why)
            *why = said.items.at[i].text;
    }
    return fit;
}

Fit fit_program(Str craft, const NpuChip *chip)
{
    Arena arena = {0};
    const char *why = NULL;
    Fit fit = fit_in(&arena, craft, chip, true, &why);
    arena_drop(&arena);
    return fit;
}

const char *fit_reason(Arena *arena, Str craft, const NpuChip *chip)
{
    const char *why = NULL;
    fit_in(arena, craft, chip, true, &why);
    return why;
}

bool fit_lowered(Str craft, const NpuChip *chip)
{
    Arena arena = {0};
    const char *why = NULL;
    Fit fit = fit_in(&arena, craft, chip, false, &why);
    arena_drop(&arena);
    return !fit.exceeds && !fit.crowded;
}
