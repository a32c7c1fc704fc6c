/* The runtime inside the kernel program; the other half of acraft/core.h.
 *
 * The program starts as a zygote: before any code of the kernel's text runs (static constructors
 * included) it maps the shared memories and forks one process per core when the tool says so.
 * A core process locks itself up, then goes on to constructors, main and the kernel entry. In:
 * descriptors and layout of twin/rt/share.h. Out: records. Nothing here is trusted by the tool. */
#include "acraft/core.h"
#include "twin/rt/share.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

AcraftCore acraft_core;

static const ShareLaunch *launch;
static const ShareCore *self;
static ShareRing *rings, *ring;
static Record *window;                   /* first record not yet published */
static uint64_t tiling_at, tiling_bytes; /* of the launch */

enum { SIGNAL_STACK = 65536, STACK_SLACK = 1 << 20 };
static char signal_stack[SIGNAL_STACK];

static const void *launch_at(uint64_t offset) { return (const char *)launch + offset; }

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield");
#endif
}

static void futex_wait(const _Atomic uint32_t *word, uint32_t seen)
{
    struct timespec most = {.tv_nsec = 50 * 1000 * 1000};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &most, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- the ring, seen from a core ------------------------------------------------------------- */

static void announce(ShareRing *of, const ShareCore *core)
{
    atomic_fetch_add(&of->event, 1);
    if (atomic_load(&core->tool_sleeps))
        futex_wake(&of->event);
}

static void publish(void)
{
    uint32_t count = (uint32_t)(acraft_core.cursor - window);
    if (!count)
        return;
    atomic_fetch_add(&ring->published, count);
    announce(ring, self);
}

/* Waits until at most `most` published records are not yet executed. */
static void wait_until(uint32_t most, uint32_t most_spins)
{
    for (unsigned spins = 0;;) {
        if (atomic_load(&self->stopped))
            _exit(SHARE_EXIT_DONE);
        uint32_t executed = atomic_load(&self->executed);
        if (atomic_load(&ring->published) - executed <= most)
            return;
        if (spins++ < most_spins && atomic_load(&self->turn)) {
            relax();
            continue;
        }
        atomic_store(&ring->core_sleeps, 1 + most);
        futex_wait(&self->executed, executed);
        atomic_store(&ring->core_sleeps, 0);
    }
}

/* What the records since the last wait may have written. A core's UB is its own: a scalar that none of
 * them writes can be read without waiting, which loops over elements of UB do all the time. */
static struct {
    int any;         /* a record that is no scalar access: it may write anything */
    uint64_t lo, hi; /* else scalars written lie in here; lo >= hi: none */
} unsettled;
static Record *noted; /* records of the window before this one are in `unsettled` */

enum { MOST_ELEMENT = 8 };

static void note_writes(void)
{
    for (; noted != acraft_core.cursor; noted++) {
        uint64_t at = noted->operand[0].address;
        if (noted->op == NPU_LOCAL_GET || noted->op == NPU_SCALAR_WORK || (noted->op & REC_TEXT))
            continue;
        if (noted->op != NPU_LOCAL_SET || rec_space(at) != NPU_UB) {
            unsettled.any = 1;
            continue;
        }
        if (unsettled.lo >= unsettled.hi)
            unsettled.lo = at, unsettled.hi = at + MOST_ELEMENT;
        unsettled.lo = at < unsettled.lo ? at : unsettled.lo;
        unsettled.hi = at + MOST_ELEMENT > unsettled.hi ? at + MOST_ELEMENT : unsettled.hi;
    }
}

static void open_window(void)
{
    uint32_t at = atomic_load(&ring->published) % SHARE_RING_RECORDS;
    uint32_t end = (at / SHARE_WINDOW + 1) * SHARE_WINDOW;
    window = noted = acraft_core.cursor = &ring->records[at];
    acraft_core.limit = &ring->records[end];
}

static void settle_store(void);
static int reads_fixed_memory(void);
static int reads_settled_memory(void);

void acraft_ring_full(void)
{
    settle_store();
    note_writes();
    publish();
    if (atomic_load(&ring->published) - atomic_load(&self->executed) >
        SHARE_RING_RECORDS - SHARE_WINDOW)
        wait_until(SHARE_RING_RECORDS / 2, 0);
    open_window();
}

void acraft_ring_flush(void)
{
    settle_store();
    ring->reads++;
    if (launch->time_only || reads_fixed_memory())
        return;
    note_writes();
    if (reads_settled_memory())
        return;
    publish();
    wait_until(0, launch->spins);
    unsettled.any = 0;
    unsettled.lo = unsettled.hi = 0;
    open_window();
}

void acraft_exit(int code)
{
    settle_store();
    if (code == SHARE_EXIT_DONE) {
        if (acraft_core.cursor == acraft_core.limit)
            acraft_ring_full();
        *acraft_core.cursor++ = (Record){.op = NPU_CORE_END};
    }
    publish();
    _exit(code);
}

/* --- loads and stores through plain pointers ------------------------------------------------- */

static Record *next_record(void)
{
    if (acraft_core.cursor == acraft_core.limit)
        acraft_ring_full();
    return acraft_core.cursor++;
}

/* The newest record, published or not; NULL before the first. */
static const Record *newest(void)
{
    if (acraft_core.cursor != window)
        return acraft_core.cursor - 1;
    uint32_t published = atomic_load(&ring->published);
    return published ? &ring->records[(published - 1) % SHARE_RING_RECORDS] : NULL;
}

/* GetValue says itself what it reads, and then reads it. */
static int announced(uint64_t address)
{
    const Record *r = newest();
    return r && r->op == NPU_GLOBAL_GET && rec_byte(r->operand[1].address) == address;
}

static const ShareMap *map_of(uint64_t address, uint32_t bytes)
{
    const ShareMap *maps = launch_at(launch->maps_at);
    for (uint32_t i = 0; i < launch->map_count; i++)
        if (address >= maps[i].address && address + bytes <= maps[i].address + maps[i].bytes)
            return &maps[i];
    return NULL;
}

/* What was written last is a scalar read of an input: its value is there already. */
static int reads_fixed_memory(void)
{
    const Record *r = acraft_core.cursor != window ? newest() : NULL;
    if (!r || (r->op != NPU_GLOBAL_GET && r->op != NPU_RAW_LOAD))
        return 0;
    const ShareMap *map = map_of(rec_byte(r->operand[1].address), 1);
    return map && map->fixed;
}

/* The newest record reads an element of UB that nothing has written since the last wait. */
static int reads_settled_memory(void)
{
    const Record *r = acraft_core.cursor != window ? newest() : NULL;
    if (!r || r->op != NPU_LOCAL_GET || unsettled.any)
        return 0;
    uint64_t at = r->operand[1].address;
    return rec_space(at) == NPU_UB && (unsettled.lo >= unsettled.hi || at >= unsettled.hi ||
                                       at + MOST_ELEMENT <= unsettled.lo);
}

/* The compiler calls for every load and store of the kernel, most of them on its own stack: what
 * decides that comes first and needs no room of its own. */
static inline int in_gm(uint64_t address)
{
    return __builtin_expect(address - SHARE_GM_BASE < SHARE_GM_SPAN, 0);
}

/* A load from GM becomes a record and waits for all earlier ones; the tiling data is the launch's own
 * and never changes. */
__attribute__((noinline)) static void load_gm(uint64_t address, uint32_t bytes)
{
    if (!ring || announced(address))
        return;
    *next_record() = (Record){.op = NPU_RAW_LOAD,
                              .pipe = NPU_PIPE_S,
                              .operand[1].address = rec_address(NPU_GM, address),
                              .n[0] = bytes};
    acraft_ring_flush();
}

static inline void load(uint64_t address, uint32_t bytes)
{
    if (in_gm(address) && address - tiling_at >= tiling_bytes)
        load_gm(address, bytes);
}

/* A store to GM lands in a private copy of its page; at the next call of the runtime, which the
 * closed window forces before the next record, its bytes become a record and the page is the
 * shared one again. */
static struct {
    uint64_t address, page, page_bytes;
    uint32_t bytes; /* 0: none is pending */
    const ShareMap *map;
} pending;

enum { PAGE = 4096 };

static void remap(int protection, int kind)
{
    void *at = (void *)(uintptr_t)pending.page;
    uint64_t inside = pending.page - pending.map->address;
    off_t offset = (off_t)(pending.map->at +
                           (pending.map->repeat ? inside % pending.map->repeat : inside));
    if (mmap(at, pending.page_bytes, protection, kind | MAP_FIXED, pending.map->fd, offset) != at)
        _exit(SHARE_EXIT_SETUP);
}

static void settle_store(void)
{
    if (!pending.bytes)
        return;
    Record record = {.op = NPU_RAW_STORE,
                     .pipe = NPU_PIPE_S,
                     .operand[0].address = rec_address(NPU_GM, pending.address),
                     .n[0] = pending.bytes};
    memcpy(record.mask, (const void *)(uintptr_t)pending.address, pending.bytes);
    remap(PROT_READ, MAP_SHARED);
    pending.bytes = 0;
    open_window();
    *next_record() = record;
}

__attribute__((noinline)) static void store_gm(uint64_t address, uint32_t bytes)
{
    if (!ring)
        return;
    acraft_ring_flush();
    pending.map = map_of(address, bytes);
    if (!pending.map)
        return; /* the store itself will end the core */
    pending.address = address;
    pending.bytes = bytes;
    pending.page = address / PAGE * PAGE;
    pending.page_bytes = (address + bytes - 1) / PAGE * PAGE + PAGE - pending.page;
    remap(PROT_READ | PROT_WRITE, MAP_PRIVATE);
    acraft_core.limit = acraft_core.cursor;
}

static inline void store(uint64_t address, uint32_t bytes)
{
    if (in_gm(address))
        store_gm(address, bytes);
}

void __sanitizer_cov_bool_flag_init(char *start, char *stop) { (void)start, (void)stop; }
void __sanitizer_cov_store1(const void *at) { store((uintptr_t)at, 1); }
void __sanitizer_cov_store2(const void *at) { store((uintptr_t)at, 2); }
void __sanitizer_cov_store4(const void *at) { store((uintptr_t)at, 4); }
void __sanitizer_cov_store8(const void *at) { store((uintptr_t)at, 8); }
void __sanitizer_cov_store16(const void *at) { store((uintptr_t)at, 16); }

void __sanitizer_cov_load1(const void *at) { load((uintptr_t)at, 1); }
void __sanitizer_cov_load2(const void *at) { load((uintptr_t)at, 2); }
void __sanitizer_cov_load4(const void *at) { load((uintptr_t)at, 4); }
void __sanitizer_cov_load8(const void *at) { load((uintptr_t)at, 8); }
void __sanitizer_cov_load16(const void *at) { load((uintptr_t)at, 16); }

/* A text that includes <iostream> has its constructor and destructor in every program. */
void ios_begin(void *self) __asm__("_ZNSt8ios_base4InitC1Ev");
void ios_end(void *self) __asm__("_ZNSt8ios_base4InitD1Ev");
void ios_begin(void *self) { (void)self; }
void ios_end(void *self) { (void)self; }

/* --- dying with a word ---------------------------------------------------------------------- */

static uint64_t stack_pointer(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#else
    return context->uc_mcontext.sp;
#endif
}

/* A second fault in the same place ends the process: SA_RESETHAND. What was called last tells where it
 * was. */
static void note_fault(int signal, siginfo_t *info, void *context)
{
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr, stack = stack_pointer(context);
    ring->fault_signal = signal;
    ring->fault_address = address;
    ring->stack_overflow = address - (stack - STACK_SLACK) < 2 * STACK_SLACK;
    publish();
}

#if defined(__x86_64__)
/* Bytes of a div or idiv at `at`; 0: another instruction. Prefixes, F6 or F7 with 6 or 7 in the
 * middle of the mode byte, then what that byte asks for. */
static uint32_t divide_bytes(const uint8_t *at)
{
    uint32_t n = 0;
    while (at[n] == 0x66 || (at[n] & 0xF0) == 0x40)
        n++;
    if ((at[n] & 0xFE) != 0xF6 || (at[n + 1] & 0x30) != 0x30)
        return 0;
    uint32_t mode = at[n + 1] >> 6, base = at[n + 1] & 7;
    n += 2;
    if (mode != 3 && base == 4)
        base = at[n++] & 7;
    return n + (mode == 1 ? 1u : mode == 2 || (mode == 0 && base == 5) ? 4u : 0u);
}

/* The scalar unit does not trap on a division by zero: its result is undefined, and zero here, the
 * remainder the dividend. The simulator is told, and the program goes on. */
static int step_over_division(ucontext_t *context)
{
    greg_t *reg = context->uc_mcontext.gregs;
    uint32_t bytes = divide_bytes((const uint8_t *)(uintptr_t)reg[REG_RIP]);
    if (!bytes || !ring)
        return 0;
    reg[REG_RDX] = reg[REG_RAX];
    reg[REG_RAX] = 0;
    reg[REG_RIP] += bytes;
    const Record *last = newest();
    Record note = {.op = NPU_TRAP, .pipe = NPU_PIPE_S, .mode = REC_TRAP_DIVISION};
    if (last)
        note.file = last->file, note.line = last->line;
    *next_record() = note;
    return 1;
}
#else
static int step_over_division(ucontext_t *context) { return (void)context, 0; }
#endif

static void note_division(int signal, siginfo_t *info, void *context)
{
    if (step_over_division(context))
        return;
    note_fault(signal, info, context);
    sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static void note_call(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    ring->forbidden_call = info->si_syscall;
    _exit(SHARE_EXIT_FORBIDDEN);
}

static void catch_signals(void)
{
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    sigaltstack(&stack, NULL);
    struct sigaction fault = {.sa_sigaction = note_fault,
                              .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND)};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i], &fault, NULL);
    struct sigaction call = {.sa_sigaction = note_call, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSYS, &call, NULL);
    struct sigaction division = {.sa_sigaction = note_division,
                                 .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGFPE, &division, NULL);
    signal(SIGCHLD, SIG_DFL);
}

