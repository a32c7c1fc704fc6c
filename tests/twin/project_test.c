/* Operator projects: definition read, tiling run, kernel compiled for the dtypes, values right. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include "twin/project.h"
#include <string.h>

#define FOLDER "tests/twin/projects/add_custom"
#define IN_PLACE "tests/twin/projects/add_into"

typedef struct ProjectTrial {
    Arena arena;
    Diag diag;
    Verdict verdict;
    TwinProject project;
    TwinOpened *opened;
    TwinOptions options;
    TwinTensors made;
    TwinRun run;
    bool ran;
} ProjectTrial;

static void open_folder(ProjectTrial *p, const char *folder)
{
    p->diag = diag_make(&p->arena, folder, (Str){0});
    p->verdict = verdict_make();
    REQUIRE(twin_project_read(&p->arena, folder, &p->project, &p->diag));
    p->opened = twin_project_open(&p->arena, &p->project, &p->options, &p->verdict, &p->diag);
    CHECK_MSG(p->opened != NULL, "%s", p->verdict.reason);
    REQUIRE(p->opened != NULL);
}

static void open_project(ProjectTrial *p) { open_folder(p, FOLDER); }

static void run_case(ProjectTrial *p, const char *x, const char *y, const char *attr)
{
    TwinTensor tensors[2];
    const char *file;
    REQUIRE(twin_tensor_parse(&p->arena, x, SIM_IN, 1, &tensors[0], &file, &p->diag) &&
            twin_tensor_parse(&p->arena, y, SIM_IN, 1, &tensors[1], &file, &p->diag));
    TwinCase kase = {.tensors = tensors, .tensor_count = 2};
    if (attr)
        vec_push(&p->arena, &kase.attrs, attr);
    p->ran = twin_project_run(&p->arena, p->opened, &kase, &p->options, &p->made, &p->run,
                              &p->verdict, &p->diag);
    if (!p->ran || p->verdict.status != VERDICT_OK || !p->made.len)
        return;
    const TwinTensor *z = &vec_last(&p->made);
    double scale = attr ? 2 : 1, worst = 0;
    for (size_t i = 0; i < z->bytes / dtype_bytes(z->dtype); i++) {
        double want = dtype_load(tensors[0].dtype, tensors[0].data, i) +
                      scale * dtype_load(tensors[1].dtype, tensors[1].data, i);
        double off = dtype_load(z->dtype, z->data, i) - want;
        worst = off > worst ? off : -off > worst ? -off : worst;
    }
    CHECK_MSG(worst < 0.02, "off by %g", worst);
    twin_tensor_free(&tensors[0]);
    twin_tensor_free(&tensors[1]);
}

static void close_project(ProjectTrial *p)
{
    for (uint32_t i = 0; i < p->made.len; i++)
        twin_tensor_free(&p->made.at[i]);
    twin_project_close(p->opened);
    arena_drop(&p->arena);
}

T_TEST(the_definition_is_read)
{
    ProjectTrial p = {0};
    open_project(&p);
    const TwinOps *ops = twin_host_ops(twin_project_host(p.opened));
    REQUIRE(ops->len == 1);
    CHECK_EQ_STR(ops->at[0].name, "AddCustom");
    CHECK_EQ_INT(ops->at[0].inputs.len, 2);
    CHECK_EQ_STR(ops->at[0].outputs.at[0].name, "z");
    CHECK_EQ_INT(ops->at[0].inputs.at[0].dtypes.len, 2);
    REQUIRE(ops->at[0].attrs.len == 1);
    CHECK_EQ_STR(ops->at[0].attrs.at[0].type, "float");
    CHECK(ops->at[0].has_tiling);
    close_project(&p);
}

T_TEST(a_project_runs_for_each_dtype)
{
    ProjectTrial p = {0};
    open_project(&p);
    run_case(&p, "x=f16[8,1024]", "y=f16[8,1024]", "scale=2");
    CHECK_MSG(p.ran && p.verdict.status == VERDICT_OK, "%s", p.verdict.reason);
    REQUIRE(p.made.len == 1);
    CHECK_EQ_INT(p.made.at[0].dtype, DT_F16);
    CHECK_EQ_INT(p.run.cores, 8);
    run_case(&p, "x=f32[3,1024]", "y=f32[3,1024]", NULL);
    CHECK_MSG(p.ran && p.verdict.status == VERDICT_OK, "%s", p.verdict.reason);
    CHECK_EQ_INT(p.made.len, 2);
    close_project(&p);
}

/* x is read and written in place, `twice` is made by inference; with `named` the caller gives x's
 * output a tensor of its own. */
