/* The checker earns trust: one token of an example is changed (a bound, a size, a stride, a loop, a
 * dtype); when everything about the mutant is still proved, running it without data at many
 * shapes must find no fault. MUTATIONS=n and MUTATION_SEED=s try others. */
#include "craft/craft.h"

#include "base/file.h"
#include "base/rng.h"
#include "ir/falsify.h"
#include "tests/t.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MUTANTS = 260, SEED = 20 };

static const char *const swaps[][2] = {
    {"rows", "cols"},
    {"cols", "rows"},
    {"t.size", "t.start"},
    {"t.start", "t.size"},
    {"t.stop", "t.start"},
    {"mine", "range"},
    {"range", "mine"},
    {"mine", "cyclic"},
    {"tiles", "mine"},
    {"ceildiv", "min"},
    {"min", "max"},
    {"max", "min"},
    {" // ", " % "},
    {" + ", " - "},
    {" - ", " + "},
    {" * ", " + "},
    {" < ", " <= "},
    {" <= ", " < "},
    {" >= ", " > "},
    {"f32", "f16"},
    {"f16", "f32"},
    {"tile", "tile + 8"},
    {"[:t.size", "[8:t.size"},
    {"share", "min"},
};

/* Where `word` stands as a word of its own for the n-th time after the head; -1: nowhere. */
static ptrdiff_t find_nth(Str text, size_t from, const char *word, uint64_t n)
{
    size_t len = strlen(word);
    uint64_t count = 0;
    for (size_t i = from; i + len <= text.len; i++) {
        if (memcmp(text.at + i, word, len))
            continue;
        bool letter = isalpha((unsigned char)word[0]);
        if (letter && i && (isalnum((unsigned char)text.at[i - 1]) || text.at[i - 1] == '_'))
            continue;
        if (letter && (isalnum((unsigned char)text.at[i + len]) || text.at[i + len] == '_'))
            continue;
        if (count++ == n)
            return (ptrdiff_t)i;
    }
    return -1;
}

static const char *splice(Arena *arena, Str text, size_t at, size_t cut, const char *with)
{
    return str_format(arena, "%.*s%s%.*s", (int)at, text.at, with, (int)(text.len - at - cut),
                      text.at + at + cut);
}

/* An integer literal becomes another one. */
static const char *mutate_number(Arena *arena, Str text, size_t from, uint64_t r)
{
    uint64_t seen = 0, wanted = r % 40;
    for (size_t i = from; i < text.len; i++) {
        bool starts = isdigit((unsigned char)text.at[i]) &&
                      !isalnum((unsigned char)text.at[i - 1]) && text.at[i - 1] != '_' &&
                      text.at[i - 1] != '.';
        if (!starts || seen++ < wanted)
            continue;
        size_t n = strspn(text.at + i, "0123456789");
        long value = strtol(text.at + i, NULL, 10);
        long to[] = {value + 1, value - 1, value * 2, value / 2, 0, value + 8};
        return splice(arena, text, i, n, str_format(arena, "%ld", to[r / 40 % 6]));
    }
    return NULL;
}

static const char *mutate(Arena *arena, Str text, uint64_t r)
{
    ptrdiff_t head = str_find(text, STR("@"));
    size_t from = head < 1 ? 1 : (size_t)head;
    if (r % 3 == 0)
        return mutate_number(arena, text, from, r / 3);
    const char *const *swap = swaps[r / 3 % (sizeof swaps / sizeof *swaps)];
    ptrdiff_t at = find_nth(text, from, swap[0], r / 97 % 6);
    return at < 0 ? NULL : splice(arena, text, (size_t)at, strlen(swap[0]), swap[1]);
}

typedef struct Tally {
    uint32_t mutants, rejected, watched, proved, caught;
} Tally;

/* Everything is proved: then trying must find nothing. */
static void try_proved(Arena *arena, IrProgram *p, const NpuChip *chip, IrReport *report,
                       const char *file, const char *text, Tally *tally)
{
    Diag found = diag_make(arena, file, str_from(text));
    report->count[IR_WATCHED] = 1; /* so that it tries at all */
    tally->proved++;
    ir_falsify(arena, p, chip, report, &found);
    if (!found.errors)
        return;
    tally->caught++;
    CHECK_MSG(false, "%s:%u: proved, but: %s\n%s", file, found.items.at[0].at.line,
              found.items.at[0].text, text);
}

static void judge(const char *file, const char *text, Tally *tally)
{
    Arena arena = {0};
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    Diag diag = diag_make(&arena, file, str_from(text));
    CraftFile *craft = craft_read(&arena, file, str_from(text), &diag);
    IrProgram *p = craft && diag_ok(&diag) ? craft_program(&arena, craft, 0, &diag) : NULL;
    IrReport report = {0};
    tally->mutants++;
    if (!p || !ir_verify(p, &diag) || !ir_prove(&arena, p, chip, &report, &diag))
        tally->rejected++;
    else if (report.count[IR_WATCHED])
        tally->watched++;
    else
        try_proved(&arena, p, chip, &report, file, text, tally);
    arena_drop(&arena);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

T_TEST(mutants_that_are_proved_have_no_fault)
{
    uint64_t most = setting("MUTATIONS", MUTANTS), seed = setting("MUTATION_SEED", SEED);
    Arena arena = {0};
    Diag diag = diag_make(&arena, "examples", STR(""));
    NameList names = {0};
    Tally tally = {0};
    REQUIRE(file_list(&arena, "examples", &names, &diag));
    for (uint64_t i = 0; tally.mutants < most && i < 20 * most; i++) {
        const char *name = names.at[rng_u64(seed, 1, i) % names.len];
        Str text;
        if (!str_ends(str_from(name), ".craft"))
            continue;
        const char *path = path_join(&arena, "examples", name);
        REQUIRE(file_read(&arena, path, 0, &text, &diag));
        const char *mutant = mutate(&arena, text, rng_u64(seed, 2, i));
        if (mutant)
            judge(path, mutant, &tally);
    }
    CHECK_MSG(tally.mutants >= 200, "only %u mutants", tally.mutants);
    CHECK_MSG(tally.proved >= 20, "only %u mutants are proved: the test says little", tally.proved);
    CHECK_EQ_INT(tally.caught, 0);
    if (getenv("MUTATIONS") && !tally.caught)
        t_skip(str_format(
            &arena, "%u tried: %u rejected, %u checked at run time, %u proved, none of them faults",
            tally.mutants, tally.rejected, tally.watched, tally.proved));
    arena_drop(&arena);
}
