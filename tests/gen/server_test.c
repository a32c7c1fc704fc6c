/* The scripted server. One process, one connection at a time is enough for a client that opens
 * several: each is served by a child. */
#include "server.h"

#include "tests/t.h"
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Exchange {
    int fd;
    char *request; /* head and body */
    char key[128];
    int nth; /* of this behaviour, from 1 */
} Exchange;

static void nap(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static void send_text(const Exchange *x, const char *text)
{
    size_t left = strlen(text);
    while (left) {
        ssize_t n = send(x->fd, text, left, MSG_NOSIGNAL);
        if (n <= 0)
            _exit(0);
        text += n;
        left -= (size_t)n;
    }
}

static void head(const Exchange *x, const char *status, const char *type, const char *more)
{
    char text[512];
    snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Type: %s\r\n%sConnection: close\r\n\r\n",
             status, type, more);
    send_text(x, text);
}

static void stream_head(const Exchange *x)
{
    head(x, "200 OK", "text/event-stream; charset=utf-8", "");
}

static void event(const Exchange *x, const char *delta, const char *finish)
{
    char text[1024];
    snprintf(text, sizeof text,
             "data: {\"model\": \"scripted-1\", \"choices\": [{\"index\": 0, \"delta\": {%s}, "
             "\"finish_reason\": %s}]}\n\n",
             delta, finish);
    send_text(x, text);
}

static void done(const Exchange *x)
{
    send_text(x,
              "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 11, \"completion_tokens\": "
              "7}}\n\ndata: [DONE]\n\n");
}

/* ---- behaviours ---- */

static void be_stream(const Exchange *x)
{
    stream_head(x);
    send_text(x, ": a comment\r\n\r\n");
    event(x, "\"role\": \"assistant\", \"content\": \"\"", "null");
    event(x, "\"content\": \"gr\\u00fc\"", "null");
    /* a character and an event cut in two */
    send_text(x, "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"\xc3");
    nap(20);
    send_text(x, "\x9f\xc3\xa9 \"}}]");
    nap(20);
    send_text(x, "}\r\n\r\n");
    event(x, "\"content\": \"end\"", "\"stop\"");
    done(x);
}

static void be_plain(const Exchange *x)
{
    head(x, "200 OK", "application/json", "");
    send_text(x,
              "{\"model\": \"scripted-1\", \"choices\": [{\"index\": 0, \"message\": {\"role\": "
              "\"assistant\", \"content\": \"whole\"}, \"finish_reason\": \"stop\"}], \"usage\": "
              "{\"prompt_tokens\": 3, \"completion_tokens\": 2}}");
}

static void be_reason(const Exchange *x)
{
    stream_head(x);
    event(x, "\"reasoning_content\": \"think\"", "null");
    event(x, "\"reasoning\": \"ing\"", "null");
    event(x, "\"content\": \"said\"", "\"stop\"");
    done(x);
}

static void be_two(const Exchange *x)
{
    stream_head(x);
    for (int i = 0; i < 4; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "data: {\"choices\": [{\"index\": %d, \"delta\": {\"content\": \"%c%d\"}, "
                 "\"finish_reason\": %s}]}\n\n",
                 i % 2, 'a' + i % 2, i / 2, i < 2 ? "null" : "\"stop\"");
        send_text(x, text);
    }
    done(x);
}

static void be_length(const Exchange *x)
{
    stream_head(x);
    event(x, "\"content\": \"half of\"", "\"length\"");
    done(x);
}

static void be_cut(const Exchange *x)
{
    stream_head(x);
    event(x, "\"content\": \"never ended\"", "null");
}

static void be_cut_once(const Exchange *x)
{
    if (x->nth == 1) {
        head(x, "200 OK", "text/event-stream", "Content-Length: 100000\r\n");
        event(x, "\"content\": \"lost\"", "null");
    } else {
        be_stream(x);
    }
}

static void be_busy_once(const Exchange *x)
{
    if (x->nth > 1) {
        be_plain(x);
        return;
    }
    head(x, "429 Too Many Requests", "application/json", "retry-after-ms: 300\r\n");
    send_text(x, "{\"error\": {\"message\": \"slow down\"}}");
}

static void be_busy(const Exchange *x)
{
    head(x, "429 Too Many Requests", "application/json", "Retry-After: 0\r\n");
    send_text(x, "{\"error\": {\"message\": \"slow down\"}}");
}

static void be_fails_twice(const Exchange *x)
{
    if (x->nth > 2) {
        be_plain(x);
        return;
    }
    head(x, x->nth == 1 ? "503 Service Unavailable" : "500 Internal Server Error", "text/plain",
         "");
    send_text(x, "loading the model\n");
}

static void be_locked(const Exchange *x)
{
    char text[300];
    head(x, "401 Unauthorized", "application/json", "");
    snprintf(text, sizeof text, "{\"error\": {\"message\": \"Incorrect API key provided: %s.\"}}",
             x->key);
    send_text(x, text);
}

static void be_refused(const Exchange *x)
{
    head(x, "400 Bad Request", "application/json", "");
    send_text(x, "{\"object\": \"error\", \"message\": \"max_tokens is too large\"}");
}

static void be_elsewhere(const Exchange *x)
{
    head(x, "302 Found", "text/plain", "Location: http://127.0.0.1:9/v1\r\n");
}

