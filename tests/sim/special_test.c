/* The vendor's tables of special values as a conformance test. In: tests/sim/special.txt, which holds
 * every row of the appendix pages and says how to read it. Each row runs in the default mode and in
 * saturation mode; commutative operations run both ways round. */
#include "base/file.h"
#include "tests/sim/rig.h"
#include <stdio.h>
#include <stdlib.h>

enum { A = 0, B = 4096, D = 8192, E = 12288, MOST = 8, WORDS = 6 };

/* --- values --- */

static bool is_float(uint8_t dtype)
{
    return dtype == NPU_DT_F16 || dtype == NPU_DT_BF16 || dtype == NPU_DT_F32;
}

static double greatest(uint8_t dtype)
{
    switch (dtype) {
    case NPU_DT_F16: return 65504;
    case NPU_DT_BF16: return 0x1.fep127;
    case NPU_DT_F32: return 0x1.fffffep127;
    case NPU_DT_U8: return 255;
    case NPU_DT_I64: return 0x1p63;
    default: return (double)((1ll << (npu_dtype_bits(dtype) - 1)) - 1);
    }
}

static double least(uint8_t dtype)
{
    if (is_float(dtype))
        return -greatest(dtype);
    return dtype == NPU_DT_U8 ? 0 : dtype == NPU_DT_I64 ? -0x1p63 : -greatest(dtype) - 1;
}

/* `id` changes nothing: what the operation gives with it is the other operand. */
static double value_of(const char *word, uint8_t dtype, double id)
{
    if (strcmp(word, "max") == 0)
        return greatest(dtype);
    if (strcmp(word, "min") == 0)
        return least(dtype);
    return strcmp(word, "id") == 0 ? id : strtod(word, NULL);
}

static void encode(uint8_t dtype, double v, void *to)
{
    int64_t whole = dtype == NPU_DT_I64 && v >= 0x1p63 ? INT64_MAX : isfinite(v) ? (int64_t)v : 0;
    if (is_float(dtype))
        dtype_store((DType)dtype, to, 0, v);
    else
        memcpy(to, &whole, 8);
}

static double decode(uint8_t dtype, const void *from)
{
    int64_t whole = 0;
    uint32_t bits = npu_dtype_bits(dtype);
    if (is_float(dtype))
        return dtype_load((DType)dtype, from, 0);
    memcpy(&whole, from, (bits + 7) / 8);
    if (dtype == NPU_DT_U8)
        return (double)whole;
    return (double)((int64_t)((uint64_t)whole << (64 - bits)) >> (64 - bits));
}

/* Equal, or as near as the digits printed in the table tell. */
static bool agrees(double got, const char *word, uint8_t dtype)
{
    double want = value_of(word, dtype, 0);
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (got == want)
        return signbit(got) == signbit(want) || !is_float(dtype);
    const char *point = strchr(word, '.'), *exponent = strchr(word, 'e');
    if (!point)
        return false;
    size_t digits = strspn(point + 1, "0123456789");
    double unit = pow(10, (exponent ? atoi(exponent + 1) : 0) - (double)digits);
    return fabs(got - want) <= unit * 0.5001;
}

/* --- tables --- */

/* What a row of a table holds; COUNT is a FILL reduced in stages, SUM a product's addition. */
typedef enum Shape {
    ONE,
    TWO,
    FUSED,
    PAIR,
    CONVERT,
    BITS,
    FILL,
    COUNT,
    ATOMIC,
    PRODUCT,
    SUM
} Shape;

typedef struct Operation {
    const char *name;
    uint16_t op;
    Shape shape;
    bool commutes;
    double id;
} Operation;

