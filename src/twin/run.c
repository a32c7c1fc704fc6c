/* One launch: memories, simulator, boxed core processes, feeding, and the verdict on how it ended.
 * In: a compiled kernel and a TwinLaunch. Out: output bytes in the launch's tensors, TwinRun, and
 * every way of dying as a status of its own. */
#include "twin/run_int.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool launch_ok(const TwinKernel *kernel, const TwinLaunch *launch, SimKind kind,
                      Arena *arena, Verdict *verdict)
{
    const char *why = NULL;
    if (launch->blocks == 0)
        why = "a launch needs at least one block";
    else if (launch->arg_count != kernel->params.len)
        why = str_format(arena, "the kernel has %u parameters, the launch gives %u",
                         kernel->params.len, launch->arg_count);
    else if ((kind != SIM_AIC && kernel->exe[0] < 0) || (kind != SIM_AIV && kernel->exe[1] < 0))
        why = "the tiling key asks for a kind of core the kernel was not compiled for";
    if (why)
        verdict_fail(verdict, VERDICT_BAD_TILING, STAGE_RUN, why);
    return !why;
}

/* --- processes ------------------------------------------------------------------------------- */

static Box *start_zygote(Arena *arena, const TwinKernel *kernel, int role,
                         const LaunchMemory *memory, const TwinOptions *options, Verdict *verdict)
{
    const char *const argv[] = {"kernel", role ? "1" : "0", NULL};
    double seconds = options->run_seconds > 0 ? options->run_seconds : 60;
    BoxSpec spec = {.argv = argv,
                    .exe_fd = kernel->exe[role],
                    .profile = BOX_ZYGOTE,
                    .fds = memory->fds,
                    .fd_count = memory->fd_count,
                    .seconds = seconds,
                    .memory = options->memory ? options->memory : 1ull << 30,
                    .processes = shared_launch(memory)->order_count[role] + 8,
                    .files = SHARE_MOST_FDS + 16,
                    .output = 64 << 10,
                    .allow_missing = options->trust};
    BoxResult result;
    Box *box = box_start(arena, &spec, &result);
    if (!box)
        twin_build_box_ok(arena, &result, STAGE_RUN, verdict);
    return box;
}

static bool start_zygotes(Arena *arena, const TwinKernel *kernel, const LaunchMemory *memory,
                          const TwinOptions *options, Box *boxes[2], Verdict *verdict)
{
    for (int role = 0; role < 2; role++) {
        if (!shared_launch(memory)->order_count[role])
            continue;
        boxes[role] = start_zygote(arena, kernel, role, memory, options, verdict);
        if (!boxes[role])
            return false;
    }
    return true;
}

/* --- how it ended ---------------------------------------------------------------------------- */

typedef struct Ending {
    Arena *arena;
    const LaunchMemory *memory;
    const FeedResult *feed;
    Verdict *verdict;
} Ending;

static void fail_at(const Ending *e, VerdictStatus status, const char *what)
{
    const FeedResult *feed = e->feed;
    const char *where = feed->line
                            ? str_format(e->arena, ", last seen at %s:%u", feed->file, feed->line)
                            : "";
    verdict_fail(e->verdict, status, STAGE_RUN,
                 str_format(e->arena, "core %u %s%s", feed->core, what, where));
}

static const char *crash_text(const Ending *e, const ShareRing *ring, int signal)
{
    bool memory_fault = signal == SIGSEGV || signal == SIGBUS;
    if (ring->stack_overflow && memory_fault)
        return "overflowed its stack";
    if (!memory_fault || ring->fault_signal != signal)
        return str_format(e->arena, "died: %s", strsignal(signal));
    return str_format(e->arena, "touched memory it may not at %#llx (%s)",
                      (unsigned long long)ring->fault_address, strsignal(signal));
}

static void dead_by_exit(const Ending *e, const ShareRing *ring, int status)
{
    if (status == SHARE_EXIT_FORBIDDEN)
        fail_at(e, VERDICT_FORBIDDEN,
                str_format(e->arena, "made a forbidden system call (%s)",
                           box_call_name(e->arena, ring->forbidden_call)));
    else if (status == BOX_STATUS_MEMORY)
        fail_at(e, VERDICT_MEMORY, "ran out of memory");
    else if (status == SHARE_EXIT_SETUP)
        verdict_fail(e->verdict, VERDICT_INTERNAL, STAGE_RUN, "the core runtime could not go on");
    else
        fail_at(e, VERDICT_CRASHED, "left before the kernel returned");
}

/* A core's process is gone and the simulator has not seen its end. */
static void dead_core(const Ending *e)
{
    const ShareRing *ring = shared_ring(e->memory, e->feed->core);
    int status = ring->wait_status;
    if (WIFEXITED(status))
        dead_by_exit(e, ring, WEXITSTATUS(status));
    else if (WTERMSIG(status) == SIGXCPU)
        fail_at(e, VERDICT_TIMEOUT, "used up its time");
    else if (WTERMSIG(status) == SIGSYS)
        fail_at(e, VERDICT_FORBIDDEN, "made a forbidden system call");
    else if (WTERMSIG(status) == SIGKILL)
        fail_at(e, VERDICT_MEMORY, "was killed: out of memory or time");
    else
        fail_at(e, VERDICT_CRASHED, crash_text(e, ring, WTERMSIG(status)));
}

