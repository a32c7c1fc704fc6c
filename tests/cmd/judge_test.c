/* acraft judge --serve under good, bad, slow and many clients, and ended while it works. */
#include "cmd/cmd.h"
#include "loop/bench_pool.h"
#include "tests/t.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Judge {
    Arena arena;
    Diag diag;
    uint16_t port;
    pid_t pid;
    Str right; /* a line whose answer is right */
} Judge;

/* ---- the server ---- */

static struct sockaddr_in address(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static uint16_t free_port(void)
{
    struct sockaddr_in at = address(0);
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(bind(fd, (struct sockaddr *)&at, size) == 0);
    REQUIRE(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
    close(fd);
    return ntohs(at.sin_port);
}

static int serve(const Judge *j)
{
    char port[8];
    char *argv[] = {"judge",   "--serve", port, "--tasks", "tests/bench/tasks", "--fuzz", "0",
                    "--trust", "-j",      "2",  NULL};
    snprintf(port, sizeof port, "%u", j->port);
    dup2(open("/dev/null", O_WRONLY), 2);
    return cmd_judge(10, argv);
}

static void start(Judge *j)
{
    Str craft;
    Buf line = {0};
    *j = (Judge){.port = free_port()};
    j->diag = diag_make(&j->arena, "", STR(""));
    REQUIRE(file_read(&j->arena, "tests/bench/square.craft", 0, &craft, &j->diag));
    buf_puts(&line, "{\"task\": \"square\", \"answer\": ");
    buf_json_str(&line, craft);
    j->right = str_from(buf_take(&line, &j->arena));
    buf_free(&line);
    j->pid = fork();
    REQUIRE(j->pid >= 0);
    if (j->pid == 0)
        _exit(serve(j));
}

/* Ends it as a service manager does; it has to be gone soon. */
static void end(Judge *j)
{
    double from = pool_clock();
    int status = -1;
    kill(j->pid, SIGTERM);
    CHECK(waitpid(j->pid, &status, 0) == j->pid);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == CMD_OK, "status %x", (unsigned)status);
    CHECK_MSG(pool_clock() - from < 10, "it took %.1f s to end", pool_clock() - from);
    arena_drop(&j->arena);
}

/* ---- clients ---- */

static int connect_to(const Judge *j)
{
    struct sockaddr_in at = address(j->port);
    for (int i = 0; i < 500; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
            return fd;
        close(fd);
        usleep(20000);
    }
    return -1;
}

static bool put(int fd, Str text)
{
    while (text.len) {
        ssize_t n = send(fd, text.at, text.len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        text = str_slice(text, (size_t)n, text.len);
    }
    return true;
}

static Str head_for(Judge *j, size_t length)
{
    return str_from(str_format(&j->arena,
                               "POST /judge HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: "
                               "%zu\r\nConnection: close\r\n\r\n",
                               j->port, length));
}

/* Everything until the server closes. */
static Str rest_of(Judge *j, int fd)
{
    Buf all = {0};
    char some[4096];
    for (ssize_t got; (got = read(fd, some, sizeof some)) > 0;)
        buf_add(&all, some, (size_t)got);
    close(fd);
    Str text = all.len ? str_copy(&j->arena, buf_view(&all)) : STR("");
    buf_free(&all);
    return text;
}

static int send_post(Judge *j, Str body)
{
    int fd = connect_to(j);
    CHECK(put(fd, head_for(j, body.len)) && put(fd, body));
    return fd;
}

static Str post(Judge *j, Str body) { return rest_of(j, send_post(j, body)); }

static Str request(Judge *j, const char *text)
{
    int fd = connect_to(j);
    CHECK(put(fd, str_from(text)));
    return rest_of(j, fd);
}

static Str body_of(Str reply)
{
    ptrdiff_t at = str_find(reply, STR("\r\n\r\n"));
    return at < 0 ? STR("") : str_slice(reply, (size_t)at + 4, reply.len);
}

static uint32_t count(Str text, const char *what)
{
    uint32_t n = 0;
    for (ptrdiff_t at; (at = str_find(text, str_from(what))) >= 0; n++)
        text = str_slice(text, (size_t)at + strlen(what), text.len);
    return n;
}

/* A line that is right, with this id. */
static Str right(Judge *j, int id)
{
    return str_from(str_format(&j->arena, "%.*s, \"id\": %d}\n", STR_ARG(j->right), id));
}

static void check_right(Judge *j, int id)
{
    Str reply = post(j, right(j, id));
    CHECK(str_starts(reply, "HTTP/1.1 200"));
    CHECK_EQ_INT(count(body_of(reply), "\n"), 1);
    CHECK(str_find(reply, str_from(str_format(&j->arena, "\"id\": %d", id))) > 0);
    CHECK_MSG(str_find(reply, STR("\"status\": \"ok\"")) > 0, "%.*s", STR_ARG(reply));
}

/* ---- tests ---- */

T_TEST(judge_serves_lines_in_order)
{
    Judge j;
    start(&j);
    Str body = str_from(str_format(&j.arena,
                                   "%.*s{\"id\": 8, \"task\": \"square\", \"answer\": "
                                   "\"no\"}\n\n%.*s",
                                   STR_ARG(right(&j, 7)), STR_ARG(right(&j, 9))));
    Str reply = post(&j, body), lines = body_of(reply), line;
    CHECK(str_starts(reply, "HTTP/1.1 200"));
    for (int id = 7; id <= 9; id++) {
        CHECK(str_next(&lines, '\n', &line));
        CHECK(str_find(line, str_from(str_format(&j.arena, "\"id\": %d", id))) >= 0);
        CHECK_EQ_INT(str_find(line, STR("\"status\": \"ok\"")) > 0, id != 8);
    }
    CHECK_EQ_INT(lines.len, 0);
    end(&j);
}

T_TEST(judge_answers_bad_requests)
{
    Judge j;
    start(&j);
    static const char *const bad[] = {
        "nonsense\n",      "{}\n",           "[1, 2]\n",
        "{\"task\": 3}\n", "null\n",         "\"x\"\n",
        "{\"id\":",        "\x01\xff\xfe\n", "{\"task\": \"no such\", \"answer\": \"x\"}\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Str reply = post(&j, str_from(bad[i]));
        CHECK_MSG(str_starts(reply, "HTTP/1.1 200"), "%s", bad[i]);
        CHECK_MSG(count(body_of(reply), "\"reward\"") == 1, "%s: %.*s", bad[i], STR_ARG(reply));
    }
    CHECK(body_of(post(&j, STR(""))).len == 0);
    CHECK(body_of(post(&j, STR("\n \n\n"))).len == 0);
    const char *here = str_format(&j.arena, "Host: 127.0.0.1:%u\r\nConnection: close\r\n\r\n",
                                  j.port);
    CHECK(str_starts(request(&j, str_format(&j.arena, "GET /judge HTTP/1.1\r\n%s", here)),
                     "HTTP/1.1 404"));
    CHECK(str_starts(request(&j, str_format(&j.arena, "POST / HTTP/1.1\r\n%s", here)),
                     "HTTP/1.1 404"));
    CHECK(str_starts(request(&j, "POST /judge HTTP/1.1\r\nHost: evil.example\r\n"
                                 "Connection: close\r\nContent-Length: 3\r\n\r\n{}\n"),
                     "HTTP/1.1 403"));
    CHECK(str_starts(request(&j, str_format(&j.arena,
                                            "POST /judge HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                                            "Origin: https://evil.example\r\nConnection: "
                                            "close\r\nContent-Length: 3\r\n\r\n{}\n",
                                            j.port)),
                     "HTTP/1.1 403"));
    request(&j, "this is no HTTP at all\r\n\r\n");
    check_right(&j, 1);
    end(&j);
}

T_TEST(judge_refuses_what_is_too_long)
{
    Judge j;
    char *much = heap_alloc(1 << 20);
    memset(much, 'x', 1 << 20);
    start(&j);
    int fd = connect_to(&j);
    CHECK(put(fd, head_for(&j, (size_t)100 << 20)));
    Str reply = rest_of(&j, fd);
    CHECK_MSG(str_starts(reply, "HTTP/1.1 413"), "%.*s", STR_ARG(reply));
    /* without a length, until the server has enough */
    fd = connect_to(&j);
    CHECK(put(fd, str_from(str_format(&j.arena,
                                      "POST /judge HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                                      "Transfer-Encoding: chunked\r\n\r\n",
                                      j.port))));
    int sent = 0;
    while (sent < 80 && put(fd, STR("100000\r\n")) && put(fd, (Str){much, 1 << 20}) &&
           put(fd, STR("\r\n")))
        sent++;
    CHECK_MSG(sent < 80, "80 MiB were taken");
    close(fd);
    heap_free(much);
    check_right(&j, 2);
    end(&j);
}

T_TEST(judge_waits_for_no_slow_client)
{
    Judge j;
    start(&j);
    Str body = right(&j, 3);
    int half = connect_to(&j), silent = connect_to(&j), gone = connect_to(&j);
    CHECK(put(half, head_for(&j, body.len)) && put(half, str_slice(body, 0, body.len / 2)));
    CHECK(put(gone, head_for(&j, body.len)) && put(gone, body));
    close(gone); /* nobody is there for the answer */
    check_right(&j, 4);
    CHECK(put(half, str_slice(body, body.len / 2, body.len)));
    Str late = rest_of(&j, half);
    CHECK(str_find(late, STR("\"status\": \"ok\"")) > 0);
    close(silent);
    end(&j);
}

T_TEST(judge_serves_many_at_once)
{
    enum { CLIENTS = 12 };
    Judge j;
    int fds[CLIENTS];
    start(&j);
    for (int i = 0; i < CLIENTS; i++)
        fds[i] = send_post(&j,
                           str_from(str_format(&j.arena, "%.*s{\"id\": %d, \"task\": \"square\"}\n",
                                               STR_ARG(right(&j, 100 + i)), 200 + i)));
    for (int i = 0; i < CLIENTS; i++) {
        Str reply = rest_of(&j, fds[i]);
        CHECK(str_find(reply, str_from(str_format(&j.arena, "\"id\": %d,", 100 + i))) > 0);
        CHECK(str_find(reply, str_from(str_format(&j.arena, "\"id\": %d,", 200 + i))) > 0);
        CHECK_EQ_INT(count(body_of(reply), "\n"), 2);
    }
    end(&j);
}

/* Connections that say nothing, more than a process may have open by default, keep nobody waiting. */
T_TEST(judge_serves_beside_idle_connections)
{
    enum { IDLE = 1200 };
    static int fds[IDLE];
    struct rlimit files;
    Judge j;
    getrlimit(RLIMIT_NOFILE, &files);
    start(&j);
    check_right(&j, 6);
    files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &files);
    for (int i = 0; i < IDLE; i++)
        fds[i] = connect_to(&j);
    double from = pool_clock();
    check_right(&j, 7);
    CHECK_MSG(pool_clock() - from < 20, "it took %.1f s", pool_clock() - from);
    for (int i = 0; i < IDLE; i++)
        close(fds[i]);
    end(&j);
}

static const char endless[] =
    "#include \"kernel_operator.h\"\\n"
    "extern \\\"C\\\" __global__ __aicore__ void square(GM_ADDR x, GM_ADDR y)\\n"
    "{ volatile int n = 0; for (;;) n = n + 1; }\\n";

T_TEST(judge_ends_while_it_works)
{
    Judge j;
    Buf body = {0};
    start(&j);
    check_right(&j, 5);
    for (int i = 0; i < 3; i++) {
        buf_printf(&body, "{\"id\": %d, \"task\": \"square\", \"answer\": \"%s\"}\n", i, endless);
    }
    for (char *at = body.at; (at = strstr(at, "\"kernel_operator.h\"")) != NULL; at++)
        at[0] = '<', at[18] = '>';
    int fd = send_post(&j, buf_view(&body));
    struct pollfd answered = {.fd = fd, .events = POLLIN};
    CHECK_EQ_INT(poll(&answered, 1, 1500), 0);
    pid_t pid = j.pid;
    kill(pid, SIGTERM);
    Str reply = rest_of(&j, fd);
    CHECK_MSG(reply.len == 0 || str_starts(reply, "HTTP/1.1 503"), "%.*s", STR_ARG(reply));
    buf_free(&body);
    end(&j);
}