static const Operation operations[] = {
    {"EXP", NPU_EXP, ONE, false, 0},
    {"LN", NPU_LN, ONE, false, 0},
    {"ABS", NPU_ABS, ONE, false, 0},
    {"RECIPROCAL", NPU_RECIPROCAL, ONE, false, 0},
    {"SQRT", NPU_SQRT, ONE, false, 0},
    {"RSQRT", NPU_RSQRT, ONE, false, 0},
    {"RELU", NPU_RELU, ONE, false, 0},
    {"ADD", NPU_ADD, TWO, true, 0},
    {"SUB", NPU_SUB, TWO, false, 0},
    {"MUL", NPU_MUL, TWO, true, 0},
    {"DIV", NPU_DIV, TWO, false, 0},
    {"MAX", NPU_MAX, TWO, true, 0},
    {"MIN", NPU_MIN, TWO, true, 0},
    {"ADDS", NPU_ADDS, TWO, true, 0},
    {"MULS", NPU_MULS, TWO, true, 0},
    {"MAXS", NPU_MAXS, TWO, true, 0},
    {"MINS", NPU_MINS, TWO, true, 0},
    {"LEAKY_RELU", NPU_LEAKY_RELU, TWO, false, 0},
    {"AXPY", NPU_AXPY, FUSED, true, 1},
    {"MUL_ADD_DST", NPU_MUL_ADD_DST, FUSED, true, 1},
    {"FUSED_MUL_ADD", NPU_FUSED_MUL_ADD, FUSED, true, 1},
    {"MUL_ADD_RELU", NPU_MUL_ADD_RELU, FUSED, true, 1},
    {"ADD_RELU", NPU_ADD_RELU, PAIR, true, 0},
    {"SUB_RELU", NPU_SUB_RELU, PAIR, false, 0},
    {"ADD_RELU_CAST", NPU_ADD_RELU_CAST, PAIR, true, 0},
    {"SUB_RELU_CAST", NPU_SUB_RELU_CAST, PAIR, false, 0},
    {"MUL_CAST", NPU_MUL_CAST, PAIR, true, 1},
    {"CAST_DEQ", NPU_CAST_DEQ, CONVERT, false, 0},
    {"CAST", NPU_CAST, CONVERT, false, 0},
    {"COMPARE", NPU_COMPARE, BITS, false, 0},
    {"COMPARE_SCALAR", NPU_COMPARE_SCALAR, BITS, false, 0},
    {"BLOCK_MAX", NPU_BLOCK_MAX, FILL, false, 0},
    {"BLOCK_MIN", NPU_BLOCK_MIN, FILL, false, 0},
    {"BLOCK_SUM", NPU_BLOCK_SUM, FILL, false, 0},
    {"REPEAT_MAX", NPU_REPEAT_MAX, FILL, false, 0},
    {"REPEAT_MIN", NPU_REPEAT_MIN, FILL, false, 0},
    {"REPEAT_SUM", NPU_REPEAT_SUM, FILL, false, 0},
    {"COUNT_MAX", NPU_REPEAT_MAX, COUNT, false, 0},
    {"COUNT_MIN", NPU_REPEAT_MIN, COUNT, false, 0},
    {"COUNT_SUM", NPU_REPEAT_SUM, COUNT, false, 0},
    {"ATOMIC_ADD", REC_ATOMIC_ADD, ATOMIC, true, 0},
    {"ATOMIC_MAX", REC_ATOMIC_MAX, ATOMIC, true, 0},
    {"ATOMIC_MIN", REC_ATOMIC_MIN, ATOMIC, true, 0},
    {"MMAD", NPU_MMAD, PRODUCT, false, 1},
    {"MMAD_ADD", NPU_MMAD, SUM, true, 1},
};

/* One open table and the machine its rows run on. */
typedef struct Table {
    Rig rig;
    const Operation *operation;
    uint8_t src, dst, mode;
    const char *label;
    int line;
    uint32_t checks;
} Table;

static uint8_t dtype_named(const char *word)
{
    for (uint8_t d = 0; d < NPU_DT_COUNT; d++)
        if (strcmp(npu_dtype_text(d), word) == 0)
            return d;
    CHECK_MSG(false, "no dtype '%s'", word);
    t_stop();
}

static uint8_t compare_mode(const char *word)
{
    static const char *const names[] = {"LT", "GT", "EQ", "LE", "GE", "NE"};
    static const uint8_t modes[] = {NPU_LT, NPU_GT, NPU_EQ, NPU_LE, NPU_GE, NPU_NE};
    for (int i = 0; i < 6; i++)
        if (strcmp(names[i], word) == 0)
            return modes[i];
    return 0;
}

