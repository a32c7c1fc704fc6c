/* The judge over HTTP, on 127.0.0.1. In: POST /judge, a body of JSON Lines. Out: as many lines, in
 * the order of the body.
 *
 * One thread: the daemon's descriptor is one of those the pool waits on, and a request is suspended
 * until its last line is judged. A request that names another host, or is longer than any, is refused
 * before its body is read; one that is being judged when a signal ends the server gets 503. Connections
 * that say nothing are kept for a while, but only so many: the oldest make room for new ones. */
#include "cmd/cmd.h"
#include "cmd/judge.h"
#include "cmd/loopback.h"
#include <arpa/inet.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* A connection without a request. */
typedef struct Idle {
    struct MHD_Connection *connection;
    struct Idle *next, *before;
    bool listed;
} Idle;

typedef struct Request {
    struct MHD_Connection *connection;
    Buf body;
    size_t from;  /* where the next line to be sent begins */
    Buf *answers; /* by line */
    uint32_t sent, done, lines;
    bool whole, over; /* read; answered or given up */
    struct Request *next;
} Request;

typedef struct Server {
    JudgeDesk *desk;
    struct MHD_Daemon *daemon;
    Request *first; /* that have lines to be sent or answered, oldest first */
    int64_t port;
    bool closing;
    Idle *oldest, *newest;
    uint32_t idle_count;
} Server;

enum { IDLE_SECONDS = 60, IDLE_MOST = 128, FILES_MOST = 8192, FILES_FOR_JUDGES = 256 };

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

/* ---- connections ---- */

static void unlist_idle(Server *s, Idle *idle)
{
    if (!idle->listed)
        return;
    *(idle->before ? &idle->before->next : &s->oldest) = idle->next;
    *(idle->next ? &idle->next->before : &s->newest) = idle->before;
    idle->next = idle->before = NULL;
    idle->listed = false;
    s->idle_count--;
}

/* The daemon closes a connection that was shut down the next time it runs. */
static void drop_oldest(Server *s)
{
    Idle *idle = s->oldest;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        idle->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    unlist_idle(s, idle);
    if (info)
        shutdown(info->connect_fd, SHUT_RDWR);
}

static void list_idle(Server *s, Idle *idle)
{
    idle->before = s->newest;
    *(s->newest ? &s->newest->next : &s->oldest) = idle;
    s->newest = idle;
    idle->listed = true;
    if (++s->idle_count > IDLE_MOST)
        drop_oldest(s);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    Server *s = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        Idle *idle = heap_alloc(sizeof *idle);
        idle->connection = connection;
        *state = idle;
        list_idle(s, idle);
    } else {
        unlist_idle(s, *state);
        heap_free(*state);
        *state = NULL;
    }
}

static Idle *idle_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* How many connections there is room for: descriptors, less those of the judging processes. */
static unsigned connections_most(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return FILES_FOR_JUDGES;
    rlim_t want = files.rlim_max < FILES_MOST ? files.rlim_max : FILES_MOST;
    if (files.rlim_cur < want) {
        files.rlim_cur = want;
        if (setrlimit(RLIMIT_NOFILE, &files) != 0)
            getrlimit(RLIMIT_NOFILE, &files);
    }
    return files.rlim_cur > 2 * FILES_FOR_JUDGES ? (unsigned)(files.rlim_cur - FILES_FOR_JUDGES)
                                                 : FILES_FOR_JUDGES;
}

/* ---- replies ---- */

