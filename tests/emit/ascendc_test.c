/* AscendC text: the same bytes every time, complete sets of files, no directory overwritten. */
#include "emit/emit.h"
#include "tests/t.h"

#include "base/file.h"
#include "craft/craft.h"
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

static const char add_text[] = "craft = 1\n"
                               "T = dtype(f32, f16)\n"
                               "n = dim(1, 1048576)\n"
                               "@host\n"
                               "def add(x: gm[T, n], y: gm[T, n], z: out[T, n], bias: f32 = 0.5):\n"
                               "    k[chip.cores](x, y, z, bias)\n"
                               "@kernel\n"
                               "def k(x: gm[T, n], y: gm[T, n], z: out[T, n], bias: f32):\n"
                               "    a = ub(T, 1024, depth=2)\n"
                               "    b = ub(T, 1024, depth=2)\n"
                               "    for t in mine(tiles(n, 1024)):\n"
                               "        with copyin():\n"
                               "            load(a[:t.size], x[t])\n"
                               "            load(b[:t.size], y[t])\n"
                               "        with compute():\n"
                               "            a[:t.size] = a[:t.size] + b[:t.size]\n"
                               "        with copyout():\n"
                               "            store(z[t], a[:t.size])\n";

/* A list, an optional input, and what comes after them. */
static const char moved_text[] =
    "craft = 1\n"
    "T = dtype(f32, f16)\n"
    "n = dim(1, 1048576)\n"
    "@host\n"
    "def moved(xs: gm_list[T], ys: out_list[T], s: opt[T, n], v: gm[T, n], w: out[T, n]):\n"
    "    room = workspace(T, n)\n"
    "    twice[chip.cores](xs, ys)\n"
    "    copy[chip.cores](v, room, w)\n"
    "@kernel\n"
    "def twice(xs: gm_list[T], ys: out_list[T]):\n"
    "    a = ub(T, 1024, depth=2)\n"
    "    b = ub(T, 1024, depth=2)\n"
    "    for i, t in mine_list(xs, 1024):\n"
    "        with copyin():\n"
    "            load(a[:t.size], xs[i][t])\n"
    "        with compute():\n"
    "            b[:t.size] = a[:t.size] + a[:t.size]\n"
    "        with copyout():\n"
    "            store(ys[i][t], b[:t.size])\n"
    "@kernel\n"
    "def copy(x: gm[T, n], r: ws[T, n], y: out[T, n]):\n"
    "    a = ub(T, 1024, depth=2)\n"
    "    for t in mine(tiles(n, 1024)):\n"
    "        with copyin():\n"
    "            load(a[:t.size], x[t])\n"
    "        with copyout():\n"
    "            store(r[t], a[:t.size])\n"
    "            store(y[t], a[:t.size])\n";

static EmitInput input(Arena *arena, const char *text, Diag *diag)
{
    EmitInput in = {.file = "dir/add.craft", .source = str_from(text)};
    CraftFile *file = craft_read(arena, "add.craft", in.source, diag);
    for (uint32_t v = 0; file && diag_ok(diag) && v < craft_variant_count(file); v++) {
        IrProgram *ir = craft_program(arena, file, v, diag);
        AscProgram *p = ir ? lower_program(arena, ir, npu_chip_find(STR("910B2")), LOWER_ALIGN,
                                           diag)
                           : NULL;
        if (p)
            vec_push(arena, &in.variants, p);
    }
    return in;
}

static EmitFiles emitted_from(Arena *arena, const char *text, const char *target)
{
    Diag diag = diag_make(arena, "add.craft", str_from(text));
    EmitInput in = input(arena, text, &diag);
    EmitFiles files = {0};
    REQUIRE(in.variants.len == 2);
    CHECK(emit_target(str_from(target))->emit(arena, &in, &files, &diag));
    return files;
}

static EmitFiles emitted(Arena *arena, const char *target)
{
    return emitted_from(arena, add_text, target);
}

static Str text_of(const EmitFiles *files, const char *path)
{
    for (uint32_t i = 0; i < files->len; i++)
        if (strcmp(files->at[i].path, path) == 0)
            return files->at[i].text;
    return (Str){0};
}

T_TEST(every_target_gives_the_same_bytes_twice)
{
    for (const Target *t = emit_targets; t->name; t++) {
        Arena a = {0}, b = {0};
        EmitFiles x = emitted(&a, t->name), y = emitted(&b, t->name);
        CHECK_EQ_INT(x.len, y.len);
        for (uint32_t i = 0; i < x.len && i < y.len; i++) {
            CHECK_EQ_STR(x.at[i].path, y.at[i].path);
            CHECK(str_equal(x.at[i].text, y.at[i].text));
        }
        arena_drop(&a);
        arena_drop(&b);
    }
}

