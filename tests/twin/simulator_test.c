/* The simulator's own process: whatever becomes of it, one run ends with `internal`, nothing is left
 * behind, and the next run in the same tool is sound. It is made to fail by what a run may hook into
 * it (TwinOptions.prepare), at its start or in the middle of the records. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include "twin/run_int.h"
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char copy_text[] =
    "#include \"kernel_operator.h\"\n"
    "using namespace AscendC;\n"
    "extern \"C\" __global__ __aicore__ void copy(GM_ADDR x, GM_ADDR y) {\n"
    "    TPipe pipe;\n"
    "    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> queue;\n"
    "    GlobalTensor<float> from, to;\n"
    "    from.SetGlobalBuffer((__gm__ float *)x + 64 * GetBlockIdx(), 64);\n"
    "    to.SetGlobalBuffer((__gm__ float *)y + 64 * GetBlockIdx(), 64);\n"
    "    pipe.InitBuffer(queue, 1, 256);\n"
    "    LocalTensor<float> t = queue.AllocTensor<float>();\n"
    "    DataCopy(t, from, 64);\n"
    "    queue.EnQue(t);\n"
    "    t = queue.DeQue<float>();\n"
    "    DataCopy(to, t, 64);\n"
    "    queue.FreeTensor(t);\n"
    "    PRINTF(\"core %d\\n\", (int)GetBlockIdx());\n"
    "}\n";

enum { CORES = 4, COUNT = 64 * CORES };

typedef struct Copy {
    float x[COUNT], y[COUNT];
    TwinTensor tensors[2];
    TwinArg args[2];
    TwinLaunch launch;
    Trial trial;
} Copy;

static void run_copy(Copy *c, TwinOptions options)
{
    for (int i = 0; i < COUNT; i++)
        c->x[i] = (float)i;
    memset(c->y, 0, sizeof c->y);
    for (uint32_t i = 0; i < 2; i++) {
        c->tensors[i] = (TwinTensor){.name = i ? "y" : "x",
                                     .dtype = DT_F32,
                                     .rank = 1,
                                     .shape = {COUNT},
                                     .role = i ? SIM_OUT : SIM_IN,
                                     .data = i ? c->y : c->x,
                                     .bytes = sizeof c->x};
        c->args[i] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = i};
    }
    c->launch = (TwinLaunch){
        .tensors = c->tensors, .tensor_count = 2, .args = c->args, .arg_count = 2, .blocks = CORES};
    c->trial = (Trial){.text = copy_text, .launch = &c->launch, .options = options};
    trial_run(&c->trial);
}

static int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static void check_sound(void)
{
    Copy c;
    run_copy(&c, (TwinOptions){0});
    CHECK_EQ_STR(c.trial.verdict.reason, "");
    CHECK_EQ_INT(c.trial.verdict.status, VERDICT_OK);
    CHECK(memcmp(c.x, c.y, sizeof c.x) == 0);
    CHECK_EQ_INT(c.trial.run.cores, CORES);
    CHECK_EQ_SLICE(c.trial.run.printed, "core 0\ncore 1\ncore 2\ncore 3\n");
    trial_drop(&c.trial);
}

/* The run fails so, says these words, leaves nothing, and a sound one follows. */
static void check_failure_as(TwinOptions options, VerdictStatus status, const char *words)
{
    Copy c;
    check_sound();
    int before = open_descriptors();
    run_copy(&c, options);
    const Verdict *v = &c.trial.verdict;
    CHECK_EQ_INT(v->status, status);
    CHECK_MSG(str_find(str_from(v->reason), str_from(words)) >= 0, "%s", v->reason);
    CHECK_MSG(status != VERDICT_INTERNAL ||
                  str_find(str_from(v->reason), STR("not of this kernel; please report")) >= 0,
              "%s", v->reason);
    CHECK(!c.trial.ran);
    CHECK_EQ_INT(open_descriptors(), before);
    CHECK_MSG(waitpid(-1, NULL, WNOHANG) < 0, "a process is left");
    trial_drop(&c.trial);
    check_sound();
}