static void check_in_place(bool named)
{
    enum { COUNT = 4 * 64 };
    ProjectTrial p = {0};
    const char *file;
    TwinTensor t[3];
    open_folder(&p, IN_PLACE);
    REQUIRE(twin_tensor_parse(&p.arena, "x=f32[4,64]", SIM_IN, 1, &t[0], &file, &p.diag) &&
            twin_tensor_parse(&p.arena, "y=f32[4,64]", SIM_IN, 1, &t[1], &file, &p.diag) &&
            twin_tensor_parse(&p.arena, "x=f32[4,64]", SIM_OUT, 1, &t[2], &file, &p.diag));
    float before[COUNT];
    memcpy(before, t[0].data, sizeof before);
    TwinCase kase = {.tensors = t, .tensor_count = named ? 3 : 2};
    p.ran = twin_project_run(&p.arena, p.opened, &kase, &p.options, &p.made, &p.run, &p.verdict,
                             &p.diag);
    CHECK_MSG(p.ran && p.verdict.status == VERDICT_OK, "%s", p.verdict.reason);
    REQUIRE(p.made.len == 1);
    CHECK_EQ_STR(p.made.at[0].name, "twice");
    const float *sum = t[named ? 2 : 0].data, *y = t[1].data, *twice = p.made.at[0].data;
    for (int i = 0; i < COUNT; i++)
        CHECK(sum[i] == before[i] + y[i] && twice[i] == 2 * sum[i]);
    for (int i = 0; i < 3; i++)
        twin_tensor_free(&t[i]);
    close_project(&p);
}

T_TEST(an_output_in_place_and_one_that_nobody_named) { check_in_place(false); }
T_TEST(one_output_named_and_one_that_nobody_named) { check_in_place(true); }

static void check_inferred(const char *z, const char *said)
{
    ProjectTrial p = {0};
    const char *file;
    TwinTensor t[3];
    open_project(&p);
    REQUIRE(twin_tensor_parse(&p.arena, "x=f16[8,1024]", SIM_IN, 1, &t[0], &file, &p.diag) &&
            twin_tensor_parse(&p.arena, "y=f16[8,1024]", SIM_IN, 1, &t[1], &file, &p.diag) &&
            twin_tensor_parse(&p.arena, z, SIM_OUT, 1, &t[2], &file, &p.diag));
    TwinCase kase = {.tensors = t, .tensor_count = 3, .inferred = true};
    p.ran = twin_project_run(&p.arena, p.opened, &kase, &p.options, &p.made, &p.run, &p.verdict,
                             &p.diag);
    CHECK_EQ_STR(p.verdict.reason, said);
    CHECK(p.ran == !*said);
    for (int i = 0; i < 3; i++)
        twin_tensor_free(&t[i]);
    close_project(&p);
}

T_TEST(shape_inference_says_what_the_outputs_are)
{
    check_inferred("z=f16[8,1024]", "");
    check_inferred("z=f16[4,2048]",
                   "shape inference says f16[8,1024] for 'z', which is f16[4,2048]");
    check_inferred("z=f32[8,1024]",
                   "shape inference says f16[8,1024] for 'z', which is f32[8,1024]");
}