T_TEST(a_project_has_host_kernel_and_binding)
{
    Arena arena = {0};
    EmitFiles files = emitted(&arena, "project");
    static const char *const paths[] = {"add_custom.json",
                                        "CMakeLists.txt",
                                        "CMakePresets.json",
                                        "build.sh",
                                        "op_host/add_custom.cpp",
                                        "op_host/add_custom_tiling.h",
                                        "op_host/add_custom_plan.h",
                                        "op_kernel/add_custom.cpp",
                                        "op_kernel/add_custom.map.json",
                                        "torch/add_custom_binding.cpp",
                                        "test_op.py",
                                        "board.sh"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        CHECK_MSG(text_of(&files, paths[i]).len > 0, "%s", paths[i]);
    Str kernel = text_of(&files, "op_kernel/add_custom.cpp");
    CHECK(str_find(kernel, STR("#if ORIG_DTYPE_X == DT_FLOAT &&")) >= 0);
    CHECK(str_find(kernel, STR("#elif ORIG_DTYPE_X == DT_FLOAT16 &&")) >= 0);
    CHECK(str_find(kernel, STR("bias")) < 0); /* nothing uses it: no member, no field */
    CHECK(str_find(text_of(&files, "op_host/add_custom.cpp"), STR("Attr(\"bias\")")) >= 0);
    arena_drop(&arena);
}

/* What CANN derives from the type (files, entry, header of the C interface) and what we wrote agree. */
T_TEST(a_project_is_named_by_the_vendors_rule)
{
    Arena arena = {0};
    Buf text = {0};
    Str rest = str_from(add_text), line;
    while (str_next(&rest, '\n', &line)) {
        ptrdiff_t at = str_find(line, STR("def add("));
        buf_printf(&text, at < 0 ? "%.*s\n" : "def average_pooling_1d(%.*s\n",
                   (int)(at < 0 ? line.len : line.len - 8), at < 0 ? line.at : line.at + 8);
    }
    EmitFiles files = emitted_from(&arena, text.at, "project");
    Str kernel = text_of(&files, "op_kernel/average_pooling1d.cpp");
    CHECK(str_find(kernel, STR("void average_pooling1d(")) > 0);
    Str host = text_of(&files, "op_host/average_pooling1d.cpp");
    CHECK(str_find(host, STR("OP_ADD(AveragePooling1d)")) > 0);
    Str binding = text_of(&files, "torch/average_pooling1d_binding.cpp");
    CHECK(str_find(binding, STR("aclnn_average_pooling1d.h")) > 0);
    CHECK(str_find(text_of(&files, "op_kernel/CMakeLists.txt"),
                   STR("OP_TYPE AveragePooling1d KERNEL_FILE average_pooling1d.cpp")) > 0);
    CHECK(str_find(text_of(&files, "build.sh"), STR("--target binary")) > 0);
    CHECK(str_find(text_of(&files, "board.sh"), STR("build.sh")) > 0);
    CHECK(str_find(text_of(&files, "CMakeLists.txt"), STR("CANN 9.0.0")) > 0);
    buf_free(&text);
    arena_drop(&arena);
}

T_TEST(operands_after_a_list_are_found)
{
    Arena arena = {0};
    EmitFiles files = emitted_from(&arena, moved_text, "project");
    Str host = text_of(&files, "op_host/moved.cpp");
    static const char *const lines[] = {
        "sGiven = context->GetOptionalInputShape(1);",
        "vGiven = context->GetRequiredInputShape(2);",
        "(xsLen == 0 || context->GetDynamicInputDesc(0, 0)->GetDataType() == ge::DT_FLOAT16)",
        "(sGiven == nullptr || context->GetOptionalInputDesc(1)->GetDataType() == ge::DT_FLOAT)",
        " context->GetRequiredInputDesc(2)->GetDataType() == ge::DT_FLOAT)",
        "context->GetOutputShape(0 + itemIndex);",
        "wShape = context->GetOutputShape(0 + xsLen);",
        "SetOutputDataType(0 + itemIndex, context->GetRequiredInputDataType(2));",
        "SetOutputDataType(0 + xsLen, context->GetRequiredInputDataType(2));"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK_MSG(str_find(host, str_from(lines[i])) >= 0, "%s", lines[i]);
    arena_drop(&arena);
}

T_TEST(an_answer_has_its_six_strings)
{
    Arena arena = {0};
    EmitFiles files = emitted(&arena, "mkb");
    Str text = text_of(&files, "add.py");
    static const char *const names[] = {"project_json_src='''",  "host_tiling_src='''",
                                        "host_operator_src='''", "kernel_src='''",
                                        "python_bind_src='''",   "model_src='''",
                                        "void add_custom(",      "OP_ADD(AddCustom)"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_MSG(str_find(text, str_from(names[i])) >= 0, "%s", names[i]);
    arena_drop(&arena);
}

T_TEST(a_directory_of_others_is_left_alone)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", (Str){0});
    const char *dir = NULL;
    REQUIRE(file_temp_dir(&arena, "emit", &dir, &diag));
    EmitFiles files = emitted(&arena, "mkb");
    const char *ours = path_join(&arena, dir, "ours"), *theirs = path_join(&arena, dir, "theirs");
    CHECK(emit_write(&arena, ours, &files, &diag));
    CHECK(emit_write(&arena, ours, &files, &diag));
    CHECK(file_exists(path_join(&arena, ours, "add.py")));
    CHECK(file_make_dirs(theirs, &diag) &&
          file_write(path_join(&arena, theirs, "notes"), STR("mine"), &diag));
    CHECK(!emit_write(&arena, theirs, &files, &diag));
    CHECK(!file_exists(path_join(&arena, theirs, "add.py")));
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}

T_TEST(files_of_an_earlier_run_go)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", (Str){0});
    const char *dir = NULL;
    REQUIRE(file_temp_dir(&arena, "emit", &dir, &diag));
    const char *to = path_join(&arena, dir, "out");
    EmitFiles one = {0}, two = {0};
    vec_push(&arena, &one, ((EmitFile){"a", STR("1"), false}));
    vec_push(&arena, &two, ((EmitFile){"b", STR("2"), true}));
    CHECK(emit_write(&arena, to, &one, &diag));
    CHECK(emit_write(&arena, to, &two, &diag));
    CHECK(!file_exists(path_join(&arena, to, "a")));
    CHECK(file_exists(path_join(&arena, to, "b")));
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}

/* A disc that is full: here a limit on the size of files. */
T_TEST(what_cannot_be_written_whole_leaves_what_was_there)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", (Str){0});
    const char *dir = NULL;
    REQUIRE(file_temp_dir(&arena, "emit", &dir, &diag));
    const char *to = path_join(&arena, dir, "out");
    char *large = arena_alloc(&arena, 5000);
    EmitFiles one = {0}, two = {0};
    Str text;
    memset(large, 'x', 5000);
    vec_push(&arena, &one, ((EmitFile){"a", STR("1"), false}));
    vec_push(&arena, &two, ((EmitFile){"a", STR("2"), false}));
    vec_push(&arena, &two, ((EmitFile){"b", {large, 5000}, false}));
    CHECK(file_make_dirs(path_join(&arena, to, ".acraft-new/b"), &diag)); /* of a stopped run */
    CHECK(emit_write(&arena, to, &one, &diag));
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, RLIM_INFINITY});
    CHECK(!emit_write(&arena, to, &two, &diag));
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
    REQUIRE(file_read(&arena, path_join(&arena, to, "a"), 10, &text, &diag));
    CHECK(str_is(text, "1"));
    CHECK(!file_exists(path_join(&arena, to, "b")));
    CHECK(!file_exists(path_join(&arena, to, ".acraft-new")));
    CHECK(emit_write(&arena, to, &two, &diag));
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}

