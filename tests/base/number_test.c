/* Element types, half floats against a slow reference, random numbers, hashes. */
#include "base/dtype.h"
#include "base/hash.h"
#include "base/rng.h"
#include "tests/t.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of a small float by its definition: sign, `e` exponent bits, `m` mantissa bits. */
static double decode(uint16_t bits, int e, int m)
{
    int exponent = bits >> m & ((1 << e) - 1), mantissa = bits & ((1 << m) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << e) - 1)
        return mantissa ? (double)NAN : sign * INFINITY;
    int bias = (1 << (e - 1)) - 1;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - bias - m);
    return sign * ldexp(mantissa + (1 << m), exponent - bias - m);
}

static bool same_double(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

T_TEST(half_and_bf16_widen_exactly_for_all_65536)
{
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t bits = (uint16_t)h;
        if (!same_double((double)half_to_float(bits), decode(bits, 5, 10)))
            CHECK_MSG(false, "half %04x", h);
        if (!same_double((double)bf16_to_float(bits), decode(bits, 8, 7)))
            CHECK_MSG(false, "bf16 %04x", h);
    }
}

T_TEST(half_and_bf16_round_trip_for_all_65536)
{
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t bits = (uint16_t)h;
        float half = half_to_float(bits), bf16 = bf16_to_float(bits);
        bool half_ok = isnan(half) ? isnan(half_to_float(half_from_float(half)))
                                   : half_from_float(half) == bits &&
                                         half_from_double((double)half) == bits;
        bool bf16_ok = isnan(bf16) ? isnan(bf16_to_float(bf16_from_float(bf16)))
                                   : bf16_from_float(bf16) == bits &&
                                         bf16_from_double((double)bf16) == bits;
        CHECK_MSG(half_ok, "half %04x", h);
        CHECK_MSG(bf16_ok, "bf16 %04x", h);
    }
}

/* Nearest even by search over the ordered positive values; `infinity` is where they end. The
 * tie between the largest finite value and infinity goes to infinity. */
static uint16_t nearest(double value, int e, int m)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    uint16_t low = 0, infinity = (uint16_t)(((1 << e) - 1) << m);
    if (isinf(size))
        return sign | infinity;
    uint16_t high = infinity;
    while (high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        *(decode(middle, e, m) <= size ? &low : &high) = middle;
    }
    double below = decode(low, e, m);
    double unit = ldexp(1, (low >> m ? low >> m : 1) - ((1 << (e - 1)) - 1) - m);
    double over = size - below;
    bool up = over > unit / 2 || (over == unit / 2 && (low & 1));
    return sign | (uint16_t)(low + up);
}

static void check_narrowing(double value)
{
    float single = (float)value;
    CHECK_MSG(half_from_double(value) == nearest(value, 5, 10), "half of double %a", value);
    CHECK_MSG(bf16_from_double(value) == nearest(value, 8, 7), "bf16 of double %a", value);
    CHECK_MSG(half_from_float(single) == nearest((double)single, 5, 10), "half of %a",
              (double)single);
    CHECK_MSG(bf16_from_float(single) == nearest((double)single, 8, 7), "bf16 of %a",
              (double)single);
}

T_TEST(narrowing_at_every_tie_and_beside_it)
{
    for (uint32_t h = 0; h < 0x7C00; h++) {
        double low = decode((uint16_t)h, 5, 10);
        double high = h + 1 == 0x7C00 ? 65536 : decode((uint16_t)(h + 1), 5, 10);
        double tie = (low + high) / 2;
        double around[] = {tie,
                           nextafter(tie, 0),
                           nextafter(tie, 1e9),
                           -tie,
                           (double)nextafterf((float)tie, 0),
                           (double)nextafterf((float)tie, 1e9f)};
        for (size_t i = 0; i < sizeof around / sizeof *around; i++)
            check_narrowing(around[i]);
    }
    for (uint32_t h = 0; h < 0x7F7F; h += 3) {
        double tie = (decode((uint16_t)h, 8, 7) + decode((uint16_t)(h + 1), 8, 7)) / 2;
        check_narrowing(tie);
        check_narrowing(nextafter(tie, 0));
        check_narrowing(-nextafter(tie, INFINITY));
    }
}

