/* The runtime inside the kernel program; the other half of acraft/core.h.
 *
 * The program starts as a zygote: before any code of the kernel's text runs (static constructors
 * included) it maps the shared memories and forks one process per core when the tool says so.
 * A core process locks itself up, then goes on to constructors, main and the kernel entry. In:
 * descriptors and layout of twin/rt/share.h. Out: records. Nothing here is trusted by the tool. */
#include "acraft/core.h"
#include "twin/rt/share.h"

#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

ACRAFT_KEPT AcraftCore acraft_core;

/* Set before the kernel runs. The library calls our memcpy before there are variables of a thread. */
static const ShareLaunch *launch;
static const ShareCore *self;
static ShareRing *rings, *ring;
static uint64_t tiling_at, tiling_bytes; /* of the launch */

static ACRAFT_KEPT Record *window; /* first record not yet published */

enum { SIGNAL_STACK = 65536, STACK_SLACK = 1 << 20 };
static ACRAFT_KEPT char signal_stack[SIGNAL_STACK];

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
static ACRAFT_KEPT struct {
    int any;         /* a record that is no scalar access: it may write anything */
    uint64_t lo, hi; /* else scalars written lie in here; lo >= hi: none */
} unsettled;
static ACRAFT_KEPT Record *noted; /* records of the window before this one are in `unsettled` */

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

static void publish(void)
{
    note_writes();
    uint32_t count = (uint32_t)(acraft_core.cursor - window);
    if (!count)
        return;
    atomic_fetch_add(&ring->published, count);
    announce(ring, self);
}

static void open_window(void)
{
    uint32_t at = atomic_load(&ring->published) % SHARE_RING_RECORDS;
    uint32_t end = (at / SHARE_WINDOW + 1) * SHARE_WINDOW;
    window = noted = acraft_core.cursor = &ring->records[at];
    acraft_core.limit = &ring->records[end];
}

static void settle_store(void);
static int reads_settled_memory(void);

/* Everything written is published. */
static void make_room(void)
{
    if (atomic_load(&ring->published) - atomic_load(&self->executed) >
        SHARE_RING_RECORDS - SHARE_WINDOW)
        wait_until(SHARE_RING_RECORDS / 2, 0);
    open_window();
}

static void ring_full(void)
{
    settle_store();
    publish();
    make_room();
}

/* The slot that was reached last, where it was reached for the first time. */
static ACRAFT_KEPT uint8_t *watched_new;

/* That the ring is full is no doing of the text: the edge that leads here is not noted. */
void acraft_ring_full(void)
{
    if (watched_new)
        *watched_new &= (uint8_t)~1u;
    watched_new = NULL;
    ring_full();
}

/* Until everything written is executed. */
static void wait_for_all(void)
{
    publish();
    wait_until(0, launch->spins);
    unsettled.any = 0;
    unsettled.lo = unsettled.hi = 0;
    open_window();
}

void acraft_ring_flush(void)
{
    settle_store();
    ring->reads++;
    if (launch->time_only)
        return;
    note_writes();
    if (!reads_settled_memory())
        wait_for_all();
}

void acraft_exit(int code)
{
    settle_store();
    if (code == SHARE_EXIT_DONE) {
        if (acraft_core.cursor == acraft_core.limit)
            ring_full();
        *acraft_core.cursor++ = (Record){.op = NPU_CORE_END};
    }
    publish();
    _exit(code);
}

#include "twin/rt/core_memory.h"

static void watch_slot(uint32_t slot, uint8_t bits)
{
    watched_new = NULL;
    if (!ring || (ring->seen[slot] & bits) == bits)
        return;
    ring->seen[slot] |= bits;
    if (bits == 1)
        watched_new = &ring->seen[slot];
    if (ring->seen_to == 0 || slot < ring->seen_from)
        ring->seen_from = slot;
    if (slot >= ring->seen_to)
        ring->seen_to = slot + 1;
}
static void watch_numbers(uint32_t place, double a, double b, int constant)
{
    if (ring)
        watch_gap(&ring->gap[place], a, b, constant);
}
#include "twin/rt/watch_code.h"