/* The line before the one that has `text`. */
static Str line_before(Str all, const char *text)
{
    Str line, before = {0};
    while (str_next(&all, '\n', &line)) {
        if (str_find(line, str_from(text)) >= 0)
            return before;
        before = line;
    }
    return (Str){0};
}

T_TEST(kernel_text_says_its_craft_lines)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "add.craft", str_from(add_text));
    EmitInput in = input(&arena, add_text, &diag);
    Buf out = {0};
    in.lines = true;
    emit_kernel_text(&arena, &in, &out);
    Str text = buf_view(&out);
    CHECK_EQ_STR(str_dup(&arena, line_before(text, "AscendC::Add(")), "#line 16 \"dir/add.craft\"");
    CHECK_EQ_STR(str_dup(&arena, line_before(text, "DataCopyPad(a, xGm")),
                 "#line 13 \"dir/add.craft\"");
    CHECK_EQ_STR(str_dup(&arena, line_before(text, "DataCopyPad(zGm")),
                 "#line 18 \"dir/add.craft\"");
    in.lines = false;
    out.len = 0;
    emit_kernel_text(&arena, &in, &out);
    CHECK(str_find(buf_view(&out), STR("#line")) < 0);
    buf_free(&out);
    arena_drop(&arena);
}

T_TEST(shapes_that_divide_are_guarded)
{
    static const char text[] = "craft = 1\n"
                               "T = dtype(f32, f16)\n"
                               "n = dim(1, 1048576)\n"
                               "@host\n"
                               "def part(x: gm[T, n], y: out[T, n // s], s: i64 = 2):\n"
                               "    assert s >= 1, \"s is \\\"positive\\\"\"\n"
                               "    k[1](x, y, s)\n"
                               "@kernel\n"
                               "def k(x: gm[T, n], y: out[T, n // s], s: i64):\n"
                               "    a = ub(T, 1024)\n"
                               "    for t in tiles(n // s, 1024):\n"
                               "        with copyin():\n"
                               "            load(a[:t.size], x[t])\n"
                               "        with copyout():\n"
                               "            store(y[t], a[:t.size])\n";
    Arena arena = {0};
    EmitFiles files = emitted_from(&arena, text, "project");
    Str host = text_of(&files, "op_host/part.cpp"),
        torch = text_of(&files, "torch/part_binding.cpp");
    ptrdiff_t infer = str_find(host, STR("InferShape(gert")),
              guard = str_find(host, STR("if (!(s >= 1))"));
    CHECK(infer >= 0 && guard > infer && guard < str_find(host, STR("SetDim(0, FloorDiv(n, s))")));
    CHECK(str_find(torch, STR("TORCH_CHECK(s >= 1, \"part: s is \\\"positive\\\"\");")) >= 0);
    /* Helpers that shapes call stand before them, in whatever file these are. */
    EmitFiles answer = emitted_from(&arena, text, "mkb"),
              direct = emitted_from(&arena, text, "direct");
    Str bind = text_of(&answer, "part.py");
    static const char defined[] = "static inline int64_t FloorDiv(";
    CHECK(str_find(torch, str_from(defined)) >= 0);
    CHECK(str_find(torch, str_from(defined)) < str_find(torch, STR("at::empty({FloorDiv(n, s)}")));
    CHECK(str_find(text_of(&files, "op_host/part_plan.h"), str_from(defined)) >= 0);
    CHECK(str_find(text_of(&direct, "kernel/part_plan.h"), str_from(defined)) >= 0);
    bind = str_slice(bind, (size_t)str_find(bind, STR("python_bind_src")), bind.len);
    CHECK(str_find(bind, str_from(defined)) >= 0);
    arena_drop(&arena);
}

