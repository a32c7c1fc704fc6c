/* Workers: answers of any size, every way of dying, and what the walls leave them. */
#include "tests/t.h"

#include "box/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef bool Body(void *context, const BoxWorker *self, Buf *answer);

static BoxEnd work(Body *body, void *context, Buf *answer, int *signal)
{
    Arena a = {0};
    BoxWorker w;
    Str bytes;
    BoxWorkerSpec spec = {.body = body, .context = context, .seconds = 20, .memory = 64 << 20};
    REQUIRE(box_worker_start(&a, &w, &spec));
    while (!box_worker_step(&w, 50))
        ;
    BoxEnd end = box_worker_finish(&w, &bytes, signal);
    if (answer)
        buf_str(answer, bytes);
    box_worker_close(&w);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0);
    arena_drop(&a);
    return end;
}

static bool says_much(void *context, const BoxWorker *self, Buf *answer)
{
    (void)self;
    buf_fill(answer, 'x', *(size_t *)context);
    *(size_t *)context = 0; /* in this process only */
    return true;
}

T_TEST(a_worker_answers_with_bytes_of_any_number)
{
    static const size_t sizes[] = {0, 1, 4096, 4097, 20 << 20};
    for (int i = 0; i < 5; i++) {
        size_t size = sizes[i];
        int signal;
        Buf answer = {0};
        CHECK_EQ_INT(work(says_much, &size, &answer, &signal), BOX_EXITED);
        CHECK_EQ_INT(answer.len, sizes[i]);
        CHECK(!answer.len || (answer.at[0] == 'x' && answer.at[answer.len - 1] == 'x'));
        CHECK_EQ_INT(size, sizes[i]);
        buf_free(&answer);
    }
}

static bool gives_up(void *context, const BoxWorker *self, Buf *answer)
{
    (void)context, (void)self;
    buf_puts(answer, "nothing of this counts");
    return false;
}

static bool dies(void *context, const BoxWorker *self, Buf *answer)
{
    (void)context, (void)self, (void)answer;
    __builtin_trap();
}

/* The sanitizer's allocator hangs where the system gives no more: there the arena refuses first. */
#ifdef ATTR_ASAN
enum { ARENA_LIMIT = 32 << 20 };
#else
enum { ARENA_LIMIT = 0 };
#endif

static bool takes_memory(void *context, const BoxWorker *self, Buf *answer)
{
    (void)context, (void)self, (void)answer;
    Arena a = {.limit = ARENA_LIMIT};
    for (size_t bytes = 0; bytes < 1ull << 40; bytes += 1 << 20)
        arena_alloc(&a, 1 << 20);
    return true;
}

T_TEST(a_worker_that_fails_ends_alone)
{
    int signal;
    Buf answer = {0};
    CHECK_EQ_INT(work(gives_up, NULL, &answer, &signal), BOX_FAILED);
    CHECK_EQ_INT(answer.len, 0);
    BoxEnd end = work(dies, NULL, NULL, &signal);
    CHECK_EQ_INT(end, BOX_SIGNAL);
    CHECK(end != BOX_SIGNAL || signal == SIGILL || signal == SIGTRAP);
    CHECK_EQ_INT(work(takes_memory, NULL, NULL, &signal), BOX_MEMORY);
    buf_free(&answer);
}

static bool never_ends(void *context, const BoxWorker *self, Buf *answer)
{
    (void)context, (void)answer;
    box_worker_say_ready(self);
    for (volatile uint64_t i = 0; i < UINT64_MAX; i = i + 1)
        ;
    return true;
}