static void lock_up(void)
{
    struct sock_fprog filter = {.len = (unsigned short)launch->filter_steps,
                                .filter = (struct sock_filter *)launch_at(launch->filter_at)};
    if (filter.len && prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &filter, 0, 0) != 0)
        _exit(SHARE_EXIT_SETUP);
}

/* --- the zygote ----------------------------------------------------------------------------- */

static const void *map(int fd, uint64_t bytes, int protection)
{
    void *at = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        _exit(SHARE_EXIT_SETUP);
    return at;
}

static void map_piece(const ShareMap *piece, uint64_t from, uint64_t bytes)
{
    void *at = (void *)(uintptr_t)(piece->address + from);
    if (mmap(at, bytes, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, piece->fd, (off_t)piece->at) !=
        at)
        _exit(SHARE_EXIT_SETUP);
}

static void map_gm(void)
{
    const ShareMap *maps = launch_at(launch->maps_at);
    for (uint32_t i = 0; i < launch->map_count; i++) {
        uint64_t step = maps[i].repeat ? maps[i].repeat : maps[i].bytes;
        for (uint64_t from = 0; from < maps[i].bytes; from += step) {
            uint64_t left = maps[i].bytes - from;
            map_piece(&maps[i], from, left < step ? left : step);
        }
    }
}

