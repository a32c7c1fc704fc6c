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

/* Without data an address made of a value that was read leads anywhere, which is no fault. */
static bool went_astray(const Ending *e, const ShareRing *ring, int status)
{
    return e->memory->time_only && ring->reads && WIFSIGNALED(status) &&
           (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
}

/* A core's process is gone and the simulator has not seen its end. */
static void dead_core(const Ending *e)
{
    const ShareRing *ring = shared_ring(e->memory, e->feed->core);
    int status = ring->wait_status;
    if (went_astray(e, ring, status))
        fail_at(e, VERDICT_NEEDS_DATA, "goes where a value it reads leads");
    else if (WIFEXITED(status))
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

static void needs_data(const Ending *e)
{
    const FeedResult *feed = e->feed;
    const char *read = feed->read_line ? str_format(e->arena, ", after the value read at %s:%u",
                                                    feed->read_file, feed->read_line)
                                       : "";
    verdict_fail(e->verdict, VERDICT_NEEDS_DATA, STAGE_RUN,
                 str_format(e->arena,
                            "what core %u does depends on values it reads, first at %s:%u%s",
                            feed->core, feed->file, feed->line, read));
}

/* Words in GM that nobody changes any more; without data nobody ever does. */
static void polls_in_vain(const Ending *e)
{
    const FeedResult *feed = e->feed;
    if (e->memory->time_only) {
        fail_at(e, VERDICT_NEEDS_DATA, "waits for a value in GM");
        return;
    }
    fail_at(e, VERDICT_HANG, "polls a word in GM that no core will change");
    VerdictFinding finding = {.kind = FINDING_HANG,
                              .code = sim_fault_row(SIM_FAULT_CROSS_NEVER_SET)->code,
                              .message = e->verdict->reason,
                              .file = feed->file,
                              .line = feed->line,
                              .core = feed->core,
                              .count = 1,
                              .api = "",
                              .device = sim_fault_row(SIM_FAULT_CROSS_NEVER_SET)->device,
                              .repair = sim_fault_row(SIM_FAULT_CROSS_NEVER_SET)->repair};
    vec_push(e->arena, &e->verdict->hazards, finding);
}

static void judge_end(const Ending *e, Sim *sim, const BoxResult *box)
{
    switch (e->feed->end) {
    case FEED_DONE: sim_finish(sim); break;
    case FEED_HANG: sim_hang(sim); break;
    case FEED_DEAD_CORE: dead_core(e); break;
    case FEED_DEAD_BOX: dead_box(e, box); break;
    case FEED_DIFFERS: needs_data(e); break;
    case FEED_POLLS: polls_in_vain(e); break;
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

/* One launch with its memories, simulator and processes. */
typedef struct Launched {
    Arena *arena;
    const TwinKernel *kernel;
    const TwinOptions *options;
    LaunchMemory memory;
    Sim *sim;
    FeedResult feed;
    BoxResult box;
} Launched;

static Sim *open_sim(const LaunchSpec *spec, const TwinOptions *options, LaunchMemory *memory)
{
    SimConfig config = {.chip = spec->chip,
                        .kind = spec->kind,
                        .blocks = spec->launch->blocks,
                        .map = twin_memory_for_sim,
                        .context = memory,
                        .keep_going = options->keep_going,
                        .no_data = spec->time_only,
                        .no_memo = options->no_memo,
                        .image = twin_memory_image(memory),
                        .littered = spec->littered,
                        .nudge = options->nudge};
    return sim_open(&config);
}

static bool open_launch(Launched *l, const LaunchSpec *spec, Verdict *verdict)
{
    if (!twin_memory_open(l->arena, spec, &l->memory, verdict))
        return false;
    l->sim = open_sim(spec, l->options, &l->memory);
    if (l->sim && twin_memory_add_regions(&l->memory, spec->launch, l->sim) &&
        twin_memory_describe(l->arena, &l->memory, l->options, l->sim))
        return true;
    verdict_fail(verdict, VERDICT_INTERNAL, STAGE_RUN, "the simulator did not start");
    return false;
}

static void close_launch(Launched *l)
{
    if (l->sim)
        sim_close(l->sim);
    twin_memory_close(&l->memory);
}

static bool feed_all(Launched *l, Stream *stream, Verdict *verdict)
{
    Box *boxes[2] = {NULL, NULL};
    bool started = start_zygotes(l->arena, l->kernel, &l->memory, l->options, boxes, verdict);
    if (started)
        l->feed = twin_feed_all(l->arena, &l->memory, l->sim, boxes, stream);
    finish_boxes(boxes, &l->box, verdict);
    return started;
}

static bool has_read_data(const Launched *l)
{
    for (uint32_t i = 0; i < sim_core_count(l->sim); i++)
        if (shared_ring(&l->memory, i)->reads)
            return true;
    return false;
}

/* Without data: does the kernel do the same with other values? What it never reads cannot matter. */
static bool depends_on_data(const Launched *first, LaunchSpec spec, Stream *stream,
                            Verdict *verdict)
{
    if (!has_read_data(first) || first->feed.end == FEED_DEAD_BOX)
        return false;
    Launched l = {.arena = first->arena, .kernel = first->kernel, .options = first->options};
    Verdict own = verdict_make();
    stream_rewind(stream);
    spec.second = true;
    spec.only = first->memory.some_data ? NULL : stream; /* values need every core */
    bool differs = open_launch(&l, &spec, &own) && feed_all(&l, stream, &own) &&
                   l.feed.end == FEED_DIFFERS;
    if (differs)
        needs_data(&(Ending){first->arena, &l.memory, &l.feed, verdict});
    close_launch(&l);
    return differs;
}

/* What the run left in each output; NULL: what one started with is gone, so there can be no second
 * run. */
static uint8_t **copy_outputs(const Launched *l)
{
    const TwinLaunch *launch = l->memory.of;
    uint8_t **left = arena_array(l->arena, uint8_t *, launch->tensor_count + 1);
    bool kept = true;
    for (uint32_t i = 0; i < launch->tensor_count && kept; i++) {
        size_t bytes = launch->tensors[i].bytes;
        const uint8_t *at = twin_memory_tensor(&l->memory, i, &kept);
        if (launch->tensors[i].role != SIM_IN && bytes)
            left[i] = memcpy(arena_alloc(l->arena, bytes), at, bytes);
    }
    return kept ? left : NULL;
}

/* The scalar unit read elements nobody wrote. Does an output depend on them? A second run, with
 * other bytes there, tells; what the first one left is put back. */
static bool read_for_nothing(const Launched *first, LaunchSpec spec)
{
    uint8_t **left = copy_outputs(first);
    Launched l = {.arena = first->arena, .kernel = first->kernel, .options = first->options};
    Verdict own = verdict_make();
    spec.littered = true;
    bool opened = left && open_launch(&l, &spec, &own);
    bool same = opened && feed_all(&l, NULL, &own) && l.feed.end == FEED_DONE &&
                l.feed.records == first->feed.records;
    for (uint32_t i = 0; opened && i < spec.launch->tensor_count; i++) {
        bool kept;
        const uint8_t *now = twin_memory_tensor(&l.memory, i, &kept);
        if (!left[i])
            continue;
        same = same && memcmp(left[i], now, spec.launch->tensors[i].bytes) == 0;
        if (now == spec.launch->tensors[i].data)
            memcpy(spec.launch->tensors[i].data, left[i], spec.launch->tensors[i].bytes);
    }
    if (left)
        close_launch(&l);
    return same;
}

static bool run_on(Launched *l, const LaunchSpec *spec, TwinRun *run, Verdict *verdict)
{
    const TwinOptions *options = l->options;
    Stream stream = {0};
    if (spec->time_only)
        stream_open(&stream, sim_core_count(l->sim));
    bool started = feed_all(l, spec->time_only ? &stream : NULL, verdict);
    bool unknown = started && spec->time_only && depends_on_data(l, *spec, &stream, verdict);
    stream_close(&stream);
    if (!started)
        return false;
    judge_end(&(Ending){l->arena, &l->memory, &l->feed, verdict}, l->sim, &l->box);
    if (options->inspect)
        options->inspect(options->context, l->sim);
    if (l->feed.end == FEED_DONE && sim_reads_unwritten_only(l->sim) && read_for_nothing(l, *spec))
        sim_excuse_unwritten_reads(l->sim);
    if (!unknown)
        twin_findings_add(l->arena, l->sim, verdict);
    run->records = l->feed.records;
    run->printed = str_copy(l->arena, sim_printed(l->sim));
    twin_memory_take_outputs(&l->memory);
    return l->feed.end == FEED_DONE && !unknown;
}

enum { AGAIN_SECONDS = 30 }; /* its scalar reads wait for the simulator */

static bool run_launch(Arena *arena, const TwinKernel *kernel, const LaunchSpec *spec,
                       const TwinOptions *options, TwinRun *run, Verdict *verdict)
{
    Launched l = {.arena = arena,
                  .kernel = kernel,
                  .options = options,
                  .feed = {.end = FEED_DEAD_BOX, .file = ""}};
    bool ok = open_launch(&l, spec, verdict);
    if (ok && options->prepare)
        options->prepare(options->context, l.sim);
    if (ok) {
        run->cores = sim_core_count(l.sim);
        ok = run_on(&l, spec, run, verdict);
    }
    close_launch(&l);
    return ok;
}

static bool has_indices(const TwinLaunch *launch)
{
    for (uint32_t i = 0; i < launch->tensor_count; i++)
        if (launch->tensors[i].role == SIM_IN && launch->tensors[i].data)
            return true;
    return false;
}

/* Without data, a kernel that seems to go by values is run once more with what it makes of constants
 * known: positions it counts on chip are no data. */
bool twin_run(Arena *arena, const TwinKernel *kernel, const TwinLaunch *launch,
              const TwinOptions *options, TwinRun *run, Verdict *verdict)
{
    LaunchSpec spec = {.launch = launch,
                       .kind = twin_kernel_kind(kernel, launch->tiling_key),
                       .chip = twin_chip(options),
                       .time_only = options->time_only,
                       .some_data = options->time_only && has_indices(launch),
                       .seed = options->seed};
    double started = now_seconds();
    *run = (TwinRun){0};
    verdict->stage = STAGE_RUN;
    if (!launch_ok(kernel, launch, spec.kind, arena, verdict))
        return false;
    Verdict fresh = *verdict;
    bool ok = run_launch(arena, kernel, &spec, options, run, verdict);
    if (spec.time_only && !spec.some_data && verdict->status == VERDICT_NEEDS_DATA) {
        Verdict first = *verdict;
        TwinOptions again = *options;
        again.run_seconds = AGAIN_SECONDS;
        *verdict = fresh;
        spec.some_data = true;
        ok = run_launch(arena, kernel, &spec, &again, run, verdict);
        if (verdict->status == VERDICT_TIMEOUT)
            *verdict = first;
    }
    run->seconds = now_seconds() - started;
    return ok;
}