/* The tiling key names template arguments (ASCENDC_TPL_*); host code that only g++ takes, opbase's headers. */
T_TEST(a_kernel_is_a_template_and_the_key_names_its_arguments)
{
    ProjectTrial p = {0};
    open_folder(&p, "tests/twin/projects/add_template");
    run_case(&p, "x=f16[4,64]", "y=f16[4,64]", NULL);
    CHECK_MSG(p.verdict.status == VERDICT_OK, "%s", p.verdict.reason);
    static const char *const said[][2] = {
        {"tiles=0", "tiles is 0, it has to be positive"},
        {"tiles=3", "template argument TILES = 3 is not in its ASCENDC_TPL_UINT_DECL"},
        {"tiles=7", "no ASCENDC_TPL_ARGS_SEL holds T = 0, TILES = 7, TWICE = 1"}};
    for (size_t i = 0; i < 3; i++) {
        p.verdict = verdict_make();
        run_case(&p, "x=f32[4,64]", "y=f32[4,64]", said[i][0]);
        CHECK_EQ_INT(p.verdict.status, VERDICT_BAD_TILING);
        CHECK_MSG(strstr(p.verdict.reason, said[i][1]) != NULL, "%s", p.verdict.reason);
    }
    close_project(&p);
}

T_TEST(refusals_of_the_host_side_are_verdicts)
{
    static const char *const cases[][4] = {
        {"x=f32[7,100]", "y=f32[7,100]", NULL, "tiling function"},
        {"x=i8[1024]", "y=i8[1024]", NULL, "not defined for these input dtypes"},
        {"x=f32[1024]", "y=f32[1024]", "scale=much", "takes a float, not 'much'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ProjectTrial p = {0};
        open_project(&p);
        run_case(&p, cases[i][0], cases[i][1], cases[i][2]);
        CHECK(!p.ran);
        CHECK_EQ_INT(p.verdict.status, VERDICT_BAD_TILING);
        CHECK_MSG(strstr(p.verdict.reason, cases[i][3]) != NULL, "%s", p.verdict.reason);
        close_project(&p);
    }
}

/* Hostile host code: each text is a whole op_host file. */
static void check_host(const char *text, VerdictStatus status)
{
    Arena a = {0};
    Diag diag = diag_make(&a, "host.cpp", (Str){0});
    Verdict v = verdict_make();
    TwinOptions options = {.compile_seconds = 20};
    TwinHostFile file = {.path = "host.cpp", .text = str_from(text)};
    TwinHostSource source = {.files = &file, .file_count = 1};
    TwinHost *host = twin_host_compile(&a, &source, &options, &v, &diag);
    CHECK(!host);
    CHECK_MSG(v.status == status, "%s: %s", verdict_status_row(v.status)->text, v.reason);
    if (host)
        twin_host_release(host);
    arena_drop(&a);
}

/* Host text that uses what newer toolkits declare: it must compile, and then has no operator. */
T_TEST(host_code_of_newer_toolkits_compiles)
{
    check_host("#include \"register/op_def_registry.h\"\n"
               "static_assert(ge::DT_FLOAT6_E3M2 == 38 && ge::DT_FLOAT4_E2M1 == 40);\n"
               "static ge::graphStatus Parse(gert::TilingParseContext *) { return 0; }\n"
               "struct S {\n"
               "    S()\n"
               "    {\n"
               "        ops::OpAICoreDef core;\n"
               "        core.SetTilingParse(Parse);\n"
               "        REPORT_INNER_ERR_MSG(\"EZ9999\", \"op %s\", \"x\");\n"
               "        if (ge::GetSizeByDataType(ge::DT_INT4) != 1004 ||\n"
               "            ge::GetSizeByDataType(ge::DT_FLOAT8_E4M3FN) != 1)\n"
               "            *(volatile int *)8 = 1;\n"
               "    }\n"
               "} s;\n",
               VERDICT_BAD_TILING);
}

T_TEST(hostile_host_code_is_contained)
{
    check_host("int nothing;\n", VERDICT_BAD_TILING);
    check_host("#include <cstdio>\nstruct S { S() { std::fopen(\"/etc/passwd\", \"r\"); } } s;\n",
               VERDICT_FORBIDDEN);
    check_host("struct S { S() { *(volatile int *)8 = 1; } } s;\n", VERDICT_CRASHED);
    check_host("#include <vector>\nstd::vector<char> v;\n"
               "struct S { S() { for (;;) v.resize(v.size() + (64 << 20), 1); } } s;\n",
               VERDICT_MEMORY);
    check_host("#include <unistd.h>\nstruct S { S() { for (;;) fork(); } } s;\n", VERDICT_TIMEOUT);
}
