/* Worker processes over socket pairs. A message is its length as 8 bytes, then its bytes. */
#include "loop/bench_pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Worker {
    pid_t pid; /* 0: not running */
    int fd;
    bool busy;
    uint64_t id;
    uint32_t served;
    double since;
    Buf in; /* of the reply so far */
} Worker;

struct Pool {
    PoolSpec spec;
    Worker *workers;
    Buf reply; /* the text of the last one */
};

static const uint64_t most_message = 1ull << 30;

double pool_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint32_t pool_processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? (uint32_t)n : 1;
}

/* ---- messages ---- */

static bool send_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len) {
        ssize_t put = send(fd, at, len, MSG_NOSIGNAL);
        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0) {
            at += put;
            len -= (size_t)put;
        }
    }
    return true;
}

static bool send_message(int fd, Str text)
{
    uint64_t len = text.len;
    return send_all(fd, &len, sizeof len) && send_all(fd, text.at, text.len);
}

static bool receive_all(int fd, void *bytes, size_t len)
{
    char *at = bytes;
    while (len) {
        ssize_t got = recv(fd, at, len, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got > 0) {
            at += got;
            len -= (size_t)got;
        }
    }
    return true;
}

static bool receive_message(int fd, Buf *text)
{
    uint64_t len;
    if (!receive_all(fd, &len, sizeof len) || len > most_message)
        return false;
    buf_clear(text);
    buf_fill(text, 0, (size_t)len);
    return len == 0 || receive_all(fd, text->at, (size_t)len);
}

/* ---- workers ---- */

ATTR_NORETURN static void serve(const PoolSpec *spec, int fd)
{
    Buf request = {0}, reply = {0};
    while (receive_message(fd, &request)) {
        buf_clear(&reply);
        spec->work(spec->context, buf_view(&request), &reply);
        if (!send_message(fd, buf_view(&reply)))
            break;
    }
    _exit(0);
}

static void become_worker(Pool *pool, int fd, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    for (uint32_t i = 0; i < pool->spec.jobs; i++)
        if (pool->workers[i].pid)
            close(pool->workers[i].fd);
    if (pool->spec.alone) {
        close_range(3, (unsigned)fd - 1, 0);
        close_range((unsigned)fd + 1, ~0u, 0);
    }
    serve(&pool->spec, fd);
}

static bool start(Pool *pool, Worker *w)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        become_worker(pool, ends[1], parent);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    w->pid = pid;
    w->fd = ends[0];
    w->served = 0;
    return true;
}

/* Gives the wait status. */
static int stop(Worker *w, bool kill_it)
{
    int status = 0;
    if (kill_it)
        kill(w->pid, SIGKILL);
    close(w->fd);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    w->pid = 0;
    w->busy = false;
    buf_clear(&w->in);
    return status;
}

/* ---- the pool ---- */

Pool *pool_open(const PoolSpec *spec)
{
    Pool *pool = heap_alloc(sizeof *pool);
    pool->spec = *spec;
    if (pool->spec.jobs == 0)
        pool->spec.jobs = pool_processors();
    pool->workers = heap_alloc(pool->spec.jobs * sizeof *pool->workers);
    return pool;
}

void pool_close(Pool *pool)
{
    if (!pool)
        return;
    for (uint32_t i = 0; i < pool->spec.jobs; i++) {
        if (pool->workers[i].pid)
            stop(&pool->workers[i], true);
        buf_free(&pool->workers[i].in);
    }
    buf_free(&pool->reply);
    heap_free(pool->workers);
    heap_free(pool);
}

uint32_t pool_jobs(const Pool *pool) { return pool->spec.jobs; }

uint32_t pool_busy(const Pool *pool)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < pool->spec.jobs; i++)
        n += pool->workers[i].busy;
    return n;
}

