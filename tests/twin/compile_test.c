/* Text in, diagnostics and refusals out: entries, launches, messages, imports, the cache. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include "twin/twin_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAD "#include \"kernel_operator.h\"\n"

static Trial compile(const char *text, const char *kernel)
{
    Trial t = {.text = text, .kernel = kernel};
    trial_run(&t);
    return t;
}

static void check_refused(const char *text, const char *kernel, VerdictStatus status,
                          const char *reason)
{
    Trial t = compile(text, kernel);
    CHECK(!t.compiled);
    CHECK_EQ_STR(verdict_status_row(t.verdict.status)->text, verdict_status_row(status)->text);
    CHECK_MSG(strstr(t.verdict.reason, reason) != NULL, "reason: %s", t.verdict.reason);
    trial_drop(&t);
}

T_TEST(entries_and_their_parameters)
{
    Arena a = {0};
    TwinEntries e = {0};
    twin_entry_scan(
        &a,
        STR("// __global__ void no(int);\n"
            "#define G __global__ void no2(GM_ADDR x)\n"
            "const char *s = \"__global__ void no3()\";\n"
            "extern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x, __gm__ uint8_t* y,\n"
            "    const AddTiling tiling /* by value */, uint32_t n = 3)\n{ }\n"
            "template <typename T, int N> __global__ [aicore] void tmpl(GM_ADDR x) {}\n"
            "__global__ __aicore__ void none(void);\n"),
        &e);
    REQUIRE(e.len == 3);
    CHECK_EQ_STR(e.at[0].name, "add_custom");
    CHECK_EQ_INT(e.at[0].line, 4);
    REQUIRE(e.at[0].params.len == 4);
    CHECK_EQ_STR(e.at[0].params.at[1].name, "y");
    CHECK(e.at[0].params.at[1].pointer);
    CHECK_EQ_STR(e.at[0].params.at[2].name, "tiling");
    CHECK_EQ_STR(e.at[0].params.at[2].type, "const AddTiling");
    CHECK(!e.at[0].params.at[2].pointer);
    CHECK_EQ_STR(e.at[0].params.at[3].name, "n");
    CHECK_EQ_STR(e.at[1].name, "tmpl");
    CHECK(e.at[1].is_template);
    CHECK_EQ_INT(e.at[2].params.len, 0);
    arena_drop(&a);
}

T_TEST(entries_say_their_cores)
{
    Arena a = {0};
    TwinEntries e = {0};
    twin_entry_scan(&a,
                    STR("__global__ __mix__(1, 2) void two(GM_ADDR x) {}\n"
                        "template <int N> __mix__( 1 ,1 ) __global__ void one(GM_ADDR x) {}\n"
                        "extern \"C\" __global__ __cube__ void cube(GM_ADDR x) {}\n"
                        "__vector__ __global__ __aicore__ void vector(GM_ADDR x) {}\n"
                        "__global__ __attribute__((aligned(16))) void unsaid(GM_ADDR x) {}\n"
                        "#if A\n__global__ __cube__ void either(GM_ADDR x)\n"
                        "#else\n__global__ void either(GM_ADDR x)\n#endif\n{}\n"
                        "#if A\n__global__ __mix__(1, 1)\n#else\n__global__ __mix__(1, 2)\n"
                        "#endif\nvoid shared(GM_ADDR x) {}\n"),
                    &e);
    REQUIRE(e.len == 7);
    static const struct {
        const char *name;
        TwinCores cores;
    } want[] = {{"two", TWIN_CORES_MIX_1_2},   {"one", TWIN_CORES_MIX_1_1},
                {"cube", TWIN_CORES_CUBE},     {"vector", TWIN_CORES_VECTOR},
                {"unsaid", TWIN_CORES_UNSAID}, {"either", TWIN_CORES_UNSAID},
                {"shared", TWIN_CORES_MIX_1_2}};
    for (uint32_t i = 0; i < e.len; i++) {
        CHECK_EQ_STR(e.at[i].name, want[i].name);
        CHECK_EQ_INT(e.at[i].cores, want[i].cores);
        CHECK_EQ_INT(e.at[i].params.len, 1);
        CHECK(e.at[i].two_heads == (i >= 5)); /* the preprocessor is asked which counts */
    }
    arena_drop(&a);
}

