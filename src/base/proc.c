/* Running a child process: pipes to its three streams, one poll loop, a clock.
 *
 *     us: input  --> pipe --> child 0        The child leads a process group of its own; at
 *         out    <-- pipe <-- child 1        its end, or at the time limit, what is left of
 *         err    <-- pipe <-- child 2        the group is killed.
 *         errno  <-- pipe <-- child, only when exec failed
 */
#include "base/proc.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { IN, OUT, ERR, EXEC, PIPES };
enum { TICK_MS = 20, DEFAULT_OUTPUT_LIMIT = 16 << 20 };

typedef struct Child {
    pid_t pid;
    int ours[PIPES];   /* our ends; -1 once closed */
    int theirs[PIPES]; /* the child's ends, open only until it is started */
    Str input;         /* not yet written */
    Buf out, err;
    size_t limit;
    bool cut;
    double started;
} Child;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_ends(int ends[PIPES])
{
    for (int i = 0; i < PIPES; i++)
        close_end(&ends[i]);
}

static bool open_pipes(Child *child)
{
    for (int i = 0; i < PIPES; i++)
        child->ours[i] = child->theirs[i] = -1;
    for (int i = 0; i < PIPES; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
            return false;
        child->ours[i] = ends[i == IN];
        child->theirs[i] = ends[i != IN];
        fcntl(child->ours[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

/* --- the child's side ------------------------------------------------------------------ */

static bool sets_same_name(const char *a, const char *b)
{
    size_t len = strcspn(a, "=");
    return strncmp(a, b, len) == 0 && b[len] == '=';
}

/* Our environment with `extra` added, entries of the same name replaced. */
static char **join_environment(Arena *arena, const char *const *extra)
{
    VEC(char *) joined = {0};
    for (char **ours = environ; ours && *ours; ours++) {
        bool replaced = false;
        for (const char *const *e = extra; e && *e && !replaced; e++)
            replaced = sets_same_name(*e, *ours);
        if (!replaced)
            vec_push(arena, &joined, *ours);
    }
    for (const char *const *e = extra; e && *e; e++)
        vec_push(arena, &joined, str_dup(arena, str_from(*e)));
    vec_push(arena, &joined, NULL);
    return joined.at;
}

static ATTR_NORETURN void child_fails(int report)
{
    int reason = errno;
    ssize_t ignored = write(report, &reason, sizeof reason);
    (void)ignored;
    _exit(127);
}

/* Moves an end that sits on 0..2 out of the way, so that dup2 overwrites nothing needed. */
static int lift(int fd) { return fd > 2 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 3); }

/* After fork in a process that may have threads: only async-signal-safe calls. */
static ATTR_NORETURN void become(Child *child, const ProcSpec *spec, const char *program,
                                 char *const *environment, const sigset_t *mask)
{
    for (int i = 0; i < PIPES; i++)
        child->theirs[i] = lift(child->theirs[i]);
    int report = child->theirs[EXEC];
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
#ifdef SYS_close_range
    syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
#endif
    if (spec->dir && chdir(spec->dir) < 0)
        child_fails(report);
    for (int i = IN; i <= ERR; i++)
        if (dup2(child->theirs[i], i) < 0)
            child_fails(report);
    execve(program, (char *const *)spec->argv, environment);
    child_fails(report);
}

/* --- our side -------------------------------------------------------------------------- */

static void keep(Child *child, Buf *stream, const char *bytes, size_t len)
{
    size_t room = child->limit - stream->len;
    if (len > room)
        child->cut = true;
    buf_add(stream, bytes, len < room ? len : room);
}

/* Reads what is there; closes our end at the end of the stream. */
static void drain(Child *child, int which)
{
    char chunk[65536];
    while (child->ours[which] >= 0) {
        ssize_t got = read(child->ours[which], chunk, sizeof chunk);
        if (got > 0)
            keep(child, which == OUT ? &child->out : &child->err, chunk, (size_t)got);
        else if (got == 0 || (errno != EINTR && errno != EAGAIN))
            close_end(&child->ours[which]);
        else if (errno == EAGAIN)
            return;
    }
}

static void feed(Child *child)
{
    while (child->input.len && child->ours[IN] >= 0) {
        ssize_t put = write(child->ours[IN], child->input.at, child->input.len);
        if (put > 0)
            child->input = str_slice(child->input, (size_t)put, child->input.len);
        else if (errno == EAGAIN)
            return;
        else if (errno != EINTR)
            break;
    }
    close_end(&child->ours[IN]);
}

static int wait_ms(const Child *child, const ProcSpec *spec)
{
    if (spec->seconds <= 0)
        return TICK_MS;
    double left = (spec->seconds - (now() - child->started)) * 1000;
    return left < 0 ? 0 : left < TICK_MS ? (int)left + 1 : TICK_MS;
}

static void poll_once(Child *child, const ProcSpec *spec)
{
    struct pollfd fds[3];
    for (int i = IN; i <= ERR; i++)
        fds[i] = (struct pollfd){.fd = child->ours[i], .events = i == IN ? POLLOUT : POLLIN};
    bool idle = child->ours[OUT] < 0 && child->ours[ERR] < 0;
    poll(fds, 3, idle ? 1 : wait_ms(child, spec));
    if (fds[IN].revents)
        feed(child);
    drain(child, OUT);
    drain(child, ERR);
}

/* Whether it has ended; left unreaped, so that no new process gets its group's number. */
static bool has_ended(const Child *child)
{
    siginfo_t info = {0};
    int rc = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return rc == 0 ? info.si_pid == child->pid : errno != EINTR;
}

/* Until the child ends (true) or the time is up (false). */
static bool serve(Child *child, const ProcSpec *spec)
{
    if (!child->input.len)
        close_end(&child->ours[IN]);
    for (;;) {
        poll_once(child, spec);
        if (has_ended(child))
            return true;
        if (spec->seconds > 0 && now() - child->started >= spec->seconds)
            return false;
    }
}

static void finish(Child *child, bool in_time, ProcResult *result)
{
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL);
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    drain(child, OUT);
    drain(child, ERR);
    result->end = !in_time ? PROC_TIMEOUT : WIFSIGNALED(status) ? PROC_SIGNALED : PROC_EXITED;
    result->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    result->cut = child->cut;
    result->seconds = now() - child->started;
}

/* 0 when exec succeeded, else the child's errno. Waits for whichever happens. */
static int exec_error(Child *child)
{
    fcntl(child->ours[EXEC], F_SETFL, 0);
    int reason = 0;
    ssize_t got;
    while ((got = read(child->ours[EXEC], &reason, sizeof reason)) < 0 && errno == EINTR) {
    }
    close_end(&child->ours[EXEC]);
    return got == (ssize_t)sizeof reason ? reason : 0;
}

/* The path as our own working directory gives it: the child changes its directory later. */
static const char *make_absolute(Arena *arena, const char *path)
{
    char *whole = realpath(path, NULL);
    const char *copy = whole ? str_dup(arena, str_from(whole)) : NULL;
    free(whole);
    return copy;
}

/* Forks and execs; 0 or the reason. `mask` is the signal mask the child starts with. */
static int start(Arena *arena, Child *child, const ProcSpec *spec, const sigset_t *mask)
{
    const char *program = proc_find(arena, spec->argv[0]);
    if (program && spec->dir)
        program = make_absolute(arena, program);
    if (!program)
        return ENOENT;
    char **environment = join_environment(arena, spec->env);
    if (!open_pipes(child))
        return errno;
    child->started = now();
    child->pid = fork();
    if (child->pid == 0)
        become(child, spec, program, environment, mask);
    if (child->pid < 0)
        return errno;
    setpgid(child->pid, child->pid);
    close_ends(child->theirs);
    int reason = exec_error(child);
    if (reason)
        waitpid(child->pid, NULL, 0);
    return reason;
}

static bool run_masked(Arena *arena, const ProcSpec *spec, ProcResult *result, Diag *diag,
                       const sigset_t *mask)
{
    Child child = {.input = spec->input, .ours = {-1, -1, -1, -1}, .theirs = {-1, -1, -1, -1}};
    child.limit = spec->output_limit ? spec->output_limit : DEFAULT_OUTPUT_LIMIT;
    int reason = start(arena, &child, spec, mask);
    if (reason)
        diag_error(diag, "P001", (Span){0, 0, 0}, "cannot run '%s': %s", spec->argv[0],
                   strerror(reason));
    else
        finish(&child, serve(&child, spec), result);
    close_ends(child.ours);
    close_ends(child.theirs);
    result->out = str_copy(arena, buf_view(&child.out));
    result->err = str_copy(arena, buf_view(&child.err));
    buf_free(&child.out);
    buf_free(&child.err);
    return reason == 0;
}

/* A child that stops reading must not kill us: SIGPIPE is held back in this thread meanwhile. */
bool proc_run(Arena *arena, const ProcSpec *spec, ProcResult *result, Diag *diag)
{
    *result = (ProcResult){.end = PROC_NOT_STARTED};
    sigset_t pipe_set, before, pending;
    sigemptyset(&pipe_set);
    sigaddset(&pipe_set, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_set, &before);
    bool ok = run_masked(arena, spec, result, diag, &before);
    if (!sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe_set, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static bool is_program(const char *path)
{
    struct stat at;
    return stat(path, &at) == 0 && S_ISREG(at.st_mode) && access(path, X_OK) == 0;
}

const char *proc_find(Arena *arena, const char *program)
{
    if (strchr(program, '/'))
        return is_program(program) ? program : NULL;
    const char *path = getenv("PATH");
    Str rest = str_from(path ? path : "/usr/bin:/bin"), dir;
    while (*program && str_next(&rest, ':', &dir)) {
        const char *found = path_join(arena, dir.len ? str_dup(arena, dir) : ".", program);
        if (is_program(found))
            return found;
    }
    return NULL;
}
