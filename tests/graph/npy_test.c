/* .npy files: round trips, what NumPy itself writes, and bytes that are wrong. */
#include "graph/npy.h"
#include "base/rng.h"
#include "tests/t.h"
#include <string.h>

static Tensor *parse(const void *bytes, size_t len)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test.npy", (Str){0});
    Tensor *t = npy_parse((Str){bytes, len}, &diag);
    CHECK((t != NULL) == diag_ok(&diag));
    arena_drop(&arena);
    return t;
}

static Tensor *sample(DType dtype, Shape shape)
{
    Tensor *t = tensor_new(dtype, shape);
    for (int64_t i = 0; i < t->count; i++)
        tensor_set(t, i, (double)(i % 7));
    return t;
}

T_TEST(npy_round_trip)
{
    static const Shape shapes[] = {
        {0, {0}}, {1, {5}}, {2, {2, 3}}, {3, {2, 0, 4}}, {8, {1, 2, 1, 2, 1, 2, 1, 2}}};
    for (int d = 0; d < DT_COUNT; d++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            Tensor *t = sample((DType)d, shapes[s]);
            Buf out = {0};
            npy_format(t, &out);
            CHECK((out.len - (size_t)t->count * dtype_bytes(t->dtype)) % 64 == 0);
            Tensor *back = parse(out.at, out.len);
            REQUIRE(back != NULL);
            CHECK_MSG(tensor_equal(t, back), "%s", dtype_name((DType)d));
            tensor_free(t);
            tensor_free(back);
            buf_free(&out);
        }
}

/* A file with the given version, header and elements. */
static Tensor *made(int version, const char *header, const void *body, size_t len)
{
    Buf b = {0};
    size_t h = strlen(header);
    uint8_t lead[12] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0, (uint8_t)(h & 255), (uint8_t)(h >> 8)};
    buf_add(&b, lead, version == 1 ? 10 : 12);
    buf_add(&b, header, h);
    buf_add(&b, body, len);
    Tensor *t = parse(b.at, b.len);
    buf_free(&b);
    return t;
}

T_TEST(npy_reads_what_numpy_writes)
{
    static const float six[] = {1, 2, 3, 4, 5, 6};
    Tensor *t = made(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", six,
                     sizeof six);
    REQUIRE(t != NULL);
    CHECK(tensor_get(t, 5) == 6);
    tensor_free(t);
    t = made(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", six, sizeof six);
    REQUIRE(t != NULL);
    static const double rows[] = {1, 3, 5, 2, 4, 6};
    for (int i = 0; i < 6; i++)
        CHECK(tensor_get(t, i) == rows[i]);
    tensor_free(t);
    t = made(1, "{\"shape\": (), \"descr\": \"|b1\", \"fortran_order\": False}", "\x05", 1);
    REQUIRE(t != NULL);
    CHECK(t->dtype == DT_BOOL && t->shape.rank == 0 && TENSOR_AT(t, uint8_t)[0] == 1);
    tensor_free(t);
}

T_TEST(npy_refuses)
{
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{'descr': '<f4'}",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4194304)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (1,)}",
        "{'descr': '<U4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'other': 1, 'fortran_order': False, 'shape': (1,)}"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        CHECK_MSG(made(1, headers[i], "\0\0\0\0", 4) == NULL, "%s", headers[i]);
    CHECK(made(4, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "\0\0\0\0", 4) ==
          NULL);
    CHECK(parse("", 0) == NULL);
    CHECK(parse("\x93NUMPY\1\0\xff\xff", 10) == NULL);
}

T_TEST(npy_survives_noise)
{
    Tensor *t = sample(DT_F32, (Shape){2, {3, 4}});
    Buf good = {0};
    npy_format(t, &good);
    for (uint64_t round = 0; round < 3000; round++) {
        Buf bad = {0};
        buf_add(&bad, good.at, good.len);
        for (uint64_t k = 0; k < 1 + round % 4; k++)
            bad.at[rng_u64(1, round, k) % bad.len] = (char)rng_u64(2, round, k);
        Tensor *back = parse(bad.at, (size_t)rng_range(3, round, 0, 0, 3)
                                         ? bad.len
                                         : (size_t)(rng_u64(4, round, 0) % bad.len));
        tensor_free(back);
        buf_free(&bad);
    }
    tensor_free(t);
    buf_free(&good);
}