T_TEST(main_ends_with_its_return)
{
    Arena a = {0};
    Str out = twin_entry_end_main(&a, STR("int main(int n, char **v);\nint main(int n, char **v)\n"
                                          "{ if (n) { f(\"}\"); } }\nint g() {}"));
    CHECK_EQ_SLICE(out, "int main(int n, char **v);\nint main(int n, char **v)\n"
                        "{ if (n) { f(\"}\"); }  return 0; }\nint g() {}");
    CHECK_EQ_SLICE(twin_entry_end_main(&a, STR("int domain() { main(")), "int domain() { main(");
    arena_drop(&a);
}

T_TEST(launches_are_rewritten_line_by_line)
{
    Arena a = {0};
    uint32_t count;
    Str out = twin_entry_rewrite_launches(
        &a,
        STR("k<<<n, nullptr, s>>>(x);\n// k<<<1>>>(y)\nt<half><<<f(1, 2),\n 0, s>>>(z); a << b;"),
        &count);
    CHECK_EQ_INT(count, 2);
    CHECK_EQ_SLICE(out, "ACRAFT_LAUNCH(n, nullptr, s)(x);\n// k<<<1>>>(y)\n"
                        "t<half> ACRAFT_LAUNCH_OF(f(1, 2),\n 0, s)(z); a << b;");
    arena_drop(&a);
}

/* Launches that begin and never end are looked through once, not each to the end. */
T_TEST(launches_without_end_take_no_time)
{
    Arena a = {0};
    Buf text = {0};
    uint32_t count;
    for (int i = 0; i < 200000; i++)
        buf_puts(&text, i % 2 ? "k<<<" : "k<<<1, nullptr, s>>>(");
    clock_t start = clock();
    twin_entry_rewrite_launches(&a, buf_view(&text), &count);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    CHECK_MSG(seconds < 10, "%.1f s", seconds);
    buf_free(&text);
    arena_drop(&a);
}

T_TEST(scanners_survive_cut_text)
{
    static const char whole[] =
        "extern \"C\" __global__ __aicore__ void a(GM_ADDR x, /* c */ T<int, (2)> y) { b<<<1, (2), "
        "\"q\\\"\">>>(x); } // end\n#define X \\\n y\n";
    for (size_t cut = 0; cut < sizeof whole; cut++) {
        Arena a = {0};
        TwinEntries e = {0};
        uint32_t count;
        twin_entry_scan(&a, (Str){whole, cut}, &e);
        Str out = twin_entry_rewrite_launches(&a, (Str){whole, cut}, &count);
        CHECK(out.len >= cut || count == 0);
        arena_drop(&a);
    }
}

T_TEST(errors_stand_at_the_users_line)
{
    Trial t = compile(HEAD "extern \"C\" __global__ __aicore__ void k(GM_ADDR x)\n{\n"
                           "    AscendC::LocalTensor<float> a, b, c;\n"
                           "    AscendC::NoSuchCall(a, b, 8);\n}\n",
                      NULL);
    CHECK_EQ_INT(t.verdict.status, VERDICT_NOT_COMPILED);
    CHECK_EQ_INT(t.verdict.compiled, VERDICT_NO);
    CHECK_MSG(strstr(t.verdict.reason, "kernel.cpp:5: no member named 'NoSuchCall'") != NULL, "%s",
              t.verdict.reason);
    CHECK(strstr(t.messages.at, "kernel.cpp:5:14: error:") != NULL);
    trial_drop(&t);
}

