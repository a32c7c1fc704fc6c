/* The matrix unit beyond a plain product: bytes with bias and quantised results, windows over an image,
 * constants filled in, floats rounded on the way, a mixed kernel by hand; and the Matmul object's calls. */
#include "tests/twin/many.h"

static double f16(double v) { return (double)half_to_float(half_from_double(v)); }
static double clamp(double v, double low, double high) { return fmin(high, fmax(low, v)); }

/* --- cube_int8.cpp: 32 x 64 by 64 x 64 plus a bias per column --- */

enum { M = 32, K = 64, N = 64 };

static double byte_product(const double *const in[], uint32_t row, uint32_t column)
{
    double sum = in[2][column];
    for (uint32_t k = 0; k < K; k++)
        sum += in[0][row * K + k] * in[1][k * N + column];
    return sum;
}
/* A float's bits in the low half of the word: (column + 1) / 64, which ten fraction bits hold. */
static double factor_word(uint32_t column)
{
    float f = (float)(column + 1) / 64;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
static double want_fractals(const double *const in[], uint32_t i)
{
    return byte_product(in, i % (M * 16) / 16, i / (M * 16) * 16 + i % 16);
}
static double want_deq(const double *const in[], uint32_t i)
{
    i %= M * N; /* once by Fixpipe, once by DataCopy with registers */
    return f16(fmax(0, byte_product(in, i / N, i % N) * 0.25));
}
static double want_deq_columns(const double *const in[], uint32_t i)
{
    i %= M * N;
    return f16(byte_product(in, i / N, i % N) * (i % N + 1) / 64);
}
static double want_requantised(const double *const in[], uint32_t i)
{
    return clamp(rint(byte_product(in, i / N, i % N) / 32 + 5), -128, 127);
}

T_TEST(api_bytes_on_the_cube)
{
    many_run(&(Many){.file = "cube_int8.cpp",
                     .operand = {{"int8_t", M * K, .low = -9, .high = 9},
                                 {"int8_t", K * N, .low = -9, .high = 9},
                                 {"int32_t", N, .low = -500, .high = 500},
                                 {"uint64_t", N, .given = factor_word},
                                 {"int32_t", M * N, .want = want_fractals},
                                 {"half", 2 * M * N, .want = want_deq},
                                 {"half", 2 * M * N, .want = want_deq_columns},
                                 {"int8_t", M * N, .want = want_requantised}}});
}

/* --- cube_conv.cpp: 3 x 3 over 6 x 6 of 16 channels --- */

enum { SIDE = 6, CHANNELS = 16 };

static double convolved(const double *const in[], uint32_t place, uint32_t column, double around,
                        double weight)
{
    double sum = 0;
    for (int k = 0; k < 9 * CHANNELS; k++) {
        int y = (int)place / SIDE + k / CHANNELS / 3 - 1,
            x = (int)place % SIDE + k / CHANNELS % 3 - 1;
        bool inside = y >= 0 && y < SIDE && x >= 0 && x < SIDE;
        double v = inside ? in[0][(y * SIDE + x) * CHANNELS + k % CHANNELS] : around;
        sum += v * (weight != 0 ? weight : in[1][k * CHANNELS + (int)column]);
    }
    return sum;
}
static double want_convolved(const double *const in[], uint32_t i)
{
    uint32_t size = SIDE * SIDE * CHANNELS, place = i % size / CHANNELS, column = i % CHANNELS;
    switch (i / size) {
    case 0: return convolved(in, place, column, 0, 0);
    case 1: return convolved(in, place, column, 1, 2);
    default: return convolved(in, place, column, 1, 2 - 1);
    }
}

T_TEST(api_windows_over_an_image)
{
    many_run(&(Many){.file = "cube_conv.cpp",
                     .operand = {{"half", SIDE * SIDE * CHANNELS, .low = -2, .high = 2},
                                 {"half", 9 * CHANNELS * CHANNELS, .low = -2, .high = 2},
                                 {"float", 3 * SIDE * SIDE * CHANNELS, .want = want_convolved,
                                  .tolerance = 1e-5}}});
}

/* --- cube_float.cpp --- */

/* Eleven fraction bits, the nearest; ties to even or towards zero. */
static double eleven_bits(double v, bool to_zero)
{
    int exponent;
    double fraction = fabs(frexp(v, &exponent)) * 4096, down = floor(fraction);
    bool up = fraction - down > 0.5 || (fraction - down == 0.5 && !to_zero && fmod(down, 2) == 1);
    return copysign(ldexp(down + up, exponent - 12), v);
}
/* Odd multiples of half a last place: all of them ties. */
static double ties(uint32_t i) { return (i % 3 == 0 ? -1 : 1) * (1 + (2 * (i % 29) + 1) / 4096.0); }
static double want_floats(const double *const in[], uint32_t i)
{
    uint32_t row = i % 256 / 16, column = i % 16, how = i / 256;
    double sum = 0;
    for (uint32_t k = 0; k < 16; k++) {
        double a = in[0][k / 8 * 128 + row * 8 + k % 8],
               b = in[1][k / 8 * 128 + column * 8 + k % 8];
        sum += how == 0 ? a * b : eleven_bits(a, how == 2) * eleven_bits(b, how == 2);
    }
    return sum;
}

T_TEST(api_floats_rounded_on_the_way)
{
    many_run(&(Many){.file = "cube_float.cpp",
                     .operand = {{"float", 256, .given = ties},
                                 {.type = "float", .n = 256},
                                 {"float", 768, .want = want_floats, .tolerance = 1e-6}}});
}

/* --- mixed.cpp --- */

static double want_mixed(const double *const in[], uint32_t i)
{
    double sum = 1;
    for (uint32_t k = 0; k < 16; k++)
        sum += 2 * in[0][i / 16 * 16 + k] * in[1][k * 16 + i % 16];
    return sum;
}
static double unseen(const double *const in[], uint32_t i)
{
    (void)in, (void)i;
    return 0;
}

T_TEST(api_cube_and_vector_cores_by_hand)
{
    many_run(&(Many){.file = "mixed.cpp",
                     .operand = {{.type = "half", .n = 512},
                                 {.type = "half", .n = 256},
                                 {"float", 512, .want = want_mixed, .tolerance = 1e-5},
                                 {"uint8_t", 3072, .want = unseen, .tolerance = INFINITY}}});
}

/* --- matmul_object.cpp --- */

enum { SIZE = 64 };

static double part_product(const double *const in[], uint32_t i, uint32_t k, bool turned)
{
    double sum = 0;
    for (uint32_t j = 0; j < k; j++)
        sum += in[0][i / SIZE * SIZE + j] *
               in[1][turned ? i % SIZE * SIZE + j : j * SIZE + i % SIZE];
    return sum;
}
static double want_one_more(const double *const in[], uint32_t i)
{
    return part_product(in, i, SIZE, false) + 1;
}
static double want_tail(const double *const in[], uint32_t i)
{
    bool inside = i / SIZE < 40 && i % SIZE < 50;
    return inside ? part_product(in, i, 60, false) + in[2][i % SIZE] : 0;
}
static double want_twice_and_bias(const double *const in[], uint32_t i)
{
    return 2 * part_product(in, i, SIZE, true) + in[2][i % SIZE];
}
static double want_by_column(const double *const in[], uint32_t i)
{
    return f16(part_product(in, i, SIZE, false) * (i % SIZE + 1) / 64);
}
static double want_quarter(const double *const in[], uint32_t i)
{
    return f16(part_product(in, i, SIZE, false) / 4);
}

static void matmul_object(const char *step, bool bytes, ManyWant *want)
{
    const char *in = bytes ? "int8_t" : "half", *out = bytes ? "half" : "float";
    many_run(&(Many){
        .file = "matmul_object.cpp",
        .defines = {step, bytes ? "LEFT=int8_t" : "LEFT=half",
                    bytes ? "RESULT=half" : "RESULT=float",
                    bytes ? "ADDEND=int32_t" : "ADDEND=float"},
        .operand = {{.type = in, .n = SIZE * SIZE},
                    {.type = in, .n = SIZE * SIZE},
                    {.type = bytes ? "int32_t" : "float", .n = SIZE},
                    {"uint64_t", SIZE, .given = factor_word},
                    {out, SIZE * SIZE, .want = want, .tolerance = bytes ? 0 : 1e-5, .zeroed = 1}}});
}

T_TEST(api_the_matmul_object)
{
    matmul_object("STEP=0", false, want_one_more);
    matmul_object("STEP=1", false, want_tail);
    matmul_object("STEP=2", false, want_twice_and_bias);
    matmul_object("STEP=3", true, want_by_column);
    matmul_object("STEP=4", true, want_quarter);
}

/* --- matmul_forms.cpp --- */

static double inner(const double *a, uint32_t step_a, const double *b, uint32_t step_b)
{
    double sum = 0;
    for (uint32_t k = 0; k < SIZE; k++)
        sum += a[k * step_a] * b[k * step_b];
    return sum;
}
static uint32_t nz(uint32_t row, uint32_t column)
{
    return column / 16 * SIZE * 16 + row * 16 + column % 16;
}
static double want_of_nz(const double *const in[], uint32_t i)
{
    double sum = 0;
    for (uint32_t k = 0; k < SIZE; k++)
        sum += in[0][nz(i / SIZE, k)] * in[1][nz(k, i % SIZE)];
    return sum;
}
static double want_as_eights(const double *const in[], uint32_t i)
{
    uint32_t row = i / 8 % SIZE, column = i / (8 * SIZE) * 8 + i % 8;
    return part_product(in, row * SIZE + column, SIZE, false);
}
static double want_product(const double *const in[], uint32_t i)
{
    return part_product(in, i, SIZE, false);
}
static double want_upper(const double *const in[], uint32_t i)
{
    return i / SIZE / 32 <= i % SIZE / 32 ? part_product(in, i, SIZE, false) : 0;
}
static double want_lower(const double *const in[], uint32_t i)
{
    return i / SIZE / 32 >= i % SIZE / 32 ? part_product(in, i, SIZE, false) : 0;
}
/* B has rows of 60, C rows of 60 padded to 64. */
static double want_padded(const double *const in[], uint32_t i)
{
    return i % SIZE < 60 ? inner(in[0] + i / SIZE * SIZE, 1, in[1] + i % SIZE, 60) : 0;
}
static double want_left_in_l1(const double *const in[], uint32_t i)
{
    double sum = 0;
    for (uint32_t k = 0; k < SIZE; k++)
        sum += in[0][nz(i / SIZE, k)] * in[1][k * SIZE + i % SIZE];
    return sum;
}
/* Two products of 32 x 64 by 64 x 32 behind each other. */
static double want_batches(const double *const in[], uint32_t i)
{
    uint32_t which = i / 1024, row = i / 32 % 32, column = i % 32;
    return which > 1
               ? 0
               : inner(in[0] + which * 2048 + row * SIZE, 1, in[1] + which * 2048 + column, 32);
}
/* Two heads side by side: A and B are 32 rows of two heads of 64, B as n x k. */
static double head(const double *const in[], uint32_t which, uint32_t row, uint32_t column)
{
    return inner(in[0] + row * 128 + which * SIZE, 1, in[1] + column * 128 + which * SIZE, 1);
}
static double want_heads(const double *const in[], uint32_t i)
{
    return i < 2048 ? head(in, i % SIZE / 32, i / SIZE, i % 32) : 0;
}
static double want_turns(const double *const in[], uint32_t i)
{
    return i < 2048 ? head(in, i / 1024, i / 32 % 32, i % 32) : 0;
}
static double anything(const double *const in[], uint32_t i) { return in[0][i % 64] * 0; }

/* Two elements a byte, the first in its low half. */
static double nibble_of(const double *bytes, uint32_t i)
{
    int byte = (int)bytes[i / 2] & 0xFF, half = byte >> i % 2 * 4 & 15;
    return (half ^ 8) - 8;
}
static double want_nibbles(const double *const in[], uint32_t i)
{
    double sum = 0;
    for (uint32_t k = 0; k < SIZE && i < SIZE * 40; k++)
        sum += nibble_of(in[0], i / 40 * SIZE + k) * nibble_of(in[1], k * 40 + i % 40);
    return sum;
}
static double want_bytes(const double *const in[], uint32_t i)
{
    return i < SIZE * 40 ? inner(in[0] + i / 40 * SIZE, 1, in[1] + i % 40, 40) : 0;
}

static void matmul_of_integers(const char *step, ManyWant *want)
{
    many_run(&(Many){
        .file = "matmul_forms.cpp",
        .defines = {step},
        .operand = {{.type = "int8_t", .n = SIZE * SIZE, .low = -128, .high = 127},
                    {.type = "int8_t", .n = SIZE * SIZE, .low = -128, .high = 127},
                    {"int32_t", SIZE * SIZE, .want = anything, .tolerance = INFINITY, .zeroed = 1},
                    {"int32_t", SIZE * SIZE, .want = want, .zeroed = 1}}});
}

static void matmul_form(const char *step, ManyWant *want)
{
    many_run(&(Many){
        .file = "matmul_forms.cpp",
        .defines = {step},
        .operand = {{.type = "half", .n = SIZE * SIZE},
                    {.type = "half", .n = SIZE * SIZE},
                    {"float", SIZE * SIZE, .want = anything, .tolerance = INFINITY, .zeroed = 1},
                    {"float", SIZE * SIZE, .want = want, .tolerance = 1e-5, .zeroed = 1}}});
}

T_TEST(api_matmul_operands_in_other_forms)
{
    matmul_form("STEP=0", want_of_nz);
    matmul_form("STEP=1", want_as_eights);
    matmul_form("STEP=2", want_product);
    matmul_form("STEP=6", want_padded);
    matmul_form("STEP=7", want_left_in_l1);
    matmul_form("STEP=8", want_product);
    matmul_of_integers("STEP=13", want_nibbles);
    matmul_of_integers("STEP=14", want_bytes);
}

T_TEST(api_matmul_blocks_and_batches)
{
    matmul_form("STEP=3", want_upper);
    matmul_form("STEP=4", want_lower);
    matmul_form("STEP=5", want_product);
    matmul_form("STEP=9", want_batches);
    matmul_form("STEP=10", want_heads);
    matmul_form("STEP=11", want_turns);
    matmul_form("STEP=12", want_product);
}
