/* L2 as the cycle model sees it: what is pushed out of it, and what of that goes to GM. */
#include "sim/cycle_memory.h"
#include "tests/t.h"

enum { COPY = 16384, MIB = 1 << 20 };

typedef enum Pass { READ, READ_PAST_L2, WRITE } Pass;

static void walk(CycleMemory *m, uint64_t at, uint64_t bytes, Pass pass)
{
    MemoryHow how = {.bypass = pass == READ_PAST_L2};
    for (uint64_t done = 0; done < bytes; done += COPY) {
        SimAccess a = {
            .at = at + done, .outer = 1, .inner = 1, .run = COPY, .write = pass == WRITE};
        if (pass == WRITE)
            cycle_memory_write(m, 0, &a, how);
        else
            cycle_memory_read(m, 0, &a, how);
    }
}

static CycleMemory open_memory(void)
{
    CycleMemory m;
    MemoryPlace place[48] = {0};
    for (uint32_t i = 0; i < 48; i++)
        place[i].port = i % 24;
    cycle_memory_open(&m, npu_chip_find(STR("910B2")), place, 48, 48, 1);
    return m;
}

static double returned_mib(CycleMemory *m) { return (double)m->returned / MIB; }
static double l2_mib(const CycleMemory *m) { return (double)m->l2_bytes / MIB; }

/* All that was written goes out but what L2 still holds, however much was read before. */
T_TEST(memory_written_lines_leave_behind_a_reading_pass)
{
    CycleMemory m = open_memory();
    walk(&m, 0, 512 * (uint64_t)MIB, READ);
    walk(&m, UINT64_C(1) << 30, 512 * (uint64_t)MIB, WRITE);
    CHECK_NEAR(returned_mib(&m), 512 - l2_mib(&m), 1);
    walk(&m, UINT64_C(2) << 30, 512 * (uint64_t)MIB, READ_PAST_L2);
    CHECK_NEAR(returned_mib(&m), 512 - l2_mib(&m), 1);
    walk(&m, UINT64_C(2) << 30, 512 * (uint64_t)MIB, READ);
    CHECK_NEAR(returned_mib(&m), 512, 1);
    cycle_memory_close(&m);
}

/* A tensor that is read and written in place is written back like any other. */
T_TEST(memory_lines_written_where_they_were_read)
{
    CycleMemory m = open_memory();
    for (uint64_t at = 0; at < 512 * (uint64_t)MIB; at += COPY) {
        walk(&m, at, COPY, READ);
        walk(&m, at, COPY, WRITE);
    }
    CHECK_EQ_INT(m.hits, 0);
    CHECK_NEAR(returned_mib(&m), 512 - l2_mib(&m), 1);
    cycle_memory_close(&m);
}

/* What is written over and over stays and goes out once. */
T_TEST(memory_lines_written_again_leave_once)
{
    CycleMemory m = open_memory();
    for (uint64_t turn = 0; turn < 8; turn++) {
        walk(&m, 0, 32 * (uint64_t)MIB, WRITE);
        walk(&m, (turn + 1) << 30, 64 * (uint64_t)MIB, READ);
    }
    CHECK_NEAR(returned_mib(&m), 0, 1);
    walk(&m, UINT64_C(64) << 30, 256 * (uint64_t)MIB, READ);
    CHECK_NEAR(returned_mib(&m), 32, 1);
    cycle_memory_close(&m);
}

/* ND2NZ lays every row out anew: of the same bytes, many short rows take longer than few long ones. */
T_TEST(memory_rows_that_are_laid_out_anew)
{
    CycleMemory m = open_memory();
    MemoryHow plain = {.aic = true}, rows = {.aic = true, .rows = true};
    SimAccess shorts = {.outer = 256, .inner = 1, .run = 128, .outer_step = 16384},
              longs = {.outer = 32, .inner = 1, .run = 1024, .outer_step = 16384};
    cycle_memory_read(&m, 0, &shorts, plain); /* L2 has them from here on */
    cycle_memory_read(&m, 0, &longs, plain);
    double row = npu_constants[NPU_C_ND2NZ_ROW].value;
    double few = cycle_memory_read(&m, 0, &longs, rows) - cycle_memory_read(&m, 0, &longs, plain);
    double many = cycle_memory_read(&m, 0, &shorts, rows) -
                  cycle_memory_read(&m, 0, &shorts, plain);
    CHECK_NEAR(few, 32 * row, 1);
    CHECK_NEAR(many, 256 * row, 1);
    cycle_memory_close(&m);
}
