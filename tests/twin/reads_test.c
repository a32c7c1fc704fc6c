/* Core processes do not hold GM: whatever way C++ has to read or write it is a record, with the right
 * value, or ends the core. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4096 };

#define HEAD                                                                                 \
    "#include \"kernel_operator.h\"\nusing namespace AscendC;\n"                             \
    "typedef float Wide __attribute__((vector_size(64)));\n"                                 \
    "struct Block { float of[1000]; };\n"                                                    \
    "static float room[4096];\n"                                                             \
    "extern \"C\" __global__ __aicore__ void k(GM_ADDR px, GM_ADDR py)\n{\n"                 \
    "    float *x = (float *)px, *y = (float *)py;\n"                                        \
    "    GlobalTensor<float> gx, gy;\n"                                                      \
    "    gx.SetGlobalBuffer((__gm__ float *)px, 4096);\n"                                    \
    "    gy.SetGlobalBuffer((__gm__ float *)py, 4096);\n"                                    \
    "    TPipe pipe;\n    TBuf<TPosition::VECCALC> buf;\n    pipe.InitBuffer(buf, 16384);\n" \
    "    LocalTensor<float> t = buf.Get<float>();\n"

static float x[COUNT], y[COUNT];

static Trial run_body(Arena *arena, const char *body)
{
    static TwinTensor tensors[] = {
        {.name = "x", .rank = 1, .shape = {COUNT}, .role = SIM_IN, .data = x, .bytes = sizeof x},
        {.name = "y", .rank = 1, .shape = {COUNT}, .role = SIM_OUT, .data = y, .bytes = sizeof y},
    };
    static TwinArg args[] = {{.index = 0}, {.index = 1}};
    static TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 2, .args = args, .arg_count = 2, .blocks = 1};
    tensors[0].dtype = tensors[1].dtype = DT_F32;
    memset(y, 0, sizeof y);
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % 977) - 3;
    Trial t = {.text = str_format(arena, HEAD "%s}\n", body), .launch = &launch};
    trial_run(&t);
    return t;
}

/* Each squares x into y. */
static const char *const squares[] = {
    "for (int i = 0; i < 4096; i++) y[i] = x[i] * x[i];\n",
    "memcpy(room, x, 16384);\nfor (int i = 0; i < 4096; i++) room[i] *= room[i];\n"
    "memcpy(y, room, 16384);\n",
    "memmove(room, x, 16384);\nfor (float &v : room) v *= v;\nmemmove(y, room, 16384);\n",
    "__builtin_memcpy(room, x, 16384);\nfor (float &v : room) v *= v;\n"
    "__builtin_memcpy(y, room, 16384);\n",
    "for (int i = 0; i < 256; i++) { Wide v = ((Wide *)x)[i]; ((Wide *)y)[i] = v * v; }\n",
    "Block b = *(Block *)x;\nfor (float &v : b.of) v *= v;\n*(Block *)y = b;\n"
    "for (int i = 1000; i < 4096; i++) y[i] = x[i] * x[i];\n",
    "for (int i = 0; i < 4096; i++) { volatile float *p = x + i; y[i] = *p * *p; }\n",
    "for (int i = 0; i < 4096; i++) { float v; __atomic_load(x + i, &v, __ATOMIC_RELAXED); v *= "
    "v;\n"
    "__atomic_store(y + i, &v, __ATOMIC_RELAXED); }\n",
    "for (int i = 0; i < 4096; i++) y[i] = x[i];\nfor (int i = 0; i < 4096; i++) y[i] *= y[i];\n",
};

/* g++ makes calls of atomic accesses, which a kernel may not import. */
enum { ATOMIC = 7 };

static void every_way(bool gcc)
{
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++) {
        if (gcc && i == ATOMIC)
            continue;
        Arena arena = {0};
        Trial t = run_body(&arena, squares[i]);
        int wrong = 0;
        for (int k = 0; k < COUNT; k++)
            wrong += y[k] != x[k] * x[k];
        CHECK_MSG(t.verdict.status == VERDICT_OK && wrong == 0, "%zu: %s, %d wrong: %s\n%s", i,
                  verdict_status_row(t.verdict.status)->text, wrong, t.verdict.reason,
                  t.messages.at);
        CHECK_MSG(t.run.records >= 2 * COUNT / 2, "%zu: only %llu records", i,
                  (unsigned long long)t.run.records);
        trial_drop(&t);
        arena_drop(&arena);
    }
}

T_TEST(every_way_to_read_memory_is_recorded) { every_way(false); }

T_TEST(every_way_to_read_memory_is_recorded_with_gcc)
{
    setenv("ACRAFT_CXX", "g++", 1);
    every_way(true);
}

/* A function that the compiler does not watch could read what no record tells of: none is compiled. */
T_TEST(a_read_that_is_not_watched_is_refused)
{
    Arena arena = {0};
    Trial t = run_body(
        &arena,
        "struct Peek {\n"
        "    __attribute__((no_sanitize(\"kernel-address\", \"thread\"), noinline)) static float\n"
        "    at(float *p) { return *(volatile float *)p; }\n"
        "};\n"
        "for (int i = 0; i < 4096; i++) gy.SetValue(i, Peek::at(x + i % 1024));\n");
    CHECK_EQ_INT(t.verdict.status, VERDICT_NOT_COMPILED);
    CHECK_MSG(strstr(t.verdict.reason, "'no_sanitize'") != NULL, "%s", t.verdict.reason);
    trial_drop(&t);
    arena_drop(&arena);
}

/* A run of reads may get an eighth ahead, so that a million of them take a moment; it is no hang. */
T_TEST(a_million_scalar_reads_are_no_hang)
{
    Arena arena = {0};
    Trial t = run_body(&arena, "float s = 0;\n"
                               "for (int k = 0; k < 256; k++)\n"
                               "    for (int i = 0; i < 4096; i++) s += gx.GetValue(i);\n"
                               "for (int i = 0; i < 4096; i++) gy.SetValue(i, s);\n");
    CHECK_MSG(t.verdict.status == VERDICT_OK, "%s", t.verdict.reason);
    CHECK(t.run.records >= 1 << 20);
    trial_drop(&t);
    arena_drop(&arena);
}

/* Reading one word of an output thousands of times is no hang either. */
T_TEST(asking_often_for_one_word_is_no_hang)
{
    Arena arena = {0};
    Trial t = run_body(&arena, "for (int i = 0; i < 4096; i++) gy.SetValue(i, 1);\nfloat s = 0;\n"
                               "for (int k = 0; k < 20000; k++) s += gy.GetValue(7);\n"
                               "gy.SetValue(0, s);\n");
    CHECK_MSG(t.verdict.status == VERDICT_OK, "%s", t.verdict.reason);
    CHECK(y[0] == 20000);
    trial_drop(&t);
    arena_drop(&arena);
}

/* Stores alone fill the ring as well: the core waits for room. */
T_TEST(plain_stores_wait_for_room)
{
    Arena arena = {0};
    Trial t = run_body(&arena, "for (int k = 0; k < 8; k++)\n"
                               "    for (int i = 0; i < 4096; i++) y[i] = i + k;\n");
    CHECK_MSG(t.verdict.status == VERDICT_OK, "%s", t.verdict.reason);
    CHECK(y[0] == 7 && y[4095] == 4102);
    trial_drop(&t);
    arena_drop(&arena);
}
