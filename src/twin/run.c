/* One launch: memories, the simulator's process (simulate.c), boxed core processes, and the verdict on
 * how it ended. In: a compiled kernel and a TwinLaunch. Out: output bytes in the launch's tensors, TwinRun, and
 * each kind of failure as a status of its own. */
#include "twin/run_int.h"

#include <stdalign.h>
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

enum { RUN_SECONDS = 60 };

/* --- processes ------------------------------------------------------------------------------- */

/* All cores of a launch share one account of memory; what a single one may take is its part, never
 * less than its runtime and a large kernel need. */
#define CORES_MEMORY (2ull << 30)
#define CORE_LEAST (8ull << 20)
#define CORE_STACK (2ull << 20)

static uint64_t memory_of_core(const LaunchMemory *memory, const TwinOptions *options)
{
    const ShareLaunch *head = shared_launch(memory);
    uint64_t cores = twin_feed_most(memory, head->order_count[0] + head->order_count[1]);
    uint64_t part = (options->memory ? options->memory : CORES_MEMORY) / (cores ? cores : 1);
    return part > CORE_LEAST ? part : CORE_LEAST;
}

static Box *start_zygote(Arena *arena, const TwinKernel *kernel, int role,
                         const LaunchMemory *memory, const TwinOptions *options, Verdict *verdict)
{
    const char *const argv[] = {"kernel", role ? "1" : "0", NULL};
    double seconds = options->run_seconds > 0 ? options->run_seconds : RUN_SECONDS;
    BoxSpec spec = {.argv = argv,
                    .exe_fd = kernel->exe[role],
                    .profile = BOX_ZYGOTE,
                    .fds = memory->fds,
                    .fd_count = shared_launch(memory)->hidden ? SHARE_FD_GM - SHARE_FD_LAUNCH
                                                              : memory->fd_count,
                    .seconds = seconds,
                    .memory = memory_of_core(memory, options),
                    .stack = CORE_STACK,
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
    const SimAnswer *answer;
    Verdict *verdict;
} Ending;

static void fail_at(const Ending *e, VerdictStatus status, const char *what)
{
    const FeedResult *feed = &e->answer->feed;
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
    else if (status == SHARE_EXIT_LACK && twin_findings_lack(e->answer))
        fail_at(e, VERDICT_UNSUPPORTED, "needs a call that acraft does not have");
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
    const ShareRing *ring = shared_ring(e->memory, e->answer->feed.core);
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
    const FeedResult *feed = &e->answer->feed;
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
    const FeedResult *feed = &e->answer->feed;
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

static void judge_end(const Ending *e, const BoxResult *box)
{
    switch (e->answer->feed.end) {
    case FEED_DEAD_CORE: dead_core(e); break;
    case FEED_DEAD_BOX: dead_box(e, box); break;
    case FEED_DIFFERS: needs_data(e); break;
    case FEED_POLLS: polls_in_vain(e); break;
    case FEED_FORGED: fail_at(e, VERDICT_FORGED, "moved its record counter to nowhere"); break;
    default: break; /* what the simulator found says it */
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

enum { STEP_MS = 10, SIM_MORE_SECONDS = 30, SIM_BYTES_PER_BYTE = 4 };
#define SIM_MEMORY (8ull << 30)

static bool start_simulator(Launched *l, Simulation *job)
{
    const TwinOptions *o = l->options;
    double cores = o->run_seconds > 0 ? o->run_seconds : RUN_SECONDS;
    BoxWorkerSpec spec = {.body = twin_simulate,
                          .context = job,
                          .seconds = o->sim_seconds > 0 ? o->sim_seconds : cores + SIM_MORE_SECONDS,
                          .memory = (o->sim_memory ? o->sim_memory : SIM_MEMORY) +
                                    SIM_BYTES_PER_BYTE * twin_memory_bytes(&l->memory)};
    return box_worker_start(l->arena, &l->simulator, &spec) && box_worker_wait_ready(&l->simulator);
}

/* Until the simulator has ended; it hears of boxes that ended before it. */
static void watch(Launched *l, Box *const boxes[2])
{
    while (!box_worker_step(&l->simulator, STEP_MS))
        for (int role = 0; role < 2; role++)
            if (boxes[role] && box_step(boxes[role], 0))
                atomic_store(&shared_launch(&l->memory)->boxes_over, 1);
}

static uint32_t most_cores(const LaunchMemory *memory)
{
    return (uint32_t)(memory->rings.bytes / sizeof(ShareRing));
}

/* " at records of core 3": whose turn it was, if what the simulator left still tells. */
static const char *whose_turn(const Launched *l)
{
    const SharedMemory *launch = &l->memory.launch;
    uint64_t at = shared_launch(&l->memory)->cores_at, cores = most_cores(&l->memory);
    if (at % alignof(ShareCore) || at > launch->bytes ||
        (launch->bytes - at) / sizeof(ShareCore) < cores)
        return "";
    for (uint32_t i = 0; i < cores; i++)
        if (atomic_load(&shared_core(&l->memory, i)->turn))
            return str_format(l->arena, " at records of core %u", i);
    return "";
}

/* How much there is to simulate is the kernel's doing; that the simulator dies of it is ours. */
static void simulator_failed(const Launched *l, BoxEnd end, int signal, Verdict *verdict)
{
    if (l->ready && (end == BOX_TIMEOUT || end == BOX_MEMORY)) {
        verdict_fail(verdict, end == BOX_TIMEOUT ? VERDICT_TIMEOUT : VERDICT_MEMORY, STAGE_RUN,
                     str_format(l->arena, "simulating the kernel took more %s than it may%s",
                                end == BOX_TIMEOUT ? "time" : "memory", whose_turn(l)));
        return;
    }
    const char *how = end == BOX_TIMEOUT  ? "did not end in time"
                      : end == BOX_MEMORY ? "took more memory than it may"
                      : end == BOX_SIGNAL ? str_format(l->arena, "died (%s)", strsignal(signal))
                      : end == BOX_EXITED ? "gave no sensible answer"
                                          : "did not start";
    verdict_fail(
        verdict, VERDICT_INTERNAL, STAGE_RUN,
        str_format(l->arena,
                   "acraft's simulator %s%s: a fault of acraft, not of this kernel; please "
                   "report this line with the kernel and its inputs",
                   how, whose_turn(l)));
}

static bool take_answer(Launched *l, Stream *notes, Verdict *verdict)
{
    Str bytes;
    int signal;
    BoxEnd end = box_worker_finish(&l->simulator, &bytes, &signal);
    bool ok = end == BOX_EXITED &&
              twin_answer_take(l->arena, bytes, most_cores(&l->memory), &l->answer, notes);
    if (!ok)
        simulator_failed(l, end, signal, verdict);
    return ok;
}

bool twin_launched_simulate(Launched *l, const LaunchSpec *spec, Simulation job, Stream *notes,
                            Verdict *verdict)
{
    Box *boxes[2] = {NULL, NULL};
    job.arena = l->arena;
    job.spec = spec;
    job.options = l->options;
    job.memory = &l->memory;
    job.core_filter = l->options->trust ? (Str){0} : box_core_filter(l->arena);
    if (!twin_memory_open(l->arena, spec, &l->memory, verdict))
        return false;
    bool started = start_simulator(l, &job);
    l->ready = started;
    if (started)
        started = twin_memory_seal(&l->memory) &&
                  start_zygotes(l->arena, l->kernel, &l->memory, l->options, boxes, verdict);
    if (started)
        watch(l, boxes);
    finish_boxes(boxes, &l->box, verdict);
    return take_answer(l, notes, verdict) && started;
}

void twin_launched_close(Launched *l)
{
    box_worker_close(&l->simulator);
    twin_memory_close(&l->memory);
}

Launched twin_launched_make(Arena *arena, const TwinKernel *kernel, const TwinOptions *options)
{
    return (Launched){.arena = arena,
                      .kernel = kernel,
                      .options = options,
                      .memory = {.launch.fd = -1, .rings.fd = -1, .gm.fd = -1},
                      .simulator = {.pidfd = -1, .ready = -1, .answer = -1}};
}

/* A second run that could not be made says nothing about the kernel, so there is no verdict. */
static void pass_on(const Verdict *own, Verdict *verdict)
{
    if (own->status != VERDICT_OK)
        verdict_fail(verdict, own->status, own->stage, own->reason);
}

/* Without data: does the kernel do the same with other values? What it never reads cannot matter. */
static bool depends_on_data(const Launched *first, LaunchSpec spec, Stream *stream,
                            Verdict *verdict)
{
    if (!stream->cores || first->answer.feed.end == FEED_DEAD_BOX)
        return false;
    Launched l = twin_launched_make(first->arena, first->kernel, first->options);
    Verdict own = verdict_make();
    stream_rewind(stream);
    spec.second = true;
    spec.only = first->memory.some_data ? NULL : stream; /* values need every core */
    bool differs = twin_launched_simulate(&l, &spec, (Simulation){.against = stream}, NULL, &own) &&
                   (l.answer.feed.end == FEED_DIFFERS || l.answer.feed.end == FEED_DEAD_CORE);
    if (differs)
        needs_data(&(Ending){first->arena, &l.memory, &l.answer, verdict});
    pass_on(&own, verdict);
    twin_launched_close(&l);
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
static bool read_for_nothing(const Launched *first, LaunchSpec spec, Verdict *verdict)
{
    uint8_t **left = copy_outputs(first);
    if (!left)
        return false;
    Launched l = twin_launched_make(first->arena, first->kernel, first->options);
    Verdict own = verdict_make();
    spec.littered = true;
    bool same = twin_launched_simulate(&l, &spec, (Simulation){0}, NULL, &own) &&
                l.answer.feed.end == FEED_DONE &&
                l.answer.feed.records == first->answer.feed.records;
    for (uint32_t i = 0; l.memory.gm.at && i < spec.launch->tensor_count; i++) {
        bool kept;
        const uint8_t *now = twin_memory_tensor(&l.memory, i, &kept);
        if (!left[i])
            continue;
        same = same && memcmp(left[i], now, spec.launch->tensors[i].bytes) == 0;
        if (now == spec.launch->tensors[i].data)
            memcpy(spec.launch->tensors[i].data, left[i], spec.launch->tensors[i].bytes);
    }
    pass_on(&own, verdict);
    twin_launched_close(&l);
    return same;
}

/* Where nothing else was found, such reads become warnings. */
static void excuse_reads(SimAnswer *answer)
{
    for (uint32_t i = 0; i < answer->faults.len; i++)
        if (sim_fault_row(answer->faults.at[i].code)->kind != SIM_KIND_WARNING)
            answer->faults.at[i].code = SIM_FAULT_READ_FOR_NOTHING;
}

static bool run_on(Launched *l, const LaunchSpec *spec, TwinRun *run, Verdict *verdict)
{
    const TwinOptions *options = l->options;
    SimAnswer *answer = &l->answer;
    Stream notes = {0};
    Simulation job = {.note = spec->time_only && !options->steady, .watched = !spec->sample.blocks};
    bool simulated = twin_launched_simulate(l, spec, job, &notes, verdict);
    bool unknown = simulated && depends_on_data(l, *spec, &notes, verdict);
    stream_close(&notes);
    if (!simulated || spec->sample.blocks)
        return simulated && answer->feed.end == FEED_DONE;
    if (options->seen)
        twin_seen_launch(options->seen, l);
    judge_end(&(Ending){l->arena, &l->memory, answer, verdict}, &l->box);
    if (options->receive)
        options->receive(options->context, answer->seen);
    if (answer->feed.end == FEED_DONE && answer->unwritten_only &&
        read_for_nothing(l, *spec, verdict))
        excuse_reads(answer);
    if (!unknown)
        twin_findings_add(l->arena, l->kernel, answer, verdict);
    if (answer->feed.end == FEED_DONE && !spec->time_only)
        twin_second_launch(l, *spec, verdict);
    run->cores = answer->cores;
    run->records = answer->feed.records;
    run->printed = answer->printed;
    run->left = answer->left.of[0].len + answer->left.of[1].len;
    twin_memory_take_outputs(&l->memory);
    return answer->feed.end == FEED_DONE && !unknown;
}

enum { AGAIN_SECONDS = 30 }; /* its scalar reads wait for the simulator */

static bool run_launch(Arena *arena, const TwinKernel *kernel, const LaunchSpec *spec,
                       const TwinOptions *options, TwinRun *run, Verdict *verdict)
{
    Launched l = twin_launched_make(arena, kernel, options);
    if (!spec->sample.blocks)
        twin_second_save(&l, spec);
    bool ok = run_on(&l, spec, run, verdict);
    twin_second_drop(&l);
    twin_launched_close(&l);
    return ok;
}

/* Once to see which pages are touched, and again with marks in them. */
static bool run_sample(Arena *arena, const TwinKernel *kernel, const LaunchSpec *spec,
                       const TwinOptions *options, TwinRun *run, Verdict *verdict)
{
    if ((spec->kind != SIM_AIV && spec->kind != SIM_AIC) ||
        !run_launch(arena, kernel, spec, options, run, verdict))
        return false; /* cores of a block, or of all, wait for each other */
    for (uint32_t i = 0; i < spec->launch->tensor_count; i++) {
        const TwinTensor *t = &spec->launch->tensors[i];
        size_t from, to = 0;
        while (t->role == SIM_OUT && t->fd > 0 && twin_tensor_touched(t, &from, &to))
            memset((char *)t->data + from, TWIN_SAMPLE_MARK, to - from);
    }
    return run_launch(arena, kernel, spec, options, run, verdict);
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
                       .no_scheduler = twin_kernel_alone(kernel, launch->tiling_key),
                       .chip = twin_chip(options),
                       .time_only = options->time_only,
                       .some_data = options->time_only && has_indices(launch),
                       .sample = options->sample,
                       .place = options->place,
                       .seed = options->seed};
    double started = now_seconds();
    *run = (TwinRun){0};
    verdict->stage = STAGE_RUN;
    if (!launch_ok(kernel, launch, spec.kind, arena, verdict))
        return false;
    if (spec.sample.blocks)
        return run_sample(arena, kernel, &spec, options, run, verdict);
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