static void check_failure(TwinOptions options, const char *words)
{
    check_failure_as(options, VERDICT_INTERNAL, words);
}

/* --- ways to fail ------------------------------------------------------------------------------ */

static void die(void *context, Sim *sim)
{
    (void)context, (void)sim;
    __builtin_trap();
}

static void die_at_third(void *context, Sim *sim, uint32_t core, uint64_t index, const Record *r)
{
    (void)context, (void)sim, (void)r;
    if (core == 2 && index >= 3)
        __builtin_trap();
}

static void die_later(void *context, Sim *sim) { sim_observe(sim, die_at_third, context); }

static void never_end(void *context, Sim *sim)
{
    (void)context, (void)sim;
    for (volatile uint64_t i = 0;; i = i + 1)
        ;
}

static void stand_still(void *context, Sim *sim, uint32_t core, uint64_t index, const Record *r)
{
    (void)core, (void)index, (void)r;
    never_end(context, sim);
}

static void never_end_later(void *context, Sim *sim) { sim_observe(sim, stand_still, context); }

/* The sanitizer's allocator hangs where the system gives no more: there the arena refuses first. */
#ifdef ATTR_ASAN
enum { ARENA_LIMIT = 32 << 20 };
#else
enum { ARENA_LIMIT = 0 };
#endif

static void eat_memory(void *context, Sim *sim)
{
    (void)context, (void)sim;
    Arena a = {.limit = ARENA_LIMIT};
    for (;;)
        arena_alloc(&a, 1 << 20);
}

static void leave(void *context, Sim *sim)
{
    (void)context, (void)sim;
    _exit(0); /* without an answer */
}

T_TEST(simulator_that_dies_at_its_start)
{
    check_failure((TwinOptions){.prepare = die}, "simulator died (");
}

T_TEST(simulator_that_dies_amid_records)
{
    check_failure((TwinOptions){.prepare = die_later}, "at records of core 2");
}

T_TEST(simulator_that_never_starts)
{
    check_failure((TwinOptions){.prepare = never_end, .sim_seconds = 0.5}, "did not end in time");
}

T_TEST(simulator_that_never_ends)
{
    check_failure_as((TwinOptions){.prepare = never_end_later, .sim_seconds = 1}, VERDICT_TIMEOUT,
                     "took more time than it may");
}

/* How long records take is what the kernel asked for: it may not leave the count that way. */
T_TEST(simulator_that_outlives_the_cores)
{
    check_failure_as(
        (TwinOptions){.prepare = never_end_later, .run_seconds = 0.5, .sim_seconds = 1.5},
        VERDICT_TIMEOUT, "took more time than it may");
}

T_TEST(simulator_that_eats_memory)
{
    check_failure((TwinOptions){.prepare = eat_memory, .sim_memory = 128 << 20},
                  "took more memory than it may");
}

T_TEST(simulator_that_leaves_without_an_answer)
{
    check_failure((TwinOptions){.prepare = leave}, "gave no sensible answer");
}

/* Without data a second simulator compares; its observers do not run, and what the first saw comes
 * back. */
static void count_all(void *context, Sim *sim, uint32_t core, uint64_t index, const Record *r)
{
    (void)sim, (void)core, (void)index, (void)r;
    ++*(uint64_t *)context;
}
static void count_from(void *context, Sim *sim) { sim_observe(sim, count_all, context); }
static void send_count(void *context, Sim *sim, Buf *seen)
{
    (void)sim;
    buf_add(seen, context, sizeof(uint64_t));
}
static void receive_count(void *context, Str seen)
{
    CHECK_EQ_INT(*(uint64_t *)context, 0); /* the simulator's copy counted, not this one */
    if (CHECK_EQ_INT(seen.len, sizeof(uint64_t)))
        memcpy(context, seen.at, sizeof(uint64_t));
}

T_TEST(what_observers_saw_comes_back)
{
    Copy c;
    uint64_t count = 0;
    run_copy(&c, (TwinOptions){.prepare = count_from,
                               .inspect = send_count,
                               .receive = receive_count,
                               .context = &count});
    CHECK_EQ_INT(c.trial.verdict.status, VERDICT_OK);
    CHECK_MSG(count > 20 && count <= c.trial.run.records, "%llu", (unsigned long long)count);
    trial_drop(&c.trial);
}