T_TEST(messages_lead_out_of_the_headers)
{
    Arena a = {0};
    Verdict v = verdict_make();
    Diag diag = diag_make(&a, "k.cpp", (Str){0});
    twin_messages_read(
        &a,
        STR("/home/x/twin/include/acraft/vec.h:10:5: error: static_assert failed due to "
            "requirement 'ok' \"acraft-unsupported: MmadWithSparse: not yet\"\n"
            "    static_assert(ok);\n"
            "/home/x/y.h:3:1: note: in instantiation of function\n"
            "k.cpp:41:9: note: in instantiation of function template specialization 'f'\n"
            "k.cpp:50:1: error: unknown type name 'foo'\n"),
        "k.cpp", &v, &diag);
    CHECK_EQ_INT(v.status, VERDICT_UNSUPPORTED);
    REQUIRE(v.unsupported.len == 1);
    CHECK_EQ_STR(v.unsupported.at[0], "MmadWithSparse");
    REQUIRE(diag.items.len == 2);
    CHECK_EQ_INT(diag.items.at[0].at.line, 41);
    CHECK_EQ_STR(diag.items.at[0].file, "k.cpp");
    CHECK_EQ_INT(diag.items.at[1].at.line, 50);
    arena_drop(&a);
}

T_TEST(a_missing_vendor_header_is_our_gap)
{
    check_refused(HEAD "#include \"lib/no_such_part.h\"\n"
                       "__global__ __aicore__ void a(GM_ADDR x) {}\n",
                  NULL, VERDICT_UNSUPPORTED, "'lib/no_such_part.h' file not found");
    check_refused(HEAD "#include \"mine.h\"\n__global__ __aicore__ void a(GM_ADDR x) {}\n", NULL,
                  VERDICT_NOT_COMPILED, "'mine.h' file not found");
}

T_TEST(parts_of_matmul_that_are_missing_are_named)
{
#define MATMUL(call)                                                       \
    HEAD "#include \"lib/matmul_intf.h\"\nusing namespace AscendC;\n"      \
         "extern \"C\" __global__ __cube__ void a(GM_ADDR x) { using T = " \
         "MatmulType<TPosition::GM, "                                      \
         "CubeFormat::ND, half>; Matmul<T, T, T> mm; LocalTensor<half> t; " call "; }\n"
    check_refused(MATMUL("mm.SetSparseIndex(GlobalTensor<uint8_t>())"), NULL, VERDICT_UNSUPPORTED,
                  "Matmul with a sparse operand");
    check_refused(MATMUL("mm.SetAntiQuantScalar(half(1), half(2))"), NULL, VERDICT_UNSUPPORTED,
                  "SetAntiQuantScalar");
    check_refused(MATMUL("mm.SetAntiQuantVector(t, t)"), NULL, VERDICT_UNSUPPORTED,
                  "SetAntiQuantVector");
#undef MATMUL
}

T_TEST(refusals_name_what_is_wrong)
{
    check_refused("int x;\n", NULL, VERDICT_NOT_COMPILED, "no function is declared __global__");
    check_refused(HEAD "__global__ __aicore__ void a(GM_ADDR x) {}\n"
                       "__global__ __aicore__ void b(GM_ADDR x) {}\n",
                  NULL, VERDICT_NOT_COMPILED, "several kernels in the text, name one: a, b");
    check_refused(HEAD "__global__ __aicore__ void a(GM_ADDR x) {}\n", "c", VERDICT_NOT_COMPILED,
                  "no kernel 'c' in the text; there is: a");
    check_refused(HEAD "template <class T> __global__ __aicore__ void a(GM_ADDR x) {}\n", NULL,
                  VERDICT_NOT_COMPILED, "name its arguments, as in a<half>");
    check_refused(HEAD "extern \"C\" int system(const char *);\n"
                       "__global__ __aicore__ void a(GM_ADDR x) { system(\"ls\"); }\n",
                  NULL, VERDICT_NOT_COMPILED, "the kernel calls 'system'");
}

