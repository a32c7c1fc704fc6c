/* Workers: fork, lock up, answer back, reap; see worker.h. The answer travels in a memory file. */
#include "box/worker.h"

#include "box/box_int.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- the worker's side ----------------------------------------------------------------------- */

static void stay_alone(pid_t tool)
{
    static const int to_default[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    sigset_t none;
    sigemptyset(&none);
    setsid();
    for (size_t i = 0; i < sizeof to_default / sizeof *to_default; i++)
        signal(to_default[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != tool)
        _exit(127);
}

static void close_between(int after, int before)
{
    if (after + 1 < before)
        close_range((unsigned)after + 1, (unsigned)before - 1, 0);
}

static void keep_descriptors(const BoxWorker *w)
{
    int low = w->ready < w->answer ? w->ready : w->answer;
    int high = w->ready < w->answer ? w->answer : w->ready;
    close_between(STDERR_FILENO, low);
    close_between(low, high);
    close_range((unsigned)high + 1, ~0u, 0);
}

/* Private bytes of this process as RLIMIT_DATA counts them. */
static uint64_t private_bytes(void)
{
    enum { DATA = 5 }; /* the sixth number */
    char line[256] = "";
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f)
        return 0;
    char *at = fgets(line, sizeof line, f);
    fclose(f);
    for (int i = 0; at && i < DATA; i++)
        strtoull(at, &at, 10);
    return at ? strtoull(at, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void limit(int what, uint64_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)what, &now) != 0 || now.rlim_max < most)
        return;
    now.rlim_cur = now.rlim_max = most;
    setrlimit((__rlimit_resource_t)what, &now);
}

static void set_limits(uint64_t memory)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, memory);
    limit(RLIMIT_DATA, private_bytes() + memory);
}

/* Where the machine has no filter the worker goes on without: it is our own code. */
static void lock_up(Str program)
{
    struct sock_filter *steps = heap_alloc(program.len);
    if (program.len)
        memcpy(steps, program.at, program.len);
    struct sock_fprog filter = {(unsigned short)(program.len / sizeof *steps), steps};
    if (filter.len && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &filter, 0, 0);
    heap_free(steps);
}

static void out_of_memory(size_t wanted)
{
    (void)wanted;
    _exit(BOX_STATUS_MEMORY);
}

static bool write_all(int fd, Str bytes)
{
    while (bytes.len) {
        ssize_t wrote = write(fd, bytes.at, bytes.len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        bytes = str_slice(bytes, (size_t)wrote, bytes.len);
    }
    return true;
}

ATTR_NORETURN static void work(const BoxWorker *w, const BoxWorkerSpec *spec, Str filter,
                               pid_t tool)
{
    Buf answer = {0};
    stay_alone(tool);
    keep_descriptors(w);
    set_limits(spec->memory);
    arena_set_oom_handler(out_of_memory);
    lock_up(filter);
    bool done = spec->body(spec->context, w, &answer) && write_all(w->answer, buf_view(&answer));
    _exit(done ? 0 : 1);
}

void box_worker_say_ready(const BoxWorker *self) { write_all(self->ready, STR("r")); }

/* --- the tool's side ------------------------------------------------------------------------- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

bool box_worker_start(Arena *arena, BoxWorker *w, const BoxWorkerSpec *spec)
{
    int ready[2] = {-1, -1};
    Str filter = box_calls_filter(arena, W);
    pid_t tool = getpid();
    *w = (BoxWorker){.pidfd = -1, .ready = -1, .deadline = now_seconds() + spec->seconds};
    w->answer = memfd_create("acraft-answer", MFD_CLOEXEC);
    bool made = w->answer >= 0 && pipe2(ready, O_CLOEXEC) == 0;
    w->ready = ready[1];
    w->pid = made ? fork() : -1;
    if (w->pid == 0)
        work(w, spec, filter, tool);
    w->ready = ready[0];
    close_fd(&ready[1]);
    if (w->pid > 0)
        w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
    else
        w->pid = 0;
    w->ended = w->pid == 0;
    return !w->ended;
}

static void check_end(BoxWorker *w)
{
    if (w->ended)
        return;
    pid_t got = waitpid(w->pid, &w->wait_status, WNOHANG);
    w->ended = got == w->pid || (got < 0 && errno == ECHILD);
}

/* Sleeps until the process ends, `fd` (-1: none) can be read, or the time is over. */
static bool wait_for(BoxWorker *w, int fd, int milliseconds)
{
    struct pollfd fds[2] = {{.fd = w->pidfd, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    double left = (w->deadline - now_seconds()) * 1e3;
    if (left <= 0 && !w->ended) {
        w->late = true;
        kill(w->pid, SIGKILL);
        left = 1000;
    }
    if (!w->ended)
        poll(fds, 2, left < milliseconds ? (int)left + 1 : milliseconds);
    check_end(w);
    return fds[1].revents & POLLIN;
}

bool box_worker_step(BoxWorker *w, int milliseconds)
{
    wait_for(w, -1, milliseconds);
    return w->ended;
}

bool box_worker_wait_ready(BoxWorker *w)
{
    bool ready = false;
    while (!w->ended && !ready)
        ready = wait_for(w, w->ready, 100);
    close_fd(&w->ready);
    return ready;
}

static BoxEnd classify(const BoxWorker *w)
{
    if (!w->pid)
        return BOX_FAILED;
    if (w->late)
        return BOX_TIMEOUT;
    if (WIFSIGNALED(w->wait_status))
        return BOX_SIGNAL;
    switch (WEXITSTATUS(w->wait_status)) {
    case 0: return BOX_EXITED;
    case BOX_STATUS_MEMORY: return BOX_MEMORY;
    default: return BOX_FAILED;
    }
}

static bool map_answer(BoxWorker *w)
{
    struct stat st;
    if (fstat(w->answer, &st) != 0)
        return false;
    if (st.st_size == 0)
        return true;
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, w->answer, 0);
    if (at == MAP_FAILED)
        return false;
    w->mapped = (Str){at, (size_t)st.st_size};
    return true;
}

BoxEnd box_worker_finish(BoxWorker *w, Str *answer, int *signal)
{
    if (!w->ended) {
        kill(w->pid, SIGKILL);
        while (waitpid(w->pid, &w->wait_status, 0) < 0 && errno == EINTR)
            ;
        w->ended = true;
    }
    BoxEnd end = classify(w);
    if (end == BOX_EXITED && !map_answer(w))
        end = BOX_MEMORY;
    *answer = w->mapped;
    *signal = end == BOX_SIGNAL ? WTERMSIG(w->wait_status) : 0;
    return end;
}

void box_worker_close(BoxWorker *w)
{
    if (w->mapped.len)
        munmap((void *)(uintptr_t)w->mapped.at, w->mapped.len);
    w->mapped = (Str){0};
    close_fd(&w->pidfd);
    close_fd(&w->ready);
    close_fd(&w->answer);
}