T_TEST(narrowing_of_random_bits_and_edges)
{
    double edges[] = {0.0,
                      -0.0,
                      65504,
                      65519.999,
                      65520,
                      1e300,
                      -1e300,
                      1e-300,
                      3.4e38,
                      3.39e38,
                      3.4028234663852886e38,
                      INFINITY,
                      -INFINITY,
                      0x1p-25,
                      0x1.000001p-25,
                      0x1p-149};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        check_narrowing(edges[i]);
    for (uint64_t i = 0; i < 100000; i++) {
        double scale = ldexp(1, (int)rng_range(6, 0, i, -150, 130));
        check_narrowing((rng_uniform(6, 1, i) * 2 - 1) * scale);
    }
    CHECK(isnan(half_to_float(half_from_double((double)NAN))));
    CHECK(isnan(bf16_to_float(bf16_from_double((double)NAN))));
    /* A signalling NaN whose payload sits only in the bits that are cut off stays a NaN. */
    uint32_t bits = 0x7F800001;
    float quiet;
    memcpy(&quiet, &bits, sizeof quiet);
    CHECK(isnan(half_to_float(half_from_float(quiet))));
    CHECK(isnan(bf16_to_float(bf16_from_float(quiet))));
}

T_TEST(dtype_names_read_back)
{
    for (int d = 0; d < DT_COUNT; d++) {
        DType got = DT_COUNT;
        CHECK(dtype_from_name(str_from(dtype_rows[d].name), &got) && (int)got == d);
        CHECK(dtype_from_torch(str_from(dtype_rows[d].torch), &got) && (int)got == d);
    }
    DType got = DT_COUNT;
    CHECK(dtype_from_torch(STR("half"), &got) && got == DT_F16);
    CHECK(dtype_from_torch(STR("long"), &got) && got == DT_I64);
    CHECK(!dtype_from_torch(STR("f16"), &got));
    CHECK(!dtype_from_name(STR("float"), &got));
    CHECK_EQ_INT(dtype_bytes(DT_C64), 8);
    CHECK(dtype_is_float(DT_BF16) && !dtype_is_float(DT_C64) && dtype_is_int(DT_U8));
    CHECK(!dtype_is_int(DT_BOOL));
}

static double through(DType dtype, double value)
{
    uint64_t cell[4] = {0};
    dtype_store(dtype, cell, 1, value);
    return dtype_load(dtype, cell, 1);
}

T_TEST(dtype_store_saturates)
{
    CHECK(through(DT_I8, 300) == 127 && through(DT_I8, -300) == -128);
    CHECK(through(DT_I16, 1e9) == 32767 && through(DT_I32, -1e300) == -2147483648.0);
    CHECK(through(DT_I64, 1e30) == 0x1p63 && through(DT_I64, -1e30) == -0x1p63);
    CHECK(through(DT_U8, -1) == 0 && through(DT_U8, 255.9) == 255 && through(DT_U8, 1e9) == 255);
    CHECK(through(DT_U32, 0x1p40) == 4294967295.0 && through(DT_U64, INFINITY) == 0x1p64);
    CHECK(through(DT_I32, (double)NAN) == 0 && through(DT_U16, (double)NAN) == 0);
    CHECK(through(DT_I32, -2.9) == -2);
    CHECK(through(DT_BOOL, 0.5) == 1 && through(DT_BOOL, 0) == 0);
    CHECK(through(DT_F16, 1e6) == INFINITY && through(DT_F32, 0.1) == (double)0.1f);
    CHECK(through(DT_BF16, 1.00390625) == 1 && through(DT_F64, 0.1) == 0.1);
    CHECK(through(DT_C64, 2.5) == 2.5);
}