static enum MHD_Result reply_with(struct MHD_Connection *connection, unsigned status,
                                  const char *type, Str text)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(text.len, (void *)(uintptr_t)text.at,
                                                             MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(r, "Content-Type", type);
    enum MHD_Result result = MHD_queue_response(connection, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result reply_answers(Request *q)
{
    Buf all = {0};
    if (q->done < q->lines)
        return reply_with(q->connection, MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain",
                          STR("the judge was ended\n"));
    for (uint32_t i = 0; i < q->lines; i++)
        buf_printf(&all, "%s\n", q->answers[i].at);
    enum MHD_Result result = reply_with(q->connection, MHD_HTTP_OK, "application/jsonl",
                                        all.at ? buf_view(&all) : STR(""));
    buf_free(&all);
    return result;
}

/* ---- requests ---- */

static bool next_line(Request *q, Str *line)
{
    Str rest = str_slice(buf_view(&q->body), q->from, q->body.len);
    while (str_next(&rest, '\n', line)) {
        q->from = q->body.len - rest.len;
        if (str_trim(*line).len)
            return true;
    }
    return false;
}

static void count_lines(Request *q)
{
    Str line;
    while (next_line(q, &line))
        q->lines++;
    q->from = 0;
    q->answers = heap_alloc((q->lines + 1) * sizeof *q->answers);
}

static void enlist(Server *s, Request *q)
{
    Request **at = &s->first;
    while (*at)
        at = &(*at)->next;
    *at = q;
}

static void delist(Server *s, Request *q)
{
    for (Request **at = &s->first; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            return;
        }
}

static enum MHD_Result take_whole(Server *s, Request *q)
{
    q->whole = true;
    count_lines(q);
    if (q->lines == 0)
        return reply_answers(q);
    enlist(s, q);
    MHD_suspend_connection(q->connection);
    return MHD_YES;
}

static enum MHD_Result refuse_early(const Server *s, struct MHD_Connection *connection)
{
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    const char *page = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    if (!loopback_is_ours(host, s->port) || page) /* no page of a browser asks for rewards */
        return reply_with(connection, MHD_HTTP_FORBIDDEN, "text/plain",
                          STR("this server answers for 127.0.0.1 only\n"));
    if (length && strtoull(length, NULL, 10) > JUDGE_MOST_LINE)
        return reply_with(connection, MHD_HTTP_CONTENT_TOO_LARGE, "text/plain",
                          STR("at most 64 MiB in one request\n"));
    return MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *size, void **state)
{
    Request *q = *state;
    (void)version;
    if (!q) {
        *state = q = heap_alloc(sizeof *q);
        q->connection = connection;
        if (idle_of(connection))
            unlist_idle(context, idle_of(connection));
        return refuse_early(context, connection);
    }
    if (q->whole)
        return reply_answers(q); /* resumed */
    if (*size && q->body.len + *size <= JUDGE_MOST_LINE) {
        buf_add(&q->body, upload, *size);
        *size = 0;
        return MHD_YES;
    }
    if (*size)
        return MHD_NO; /* too much for one request */
    if (strcmp(method, "POST") || strcmp(url, "/judge"))
        return reply_with(connection, MHD_HTTP_NOT_FOUND, "text/plain",
                          STR("POST JSON Lines with id, task and answer to /judge\n"));
    return take_whole(context, q);
}

static void free_request(Request *q)
{
    for (uint32_t i = 0; i < q->lines; i++)
        buf_free(&q->answers[i]);
    heap_free(q->answers);
    buf_free(&q->body);
    heap_free(q);
}

/* Lines still with a worker keep the request alive until they come back. */
static void on_over(void *context, struct MHD_Connection *connection, void **state,
                    enum MHD_RequestTerminationCode code)
{
    Server *s = context;
    Request *q = *state;
    (void)code;
    if (!q)
        return;
    if (idle_of(connection))
        list_idle(s, idle_of(connection));
    delist(s, q);
    q->over = true;
    if (q->done == q->sent || s->closing)
        free_request(q);
    *state = NULL;
}

/* ---- the loop ---- */

static bool send_lines(Server *s)
{
    Str line;
    for (Request *q = s->first; q; q = q->next)
        while (judge_desk_free(s->desk) && q->sent < q->lines && next_line(q, &line)) {
            if (!judge_desk_send(s->desk, line, q, q->sent))
                return false;
            q->sent++;
        }
    return true;
}

static void take_answer(Server *s, const JudgeItem *item, const Buf *answer)
{
    Request *q = item->asker;
    q->done++;
    if (q->over) {
        if (q->done == q->sent)
            free_request(q);
        return;
    }
    buf_str(&q->answers[item->index], buf_view(answer));
    if (q->done == q->lines) {
        delist(s, q);
        MHD_resume_connection(q->connection);
    }
}

/* The daemon may hold bytes it has read already: its descriptor then stays silent. */
static double time_to_wait(const Server *s)
{
    MHD_UNSIGNED_LONG_LONG ms;
    return MHD_get_timeout(s->daemon, &ms) == MHD_YES && ms < 1000 ? (double)ms / 1000 : 1;
}

static bool serve(Server *s)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    Buf answer = {0};
    bool ok = true;
    while (ok && !stopped) {
        MHD_run(s->daemon);
        ok = send_lines(s);
        const JudgeItem *item = judge_desk_next(s->desk, time_to_wait(s), info->epoll_fd, &answer);
        if (item)
            take_answer(s, item, &answer);
    }
    buf_free(&answer);
    return ok;
}

int judge_serve(JudgeDesk *desk, int64_t port)
{
    Server s = {.desk = desk, .port = port};
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    s.daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, (uint16_t)port, NULL, NULL, on_request, &s,
        MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_NOTIFY_COMPLETED, on_over, &s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, &s, MHD_OPTION_CONNECTION_LIMIT,
        connections_most(), MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    if (!s.daemon) {
        fprintf(stderr, "acraft judge: port %lld of 127.0.0.1 cannot be had\n", (long long)port);
        return CMD_LACKS;
    }
    fprintf(stderr, "acraft judge: http://127.0.0.1:%lld/judge\n", (long long)port);
    bool ok = serve(&s);
    s.closing = true;
    for (Request *q = s.first; q; q = q->next)
        MHD_resume_connection(q->connection);
    MHD_run(s.daemon);
    MHD_stop_daemon(s.daemon);
    return ok ? CMD_OK : CMD_LACKS;
}
