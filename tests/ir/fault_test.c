/* Each fault of the interpreter, from a small kernel that has it, with the text that a user sees;
 * and what the verifier refuses. */
#include "tests/ir/help.h"

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

/* A kernel over x f32 [n, m] and y out f32 [n, m] with the body given; n = 3, m = 40. */
static const char *program(Arena *arena, const char *cores, const char *buffers, const char *body)
{
    return str_format(arena,
                      "tile_ir 1\nprogram small\ndim n i64 1..100\ndim m i64 1..1000\n"
                      "tensor x in f32 [n, m]\ntensor y out f32 [n, m]\n"
                      "tensor w workspace f32 [n, m]\n"
                      "host\nassert (n < 50) \"at most 49 rows\"\nworkspace w\n"
                      "launch small_kernel [%s] (x, y, w)\nend\n"
                      "kernel small_kernel vector\n"
                      "tensor x in f32 [n, m]\ntensor y out f32 [n, m]\n"
                      "tensor w workspace f32 [n, m]\n%s%send\n",
                      cores, buffers, body);
}

#define BUFFERS                                                                                 \
    "ub a f32 [64]\nub b f32 [64]\nub p i32 [64]\nub q f32 [4, 16]\nmask k bool [64]\nlocal s " \
    "f32\n"                                                                                     \
    "local i i64\n"

static void run_it(Arena *arena, IrRun *run, const char *text, int64_t rows, bool addresses)
{
    IrProgram *p = help_program(arena, text);
    IrOperand *operands = arena_array(arena, IrOperand, 2);
    operands[0] = help_tensor(arena, DT_F32, 2, (int64_t[]){rows, 40}, 3, 0, 50);
    operands[1] = help_output(arena);
    int64_t *dims = arena_array(arena, int64_t, 2);
    dims[0] = rows;
    dims[1] = 40;
    *run = (IrRun){.p = p, .chip = chip(), .operands = operands, .addresses_only = addresses};
    if (addresses)
        run->dims = dims;
    ir_run(arena, run);
}

/* The first fault has this kind and this text. */
static void expect(IrFaultKind kind, const char *want, const char *cores, const char *body)
{
    Arena arena = {0};
    IrRun run;
    run_it(&arena, &run, program(&arena, cores, BUFFERS, body), 3, false);
    CHECK_EQ_INT(run.status, IR_RUN_FAULT);
    if (run.faults.len) {
        CHECK_EQ_STR(run.faults.at[0].text, want);
        CHECK_EQ_INT(run.faults.at[0].kind, kind);
        CHECK(run.faults.at[0].at.line > 0 || kind == IR_FAULT_COVER);
    }
    arena_drop(&arena);
}

T_TEST(accesses_outside_their_tensor_fault)
{
    expect(IR_FAULT_BOUNDS,
           "core 1 reads x at 3 on axis 0, which has 3 elements (the access is 3 .. 4)", "2",
           "copyin\nload a[0:+40] <- x[(core_id() * 3), 0:+40]\nend\n");
    expect(IR_FAULT_BOUNDS, "core 0 reads x at flat offset 120 of 120 (the access is 100 .. 140)",
           "1", "copyin\nload a[0:+40] <- flat x[100:+40]\nend\n");
    expect(IR_FAULT_BOUNDS,
           "core 0 writes y at -1 on axis 1, which has 40 elements (the access is -1 .. 0)", "1",
           "copyout\nwrite y[0, (0 - num_cores())] <- 1.0\nend\n");
}

T_TEST(views_outside_their_buffer_fault)
{
    expect(IR_FAULT_VIEW, "core 0 sees 'a' at 32 .. 72, it has 64", "1",
           "copyin\nload a[32:+40] <- x[0, 0:+40]\nend\n");
    expect(IR_FAULT_VIEW, "core 0 sees 'q' at row 4 .. 5, it has 4", "1",
           "compute\nfill q[@4, 0:+16] <- 1.0\nend\n");
    expect(IR_FAULT_VIEW, "core 0 uses element 64 of 'a', the view has 64", "1",
           "compute\nfill a[0:+64] <- 1.0\ns = extract <- a[0:+64], 64\nend\n");
}

