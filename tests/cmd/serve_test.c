/* acraft serve with the shipped weights under good, bad, slow and many clients. */
#include "cmd/cmd.h"
#include "tests/t.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Server {
    Arena arena;
    pid_t pid;
    uint16_t port;
} Server;

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

static Server start(const char *queue)
{
    Server s = {.port = free_port()};
    char port[8];
    char *argv[] = {"serve", "--port", port, "--queue", (char *)queue, "--no-mask", NULL};
    snprintf(port, sizeof port, "%u", s.port);
    s.pid = fork();
    REQUIRE(s.pid >= 0);
    if (s.pid == 0) {
        dup2(open("/dev/null", O_WRONLY), 2);
        _exit(cmd_serve(6, argv));
    }
    return s;
}

/* Ends it as Ctrl-C does; it has to be gone soon, whatever the model is at. */
static void end(Server *s)
{
    int status = -1;
    time_t from = time(NULL);
    kill(s->pid, SIGINT);
    CHECK(waitpid(s->pid, &status, 0) == s->pid);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == CMD_OK, "status %x", (unsigned)status);
    CHECK(time(NULL) - from < 20);
    arena_drop(&s->arena);
}

/* ---- clients ---- */

static int connect_to(const Server *s)
{
    struct sockaddr_in at = address(s->port);
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

/* Everything until the server closes. */
static Str rest_of(Server *s, int fd)
{
    Buf all = {0};
    char some[4096];
    for (ssize_t got; (got = read(fd, some, sizeof some)) > 0;)
        buf_add(&all, some, (size_t)got);
    close(fd);
    Str text = all.len ? str_copy(&s->arena, buf_view(&all)) : STR("");
    buf_free(&all);
    return text;
}

/* `more`: header lines of its own. */
static int send_request(Server *s, const char *line, const char *more, size_t length)
{
    int fd = connect_to(s);
    CHECK(put(fd, str_from(str_format(&s->arena,
                                      "%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%sContent-Length: "
                                      "%zu\r\nConnection: close\r\n\r\n",
                                      line, s->port, more, length))));
    return fd;
}

static int send_post(Server *s, const char *path, const char *body)
{
    int fd = send_request(s, str_format(&s->arena, "POST %s", path), "", strlen(body));
    CHECK(put(fd, str_from(body)));
    return fd;
}

static Str post(Server *s, const char *path, const char *body)
{
    return rest_of(s, send_post(s, path, body));
}

static bool has(Str text, const char *what) { return str_find(text, str_from(what)) >= 0; }

static const char chat[] = "/v1/chat/completions";
static const char short_question[] =
    "{\"messages\": [{\"role\": \"user\", \"content\": \"Write\"}], \"max_tokens\": 6}";

static void check_answers(Server *s)
{
    Str reply = post(s, chat, short_question);
    CHECK_MSG(str_starts(reply, "HTTP/1.1 200") && has(reply, "\"object\": \"chat.completion\"") &&
                  has(reply, "\"prompt_tokens\": ") && has(reply, "\"finish_reason\": "),
              "%.*s", STR_ARG(reply));
}

static void check_refused(Server *s, const char *path, const char *body, const char *status)
{
    Str reply = post(s, path, body);
    CHECK_MSG(str_starts(reply, "HTTP/1.1 ") && str_starts(str_slice(reply, 9, 12), status) &&
                  has(reply, "{\"error\": {\"message\": \"") && has(reply, "\"type\": \""),
              "%s: %.*s", body, STR_ARG(reply));
}

/* ---- tests ---- */

T_TEST(serve_answers_whole_and_as_a_stream)
{
    Server s = start("4");
    check_answers(&s);
    Str a = post(&s, chat, short_question), b = post(&s, chat, short_question);
    ptrdiff_t x = str_find(a, STR("\"choices\"")), y = str_find(b, STR("\"choices\""));
    REQUIRE(x > 0 && y > 0); /* the same question has the same answer */
    CHECK(str_equal(str_slice(a, (size_t)x, a.len), str_slice(b, (size_t)y, b.len)));
    Str stream = post(
        &s, chat,
        "{\"messages\": [{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", "
        "\"content\": [{\"type\": \"text\", \"text\": \"Write\"}]}], \"max_tokens\": 6, "
        "\"stream\": true, \"stream_options\": {\"include_usage\": true}}");
    CHECK(has(stream, "text/event-stream") && has(stream, "\"role\": \"assistant\""));
    CHECK(has(stream, "\"finish_reason\": \"length\"") &&
          has(stream, "\"choices\": [], \"usage\""));
    CHECK(str_ends(str_trim(stream), "data: [DONE]"));
    Str raw = post(
        &s, "/v1/completions",
        "{\"prompt\": \"Write\", \"max_tokens\": 3, \"n\": 2, \"temperature\": 1, \"seed\": 7}");
    CHECK(has(raw, "\"text_completion\"") && has(raw, "\"index\": 1") && has(raw, "\"text\": "));
    int fd = send_request(&s, "GET /v1/models", "", 0);
    CHECK(has(rest_of(&s, fd), "\"id\": \"acraft\""));
    end(&s);
}

T_TEST(serve_refuses_what_is_wrong)
{
    static const char *const bodies[] = {
        "",
        "{",
        "[1]",
        "{\"messages\": []}",
        "{\"messages\": [{\"role\": \"robot\", \"content\": \"x\"}]}",
        "{\"messages\": [{\"role\": \"user\", \"content\": 7}]}",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"\"}]}",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"temperature\": -1}",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"n\": 17}",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": 0.5}",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"stop\": [1]}",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"stream\": \"yes\"}",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"\\ud800\"}]}",
    };
    Server s = start("4");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        check_refused(&s, chat, bodies[i], "400");
    check_refused(&s, "/v1/completions", "{\"prompt\": [\"a\", \"b\"]}", "400");
    check_refused(&s, "/v1/embeddings", "{}", "404");
    check_refused(&s, "/v1/models", "{}", "405");
    /* a question that is longer than the model's context */
    Buf question = {0};
    buf_puts(&question, "{\"prompt\": \"");
    for (int i = 0; i < 9000; i++)
        buf_puts(&question, "q7 ");
    buf_puts(&question, "\"}");
    CHECK(has(post(&s, "/v1/completions", question.at), "context"));
    buf_free(&question);
    check_answers(&s);
    end(&s);
}

T_TEST(serve_outlives_hostile_clients)
{
    Server s = start("4");
    int fd = send_request(&s, "POST /v1/chat/completions", "", (size_t)1 << 40);
    CHECK(str_starts(rest_of(&s, fd), "HTTP/1.1 413"));
    fd = send_request(&s, "POST /v1/chat/completions", "Origin: http://elsewhere\r\n", 2);
    CHECK(str_starts(rest_of(&s, fd), "HTTP/1.1 403"));
    fd = connect_to(&s);
    CHECK(put(fd, STR("GET /v1/models HTTP/1.1\r\nHost: elsewhere\r\nConnection: close\r\n\r\n")));
    CHECK(str_starts(rest_of(&s, fd), "HTTP/1.1 403"));
    /* a body without a length, until the server has enough */
    fd = connect_to(&s);
    CHECK(put(fd, STR("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                      "chunked\r\n\r\n")));
    Buf piece = {0};
    buf_puts(&piece, "10000\r\n");
    buf_fill(&piece, 'a', 0x10000);
    buf_puts(&piece, "\r\n");
    int sent = 0;
    while (sent < 1000 && put(fd, buf_view(&piece)))
        sent++;
    CHECK_MSG(sent < 1000, "the server took %d pieces of 64 KiB", sent);
    close(fd);
    buf_free(&piece);
    /* half requests, silent and gone clients, while others are answered */
    int idle[60];
    for (int i = 0; i < 60; i++) {
        idle[i] = connect_to(&s);
        if (i % 2)
            put(idle[i], STR("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Le"));
    }
    close(send_post(&s, chat, short_question));
    check_answers(&s);
    for (int i = 0; i < 60; i++)
        close(idle[i]);
    end(&s);
}

/* One is asked, one waits, the others are told to come back; and the end does not wait for the model. */
T_TEST(serve_limits_its_queue_and_ends_at_once)
{
    static const char question[] = "{\"prompt\": \"Write a Craft kernel\", \"n\": 16, "
                                   "\"temperature\": 2, \"top_p\": 1}";
    Server s = start("1");
    int fds[4];
    check_answers(&s);
    fds[0] = send_post(&s, "/v1/completions", question);
    usleep(300000);
    for (int i = 1; i < 4; i++) {
        fds[i] = send_post(&s, "/v1/completions", question);
        usleep(50000);
    }
    Str third = rest_of(&s, fds[2]), fourth = rest_of(&s, fds[3]);
    CHECK(str_starts(third, "HTTP/1.1 429") && has(third, "Retry-After: "));
    CHECK(str_starts(fourth, "HTTP/1.1 429") && has(fourth, "\"queue_full\""));
    kill(s.pid, SIGINT);
    CHECK(str_starts(rest_of(&s, fds[1]), "HTTP/1.1 503"));
    close(fds[0]);
    end(&s);
}

T_TEST(serve_refuses_to_begin_without_weights_or_port)
{
    char *none[] = {"serve", "--weights", "/nowhere", NULL};
    char *port[] = {"serve", "--port", "70000", NULL};
    char *bind[] = {"serve", "--bind", "example", NULL};
    dup2(open("/dev/null", O_WRONLY), 2);
    CHECK_EQ_INT(cmd_serve(3, none), CMD_USAGE);
    CHECK_EQ_INT(cmd_serve(3, port), CMD_USAGE);
    CHECK_EQ_INT(cmd_serve(3, bind), CMD_LACKS);
}

/* The whole way: another acraft makes a kernel with the served model as its remote one. */
T_TEST(make_asks_a_served_model)
{
    static const char model[] = "import torch\nimport torch.nn as nn\n\n\n"
                                "class Model(nn.Module):\n    def forward(self, x):\n"
                                "        return torch.tanh(x)\n\n\n"
                                "def get_inputs():\n    return [torch.rand(64, 4096)]\n\n\n"
                                "def get_init_inputs():\n    return []\n";
    Server s = start("4");
    Diag diag = diag_make(&s.arena, "", STR(""));
    const char *dir;
    REQUIRE(file_temp_dir(&s.arena, "acraft-serve", &dir, &diag));
    const char *path = path_join(&s.arena, dir, "tanh_rows.py");
    REQUIRE(file_write(path, str_from(model), &diag));
    close(connect_to(&s));
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = {
            "make",    (char *)path, "--gen",
            "remote",  "--url",      str_format(&s.arena, "http://127.0.0.1:%u/v1", s.port),
            "--model", "acraft",     "--strategy",
            "rows",    NULL};
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        _exit(cmd_make(10, argv));
    }
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == CMD_OK, "status %x", (unsigned)status);
    CHECK(file_remove_tree(dir, &diag));
    end(&s);
}