/* kill -9 of the tool in the middle of a run: simulator, zygote and cores go with it. */
T_TEST(nothing_outlives_a_killed_tool)
{
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    check_sound(); /* compiles */
    pid_t tool = fork();
    if (tool == 0) {
        Copy c;
        run_copy(&c, (TwinOptions){.prepare = never_end_later});
        _exit(1);
    }
    usleep(500 * 1000);
    kill(tool, SIGKILL);
    int left = 0;
    for (int i = 0; i < 1000 && waitpid(-1, NULL, WNOHANG) >= 0; i++, left = i)
        usleep(10 * 1000);
    CHECK(left < 1000);
}

/* --- the answer -------------------------------------------------------------------------------- */

/* A simulator with a finding, and an answer with something of everything. */
static void make_answer(Buf *bytes)
{
    Sim *sim = sim_open(
        &(SimConfig){.chip = npu_chip_find(STR("910B2")), .kind = SIM_AIV, .blocks = 2});
    Record forged = {.op = 0x7FFF};
    size_t used;
    sim_feed(sim, 1, &forged, 1, &used);
    CHECK(sim_fault_count(sim) == 1);
    Stream stream;
    stream_open(&stream, 2);
    Record record = {.op = NPU_CORE_END};
    stream_note(&stream, 1, &record, 1);
    FeedResult feed = {.end = FEED_DEAD_CORE, .core = 1, .records = 7, .file = "k.cpp", .line = 9};
    twin_answer_put(bytes, sim, &feed, STR("seen"), &stream);
    stream_close(&stream);
    sim_close(sim);
}

T_TEST(answers_are_read_back)
{
    Arena a = {0};
    Buf bytes = {0};
    SimAnswer answer;
    Stream stream;
    make_answer(&bytes);
    REQUIRE(twin_answer_take(&a, buf_view(&bytes), 2, &answer, &stream));
    CHECK_EQ_INT(answer.cores, 2);
    CHECK_EQ_INT(answer.feed.end, FEED_DEAD_CORE);
    CHECK_EQ_INT(answer.feed.core, 1);
    CHECK_EQ_INT(answer.feed.records, 7);
    CHECK_EQ_STR(answer.feed.file, "k.cpp");
    CHECK_EQ_INT(answer.faults.len, 1);
    CHECK_EQ_INT(answer.faults.at[0].core, 1);
    CHECK(strlen(answer.faults.at[0].message) > 0);
    CHECK_EQ_SLICE(answer.seen, "seen");
    CHECK_EQ_INT(stream.cores, 2);
    CHECK_EQ_INT(stream.core[1].len, 1);
    stream_close(&stream);
    CHECK(
        !twin_answer_take(&a, buf_view(&bytes), 1, &answer, NULL)); /* more cores than there are */
    buf_free(&bytes);
    arena_drop(&a);
}

/* Cut anywhere it is refused; with any byte changed it is read or refused, and nothing else. */
T_TEST(answers_that_are_broken_are_refused)
{
    Arena a = {0};
    Buf bytes = {0};
    SimAnswer answer;
    make_answer(&bytes);
    for (size_t len = 0; len < bytes.len; len++)
        CHECK(!twin_answer_take(&a, (Str){bytes.at, len}, 2, &answer, NULL));
    for (size_t i = 0; i < 8 * bytes.len; i++) {
        Stream stream;
        bytes.at[i / 8] ^= (char)(1 << i % 8);
        if (twin_answer_take(&a, buf_view(&bytes), 2, &answer, &stream))
            for (uint32_t k = 0; k < answer.faults.len; k++)
                CHECK(answer.faults.at[k].code < SIM_FAULT_COUNT);
        CHECK(stream.cores <= 2);
        stream_close(&stream);
        bytes.at[i / 8] ^= (char)(1 << i % 8);
    }
    buf_free(&bytes);
    arena_drop(&a);
}