/* --- running one set of operands --- */

static void put(Table *t, uint64_t at, double v)
{
    uint8_t bytes[8] = {0};
    encode(t->src, v, bytes);
    rig_put(&t->rig, at, bytes, 8);
}

static uint64_t scalar_bits(uint8_t dtype, double v)
{
    uint64_t bits = 0;
    uint8_t bytes[8] = {0};
    encode(dtype, v, bytes);
    memcpy(&bits, bytes, npu_dtype_bits(dtype) / 8);
    return bits;
}

/* d op= a, b: one element of a vector instruction. FusedMulAdd and its like multiply a by d. */
static double vector_one(Table *t, double a, double b, double d)
{
    uint16_t op = t->operation->op;
    bool by_target = op == NPU_FUSED_MUL_ADD || op == NPU_MUL_ADD_RELU;
    put(t, A, a);
    put(t, B, by_target ? d : b);
    put(t, D, by_target ? b : d);
    enum NpuForm form = npu_isa(op)->form;
    bool two = form == NPU_F_BINARY || form == NPU_F_TERNARY;
    Record r = rig_vec(op, t->src, D, A, two ? B : ~0ull, 1);
    r.dtype[0] = t->dst;
    r.scalar = scalar_bits(t->src, b);
    rig_run(&t->rig, r);
    return decode(t->dst, rig_ub(&t->rig, D));
}

/* int32 to half scales by a half, int16 to 8 bits by a packed word: both 1 here. */
static double convert_one(Table *t, double a)
{
    bool packed = t->src == NPU_DT_I16 && npu_dtype_bits(t->dst) == 8;
    bool scaled = t->src == NPU_DT_I32 && t->dst == NPU_DT_F16;
    uint64_t sign = t->dst == NPU_DT_I8 ? 1ull << 46 : 0;
    if (packed || scaled)
        rig_run(&t->rig,
                rig_register(REC_REG_DEQ_SCALE, packed ? rig_bits(1) | sign : half_from_float(1)));
    put(t, A, a);
    bool nibbles = t->src == NPU_DT_I4 || t->dst == NPU_DT_I4;
    Record r = rig_vec(packed ? NPU_CAST_DEQ : NPU_CAST, t->src, D, A, ~0ull, nibbles ? 2 : 1);
    r.dtype[0] = t->dst;
    bool cuts = t->src == NPU_DT_I32 && t->dst == NPU_DT_F32;
    r.mode = packed                                        ? 0
             : cuts                                        ? NPU_ROUND_TRUNC
             : npu_cast_ok(t->src, t->dst, NPU_ROUND_RINT) ? NPU_ROUND_RINT
                                                           : NPU_ROUND_NONE;
    rig_run(&t->rig, r);
    return decode(t->dst, rig_ub(&t->rig, D));
}

static double atomic_one(Table *t, double a, double b)
{
    encode(t->src, a, t->rig.gm);
    put(t, A, b);
    rig_run(&t->rig, rig_register(REC_REG_ATOMIC, t->operation->op | (uint64_t)t->src << 8));
    Record r = {.op = NPU_PAD_UB_GM, .pipe = NPU_PIPE_MTE3, .dtype = {t->src, t->src}};
    r.operand[0].address = GM(0);
    r.operand[1].address = UB(A);
    r.n[0] = 1;
    r.n[1] = npu_dtype_bits(t->src) / 8;
    rig_run(&t->rig, r);
    rig_run(&t->rig, rig_register(REC_REG_ATOMIC, 0));
    return decode(t->src, t->rig.gm);
}