static void be_html(const Exchange *x)
{
    head(x, "200 OK", "text/html", "");
    send_text(x, "<html>a proxy's page</html>");
}

static void be_garbled(const Exchange *x)
{
    stream_head(x);
    send_text(x, "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \n\n");
}

static void be_latin(const Exchange *x)
{
    head(x, "200 OK", "application/json; charset=iso-8859-1", "");
    send_text(x, "{\"choices\": [{\"message\": {\"content\": \"gr\xfc\xdf\"}}]}");
}

static void be_error_inside(const Exchange *x)
{
    stream_head(x);
    event(x, "\"content\": \"some\"", "null");
    send_text(x, "data: {\"error\": {\"message\": \"the engine died\"}}\n\n");
}

static void be_odd_index(const Exchange *x)
{
    stream_head(x);
    send_text(x,
              "data: {\"choices\": [{\"index\": 99999999, \"delta\": {\"content\": \"x\"}}]}\n\n");
    done(x);
}

static void be_empty(const Exchange *x)
{
    head(x, "200 OK", "application/json", "");
    send_text(x, "{\"choices\": []}");
}

/* 50 MB in pieces of 64 KiB. */
static void be_huge(const Exchange *x)
{
    char *piece = malloc(65537);
    stream_head(x);
    memset(piece, 'x', 65536);
    piece[65536] = 0;
    send_text(x, "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"");
    for (int i = 0; i < 800; i++)
        send_text(x, piece);
    send_text(x, "\"}}]}\n\n");
    free(piece);
}

static void be_never(const Exchange *x)
{
    stream_head(x);
    for (;;) {
        send_text(x, ": still here\n\n");
        nap(50);
    }
}

static void be_silent(const Exchange *x)
{
    stream_head(x);
    nap(30000);
}

static void be_gone(const Exchange *x) { (void)x; }

static const struct {
    const char *model;
    void (*be)(const Exchange *x);
} behaviours[] = {
    {"stream", be_stream},       {"plain", be_plain},
    {"reason", be_reason},       {"two", be_two},
    {"length", be_length},       {"cut", be_cut},
    {"cut-once", be_cut_once},   {"busy-once", be_busy_once},
    {"busy", be_busy},           {"fails-twice", be_fails_twice},
    {"locked", be_locked},       {"refused", be_refused},
    {"elsewhere", be_elsewhere}, {"html", be_html},
    {"garbled", be_garbled},     {"latin", be_latin},
    {"error", be_error_inside},  {"odd-index", be_odd_index},
    {"empty", be_empty},         {"huge", be_huge},
    {"never", be_never},         {"silent", be_silent},
    {"gone", be_gone},
};
enum { BEHAVIOURS = sizeof behaviours / sizeof *behaviours };

/* ---- the process ---- */

static bool read_request(Exchange *x)
{
    size_t used = 0, cap = 1 << 20, want = 0;
    x->request = calloc(1, cap + 1);
    while (used < cap) {
        ssize_t n = read(x->fd, x->request + used, cap - used);
        if (n <= 0)
            return false;
        used += (size_t)n;
        const char *end = strstr(x->request, "\r\n\r\n");
        const char *length = strcasestr(x->request, "content-length:");
        if (end && length)
            want = (size_t)(end + 4 - x->request) + strtoul(length + 15, NULL, 10);
        if (want && used >= want)
            return true;
    }
    return false;
}

static void serve(Exchange *x, int *asked)
{
    if (!read_request(x))
        return;
    const char *key = strstr(x->request, "Bearer ");
    if (key)
        sscanf(key, "Bearer %100[^\r\n]", x->key);
    for (int i = 0; i < BEHAVIOURS; i++) {
        char field[64];
        snprintf(field, sizeof field, "\"model\": \"%s\"", behaviours[i].model);
        if (!strstr(x->request, field))
            continue;
        __atomic_add_fetch(&asked[BEHAVIOURS], 1, __ATOMIC_SEQ_CST);
        x->nth = __atomic_add_fetch(&asked[i], 1, __ATOMIC_SEQ_CST);
        behaviours[i].be(x);
        return;
    }
    head(x, "404 Not Found", "application/json", "");
    send_text(x, "{\"error\": {\"message\": \"no such model\"}}");
}

ATTR_NORETURN static void serve_all(int listener, int *asked)
{
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        Exchange x = {.fd = accept(listener, NULL, NULL)};
        if (x.fd < 0)
            _exit(1);
        if (fork() == 0) {
            serve(&x, asked);
            shutdown(x.fd, SHUT_WR);
            _exit(0);
        }
        close(x.fd);
    }
}

Server server_start(void)
{
    Server s = {0};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    REQUIRE(bind(listener, (struct sockaddr *)&at, size) == 0 && listen(listener, 64) == 0);
    REQUIRE(getsockname(listener, (struct sockaddr *)&at, &size) == 0);
    int *asked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(asked != MAP_FAILED);
    s.port = ntohs(at.sin_port);
    snprintf(s.url, sizeof s.url, "http://127.0.0.1:%d/v1", s.port);
    s.asked = &asked[BEHAVIOURS];
    s.pid = fork();
    if (s.pid == 0) {
        setpgid(0, 0);
        serve_all(listener, asked);
    }
    close(listener);
    return s;
}

void server_stop(Server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
}