T_TEST(names_and_forms_that_must_compile)
{
    static const char *const texts[][2] = {
        {HEAD "extern \"C\" __global__ __aicore__ void sqrt(GM_ADDR x) {}\n", NULL},
        {HEAD "template <class T> __global__ __aicore__ void a(GM_ADDR x) {}\n", "a<half>"},
        {HEAD "extern \"C\" __global__ __aicore__ void a(GM_ADDR x) {}\n"
              "void a_do(uint32_t n, void *stream, uint8_t *x) { a<<<n, nullptr, stream>>>(x); }\n"
              "void b_do(uint8_t *x) { other_file<<<1, nullptr, nullptr>>>(x); }\n",
         NULL},
        {HEAD "#if DTYPE_N == 3\nextern \"C\" __global__ __aicore__ void a(GM_ADDR x) {}\n#endif\n",
         NULL},
    };
    static const char *const defines[] = {"DTYPE_N=3", NULL};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Trial t = {.text = texts[i][0], .kernel = texts[i][1], .defines = defines};
        trial_run(&t);
        CHECK_MSG(t.compiled, "%zu: %s", i, t.verdict.reason);
        trial_drop(&t);
    }
}

T_TEST(missing_headers_and_compilers_are_named)
{
    Trial t = {.text = HEAD "__global__ __aicore__ void a(GM_ADDR x) {}\n", .options.home = "/usr"};
    trial_run(&t);
    CHECK_EQ_INT(t.verdict.status, VERDICT_NO_TOOL);
    CHECK(strstr(t.verdict.reason, "ACRAFT_HOME") != NULL);
    trial_drop(&t);
    setenv("ACRAFT_CXX", "no-such-compiler", 1);
    Trial u = compile(HEAD "__global__ __aicore__ void a(GM_ADDR x) {}\n", NULL);
    CHECK_EQ_INT(u.verdict.status, VERDICT_NO_TOOL);
    CHECK(strstr(u.verdict.reason, "install the package clang") != NULL);
    trial_drop(&u);
}

T_TEST(gcc_is_the_fallback_and_refuses_assembly_too)
{
    setenv("ACRAFT_CXX", "g++", 1);
    Trial t = compile(HEAD "extern \"C\" __global__ __aicore__ void a(GM_ADDR x) {}\n", NULL);
    CHECK_MSG(t.compiled, "%s", t.verdict.reason);
    trial_drop(&t);
    check_refused(HEAD "extern \"C\" __global__ __aicore__ void a(GM_ADDR x) { asm(\"nop\"); }\n",
                  NULL, VERDICT_NOT_COMPILED, "inline assembly is disabled");
}

T_TEST(an_included_file_that_changes_is_seen)
{
    Arena a = {0};
    const char *dir;
    Diag diag = diag_make(&a, "", (Str){0});
    REQUIRE(file_temp_dir(&a, "acraft-test", &dir, &diag));
    const char *header = path_join(&a, dir, "part.h");
    const char *const dirs[] = {dir, NULL};
    Trial t = {.text = HEAD "#include \"part.h\"\n"
                            "extern \"C\" __global__ __aicore__ void a(GM_ADDR x) { PART }\n",
               .include_dirs = dirs,
               .options.cache = path_join(&a, dir, "cache")};
    for (int round = 0; round < 3; round++) {
        REQUIRE(file_write(
            header, round < 2 ? STR("#define PART int n = 0;\n") : STR("#define PART oops\n"),
            &diag));
        Trial u = t;
        trial_run(&u);
        CHECK_EQ_INT(u.compiled, round < 2);
        trial_drop(&u);
    }
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&a);
}