T_TEST(what_stood_behind_a_load_in_its_last_block_is_lost)
{
    expect(IR_FAULT_WRITTEN, "core 0 reads 'a' at [37] of the view, which was never written", "1",
           "compute\nfill a[0:+64] <- 1.0\nend\ncopyin\nload a[0:+37] <- x[0, 0:+37]\nend\n"
           "compute\ns = reduce_sum <- a[0:+40]\nend\n");
    expect(IR_FAULT_COVER, "element y[0, 0] is never written (120 of 120 are missing)", "1",
           "compute\nfill a[0:+64] <- 1.0\nend\ncopyin\nload a[0:+37] <- x[0, 0:+37]\nend\n"
           "compute\ns = reduce_sum <- a[40:+24]\nend\n");
    expect(IR_FAULT_WRITTEN, "core 0 reads 'q' at [1, 11] of the view, which was never written",
           "1",
           "compute\nfill q[0:+4, 0:+16] <- 1.0\nend\n"
           "copyin\nload q[1:+1, 0:+11] <- x[0:+1, 0:+11]\nend\n"
           "compute\nexp q[0:+4, 0:+16] <- q[0:+4, 0:+16]\nend\n");
}

T_TEST(sizes_that_differ_fault)
{
    expect(IR_FAULT_SHAPES, "core 0: a load of 1 x 39 elements and 1 x 40", "1",
           "copyin\nload a[0:+39] <- x[0, 0:+40]\nend\n");
    expect(IR_FAULT_SHAPES, "core 0: abs of 'a' with 1 x 16 elements and 'b' with 1 x 8", "1",
           "compute\nfill b[0:+8] <- 1.0\nabs a[0:+16] <- b[0:+8]\nend\n");
}

T_TEST(a_view_off_its_alignment_faults)
{
    expect(IR_FAULT_ALIGN, "core 0: the view of 'a' starts at element 3, not a multiple of 8", "1",
           "compute\nfill a[3:+8] <- 1.0\nend\n");
}

T_TEST(what_was_never_written_faults)
{
    expect(IR_FAULT_WRITTEN, "core 0 reads 'a' at [8] of the view, which was never written", "1",
           "compute\nfill a[0:+8] <- 1.0\nabs b[0:+16] <- a[0:+16]\nend\n");
    expect(IR_FAULT_WRITTEN, "core 0 reads w[0, 0], which was never written", "1",
           "copyin\nload a[0:+40] <- w[0, 0:+40]\nend\n");
    expect(IR_FAULT_WRITTEN, "core 0 adds to y[0, 0], which was never initialised", "1",
           "compute\nfill a[0:+40] <- 1.0\nend\ncopyout\nstore_add y[0, 0:+40] <- a[0:+40]\nend\n");
    expect(IR_FAULT_SCALAR, "core 0 uses 's' before it has a value", "1",
           "for range j in 0..0\ns = 1.0\nend\ncompute\nfill a[0:+8] <- s\nend\n");
}

T_TEST(outputs_are_written_whole_and_once)
{
    expect(IR_FAULT_COVER, "element y[0, 1] is never written (119 of 120 are missing)", "1",
           "copyout\nwrite y[0, 0] <- 1.0\nend\n");
    expect(IR_FAULT_ONCE, "y[1, 2] is written by core 0 and by core 1", "2",
           "copyout\nwrite y[1, 2] <- 1.0\nend\n");
}

/* Rows first..1 of an output whose length data decide. */
static bool writes_rows(int first)
{
    Arena arena = {0};
    IrRun run;
    const char *text = str_format(
        &arena,
        "tile_ir 1\nprogram few\ndim n i64 1..100\ntensor x in f32 [n, 40]\n"
        "tensor y out f32 [n, 40] upto\nhost\nlaunch few_rows [1] (x, y)\nend\n"
        "kernel few_rows vector\ntensor x in f32 [n, 40]\ntensor y out f32 [n, 40] upto\n"
        "ub a f32 [40]\nfor range r in %d..2\ncopyin\nload a[0:+40] <- x[r, 0:+40]\nend\n"
        "copyout\nstore y[r, 0:+40] <- a[0:+40]\nend\nend\nend\n",
        first);
    run_it(&arena, &run, text, 3, false);
    bool ok = run.status == IR_RUN_OK;
    if (!ok)
        CHECK_EQ_STR(run.faults.at[0].text,
                     "element y[0, 0] is never written (40 of 120 are missing)");
    arena_drop(&arena);
    return ok;
}

T_TEST(an_output_whose_length_data_decide_has_no_gap)
{
    CHECK(writes_rows(0)); /* two of three rows */
    CHECK(writes_rows(2)); /* none */
    CHECK(!writes_rows(1));
}

T_TEST(cores_that_meet_without_sync_fault)
{
    expect(
        IR_FAULT_RACE, "core 1 reads w[0, 0], which core 0 writes without a sync_all() between",
        "2",
        "if (core_id() == 0)\ncopyout\nwrite w[0, 0] <- 1.0\nend\nelse\ns = read w[0, 0]\nend\n");
    expect(IR_FAULT_SYNC, "core 0 waits here for ever: 1 of 2 cores have ended", "2",
           "if (core_id() == 0)\nsync_all\nend\n");
}

