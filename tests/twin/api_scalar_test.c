/* What kernels ask and tell outside of arithmetic: bit functions, registers, tensors' and queues' own
 * accounts, words of GM shared by cores, cores in turn, pools of buffers, pointer-style functions. */
#include "tests/twin/many.h"

/* --- knows.cpp: one answer an element --- */

static const double known[] = {
    /* bits */
    8, 56, 64, 0, -1, 62, 5, 8, -1, 3, 3, 63, 64, 8, 13, 32, -3, -3, -2, 2147483647.0,
    /* the core: arch 2.2.0 in hexadecimal, a vector core alone */
    0x220, 32, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 96, 3, 2, 1, 3, 1, 1, 0,
    /* the control register */
    6, 2, 1, 0, 1, 2, 0,
    /* tensors */
    64, 256, 1, 64, 32, 128, 20, 32, 9, 64, 96, 16, 64, 4, 4, 63,
    /* queues */
    1, 1, 0, 1, 1, 1, 0, 256, 0,
    /* utilities */
    32, 16, 8, 32, 1, 5, 1, 1, 1, 1, 0, 64, 3};
static double position(uint32_t i) { return i; }
static double want_known(const double *const in[], uint32_t i)
{
    (void)in;
    double v = i < sizeof known / sizeof *known ? known[i] : 0;
    return (double)(float)v;
}

T_TEST(api_what_a_core_knows)
{
    many_run(
        &(Many){.file = "knows.cpp",
                .operand = {{"float", 64, .given = position}, {"float", 96, .want = want_known}}});
}

/* --- tilings.cpp --- */

static double want_tilings(const double *const in[], uint32_t i)
{
    (void)in;
    static const double want[16] = {4096, 0.5, 11, 22, 100 + 300, 7};
    return want[i];
}

T_TEST(api_tiling_data)
{
    struct {
        uint32_t total;
        float scale;
        uint32_t low, high;
        uint64_t list[3];
    } tiling = {4096, 0.5f, 11, 22, {100, 200, 300}};
    many_run(&(Many){.file = "tilings.cpp",
                     .operand = {{"float", 16, .want = want_tilings}},
                     .tiling = {(const char *)&tiling, sizeof tiling},
                     .tiling_key = 7});
}

/* --- gm_words.cpp --- */

enum { CORES = 4 };

static double want_words(const double *const in[], uint32_t i)
{
    double sum = 0, most = -INFINITY, least = INFINITY;
    for (uint32_t c = 0; c < CORES; c++) {
        double v = in[0][c * 8 + i % 8];
        sum += v;
        most = fmax(most, v);
        least = fmin(least, v);
    }
    const double want[] = {0, sum, most, least, 100 + sum, 2.5, 2.5, 2.5};
    return want[i / 8];
}
static double want_counters(const double *const in[], uint32_t i)
{
    (void)in;
    return i < 4 ? 10 * i + 1 : 10 * (i - 4) + 2;
}

T_TEST(api_words_of_gm)
{
    many_run(&(Many){.file = "gm_words.cpp",
                     .operand = {{.type = "float", .n = 8 * CORES},
                                 {"float", 64, .want = want_words, .tolerance = 1e-6},
                                 {"int32_t", 8, .want = want_counters}},
                     .blocks = CORES});
}

/* --- turns.cpp --- */

static double one_more(uint32_t i) { return i + 1.0; }
static double want_turns(const double *const in[], uint32_t i)
{
    double in_order = 0, sum = 0;
    for (uint32_t c = 0; c < CORES; c++) {
        in_order = 3 * in_order + in[0][c];
        sum += in[0][c];
    }
    return i == 0 ? in_order : i == 8 ? sum : 0;
}
/* What is left in the words cores wait on: the turn came round to core 0, no flag stands. */
static double want_sync(const double *const in[], uint32_t i)
{
    (void)in;
    return i == 0 ? 1 : 0;
}

T_TEST(api_cores_in_turn)
{
    many_run(&(Many){.file = "turns.cpp",
                     .operand = {{"float", 8, .given = one_more},
                                 {"float", 16, .want = want_turns, .zeroed = 1},
                                 {"int32_t", 128, .want = want_sync, .zeroed = 1}},
                     .blocks = CORES});
}

/* --- groups.cpp --- */

static double want_groups(const double *const in[], uint32_t i)
{
    uint32_t core = i / 16;
    if (i % 16)
        return 0;
    return core < 2 ? 2 * in[0][core] : 3 * (in[0][0] + in[0][1]);
}
static double want_rounds(const double *const in[], uint32_t i)
{
    (void)in;
    return i % 128 < 2 ? 2 : 0; /* a word for each of two cores that arrive, which counts rounds */
}