T_TEST(objects_are_read_with_care)
{
    Arena a = {0};
    Diag diag = diag_make(&a, "", (Str){0});
    Str bytes;
    TwinObject object;
    REQUIRE(file_read(&a, "/usr/lib/x86_64-linux-gnu/crt1.o", 0, &bytes, &diag));
    CHECK(twin_object_read(&a, bytes, &object));
    CHECK(object.imports.len > 0);
    char *copy = str_dup(&a, bytes);
    for (size_t i = 0; i < bytes.len && i < 4000; i++) {
        char before = copy[i];
        copy[i] = (char)(before ^ 0x5a);
        twin_object_read(&a, (Str){copy, bytes.len}, &object);
        copy[i] = before;
        twin_object_read(&a, (Str){copy, i}, &object);
    }
    CHECK(!twin_object_read(&a, STR("not an object"), &object));
    arena_drop(&a);
}

T_TEST(the_cache_is_kept_small)
{
    Arena a = {0};
    const char *dir;
    Diag diag = diag_make(&a, "", (Str){0});
    NameList names = {0};
    REQUIRE(file_temp_dir(&a, "acraft-test", &dir, &diag));
    for (int i = 0; i < 10; i++)
        REQUIRE(file_write(path_join(&a, dir, str_format(&a, "f%d", i)), STR("0123456789"), &diag));
    CHECK_EQ_INT(twin_cache_prune(dir, 100, 30), 100);
    CHECK_EQ_INT(twin_cache_prune(dir, 99, 30), 30);
    REQUIRE(file_list(&a, dir, &names, &diag));
    CHECK_EQ_INT(names.len, 3);
    CHECK_EQ_INT(twin_cache_prune("/no/such/folder", 1, 1), 0);
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&a);
}

/* The name of the entry is put together by the preprocessor. */
T_TEST(compile_an_entry_made_by_a_macro)
{
    Trial t = {.text = "#include \"kernel_operator.h\"\n"
                       "#define MAKE(TYPE) \\\n"
                       "    extern \"C\" __global__ __aicore__ void copy_##TYPE(GM_ADDR x) {}\n"
                       "MAKE(float)\n"
                       "MAKE(half)\n",
               .kernel = "copy_half"};
    trial_run(&t);
    CHECK_MSG(t.compiled, "%s", t.verdict.reason);
    trial_drop(&t);
}

/* Which cores run the kernel stands behind #if. */
T_TEST(compile_cores_that_a_macro_chooses)
{
    static const char *const defines[] = {"MIXED", NULL};
    Trial t = {.text = "#include \"kernel_operator.h\"\n"
                       "#ifdef MIXED\n"
                       "extern \"C\" __global__ __mix__(1, 2) void both(GM_ADDR x)\n"
                       "#else\n"
                       "extern \"C\" __global__ __vector__ void both(GM_ADDR x)\n"
                       "#endif\n"
                       "{\n"
                       "}\n"};
    for (int mixed = 0; mixed < 2; mixed++) {
        TwinSource source = {
            .path = "kernel.cpp", .text = str_from(t.text), .defines = mixed ? defines : NULL};
        Diag diag = diag_make(&t.arena, "kernel.cpp", source.text);
        Verdict verdict = verdict_make();
        TwinKernel *kernel = twin_compile(&t.arena, &source, &t.options, &verdict, &diag);
        REQUIRE(kernel != NULL);
        CHECK_EQ_INT(twin_kernel_kind(kernel, 0), mixed ? SIM_MIX_1_2 : SIM_AIV);
        twin_release(kernel);
    }
    arena_drop(&t.arena);
}

T_TEST(compile_the_c_api_is_our_gap)
{
    Trial t = {.text = "#include \"c_api/asc_simd.h\"\n"
                       "extern \"C\" __global__ __aicore__ void f(GM_ADDR x) {}\n"};
    trial_run(&t);
    CHECK_EQ_INT(t.verdict.status, VERDICT_UNSUPPORTED);
    REQUIRE(t.verdict.unsupported.len == 1);
    CHECK_EQ_STR(t.verdict.unsupported.at[0], "c_api/asc_simd.h");
    trial_drop(&t);
}
