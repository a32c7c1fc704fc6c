/* Trust in the checker: examples with one token changed. What is then accepted as proved, with
 * nothing left to run time, must not fault when it runs. MUTATIONS=n tries more than the usual 200. */
#include "tests/ir/help.h"

#include "craft/craft.h"
#include "ir/falsify.h"
#include <stdlib.h>

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

typedef struct Tally {
    uint32_t tried, broken, refused, watched, proved, faulted;
} Tally;

/* ---- mutation ---- */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

typedef struct Token {
    size_t at, len;
} Token;

typedef struct Tokens {
    Token at[4096];
    uint32_t len;
} Tokens;

/* Words and signs after the head comment. */
static void find_tokens(Str text, Tokens *tokens)
{
    tokens->len = 0;
    for (size_t i = 0; i < text.len && tokens->len < 4096;) {
        char c = text.at[i];
        size_t from = i;
        if (c == '#') {
            while (i < text.len && text.at[i] != '\n')
                i++;
            continue;
        }
        while (i < text.len && is_word(text.at[i]))
            i++;
        i += i == from;
        if (c > ' ' && (is_word(c) || strchr("+-*/%", c)))
            tokens->at[tokens->len++] = (Token){from, i - from};
    }
}

static bool is_number(Str s) { return s.len && s.at[0] >= '0' && s.at[0] <= '9'; }

static bool is_dim(Arena *arena, Str text, Str word)
{
    Str declaration = str_from(str_format(arena, "\n%.*s = dim(", STR_ARG(word)));
    return str_find(text, declaration) >= 0;
}

/* Another token for this one, or NULL: a bound, a stride, a tile, a remainder, a dtype. */
static const char *other_token(Arena *arena, Str text, const Tokens *tokens, Str old, uint64_t r)
{
    static const char *const signs[] = {"+", "-", "*", "//", "%"};
    static const char *const loops[] = {"mine", "cyclic", "tiles", "range", "share"};
    static const char *const parts[] = {"start", "size", "stop", "index"};
    static const char *const limits[] = {"min", "max", "ceildiv", "align_up"};
    static const char *const types[] = {"f32", "f16", "i32", "i16"};
    int64_t n;
    if (is_number(old) && str_to_i64(old, &n)) {
        static const int64_t add[] = {1, -1, 7, 8};
        return str_format(arena, "%lld", (long long)(r % 5 == 4 ? n * 2 : n + add[r % 5]));
    }
    if (!is_word(old.at[0]))
        return signs[r % 5];
    for (int i = 0; i < 5; i++)
        if (str_is(old, loops[i]))
            return loops[r % 5];
    for (int i = 0; i < 4; i++) {
        if (str_is(old, parts[i]))
            return parts[r % 4];
        if (str_is(old, limits[i]))
            return limits[r % 4];
        if (str_is(old, types[i]))
            return types[r % 4];
    }
    for (uint32_t i = 0; i < tokens->len && is_dim(arena, text, old); i++) {
        Token t = tokens->at[(r + i) % tokens->len];
        Str word = str_slice(text, t.at, t.at + t.len);
        if (is_dim(arena, text, word) && !str_equal(word, old))
            return str_dup(arena, word);
    }
    return NULL;
}

static Str mutate(Arena *arena, Str text, uint64_t seed)
{
    static Tokens tokens;
    find_tokens(text, &tokens);
    Token t = {0};
    const char *other = NULL;
    for (uint64_t i = 0; i < 1000 && !other; i++) {
        t = tokens.at[rng_u64(seed, 1, i) % tokens.len];
        Str old = str_slice(text, t.at, t.at + t.len);
        other = other_token(arena, text, &tokens, old, rng_u64(seed, 2, i));
        if (other && str_is(old, other))
            other = NULL;
    }
    REQUIRE(other != NULL);
    return str_from(str_format(arena, "%.*s%s%.*s", (int)t.at, text.at, other,
                               (int)(text.len - t.at - t.len), text.at + t.at + t.len));
}

/* ---- running ---- */

static int64_t fit(const IrVar *v, int64_t size)
{
    int64_t m = v->multiple > 0 ? v->multiple : 1;
    size = size < v->lo ? v->lo : size > v->hi ? v->hi : size;
    int64_t up = (size + m - 1) / m * m;
    return up <= v->hi ? up : size / m * m;
}

static bool is_list(const IrTensor *t)
{
    return t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST;
}