T_TEST(api_groups_of_cores)
{
    many_run(&(Many){.file = "groups.cpp",
                     .operand = {{"int32_t", 8, .given = one_more},
                                 {"int32_t", 64, .want = want_groups, .zeroed = 1},
                                 {"int32_t", 512, .want = want_rounds, .zeroed = 1}},
                     .blocks = CORES});
}

/* --- pools.cpp --- */

static double want_pools(const double *const in[], uint32_t i)
{
    double x = in[0][i];
    return i < 512 ? (double)(float)((float)(2 * x) + 1.0f) : (double)(float)(3 * x);
}

T_TEST(api_pools_of_buffers)
{
    many_run(
        &(Many){.file = "pools.cpp",
                .operand = {{.type = "float", .n = 1024}, {"float", 1024, .want = want_pools}}});
}

/* --- says.cpp, trap.cpp, lists.cpp --- */

static double want_nothing(const double *const in[], uint32_t i)
{
    (void)in, (void)i;
    return 0;
}
static double want_same(const double *const in[], uint32_t i) { return in[0][i]; }

T_TEST(api_what_kernels_print)
{
    many_run(
        &(Many){.file = "says.cpp",
                .operand = {{"float", 64, .given = position}, {"float", 64, .want = want_same}},
                .says = "core 0: 64 elements, 1.500000 and 2.500000"});
    many_run(
        &(Many){.file = "says.cpp",
                .operand = {{"float", 64, .given = position}, {"float", 64, .want = want_same}},
                .says = "60, 61, 62, 63"});
    many_run(
        &(Many){.file = "says.cpp",
                .operand = {{"float", 64, .given = position}, {"float", 64, .want = want_same}},
                .says = "40, 41, 42, 43"});
}

T_TEST(api_a_core_that_gives_up)
{
    many_run(&(Many){
        .file = "trap.cpp",
        .defines = {"STOP=Trap()"},
        .operand = {{.type = "float", .n = 8}, {"float", 8, .want = want_nothing, .zeroed = 1}},
        .code = "S039"});
    many_run(&(Many){
        .file = "trap.cpp",
        .defines = {"STOP=trap()"},
        .operand = {{.type = "float", .n = 8}, {"float", 8, .want = want_nothing, .zeroed = 1}},
        .code = "S039"});
}

/* Three tensors of other ranks in a list: the launch binds it, so this one stands alone. */
T_TEST(api_lists_of_tensors)
{
    enum { FIRST = 24, SECOND = 8, THIRD = 30, ALL = FIRST + SECOND + THIRD };
    static float in[ALL], out[ALL];
    static int32_t said[10];
    for (int i = 0; i < ALL; i++)
        in[i] = (float)i - 20;
    TwinTensor tensors[] = {
        {.name = "a", .rank = 2, .shape = {3, 8}, .data = in, .bytes = 4 * FIRST},
        {.name = "b", .rank = 1, .shape = {8}, .data = in + FIRST, .bytes = 4 * SECOND},
        {.name = "c",
         .rank = 3,
         .shape = {2, 3, 5},
         .data = in + FIRST + SECOND,
         .bytes = 4 * THIRD},
        {.name = "z", .rank = 1, .shape = {ALL}, .data = out, .bytes = sizeof out},
        {.name = "n", .rank = 1, .shape = {10}, .data = said, .bytes = sizeof said}};
    for (int i = 0; i < 5; i++) {
        tensors[i].dtype = i == 4 ? DT_I32 : DT_F32;
        tensors[i].role = i < 3 ? SIM_IN : SIM_OUT;
    }
    TwinArg args[] = {{.kind = TWIN_ARG_LIST, .index = 0, .count = 3},
                      {.kind = TWIN_ARG_TENSOR, .index = 3},
                      {.kind = TWIN_ARG_TENSOR, .index = 4}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 5, .args = args, .arg_count = 3, .blocks = 1};
    Arena arena = {0};
    Str text;
    Diag diag = diag_make(&arena, "lists.cpp", str_from(""));
    REQUIRE(file_read(&arena, "tests/twin/kernels/lists.cpp", 1 << 20, &text, &diag));
    Trial t = {.text = text.at, .launch = &launch};
    trial_run(&t);
    CHECK_MSG(t.ran, "%s %s", t.verdict.reason, buf_view(&t.messages).at);
    many_findings(&(Many){.file = "lists.cpp"}, &t);
    static const int32_t want[10] = {3, 2, 0, FIRST, 1, 1, SECOND, 3, 2, THIRD};
    for (int i = 0; i < 10; i++)
        CHECK_EQ_INT(said[i], want[i]);
    for (int i = 0; i < ALL; i++)
        CHECK_EQ_INT((int)out[i], (i < FIRST ? 1 : i < FIRST + SECOND ? 2 : 3) * (i - 20));
    trial_drop(&t);
    arena_drop(&arena);
}