/* The kernels see pairs of f32; the operator, whoever calls it, takes complex numbers. */
T_TEST(complex_operands_are_complex_for_the_caller)
{
    static const char text[] =
        "craft = 1\n"
        "T = dtype(f32, f16)\n"
        "n = dim(1, 1048576)\n"
        "@host\n"
        "def part(x: gm[c64, n], v: gm[T, n], y: out[c64, n], w: out[T, n]):\n"
        "    k[1](x, v, y, w)\n"
        "@kernel\n"
        "def k(x: gm[c64, n], v: gm[T, n], y: out[c64, n], w: out[T, n]):\n"
        "    a = ub(T, 1024)\n"
        "    b = ub(f32, 64, 8)\n"
        "    for t in tiles(n, 1024):\n"
        "        with copyin():\n"
        "            load(a[:t.size], v[t])\n"
        "        with copyout():\n"
        "            store(w[t], a[:t.size])\n"
        "    for t in tiles(n, 64):\n"
        "        with copyin():\n"
        "            load(b[:t.size, :2], x[t, :])\n"
        "        with copyout():\n"
        "            store(y[t, :], b[:t.size, :2])\n";
    Arena arena = {0};
    EmitFiles files = emitted_from(&arena, text, "project");
    Str host = text_of(&files, "op_host/part.cpp"),
        torch = text_of(&files, "torch/part_binding.cpp");
    CHECK(str_find(host, STR("ge::DT_COMPLEX64, ge::DT_COMPLEX64")) >= 0);
    CHECK(str_find(host, STR("xGiven->GetStorageShape().GetDimNum() != 1")) >= 0);
    CHECK(str_find(host, STR("yShape->SetDimNum(1);")) >= 0);
    CHECK(str_find(torch, STR("TORCH_CHECK(x.dim() == 1")) >= 0);
    CHECK(str_find(torch, STR("at::empty({n}, x.options().dtype(x.scalar_type()))")) >= 0);
    CHECK(str_find(text_of(&files, "part.json"), STR("complex64")) >= 0);
    arena_drop(&arena);
}