bool pool_send(Pool *pool, uint64_t id, Str request)
{
    Worker *w = pool->workers;
    while (w->busy)
        w++;
    if (w->pid && pool->spec.recycle && w->served >= pool->spec.recycle)
        stop(w, true);
    bool sent = w->pid && send_message(w->fd, request);
    if (w->pid && !sent)
        stop(w, true); /* it died while idle */
    if (!sent && (!start(pool, w) || !send_message(w->fd, request)))
        return false;
    w->busy = true;
    w->id = id;
    w->served++;
    w->since = pool_clock();
    return true;
}

static PoolReply ended(const Worker *w, PoolEnd end)
{
    return (PoolReply){.id = w->id, .end = end, .seconds = pool_clock() - w->since};
}

static PoolReply died(Worker *w)
{
    PoolReply reply = ended(w, POOL_DIED);
    int status = stop(w, true);
    reply.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    reply.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return reply;
}

static bool whole(const Worker *w)
{
    uint64_t len;
    if (w->in.len < sizeof len)
        return false;
    memcpy(&len, w->in.at, sizeof len);
    return w->in.len - sizeof len >= len;
}

/* True when the worker's request has ended, with an answer or without. */
static bool read_some(Pool *pool, Worker *w, PoolReply *reply)
{
    char bytes[65536];
    ssize_t got = recv(w->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0) {
        *reply = died(w);
        return true;
    }
    buf_add(&w->in, bytes, (size_t)got);
    if (!whole(w))
        return false;
    *reply = ended(w, POOL_DONE);
    buf_clear(&pool->reply);
    buf_str(&pool->reply, str_slice(buf_view(&w->in), sizeof(uint64_t), w->in.len));
    reply->text = buf_view(&pool->reply);
    buf_clear(&w->in);
    w->busy = false;
    return true;
}

static bool take_late(Pool *pool, PoolReply *reply)
{
    for (uint32_t i = 0; i < pool->spec.jobs; i++) {
        Worker *w = &pool->workers[i];
        if (w->busy && pool->spec.seconds > 0 && pool_clock() - w->since > pool->spec.seconds) {
            *reply = ended(w, POOL_LATE);
            stop(w, true);
            return true;
        }
    }
    return false;
}

/* Until the first of: the caller's time, a worker's deadline. */
static double time_to_wait(const Pool *pool, double until)
{
    double least = until;
    for (uint32_t i = 0; i < pool->spec.jobs; i++) {
        double deadline = pool->workers[i].since + pool->spec.seconds;
        if (pool->workers[i].busy && pool->spec.seconds > 0 && deadline < least)
            least = deadline;
    }
    double left = least - pool_clock();
    return left > 0 ? left : 0;
}

enum { MOST_POLLED = 1025 };

bool pool_next(Pool *pool, double seconds, int wake, PoolReply *reply)
{
    double until = pool_clock() + seconds;
    for (;;) {
        struct pollfd fds[MOST_POLLED];
        Worker *of[MOST_POLLED];
        nfds_t n = 0;
        for (uint32_t i = 0; i < pool->spec.jobs && n + 1 < MOST_POLLED; i++) {
            if (!pool->workers[i].busy)
                continue;
            of[n] = &pool->workers[i];
            fds[n++] = (struct pollfd){.fd = pool->workers[i].fd, .events = POLLIN};
        }
        nfds_t workers = n;
        if (wake >= 0)
            fds[n++] = (struct pollfd){.fd = wake, .events = POLLIN};
        if (n == 0)
            return false;
        poll(fds, n, (int)(1000 * time_to_wait(pool, until)) + 1);
        for (nfds_t i = 0; i < workers; i++)
            if (fds[i].revents && read_some(pool, of[i], reply))
                return true;
        if (take_late(pool, reply))
            return true;
        if (pool_clock() >= until || (wake >= 0 && fds[workers].revents))
            return false;
    }
}

/* A launch has pipes, shared memories and the compiler's files at once. */
enum { LEAST_DESCRIPTORS = 128 };

bool pool_descriptors(uint64_t *have)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    *have = (uint64_t)limit.rlim_cur;
    return *have >= LEAST_DESCRIPTORS;
}