static bool make_operands(Arena *arena, const IrProgram *p, const int64_t *dims, IrOperand *o)
{
    for (int lists = 1; lists >= 0; lists--) {
        for (uint32_t i = 0; i < p->operand_count; i++) {
            const IrTensor *t = &p->tensors.at[i];
            double hi = t->dtype == DT_BOOL ? 2 : 4;
            int64_t n = 1;
            IrData shape = {.rank = 1, .dims = {129}};
            if (is_list(t) != lists)
                continue;
            if (!lists && !ir_operand_shape(p, chip(), dims, NULL, o, i, &shape))
                return false;
            for (uint32_t a = 0; a < shape.rank; a++)
                n *= shape.dims[a];
            if (n > 1 << 20)
                return false;
            o[i] = help_tensor(arena, t->dtype, shape.rank, shape.dims, i, 0, hi);
        }
    }
    return true;
}

/* The rules that need data to be seen are not the checker's. */
static bool is_static(IrFaultKind kind)
{
    return kind != IR_FAULT_INDEX && kind != IR_FAULT_LIMIT && kind != IR_FAULT_CORES;
}

static bool faults_at(const IrProgram *p, const int64_t *sizes, const char **why)
{
    Arena arena = {0};
    int64_t *dims = arena_array(&arena, int64_t, p->dims.len + 1);
    IrOperand *operands = arena_array(&arena, IrOperand, p->operand_count + 1);
    for (uint32_t d = 0; d < p->dims.len; d++)
        dims[d] = fit(&p->vars.at[p->dims.at[d]], sizes[d % 4]);
    IrRun run = {.p = p, .chip = chip(), .operands = operands, .max_steps = 4000000};
    bool bad = make_operands(&arena, p, dims, operands) && !ir_run(&arena, &run) &&
               run.status == IR_RUN_FAULT && is_static(run.faults.at[0].kind);
    if (bad)
        *why = str_format(p->arena, "line %u: %s", run.faults.at[0].at.line, run.faults.at[0].text);
    arena_drop(&arena);
    return bad;
}

static void try_mutant(const char *path, Str source, uint64_t seed, Tally *tally)
{
    static const int64_t sizes[][4] = {
        {1, 1, 1, 1}, {33, 7, 13, 2}, {5, 129, 64, 3}, {97, 40, 3, 5}};
    Arena arena = {0};
    Str text = mutate(&arena, source, seed);
    Diag diag = diag_make(&arena, path, text);
    IrReport report = {0};
    CraftFile *file = craft_read(&arena, path, text, &diag);
    IrProgram *p = file && diag_ok(&diag) ? craft_program(&arena, file, 0, &diag) : NULL;
    tally->tried++;
    if (!p || !diag_ok(&diag) || !ir_verify(p, &diag)) {
        tally->broken++;
    } else if (!ir_prove(&arena, p, chip(), &report, &diag)) {
        tally->refused++;
    } else if (!ir_falsify(&arena, p, chip(), &report, &diag)) {
        tally->refused++;
    } else if (report.count[IR_WATCHED]) {
        tally->watched++;
    } else {
        const char *why = NULL;
        tally->proved++;
        for (uint32_t i = 0; i < 4 && !why; i++)
            faults_at(p, sizes[i], &why);
        tally->faulted += why != NULL;
        CHECK_MSG(!why, "%s, mutation %llu, is proved and faults: %s", path,
                  (unsigned long long)seed, why);
    }
    arena_drop(&arena);
}

T_TEST(no_mutant_is_proved_and_faults)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "examples", (Str){0});
    NameList names = {0};
    Tally tally = {0};
    const char *count = getenv("MUTATIONS");
    uint64_t n = count ? strtoull(count, NULL, 10) : 200;
    REQUIRE(file_list(&arena, "examples", &names, &diag) && names.len > 0);
    for (uint64_t i = 0; i < n; i++) {
        const char *path = path_join(&arena, "examples", names.at[i % names.len]);
        Str text;
        if (str_ends(str_from(path), ".craft") && file_read(&arena, path, 0, &text, &diag))
            try_mutant(path, text, i, &tally);
    }
    CHECK_EQ_INT(tally.faulted, 0);
    CHECK(tally.proved > 0 && tally.refused > 0);
    if (count)
        t_skip(str_format(
            &arena, "%u tried: %u do not compile, %u refused, %u checked at run time, %u proved",
            tally.tried, tally.broken, tally.refused, tally.watched, tally.proved));
    arena_drop(&arena);
}