T_TEST(bad_scalars_and_loops_fault)
{
    expect(IR_FAULT_OVERFLOW, "core 0: 7 // 0 has no result in 64 bits", "1",
           "i = (7 // core_id())\n");
    expect(IR_FAULT_LOOP, "core 0: the step is 0", "1",
           "for range j in 0..3 step core_id()\nsync_all\nend\n");
    expect(IR_FAULT_OVERLAP, "core 0: abs reads and writes overlapping parts of 'a'", "1",
           "compute\nfill a[0:+64] <- 1.0\nabs a[0:+16] <- a[8:+16]\nend\n");
    expect(
        IR_FAULT_INDEX, "core 0 gathers element 9 of 'a', the view has 8 (position 3 of 'p')", "1",
        "compute\nfill a[0:+8] <- 1.0\niota p[0:+8] <- 0, 3\ngather b[0:+8] <- a[0:+8], p[0:+8]\n"
        "end\n");
    expect(IR_FAULT_CORES, "'small_kernel' is launched on 1000 cores, the chip has 48", "1000", "");
}

T_TEST(buffers_beyond_the_memory_fault)
{
    Arena arena = {0};
    IrRun run;
    run_it(&arena, &run, program(&arena, "1", "ub a f32 [16384] depth 4\n", ""), 3, false);
    REQUIRE(run.faults.len == 1);
    CHECK_EQ_STR(run.faults.at[0].text,
                 "the buffers of 'small_kernel' take 262144 bytes of UB, a core has 196608");
    arena_drop(&arena);
}

T_TEST(the_host_refuses_with_its_text)
{
    Arena arena = {0};
    IrRun run;
    run_it(&arena, &run, program(&arena, "1", "", ""), 50, false);
    CHECK_EQ_INT(run.status, IR_RUN_REFUSED);
    CHECK_EQ_STR(run.text, "at most 49 rows");
    run_it(&arena, &run, program(&arena, "1", "", ""), 101, false);
    CHECK_EQ_STR(run.text, "n = 101 is outside its range 1..100 (a multiple of 1)");
    arena_drop(&arena);
}

T_TEST(what_the_host_refuses_has_no_shapes)
{
    Arena arena = {0};
    IrRun run;
    run_it(&arena, &run,
           "tile_ir 1\nprogram part\ndim n i64 1..100\nattr s i64 = 0\ntensor x in f32 [n, 40]\n"
           "tensor y out f32 [(n // s), 40]\nhost\nassert (s >= 1) \"s is positive\"\n"
           "launch few_rows [1] (x, y, s)\nend\nkernel few_rows vector\ntensor x in f32 [n, 40]\n"
           "tensor y out f32 [(n // t), 40]\nparam t i64\nend\n",
           3, false);
    CHECK_EQ_INT(run.status, IR_RUN_REFUSED);
    CHECK_EQ_STR(run.text, "s is positive");
    arena_drop(&arena);
}

T_TEST(a_run_has_limits)
{
    Arena arena = {0};
    IrRun run = {0};
    IrProgram *p = help_program(
        &arena, program(&arena, "1", "", "for range j in 0..1000000000\nsync_all\nend\n"));
    run = (IrRun){.p = p, .chip = chip(), .addresses_only = true, .max_steps = 1000};
    run.dims = (int64_t[]){3, 40};
    ir_run(&arena, &run);
    REQUIRE(run.faults.len == 1);
    CHECK_EQ_STR(run.faults.at[0].text, "core 0: more than 1000 steps");
    arena_drop(&arena);
}

/* Without data, what depends on data is not judged; all else is. */
T_TEST(addresses_only_skips_what_data_decides)
{
    static const char body[] = "copyin\nload a[0:+40] <- x[0, 0:+40]\nend\n"
                               "compute\ns = reduce_max <- a[0:+40]\nend\ni = i64(s)\n"
                               "copyin\nload b[0:+40] <- x[i, 0:+40]\nend\n"
                               "copyout\nstore y[i, 0:+40] <- b[0:+40]\nend\n"
                               "if (s > 3.0)\ncopyin\nload b[0:+40] <- x[99, 0:+40]\nend\nend\n";
    Arena arena = {0};
    IrRun run;
    run_it(&arena, &run, program(&arena, "1", BUFFERS, body), 3, true);
    CHECK_EQ_INT(run.status, IR_RUN_OK);
    run_it(&arena, &run, program(&arena, "1", BUFFERS, body), 3, false);
    CHECK_EQ_INT(run.status, IR_RUN_FAULT);
    arena_drop(&arena);
}