static void map_all(void)
{
    const ShareLaunch *head = map(SHARE_FD_LAUNCH, sizeof *head, PROT_READ);
    if (head->abi != SHARE_ABI)
        _exit(SHARE_EXIT_SETUP);
    launch = map(SHARE_FD_LAUNCH, head->launch_bytes, PROT_READ);
    rings = (ShareRing *)map(SHARE_FD_RINGS, head->ring_bytes, PROT_READ | PROT_WRITE);
    map_gm();
    close(SHARE_FD_LAUNCH);
    close(SHARE_FD_RINGS); /* those of GM stay: see store() */
}

/* Which core each child is, by its process number in the box: they are handed out in turn. */
enum { MOST_PIDS = 1 << 16 };
static uint16_t core_of_pid[MOST_PIDS];

static void reap(int signal)
{
    (void)signal;
    int status, saved = errno;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        uint32_t core = core_of_pid[(uint32_t)pid % MOST_PIDS];
        rings[core].wait_status = status;
        atomic_store(&rings[core].ended, 1);
        announce(&rings[core], (const ShareCore *)launch_at(launch->cores_at) + core);
    }
    errno = saved;
}

static void become_core(uint32_t core)
{
    self = (const ShareCore *)launch_at(launch->cores_at) + core;
    ring = &rings[core];
    tiling_at = launch->tiling;
    tiling_bytes = launch->tiling_bytes;
    acraft_core = (AcraftCore){
        .abi = ACRAFT_CORE_ABI,
        .role = self->role,
        .block_idx = self->block_idx,
        .block_num = self->block_num,
        .sub_block_idx = self->sub_block_idx,
        .sub_block_num = self->sub_block_num,
        .task_ratio = self->task_ratio,
        .view = launch_at(self->view_at),
        .tiling = (const uint8_t *)(uintptr_t)launch->tiling,
        .tiling_bytes = launch->tiling_bytes,
        .tiling_key = launch->tiling_key,
        .workspace = (uint8_t *)(uintptr_t)launch->workspace,
        .workspace_bytes = launch->workspace_bytes,
        .system_workspace_bytes = launch->system_workspace_bytes,
    };
    for (int i = 0; i < NPU_SPACE_COUNT; i++) {
        acraft_core.memory_bytes[i] = self->memory_bytes[i];
        if (self->memory_bytes[i])
            acraft_core.memory[i] = launch_at(self->memory_at[i]);
    }
    open_window();
    catch_signals();
    lock_up();
}