T_TEST(a_worker_that_is_late_is_ended)
{
    Arena a = {0};
    BoxWorker w;
    Str bytes;
    int signal;
    BoxWorkerSpec spec = {.body = never_ends, .seconds = 0.3, .memory = 64 << 20};
    REQUIRE(box_worker_start(&a, &w, &spec));
    CHECK(box_worker_wait_ready(&w));
    while (!box_worker_step(&w, 1000))
        ;
    CHECK_EQ_INT(box_worker_finish(&w, &bytes, &signal), BOX_TIMEOUT);
    box_worker_close(&w);
    spec.seconds = 100; /* nobody waits for it */
    REQUIRE(box_worker_start(&a, &w, &spec));
    CHECK_EQ_INT(box_worker_finish(&w, &bytes, &signal), BOX_SIGNAL);
    box_worker_close(&w);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0);
    arena_drop(&a);
}

static bool says_ready(void *context, const BoxWorker *self, Buf *answer)
{
    (void)answer;
    _Atomic int *shared = context;
    *shared = 1;
    box_worker_say_ready(self);
    while (*shared != 2)
        ;
    *shared = 3;
    return true;
}

T_TEST(a_worker_shares_what_is_mapped_shared)
{
    Arena a = {0};
    BoxWorker w;
    Str bytes;
    int signal;
    _Atomic int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                               0);
    BoxWorkerSpec spec = {.body = says_ready, .context = shared, .seconds = 20, .memory = 64 << 20};
    REQUIRE(box_worker_start(&a, &w, &spec));
    CHECK(box_worker_wait_ready(&w));
    CHECK_EQ_INT(*shared, 1);
    CHECK(!box_worker_step(&w, 0));
    *shared = 2;
    while (!box_worker_step(&w, 1000))
        ;
    CHECK_EQ_INT(box_worker_finish(&w, &bytes, &signal), BOX_EXITED);
    CHECK_EQ_INT(*shared, 3);
    box_worker_close(&w);
    spec.body = gives_up;
    REQUIRE(box_worker_start(&a, &w, &spec));
    CHECK(!box_worker_wait_ready(&w));
    CHECK_EQ_INT(box_worker_finish(&w, &bytes, &signal), BOX_FAILED);
    box_worker_close(&w);
    munmap((void *)(uintptr_t)shared, 4096);
    arena_drop(&a);
}

/* One letter for each thing it could do. */
static bool tries_all(void *context, const BoxWorker *self, Buf *answer)
{
    int *fd = context;
    (void)self;
    if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0)
        buf_char(answer, 'o');
    if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
        buf_char(answer, 's');
    if (fork() >= 0)
        buf_char(answer, 'f');
    if (kill(1, 0) == 0 || errno != EPERM || kill(getppid(), SIGTERM) == 0)
        buf_char(answer, 'k');
    if (write(*fd, "x", 1) >= 0)
        buf_char(answer, 'd');
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        buf_char(answer, 'x');
    buf_char(answer, '.');
    return true;
}

T_TEST(a_worker_has_no_files_sockets_processes_or_signals)
{
    int pipe_fds[2], signal;
    Buf answer = {0};
    REQUIRE(pipe(pipe_fds) == 0);
    CHECK_EQ_INT(work(tries_all, &pipe_fds[1], &answer, &signal), BOX_EXITED);
    CHECK_EQ_SLICE(buf_view(&answer), ".");
    buf_free(&answer);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

/* kill -9 of whoever started it: nothing stays. */
T_TEST(a_worker_dies_with_its_tool)
{
    int up[2];
    char byte;
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && pipe(up) == 0);
    pid_t tool = fork();
    if (tool == 0) {
        Arena a = {0};
        BoxWorker w;
        BoxWorkerSpec spec = {.body = never_ends, .seconds = 100, .memory = 64 << 20};
        if (box_worker_start(&a, &w, &spec) && box_worker_wait_ready(&w) &&
            write(up[1], "r", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    CHECK(read(up[0], &byte, 1) == 1);
    kill(tool, SIGKILL);
    CHECK(waitpid(tool, NULL, 0) == tool);
    int status;
    pid_t worker = waitpid(-1, &status, 0); /* comes to us, its reaper */
    CHECK(worker > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(up[0]);
    close(up[1]);
}
