/* --check-with, against small headers of our own in the places of the vendor's: which text is
 * checked, what is refused, and which repository is missed. */
#include "emit/check.h"
#include "tests/t.h"

#include "base/file.h"
#include "base/proc.h"
#include "craft/craft.h"

static const char *const kernel_headers[] = {"asc-devkit/include/basic_api/kernel_operator_intf.h",
                                             "asc-tools/cpudebug/include/stub_def.h", NULL};
static const char *const host_headers[] = {
    "metadef/inc/external/register/tilingdata_base.h",
    "metadef/inc/external/asc/register/op_def_registry.h",
    "asc-devkit/include/utils/tiling/platform/platform_ascendc.h",
    "runtime/pkg_inc/platform/soc_spec.h", NULL};

/* op_host that needs every directory, our securec.h, and shape inference's own switch. */
static const char host_text[] = "#include \"x_tiling.h\"\n"
                                "#include \"register/op_def_registry.h\"\n"
                                "#include \"external/register/tilingdata_base.h\"\n"
                                "#include \"tiling/platform/platform_ascendc.h\"\n"
                                "#include \"platform/soc_spec.h\"\n"
                                "#include <securec.h>\n"
                                "#ifndef NO_OPERATOR_IMPL\n"
                                "#error ge is not among the directories\n"
                                "#endif\n"
                                "int copy(int a) { return memcpy_s(&a, 4, &one, 4) == EOK; }\n";

static const char *vendor(Arena *arena, const char *const *headers, const char *dir)
{
    Diag diag = diag_make(arena, "", (Str){0});
    if (!dir)
        REQUIRE(file_temp_dir(arena, "vendor", &dir, &diag));
    for (; *headers; headers++) {
        const char *path = path_join(arena, dir, *headers);
        REQUIRE(file_make_dirs(path_dir(arena, path), &diag));
        REQUIRE(file_write(path, STR("#pragma once\n"), &diag));
    }
    return dir;
}

static EmitInput input(Arena *arena, Diag *diag)
{
    EmitInput in = {.file = "x.craft",
                    .source = STR("craft = 1\n"
                                  "n = dim(1, 1048576)\n"
                                  "@host\n"
                                  "def x(a: gm[f32, n], b: out[f32, n]):\n"
                                  "    k[chip.cores](a, b)\n"
                                  "@kernel\n"
                                  "def k(a: gm[f32, n], b: out[f32, n]):\n"
                                  "    u = ub(f32, 1024, depth=2)\n"
                                  "    for t in mine(tiles(n, 1024)):\n"
                                  "        with copyin():\n"
                                  "            load(u[:t.size], a[t])\n"
                                  "        with copyout():\n"
                                  "            store(b[t], u[:t.size])\n")};
    CraftFile *file = craft_read(arena, in.file, in.source, diag);
    IrProgram *ir = file && diag_ok(diag) ? craft_program(arena, file, 0, diag) : NULL;
    REQUIRE(ir != NULL);
    AscProgram *p = lower_program(arena, ir, npu_chip_find(STR("910B2")), LOWER_ALIGN, diag);
    REQUIRE(p != NULL);
    vec_push(arena, &in.variants, p);
    return in;
}

/* The kernel text is refused each time: the headers are empty. */
static EmitCheck checked(Arena *arena, const char *dir, const char *text)
{
    Diag diag = diag_make(arena, "x.craft", (Str){0});
    EmitInput in = input(arena, &diag);
    EmitFiles project = {0};
    EmitCheck answer = {0};
    if (!proc_find(arena, "clang++"))
        t_skip("no clang++");
    vec_push(arena, &project, ((EmitFile){"op_host/x.cpp", str_from(text), false}));
    vec_push(arena, &project,
             ((EmitFile){"op_host/x_tiling.h", STR("static const int one = 1;\n"), false}));
    vec_push(arena, &project, ((EmitFile){"torch/x.cpp", STR("not C++\n"), false}));
    CHECK(emit_check_with(arena, &in, &project, dir, &answer, &diag));
    CHECK_EQ_INT(answer.kernels, 1);
    return answer;
}

static void remove_vendor(Arena *arena, const char *dir)
{
    Diag diag = diag_make(arena, "", (Str){0});
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(arena);
}

T_TEST(host_text_without_its_headers_is_not_checked)
{
    Arena arena = {0};
    const char *dir = vendor(&arena, kernel_headers, NULL);
    EmitCheck answer = checked(&arena, dir, host_text);
    CHECK_EQ_INT(answer.hosts, 0);
    CHECK_EQ_INT(answer.refused, 1);
    REQUIRE(answer.host_lacks != NULL);
    CHECK_EQ_STR(answer.host_lacks, "no metadef, no asc-devkit, no runtime");
    remove_vendor(&arena, dir);
}

T_TEST(host_text_is_checked_with_its_headers)
{
    Arena arena = {0};
    const char *dir = vendor(&arena, host_headers, vendor(&arena, kernel_headers, NULL));
    EmitCheck answer = checked(&arena, dir, host_text);
    CHECK(answer.host_lacks == NULL);
    CHECK_EQ_INT(answer.hosts, 1);
    CHECK_EQ_INT(answer.refused, 1);
    remove_vendor(&arena, dir);
}

T_TEST(host_text_refused_in_one_library_is_refused)
{
    static const char *const texts[] = {
        "nothing known;\n",
        "#ifdef OP_PROTO_LIB\nnothing known;\n#endif\n",
        "#ifdef OP_TILING_LIB\nnothing known;\n#endif\n",
        "#if !defined OP_TILING_LIB && !defined OP_PROTO_LIB\nnothing known;\n#endif\n",
    };
    Arena arena = {0};
    const char *dir = vendor(&arena, host_headers, vendor(&arena, kernel_headers, NULL));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        EmitCheck answer = checked(&arena, dir, texts[i]);
        CHECK_EQ_INT(answer.hosts, 1);
        CHECK_EQ_INT(answer.refused, 2);
        CHECK(str_find(answer.output, STR("op_host/x.cpp")) >= 0);
    }
    remove_vendor(&arena, dir);
}