/* --- builtins.cpp: a row of 128 per call --- */

static uint32_t bits_of(double v)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
static double of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}
static double f32(double v) { return (double)(float)v; }
static double f16(double v) { return (double)half_to_float(half_from_double(v)); }
static double bf16(double v) { return (double)bf16_to_float(bf16_from_float((float)v)); }

/* Extremes and sums of n elements of x from `at`. */
static double span(const double *x, uint32_t at, uint32_t n, char what)
{
    double v = what == '+' ? 0 : x[at];
    for (uint32_t i = at; i < at + n; i++)
        v = what == '+' ? v + x[i] : what == '>' ? fmax(v, x[i]) : fmin(v, x[i]);
    return v;
}
static double reduced(const double *x, uint32_t i)
{
    if (i < 24)
        return i % 8 < 2 ? span(x, i % 8 * 64, 64, "+><"[i / 8]) : 0;
    if (i < 72)
        return span(x, (i - 24) % 16 * 8, 8, "+><"[(i - 24) / 16]);
    return i < 80 ? span(x, 0, 128, '+') : 0;
}
static double want_builtins(const double *const in[], uint32_t at)
{
    uint32_t i = at % 128;
    const double *xs = in[0];
    double x = xs[i], y = in[1][i], h = in[2][i];
    switch (at / 128) {
    case 0: return f32(x + y);
    case 1: return f32(x - y);
    case 2: return f32(x * y);
    case 3: return f32(x / y);
    case 4: return fmax(x, y);
    case 5: return fmin(x, y);
    case 6: return 3 * x + y;
    case 7: return x * y + 3;
    case 8: return 0.5 * x + 3;
    case 9: return fabs(x);
    case 10: return exp(x);
    case 11: return log(y);
    case 12: return 1 / y;
    case 13: return sqrt(y);
    case 14: return 1 / sqrt(y);
    case 15: return fmax(x, 0);
    case 16: return f32(x + 1.5);
    case 17: return f32(x * 1.5);
    case 18: return fmax(x, 0.5);
    case 19: return fmin(x, 0.5);
    case 20: return x > 0 ? x : f32(0.25 * x);
    case 21: return 7;
    case 22: return x;
    case 23: return i < 64 && i % 2 == 0 ? 2 * x : i < 100 ? x : 0;
    case 24: return of_bits(bits_of(x) & bits_of(y));
    case 25: return of_bits(bits_of(x) | bits_of(y));
    case 26: return of_bits(~bits_of(x));
    case 27: return h;
    case 28:
    case 29: return f16(x);
    case 30: return bf16(x);
    case 31: return rint(x);
    case 32: return floor(x);
    case 33: return ceil(x);
    case 34: return trunc(x);
    case 35: return reduced(xs, i);
    default: return i < 64 ? f32(xs[2 * i] + xs[2 * i + 1]) : 0;
    }
}
static double want_builtin_halves(const double *const in[], uint32_t i)
{
    const double *h = in[2];
    if (i < 512)
        return h[i % 16 * 16 + i % 256 / 16];
    if (i < 517)
        return h[i - 512];
    if (i < 528)
        return 0;
    /* the first block of the transposed, and of the transposed again; the first one added to itself */
    return (i < 560 ? 1 : 2) * h[(i - 528) % 16 * 16];
}
static double want_words_doubled(const double *const in[], uint32_t i)
{
    if (i < 8)
        return 2 * in[0][i];
    if (i < 16)
        return fmin(1, fmax(in[0][i - 8], in[1][i - 8]));
    return in[0][(i - 16) % 16 * 8 + (i - 16) / 16];
}
static double want_numbers_doubled(const double *const in[], uint32_t i)
{
    return 2 * trunc(in[0][i]);
}

T_TEST(api_pointer_style)
{
    many_run(&(Many){.file = "builtins.cpp",
                     .operand = {{"float", 128, .low = -4, .high = 4},
                                 {"float", 128, .low = 0.5, .high = 4},
                                 {.type = "half", .n = 256},
                                 {"float", 37 * 128, .want = want_builtins, .tolerance = 2e-6},
                                 {"half", 576, .want = want_builtin_halves, .zeroed = 1},
                                 {"float", 144, .want = want_words_doubled},
                                 {"int32_t", 8, .want = want_numbers_doubled}}});
}