/* One fractal each: row 0 of A is a, 1 (a sum: 1, 1), column 0 of B is b, 0 (a sum: a, b). */
static double product_one(Table *t, double a, double b)
{
    Rig rig = rig_open_kind(SIM_AIC, 1);
    bool sum = t->operation->shape == SUM;
    uint16_t left[256] = {0}, right[256] = {0};
    left[0] = half_from_double(sum ? 1 : a);
    left[1] = half_from_float(1);
    right[0] = half_from_double(sum ? a : b);
    right[1] = half_from_double(sum ? b : 0);
    memcpy(rig.gm, left, sizeof left);
    memcpy(rig.gm + 512, right, sizeof right);
    for (uint32_t i = 0; i < 2; i++) {
        Record load = {
            .op = NPU_LOAD2D_GM, .pipe = NPU_PIPE_MTE2, .dtype = {NPU_DT_F16, NPU_DT_F16}};
        load.operand[0].address = rec_address(i ? NPU_L0B : NPU_L0A, 0);
        load.operand[1].address = GM(i * 512);
        load.n[1] = load.n[2] = 1;
        rig_run(&rig, load);
    }
    Record mm = {.op = NPU_MMAD, .pipe = NPU_PIPE_M, .mode = 1};
    mm.dtype[0] = NPU_DT_F32;
    mm.dtype[1] = mm.dtype[2] = NPU_DT_F16;
    mm.operand[0].address = rec_address(NPU_L0C, 0);
    mm.operand[1].address = rec_address(NPU_L0A, 0);
    mm.operand[2].address = rec_address(NPU_L0B, 0);
    mm.n[0] = mm.n[1] = mm.n[2] = 16;
    rig_run(&rig, mm);
    RIG_CLEAN(&rig);
    double got = decode(NPU_DT_F32, rig_memory(&rig, NPU_L0C, 0));
    rig_close(&rig);
    return got;
}

/* --- reductions --- */

/* "all:v", "turn:v,w" (in turn), "ones:v,w" (those, then ones). */
static void fill(Table *t, const char *words, uint32_t count)
{
    double v[3];
    uint32_t given = 0, size = npu_dtype_bits(t->src) / 8;
    bool ones = strncmp(words, "ones:", 5) == 0;
    char copy[64], *rest = copy;
    snprintf(copy, sizeof copy, "%s", strchr(words, ':') + 1);
    for (char *word; given < 3 && (word = strtok_r(rest, ",", &rest));)
        v[given++] = value_of(word, t->src, 0);
    uint8_t bytes[1024 + 8];
    for (uint32_t i = 0; i < count; i++)
        encode(t->src, ones ? (i < given ? v[i] : 1) : v[i % given], bytes + i * size);
    rig_put(&t->rig, A, bytes, count * size);
}

static Record reduction(Table *t, uint64_t to, uint64_t from, uint32_t lanes, uint32_t repeats)
{
    Record r = rig_vec(t->operation->op, t->src, to, from, ~0ull, 0);
    uint64_t low = lanes >= 64 ? ~0ull : (1ull << lanes) - 1;
    r = rig_repeat(r, low, lanes > 64 ? ~0ull : 0, repeats);
    r.operand[0].repeat_stride = 1;
    return r;
}

/* Sums of a count stay in a register; extremes of the repeats are reduced with their indices. */
static double count_one(Table *t, uint32_t lanes, uint32_t repeats)
{
    if (t->operation->op == NPU_REPEAT_SUM) {
        Record r = rig_vec(NPU_REPEAT_SUM, t->src, D, A, ~0ull, lanes * repeats);
        r.mode = 1;
        rig_run(&t->rig, r);
        return decode(t->src, &sim_core(t->rig.sim, 0)->view->accumulated);
    }
    rig_run(&t->rig, reduction(t, D, A, lanes, repeats));
    Record last = reduction(t, E, D, 1, 1);
    last.mask[0] = repeats == 2 ? 5 : 1; /* values only, not the indices between them */
    rig_run(&t->rig, last);
    return decode(t->src, rig_ub(&t->rig, E));
}

static double fill_one(Table *t, const char *words)
{
    bool half = t->src == NPU_DT_F16, block = t->operation->op == NPU_BLOCK_MAX ||
                                              t->operation->op == NPU_BLOCK_MIN ||
                                              t->operation->op == NPU_BLOCK_SUM;
    uint32_t lanes = half ? 128 : 64;
    if (t->operation->shape == COUNT) {
        fill(t, words, half ? 256 : 64);
        return count_one(t, lanes, half ? 2 : 1);
    }
    fill(t, words, lanes);
    Record r = reduction(t, D, A, block ? lanes / 8 : lanes, 1);
    if (!block && t->operation->op != NPU_REPEAT_SUM)
        r.mode = REC_ONLY_VALUE;
    rig_run(&t->rig, r);
    return decode(t->src, rig_ub(&t->rig, D));
}