static void dead_box(const Ending *e, const BoxResult *box)
{
    if (box->end == BOX_TIMEOUT)
        fail_at(e, VERDICT_TIMEOUT, "did not end in time");
    else if (box->end == BOX_OUTPUT)
        fail_at(e, VERDICT_OUTPUT, "printed without end");
    else if (box->end == BOX_MEMORY)
        fail_at(e, VERDICT_MEMORY, "ran out of memory");
    else if (box->end == BOX_EXITED && box->status == SHARE_EXIT_SETUP)
        verdict_fail(e->verdict, VERDICT_INTERNAL, STAGE_RUN, "the core runtime could not start");
    else
        fail_at(e, VERDICT_CRASHED,
                str_format(e->arena, "took its program down (%s)", box_end_text(box->end)));
}

static void judge_end(const Ending *e, Sim *sim, const BoxResult *box)
{
    switch (e->feed->end) {
    case FEED_DONE: sim_finish(sim); break;
    case FEED_HANG: sim_hang(sim); break;
    case FEED_DEAD_CORE: dead_core(e); break;
    case FEED_DEAD_BOX: dead_box(e, box); break;
    case FEED_FORGED: fail_at(e, VERDICT_FORGED, "moved its record counter to nowhere"); break;
    }
}

/* Ends both boxes; *result of the one that had ended by itself, or of the last. */
static void finish_boxes(Box *boxes[2], BoxResult *result, Verdict *verdict)
{
    *result = (BoxResult){.end = BOX_EXITED};
    for (int role = 0; role < 2; role++) {
        if (!boxes[role])
            continue;
        BoxResult one;
        bool by_itself = box_step(boxes[role], 0);
        box_kill(boxes[role]);
        box_finish(boxes[role], &one);
        if (by_itself || one.end != BOX_MEMORY)
            *result = one;
        if (one.missing)
            verdict->walls_missing = one.missing;
    }
}

/* --- the run --------------------------------------------------------------------------------- */

static bool run_on(Arena *arena, const TwinKernel *kernel, LaunchMemory *memory, Sim *sim,
                   const TwinOptions *options, TwinRun *run, Verdict *verdict)
{
    Box *boxes[2] = {NULL, NULL};
    FeedResult feed = {.end = FEED_DEAD_BOX, .file = ""};
    BoxResult box;
    bool started = start_zygotes(arena, kernel, memory, options, boxes, verdict);
    if (started)
        feed = twin_feed_all(arena, memory, sim, boxes);
    finish_boxes(boxes, &box, verdict);
    if (!started)
        return false;
    Ending ending = {.arena = arena, .memory = memory, .feed = &feed, .verdict = verdict};
    judge_end(&ending, sim, &box);
    if (options->inspect)
        options->inspect(options->context, sim);
    twin_findings_add(arena, sim, verdict);
    run->records = feed.records;
    run->printed = str_copy(arena, sim_printed(sim));
    twin_memory_take_outputs(memory);
    return feed.end == FEED_DONE;
}

static Sim *open_sim(const TwinLaunch *launch, SimKind kind, const TwinOptions *options,
                     LaunchMemory *memory)
{
    SimConfig config = {.chip = twin_chip(options),
                        .kind = kind,
                        .blocks = launch->blocks,
                        .map = twin_memory_for_sim,
                        .context = memory,
                        .keep_going = options->keep_going};
    return sim_open(&config);
}

bool twin_run(Arena *arena, const TwinKernel *kernel, const TwinLaunch *launch,
              const TwinOptions *options, TwinRun *run, Verdict *verdict)
{
    SimKind kind = twin_kernel_kind(kernel, launch->tiling_key);
    LaunchMemory memory;
    double started = now_seconds();
    *run = (TwinRun){0};
    verdict->stage = STAGE_RUN;
    if (!launch_ok(kernel, launch, kind, arena, verdict) ||
        !twin_memory_open(arena, launch, kind, twin_chip(options), &memory, verdict))
        return false;
    Sim *sim = open_sim(launch, kind, options, &memory);
    bool ok = sim && twin_memory_add_regions(&memory, launch, sim) &&
              twin_memory_describe(arena, &memory, options, sim);
    if (!ok)
        verdict_fail(verdict, VERDICT_INTERNAL, STAGE_RUN, "the simulator did not start");
    if (ok && options->prepare)
        options->prepare(options->context, sim);
    if (ok) {
        run->cores = sim_core_count(sim);
        ok = run_on(arena, kernel, &memory, sim, options, run, verdict);
    }
    if (sim)
        sim_close(sim);
    twin_memory_close(&memory);
    run->seconds = now_seconds() - started;
    return ok;
}