/* Forks the cores of this program's role one after the other as the tool lets them start;
 * returns only in a core process. */
static void serve(uint32_t role)
{
    const uint32_t *order = launch_at(launch->order_at[role]);
    sigset_t child_only, before;
    sigemptyset(&child_only);
    sigaddset(&child_only, SIGCHLD);
    for (uint32_t started = 0;;) {
        uint32_t wanted = atomic_load(&launch->start_count[role]);
        if (started >= wanted || started >= launch->order_count[role]) {
            futex_wait(&launch->start_count[role], wanted);
            continue;
        }
        uint32_t core = order[started++];
        sigprocmask(SIG_BLOCK, &child_only, &before);
        pid_t pid = fork();
        if (pid == 0) {
            sigprocmask(SIG_SETMASK, &before, NULL);
            become_core(core);
            return;
        }
        if (pid < 0)
            _exit(SHARE_EXIT_SETUP);
        core_of_pid[(uint32_t)pid % MOST_PIDS] = (uint16_t)core;
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
}

static void zygote(int argc, char **argv, char **env)
{
    (void)env;
    struct sigaction child = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP};
    sigaction(SIGCHLD, &child, NULL);
    map_all();
    serve(argc > 1 && argv[1][0] == '1');
}

/* Runs before every constructor; the tool refuses kernels that put something there themselves. */
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **,
                                                                            char **) = zygote;

int main(void)
{
    AcraftArg args[SHARE_MOST_ARGS];
    const ShareArg *from = launch_at(launch->args_at);
    for (uint32_t i = 0; i < launch->arg_count; i++)
        args[i] = (AcraftArg){.value = from[i].value,
                              .data = from[i].data_bytes ? launch_at(from[i].data_at) : NULL,
                              .bytes = from[i].data_bytes};
    acraft_entry(args, (int)launch->arg_count);
    acraft_exit(SHARE_EXIT_DONE);
}