/* The newest record, published or not; NULL before the first. */
static const Record *newest(void)
{
    if (acraft_core.cursor != window)
        return acraft_core.cursor - 1;
    uint32_t published = atomic_load(&ring->published);
    return published ? &ring->records[(published - 1) % SHARE_RING_RECORDS] : NULL;
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

/* The tiling data is the launch's own, known to whoever wrote the kernel and never changed. */
static void map_tiling(void)
{
    uint64_t bytes = (launch->tiling_bytes + PAGE - 1) / PAGE * PAGE;
    void *at = (void *)(uintptr_t)launch->tiling;
    if (!bytes)
        return;
    if (mmap(at, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at)
        _exit(SHARE_EXIT_SETUP);
    copy_up(at, launch_at(launch->tiling_at), launch->tiling_bytes);
    mprotect(at, bytes, PROT_READ);
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
    if (launch->hidden)
        map_tiling();
    else
        map_gm();
    close(SHARE_FD_LAUNCH);
    close(SHARE_FD_RINGS); /* those of GM stay: see remap() */
}

/* A core's own ring is the only one that it may write. */
static void leave_other_rings(uint32_t core)
{
    char *from = (char *)rings, *own = (char *)&rings[core], *behind = (char *)&rings[core + 1];
    char *end = from + launch->ring_bytes;
    if ((own > from && munmap(from, (size_t)(own - from)) != 0) ||
        (end > behind && munmap(behind, (size_t)(end - behind)) != 0))
        _exit(SHARE_EXIT_SETUP);
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
        .cycles = launch->cycles,
    };
    for (int i = 0; i < NPU_SPACE_COUNT; i++) {
        acraft_core.memory_bytes[i] = self->memory_bytes[i];
        if (self->memory_bytes[i])
            acraft_core.memory[i] = launch_at(self->memory_at[i]);
    }
    leave_other_rings(core);
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

/* --- variables of the kernel's text ----------------------------------------------------------- */

/* A piece of the program's writable memory, what the text says and what stood there when the kernel began. The
 * runtime's and the headers' own variables are not in it (ACRAFT_KEPT); those of the library do not change. */
typedef struct Variables {
    uint8_t *at, *said, *begin; /* begin: the same as said, unless an earlier launch left something */
    size_t bytes;
} Variables;

enum { MOST_PIECES = 8 };
static ACRAFT_KEPT Variables variables[MOST_PIECES];
static ACRAFT_KEPT uint32_t variable_pieces;

static uint8_t *copy_of(const Variables *v)
{
    void *copy = mmap(NULL, v->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        _exit(97); /* BOX_STATUS_MEMORY */
    copy_up(copy, v->at, v->bytes);
    return copy;
}

static void note_variables(uint64_t from, uint64_t bytes)
{
    uint64_t first = from / REC_LEFT_BYTES * REC_LEFT_BYTES;
    Variables v = {.at = (uint8_t *)(uintptr_t)first, .bytes = (size_t)(from + bytes - first)};
    if (variable_pieces == MOST_PIECES)
        _exit(SHARE_EXIT_SETUP);
    v.said = v.begin = copy_of(&v);
    variables[variable_pieces++] = v;
}

static void find_variables(void)
{
    const Elf64_Phdr *head = (const Elf64_Phdr *)getauxval(AT_PHDR);
    uint64_t count = getauxval(AT_PHNUM);
    for (uint64_t i = 0; head && i < count; i++)
        if (head[i].p_type == PT_LOAD && (head[i].p_flags & PF_W) && head[i].p_memsz)
            note_variables(head[i].p_vaddr, head[i].p_memsz);
}

/* As an earlier launch left them. */
static void set_variables(void)
{
    int cube = self->role == ACRAFT_ROLE_AIC;
    const RecordLeft *left = launch_at(launch->left_at[cube]);
    for (uint32_t i = 0; i < launch->left_count[cube]; i++)
        for (uint32_t k = 0; k < REC_LEFT_BYTES; k++)
            if (left[i].changed >> k & 1)
                ((uint8_t *)(uintptr_t)left[i].address)[k] = left[i].byte[k];
    for (uint32_t i = 0; launch->left_count[cube] && i < variable_pieces; i++)
        variables[i].begin = copy_of(&variables[i]);
}

/* Bits of the bytes of a piece that are not as there. */
static uint64_t differing(const Variables *v, size_t at, const uint8_t *there)
{
    uint64_t bits = 0;
    for (uint32_t k = 0; k < REC_LEFT_BYTES && at + k < v->bytes; k++)
        bits |= (uint64_t)(v->at[at + k] != there[at + k]) << k;
    return bits;
}

static void tell_piece(const Variables *v, size_t at, uint64_t changed)
{
    RecordText text = {.op = REC_TEXT, .kind = REC_TEXT_LEFT, .length = sizeof(RecordLeft)};
    RecordLeft left = {.address = (uint64_t)(uintptr_t)(v->at + at),
                       .changed = changed,
                       .back = changed & ~differing(v, at, v->said)};
    size_t bytes = v->bytes - at;
    copy_up(left.byte, v->at + at, bytes < REC_LEFT_BYTES ? bytes : REC_LEFT_BYTES);
    copy_up((uint8_t *)text.text, (const uint8_t *)&left, sizeof left);
    copy_up((uint8_t *)next_record(), (const uint8_t *)&text, sizeof text);
}

/* What the kernel has changed; only as many pieces as the tool takes. */
static void tell_variables(void)
{
    uint32_t told = 0;
    settle_store();
    for (uint32_t i = 0; i < variable_pieces; i++)
        for (size_t at = 0; at < variables[i].bytes && told < REC_LEFT_MOST; at += REC_LEFT_BYTES) {
            uint64_t changed = differing(&variables[i], at, variables[i].begin);
            if (changed)
                tell_piece(&variables[i], at, changed), told++;
        }
}

int main(void)
{
    if (launch->hidden)
        find_variables(), set_variables();
    AcraftArg args[SHARE_MOST_ARGS];
    const ShareArg *from = launch_at(launch->args_at);
    for (uint32_t i = 0; i < launch->arg_count; i++)
        args[i] = (AcraftArg){.value = from[i].value,
                              .data = from[i].data_bytes ? launch_at(from[i].data_at) : NULL,
                              .bytes = from[i].data_bytes};
    acraft_entry(args, (int)launch->arg_count);
    if (launch->hidden)
        tell_variables();
    acraft_exit(SHARE_EXIT_DONE);
}