/* --- rows --- */

static void check_value(Table *t, double got, const char *want, const char *operands, int sat)
{
    t->checks++;
    CHECK_MSG(agrees(got, want, t->dst),
              "special.txt:%d: table %s%s of %s: got %.9g, table says %s", t->line, t->label,
              sat ? " saturated" : "", operands, got, want);
}

static int split(char *text, const char *marks, char *to[], int most)
{
    int n = 0;
    for (char *word; n < most && (word = strtok_r(text, marks, &text));)
        to[n++] = word;
    return n;
}

static void run_two(Table *t, double a, double b, double d, const char *want, const char *text,
                    int sat)
{
    for (int turn = 0; turn <= t->operation->commutes; turn++) {
        double x = turn ? b : a, y = turn ? a : b, got;
        switch (t->operation->shape) {
        case ATOMIC: got = atomic_one(t, x, y); break;
        case PRODUCT:
        case SUM: got = product_one(t, x, y); break;
        default: got = vector_one(t, x, y, d); break;
        }
        check_value(t, got, want, text, sat);
    }
}

/* a|b against c|d. */
static void row_two(Table *t, char *words[], int sat)
{
    char left[128], right[128], *a[MOST], *b[MOST];
    snprintf(left, sizeof left, "%s", words[0]);
    snprintf(right, sizeof right, "%s", words[1]);
    int na = split(left, "|", a, MOST), nb = split(right, "|", b, MOST);
    double id = t->operation->id;
    for (int i = 0; i < na; i++)
        for (int k = 0; k < nb; k++) {
            char text[64];
            snprintf(text, sizeof text, "%s and %s", a[i], b[k]);
            run_two(t, value_of(a[i], t->src, id), value_of(b[k], t->src, id), 0, words[2 + sat],
                    text, sat);
        }
}

/* a,b|c,d and, for fused forms, what is added. */
static void row_pairs(Table *t, char *words[], int sat)
{
    static const char *const any[] = {"0", "-0", "id", "inf", "-inf", "max", "min", "nan"};
    bool fused = t->operation->shape == FUSED;
    char left[128], *pairs[MOST], *pair[2] = {left, left};
    snprintf(left, sizeof left, "%s", words[0]);
    int n = split(left, "|", pairs, MOST);
    double id = t->operation->id, d = fused ? value_of(words[1], t->src, id) : 0;
    for (int i = 0; i < n; i++) {
        REQUIRE(split(pairs[i], ",", pair, 2) == 2);
        bool all = strcmp(pair[1], "any") == 0;
        for (size_t k = 0; k < (all ? sizeof any / sizeof *any : 1); k++) {
            const char *b = all ? any[k] : pair[1];
            char text[264];
            snprintf(text, sizeof text, "%s, %s, %s", pair[0], b, fused ? words[1] : "");
            run_two(t, value_of(pair[0], t->src, id), value_of(b, t->src, id), d,
                    words[fused + 1 + sat], text, sat);
        }
    }
}

/* One bit for each of MIN MAX +0 -0 nan +inf -inf as the second operand (integers: MIN MAX). */
static void row_bits(Table *t, char *words[], int sat)
{
    static const char *const others[] = {"min", "max", "0", "-0", "nan", "inf", "-inf"};
    static const uint8_t zeros[256];
    bool scalar = t->operation->op == NPU_COMPARE_SCALAR;
    rig_put(&t->rig, A, zeros, sizeof zeros);
    rig_put(&t->rig, B, zeros, sizeof zeros);
    for (size_t i = 0; i < strlen(words[1 + sat]); i++) {
        double a = value_of(words[0], t->src, 0), b = value_of(others[i], t->src, 0);
        put(t, A, a);
        put(t, B, b);
        Record r = rig_vec(t->operation->op, t->src, D, A, scalar ? ~0ull : B,
                           2048 / npu_dtype_bits(t->src));
        r.dtype[0] = NPU_DT_U8;
        r.mode = t->mode;
        r.scalar = scalar_bits(t->src, b);
        rig_run(&t->rig, r);
        t->checks++;
        CHECK_MSG((*(uint8_t *)rig_ub(&t->rig, D) & 1) == words[1 + sat][i] - '0',
                  "special.txt:%d: table %s of %s, %s", t->line, t->label, words[0], others[i]);
    }
}