T_TEST(the_order_of_cores_changes_nothing)
{
    Arena arena = {0};
    IrProgram *p = help_file(&arena, "tests/ir/programs/two_stage.ir");
    float totals[3];
    for (uint64_t seed = 0; seed < 3; seed++) {
        IrOperand operands[4] = {help_tensor(&arena, DT_F16, 1, (int64_t[]){3333}, 3, 0, 1),
                                 help_output(&arena), help_output(&arena), help_output(&arena)};
        IrRun run = {.p = p, .chip = chip(), .operands = operands, .seed = seed};
        help_run(&arena, &run);
        totals[seed] = *(float *)operands[1].items[0].data;
    }
    CHECK(totals[0] > 1000);
    CHECK(totals[0] == totals[1] && totals[1] == totals[2]);
    arena_drop(&arena);
}

/* ---- the verifier ---- */

static void expect_invalid(const char *want, const char *buffers, const char *body)
{
    Arena arena = {0};
    const char *text = program(&arena, "1", buffers, body);
    Diag diag = diag_make(&arena, "text", str_from(text));
    IrProgram *p = ir_parse(&arena, "text", str_from(text), &diag);
    REQUIRE(p != NULL);
    CHECK(!ir_verify(p, &diag));
    REQUIRE(diag.items.len > 0);
    CHECK_EQ_STR(diag.items.at[0].text, want);
    arena_drop(&arena);
}

T_TEST(the_stage_rule_is_verified)
{
    expect_invalid("small_kernel: load stands in compute", BUFFERS,
                   "compute\nload a[0:+40] <- x[0, 0:+40]\nend\n");
    expect_invalid("small_kernel: arithmetic stands in copyin", BUFFERS,
                   "copyin\nfill a[0:+40] <- 1.0\nend\n");
    expect_invalid("small_kernel: store stands in no stage", BUFFERS,
                   "store y[0, 0:+40] <- a[0:+40]\n");
    expect_invalid("small_kernel: sync_all() stands in copyin", BUFFERS, "copyin\nsync_all\nend\n");
    expect_invalid("small_kernel: a stage inside a stage", BUFFERS, "copyin\ncompute\nend\nend\n");
}

T_TEST(bounds_that_move_are_verified)
{
    expect_invalid("small_kernel: 'i' is assigned in a loop whose bounds name it", BUFFERS,
                   "i = 3\nfor range c in 0..i\nif (c > 1)\ni = (i + 1)\nend\nend\n");
}

T_TEST(types_and_operands_are_verified)
{
    expect_invalid("program: the operands of '+' do not fit", BUFFERS,
                   "i = (1 + core_id())\ns = (i + 1.0)\n");
    expect_invalid("small_kernel: 's' has no value here", BUFFERS,
                   "compute\nfill a[0:+8] <- s\nend\n");
    expect_invalid("small_kernel: add: an operand differs from the result in type or axes", BUFFERS,
                   "compute\nadd a[0:+8] <- a[0:+8], p[0:+8]\nend\n");
    expect_invalid("small_kernel: lts: the result is a mask", BUFFERS,
                   "compute\nlts a[0:+8] <- b[0:+8], 1.0\nend\n");
    expect_invalid("small_kernel: select: the first operand is a mask of the size of the result",
                   BUFFERS, "compute\nselect a[0:+8] <- b[0:+8], b[0:+8], b[0:+8]\nend\n");
    expect_invalid("small_kernel: exp: does not exist for these elements", BUFFERS,
                   "compute\nexp p[0:+8] <- p[0:+8]\nend\n");
    expect_invalid("small_kernel: a view of 'q' has 1 axes", BUFFERS,
                   "compute\nfill q[0:+8] <- 1.0\nend\n");
    expect_invalid("small_kernel: 'x' has 2 axes, the access 1", BUFFERS,
                   "copyin\nload a[0:+8] <- x[0:+8]\nend\n");
    expect_invalid("small_kernel: 'y' cannot be read here", BUFFERS,
                   "copyin\nload a[0:+8] <- y[0, 0:+8]\nend\n");
    expect_invalid("small_kernel: two things are called 'x'", "ub x f32 [8]\n", "");
    expect_invalid("small_kernel: 'i' cannot be seen as that type",
                   "mask i bool [8]\nub a f32 [8]\n",
                   "compute\ncast a[0:+8] <- i as f32[0:+8]\nend\n");
}
