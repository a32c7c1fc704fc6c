/* Tensors as text and files, values of parameters, and which parameter gets what. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include <string.h>

static bool parse(Arena *a, const char *text, SimRole role, TwinTensor *tensor)
{
    const char *file;
    Diag diag = diag_make(a, "", (Str){0});
    bool ok = twin_tensor_parse(a, text, role, 7, tensor, &file, &diag);
    CHECK_EQ_INT(ok, diag.errors == 0);
    return ok;
}

T_TEST(types_and_shapes)
{
    Arena a = {0};
    TwinTensor t;
    REQUIRE(parse(&a, "x=f16[2, 3]", SIM_IN, &t));
    CHECK_EQ_INT(t.bytes, 12);
    CHECK_EQ_INT(t.shape[1], 3);
    twin_tensor_free(&t);
    REQUIRE(parse(&a, "n=i32[]", SIM_OUT, &t));
    CHECK_EQ_INT(t.rank, 0);
    CHECK_EQ_INT(t.bytes, 4);
    twin_tensor_free(&t);
    static const char *const bad[] = {"x",
                                      "=f16[2]",
                                      "x=f16",
                                      "x=f17[2]",
                                      "x=f16[2",
                                      "x=f16[-1]",
                                      "x=f16[a]",
                                      "x=f16[99999999999,99999999999]",
                                      "x=@/no/such/file.npy",
                                      "x="};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_MSG(!parse(&a, bad[i], SIM_IN, &t), "accepted %s", bad[i]);
    arena_drop(&a);
}

T_TEST(random_values_depend_on_name_and_seed_only)
{
    Arena a = {0};
    TwinTensor t, u, v;
    REQUIRE(parse(&a, "x=f32[100]", SIM_IN, &t) && parse(&a, "x=f32[100]", SIM_IN, &u) &&
            parse(&a, "y=f32[100]", SIM_IN, &v));
    CHECK(memcmp(t.data, u.data, t.bytes) == 0);
    CHECK(memcmp(t.data, v.data, t.bytes) != 0);
    twin_tensor_free(&t);
    twin_tensor_free(&u);
    twin_tensor_free(&v);
    arena_drop(&a);
}

T_TEST(npy_there_and_back)
{
    Arena a = {0};
    const char *dir;
    Diag diag = diag_make(&a, "", (Str){0});
    REQUIRE(file_temp_dir(&a, "acraft-test", &dir, &diag));
    TwinTensor t, back;
    REQUIRE(parse(&a, "x=i16[3,1,5]", SIM_IN, &t));
    const char *path = path_join(&a, dir, "x.npy");
    REQUIRE(twin_tensor_write(&t, path, &diag));
    REQUIRE(parse(&a, str_format(&a, "x=@%s", path), SIM_IN, &back));
    CHECK_EQ_INT(back.rank, 3);
    CHECK_EQ_INT(back.dtype, DT_I16);
    CHECK(memcmp(t.data, back.data, t.bytes) == 0);
    Str bytes;
    REQUIRE(file_read(&a, path, 0, &bytes, &diag));
    for (size_t cut = 0; cut < bytes.len; cut++) {
        TwinTensor u;
        REQUIRE(file_write(path, str_slice(bytes, 0, cut), &diag));
        CHECK(!parse(&a, str_format(&a, "x=@%s", path), SIM_IN, &u));
    }
    twin_tensor_free(&t);
    twin_tensor_free(&back);
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&a);
}

T_TEST(numbers_as_bytes)
{
    Arena a = {0};
    Diag diag = diag_make(&a, "", (Str){0});
    Str bytes;
    REQUIRE(twin_values_parse(&a, "u8:1,u32:7,f32:0.5,i64:-2", &bytes, &diag));
    static const unsigned char want[] = {1,    0,    0,    0,    7,    0,    0,    0,
                                         0,    0,    0,    0x3f, 0,    0,    0,    0,
                                         0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    REQUIRE(bytes.len == sizeof want);
    CHECK(memcmp(bytes.at, want, sizeof want) == 0);
    CHECK(!twin_values_parse(&a, "u32", &bytes, &diag));
    CHECK(!twin_value_parse(&a, "SomeStruct", "1", &bytes, &diag));
    CHECK(!twin_value_parse(&a, "float", "x", &bytes, &diag));
    arena_drop(&a);
}

T_TEST(parameters_are_bound_by_name_then_in_order)
{
    Arena a = {0};
    Diag diag = diag_make(&a, "", (Str){0});
    TwinParams params = {0};
    static const char *const names[] = {"srcGm", "y", "workspace", "tiling"};
    for (int i = 0; i < 4; i++) {
        TwinParam p = {.name = names[i], .type = "GM_ADDR", .pointer = true};
        vec_push(&a, &params, p);
    }
    TwinTensor tensors[] = {{.name = "Y"}, {.name = "x"}};
    TwinArg *args;
    REQUIRE(twin_bind(&a, &params, tensors, 2, NULL, &args, &diag));
    CHECK_EQ_INT(args[0].index, 1);
    CHECK_EQ_INT(args[1].index, 0);
    CHECK_EQ_INT(args[2].kind, TWIN_ARG_WORKSPACE);
    CHECK_EQ_INT(args[3].kind, TWIN_ARG_TILING);
    CHECK(!twin_bind(&a, &params, tensors, 1, NULL, &args, &diag));
    arena_drop(&a);
}