static void row_converted(Table *t, char *words[], int sat)
{
    char left[64], *in[MOST];
    snprintf(left, sizeof left, "%s", words[0]);
    for (int i = 0, n = split(left, "|", in, MOST); i < n; i++)
        check_value(t, convert_one(t, value_of(in[i], t->src, 0)), words[1 + sat], in[i], sat);
}

static void run_row(Table *t, char *words[], int sat)
{
    rig_run(&t->rig, rig_register(REC_REG_SATURATE, (uint64_t)sat));
    switch (t->operation->shape) {
    case ONE:
        check_value(t, vector_one(t, value_of(words[0], t->src, 0), 0, 0), words[1 + sat], words[0],
                    sat);
        break;
    case TWO:
    case ATOMIC:
    case PRODUCT:
    case SUM: row_two(t, words, sat); break;
    case FUSED:
    case PAIR: row_pairs(t, words, sat); break;
    case CONVERT: row_converted(t, words, sat); break;
    case BITS: row_bits(t, words, sat); break;
    case FILL:
    case COUNT: check_value(t, fill_one(t, words[0]), words[1 + sat], words[0], sat); break;
    }
}

/* "table 9 ADD f16", "table 32 CAST f16 i8", "table 30 COMPARE f16 EQ". */
static void open_table(Table *t, char *words[], int n, const char *label)
{
    REQUIRE(n >= 4);
    t->operation = NULL;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, words[2]) == 0)
            t->operation = &operations[i];
    CHECK_MSG(t->operation, "no operation '%s'", words[2]);
    REQUIRE(t->operation);
    t->src = t->dst = dtype_named(words[3]);
    t->label = label;
    if (n > 4 && t->operation->shape == BITS)
        t->mode = compare_mode(words[4]);
    else if (n > 4)
        t->dst = dtype_named(words[4]);
}

static void run_line(Table *t, char *line, const char *label)
{
    char *words[WORDS];
    char *note = strchr(line, '#');
    if (note)
        *note = 0;
    int n = split(line, " ", words, WORDS);
    if (n == 0)
        return;
    if (strcmp(words[0], "table") == 0) {
        open_table(t, words, n, label);
        return;
    }
    REQUIRE(t->operation && n >= 2);
    bool default_only = strcmp(words[n - 1], "/") == 0;
    for (int sat = 0; sat < (default_only ? 1 : 2); sat++)
        run_row(t, words, sat);
}

T_TEST(special_values_of_the_vendors_tables)
{
    Arena arena = {0};
    Str text;
    Diag diag = diag_make(&arena, "special.txt", str_from(""));
    REQUIRE(file_read(&arena, "tests/sim/special.txt", 1 << 20, &text, &diag));
    Table t = {.rig = rig_open()};
    char label[80] = "";
    for (size_t at = 0; at < text.len;) {
        char line[256];
        size_t n = 0;
        while (at + n < text.len && text.at[at + n] != '\n')
            n++;
        REQUIRE(n < sizeof line);
        memcpy(line, text.at + at, n);
        line[n] = 0;
        at += n + 1;
        t.line++;
        if (strncmp(line, "table ", 6) == 0)
            snprintf(label, sizeof label, "%.79s", line + 6);
        run_line(&t, line, label);
    }
    RIG_CLEAN(&t.rig);
    rig_close(&t.rig);
    CHECK_MSG(t.checks >= 10000, "only %u values looked at", t.checks);
    arena_drop(&arena);
}