T_TEST(rng_is_the_same_everywhere)
{
    CHECK_EQ_INT(rng_u64(0, 0, 0), rng_u64(0, 0, 0));
    CHECK(rng_u64(0, 0, 0) != rng_u64(0, 0, 1));
    CHECK(rng_u64(0, 0, 1) != rng_u64(0, 1, 0));
    CHECK(rng_u64(1, 0, 0) != rng_u64(0, 1, 0));
    CHECK_EQ_INT(rng_u64(1, 2, 3), (long long)0x691cf9d4a515d24);
    CHECK(rng_normal(1, 2, 3) == 0x1.837bee68474efp-3);
}

T_TEST(normal_numbers_drawn_together_are_those_drawn_one_by_one)
{
    static double x[3000];
    rng_normals(7, 3, UINT64_MAX - 1500, 3000, x);
    uint32_t differ = 0;
    for (uint64_t i = 0; i < 3000; i++)
        differ += x[i] != rng_normal(7, 3, UINT64_MAX - 1500 + i);
    CHECK_EQ_INT(differ, 0);
    x[1] = 5;
    rng_normals(1, 2, 3, 1, x);
    CHECK(x[0] == 0x1.837bee68474efp-3 && x[1] == 5);
    rng_normals(1, 2, 3, 0, x + 1);
    CHECK(x[1] == 5);
}

T_TEST(rng_has_the_right_moments)
{
    enum { N = 200000 };
    double sum = 0, square = 0, fourth = 0, uniform = 0;
    int bucket[10] = {0};
    for (uint64_t i = 0; i < N; i++) {
        double x = rng_normal(7, 0, i), u = rng_uniform(7, 1, i);
        sum += x, square += x * x, fourth += x * x * x * x, uniform += u;
        CHECK_MSG(u >= 0 && u < 1, "uniform %a", u);
        bucket[rng_range(7, 2, i, 0, 10)]++;
    }
    CHECK_NEAR(sum / N, 0, 0.01);
    CHECK_NEAR(square / N, 1, 0.02);
    CHECK_NEAR(fourth / N, 3, 0.1);
    CHECK_NEAR(uniform / N, 0.5, 0.005);
    for (int b = 0; b < 10; b++)
        CHECK_NEAR(bucket[b], N / 10, 600);
    CHECK_EQ_INT(rng_range(1, 1, 1, 5, 5), 5);
    CHECK_EQ_INT(rng_range(1, 1, 1, 5, 2), 5);
    CHECK_EQ_INT(rng_range(1, 1, 1, INT64_MAX - 1, INT64_MAX), INT64_MAX - 1);
}

static void check_sha(const char *text, size_t repeat, const char *want)
{
    Sha256 sha = sha256_begin();
    for (size_t i = 0; i < repeat; i++)
        sha256_add(&sha, text, strlen(text));
    char hex[65];
    sha256_end(&sha, hex);
    CHECK_EQ_STR(hex, want);
}

T_TEST(sha256_standard_vectors)
{
    check_sha("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_sha("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_sha("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

T_TEST(sha256_does_not_depend_on_the_pieces)
{
    static char text[300];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)rng_u64(8, 0, i);
    for (size_t len = 0; len < sizeof text; len++) {
        char whole[65], parts[65];
        Sha256 a = sha256_begin(), b = sha256_begin();
        sha256_add(&a, text, len);
        size_t cut = (size_t)rng_range(8, 1, len, 0, (int64_t)len + 1);
        sha256_add(&b, text, cut);
        sha256_add(&b, text + cut, len - cut);
        sha256_end(&a, whole);
        sha256_end(&b, parts);
        CHECK_EQ_STR(parts, whole);
    }
}

T_TEST(hash64_tells_length_and_bits_apart)
{
    char zeros[64] = {0};
    for (size_t i = 0; i < 64; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(hash64(zeros, i) != hash64(zeros, j));
    uint64_t base = hash64(zeros, 24);
    for (size_t bit = 0; bit < 24 * 8; bit++) {
        zeros[bit / 8] = (char)(1u << bit % 8);
        CHECK(hash64(zeros, 24) != base);
        zeros[bit / 8] = 0;
    }
}
