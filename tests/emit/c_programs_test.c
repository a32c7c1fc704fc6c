/* Whole programs, from tests/ir/programs and examples/: at three small shapes each the C target
 * gives what the interpreter gives. A shape that the program refuses is replaced by another. */
#include "craft/craft.h"
#include "tests/emit/c_help.h"

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

static int64_t fit(const IrVar *v, int64_t size)
{
    size = size < v->lo ? v->lo : size > v->hi ? v->hi : size;
    int64_t m = v->multiple > 0 ? v->multiple : 1;
    int64_t up = (size + m - 1) / m * m;
    return up <= v->hi ? up : size / m * m;
}

static bool is_list(const IrTensor *t)
{
    return t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST;
}

static IrOperand make_operand(Arena *arena, const IrProgram *p, uint32_t i, const int64_t *dims,
                              IrOperand *lists)
{
    const IrTensor *t = &p->tensors.at[i];
    double hi = dtype_is_float(t->dtype) ? 4 : t->dtype == DT_BOOL ? 2 : 9;
    double lo = dtype_is_float(t->dtype) ? -4 : 0;
    static const int64_t lengths[] = {1, 250, 37};
    if (is_list(t)) {
        IrOperand o = {.count = 3, .items = arena_array(arena, IrData, 3)};
        for (uint32_t k = 0; k < 3; k++)
            o.items[k] = help_tensor(arena, t->dtype, 1, &lengths[k], i * 10 + k, lo, hi).items[0];
        return o;
    }
    IrData shape;
    REQUIRE(ir_operand_shape(p, chip(), dims, NULL, lists, i, &shape));
    return help_tensor(arena, t->dtype, shape.rank, shape.dims, i, lo, hi);
}

static void make_operands(Arena *arena, const IrProgram *p, const int64_t *dims, IrOperand *o)
{
    for (int lists = 1; lists >= 0; lists--)
        for (uint32_t i = 0; i < p->operand_count; i++)
            if (is_list(&p->tensors.at[i]) == lists)
                o[i] = make_operand(arena, p, i, dims, o);
}

/* True when the shape was run and compared. */
static bool compare_at(const CProgram *c, const IrProgram *p, const int64_t *sizes)
{
    Arena arena = {0};
    int64_t *dims = arena_array(&arena, int64_t, p->dims.len + 1);
    for (uint32_t d = 0; d < p->dims.len; d++)
        dims[d] = fit(&p->vars.at[p->dims.at[d]], sizes[d % 4]);
    IrOperand *operands = arena_array(&arena, IrOperand, p->operand_count + 1);
    make_operands(&arena, p, dims, operands);
    IrRun run = {.p = p, .chip = chip(), .operands = operands};
    /* the interpreter writes outputs in place; the C program gets the same operands first */
    Buf before = {0};
    for (uint32_t i = 0; i < p->operand_count; i++)
        for (uint32_t k = 0; k < operands[i].count; k++)
            buf_add(&before, operands[i].items[k].data, c_bytes(p, i, &operands[i].items[k]));
    bool ok = ir_run(&arena, &run);
    CHECK_MSG(ok || run.status == IR_RUN_REFUSED, "%s: line %u: %s", p->name,
              run.faults.len ? run.faults.at[0].at.line : 0, help_why(&run));
    if (ok) {
        IrOperand *copies = arena_array(&arena, IrOperand, p->operand_count + 1);
        size_t at = 0;
        make_operands(&arena, p, dims, copies);
        for (uint32_t i = 0; i < p->operand_count; i++) {
            bool out = p->tensors.at[i].role == IR_ROLE_OUT;
            for (uint32_t k = 0; k < copies[i].count; k++) {
                size_t n = c_bytes(p, i, &copies[i].items[k]);
                memcpy(copies[i].items[k].data, before.at + at, n);
                if (out) /* what is never written stays as the interpreter has it */
                    memset(copies[i].items[k].data, 0xff, n);
                at += n;
            }
        }
        IrRun given = run;
        given.operands = copies;
        Str back = c_run(&arena, c, &given);
        CHECK_MSG(c_compare(&run, back, 1e-5), "%s with %lld, %lld, %lld", p->name,
                  (long long)(p->dims.len > 0 ? dims[0] : 0),
                  (long long)(p->dims.len > 1 ? dims[1] : 0),
                  (long long)(p->dims.len > 2 ? dims[2] : 0));
    }
    buf_free(&before);
    arena_drop(&arena);
    return ok;
}

static void check_program(const IrProgram *p, const char *optimise)
{
    static const int64_t sizes[][4] = {{1, 1, 1, 1},     {33, 7, 13, 2},   {5, 70, 100, 3},
                                       {100, 33, 64, 4}, {64, 64, 64, 64}, {16, 16, 2, 3}};
    Arena arena = {0};
    CProgram c = c_compile(&arena, p, optimise);
    uint32_t compared = 0;
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes && compared < 3; i++)
        compared += compare_at(&c, p, sizes[i]);
    CHECK_MSG(compared > 0, "%s: no shape ran", p->name);
    c_drop(&c);
    arena_drop(&arena);
}

T_TEST(c_kept_programs_equal_the_interpreter)
{
    static const char *const names[] = {"two_d", "two_stage", "lists", "matmul", "compaction"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        Arena arena = {0};
        check_program(help_file(&arena, str_format(&arena, "tests/ir/programs/%s.ir", names[i])),
                      "-O2");
        arena_drop(&arena);
    }
}

static void check_example(const char *path)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, (Str){0});
    Str text;
    REQUIRE(file_read(&arena, path, 0, &text, &diag));
    diag.source = text;
    CraftFile *file = craft_read(&arena, path, text, &diag);
    for (uint32_t v = 0; file && v < craft_variant_count(file); v++) {
        IrProgram *p = craft_program(&arena, file, v, &diag);
        if (p && ir_verify(p, &diag))
            check_program(p, "-O0");
    }
    CHECK_MSG(diag_ok(&diag), "%s: %s", path, diag.items.len ? diag.items.at[0].text : "");
    arena_drop(&arena);
}

/* Every fourth example, so that no test takes long. */
static void check_examples(uint32_t first)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "examples", (Str){0});
    NameList names = {0};
    REQUIRE(file_list(&arena, "examples", &names, &diag));
    for (uint32_t i = first; i < names.len; i += 4)
        if (str_ends(str_from(names.at[i]), ".craft"))
            check_example(path_join(&arena, "examples", names.at[i]));
    arena_drop(&arena);
}

T_TEST(c_examples_0_equal_the_interpreter) { check_examples(0); }
T_TEST(c_examples_1_equal_the_interpreter) { check_examples(1); }
T_TEST(c_examples_2_equal_the_interpreter) { check_examples(2); }
T_TEST(c_examples_3_equal_the_interpreter) { check_examples(3); }

/* tests/craft/values_test.c compares the interpreter's values with an independent computation. */
T_TEST(c_cube_programs_equal_the_interpreter)
{
    check_example("tests/craft/cube_matmul.craft");
    check_example("tests/craft/cube_splitk.craft");
    check_example("tests/craft/cube_conv.craft");
    check_example("tests/craft/cube_pair.craft");
    check_example("tests/craft/cube_flash.craft");
    check_example("tests/craft/cube_wide.craft");
    check_example("tests/craft/cube_hf32.craft");
}
