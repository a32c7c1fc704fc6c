/* The server of `acraft serve`. In: requests of OpenAI's protocol over HTTP. Out: answers of the generator.
 *
 *     daemon's thread: reads, checks, queues ──▶ queue ──▶ one thread that asks the model
 *          ▲ suspended connections are resumed ◀── answers ◀──┘
 *
 * The main thread waits for a signal. A request that says another host, or that a page of a browser sends, is
 * refused before its body is read; so is a body that is too long. The queue has a limit (429); who hangs up while
 * waiting is forgotten. Answers to questions that do not check are drawn again, so no token is final before the
 * whole answer is: a stream's events are sent together. */
#include "cmd/cmd.h"
#include "cmd/loopback.h"
#include "cmd/serve.h"
#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_SECONDS = 30, CONNECTIONS = 512, END_SECONDS = 2 };

typedef struct Request {
    struct MHD_Connection *connection;
    Arena arena;
    Buf body, reply;
    ServeAsk ask;
    unsigned status;
    uint64_t number;
    bool refused, queued, asked, done, over; /* over: the client is gone */
    struct Request *next;
} Request;

typedef struct Server {
    const ServeSpec *spec;
    struct MHD_Daemon *daemon;
    bool loopback;
    int64_t port, started;
    pthread_mutex_t lock; /* of what follows, and of done and over */
    pthread_cond_t change;
    Request *first;
    uint32_t waiting;
    uint64_t requests;
    bool closing, idle; /* idle: the model's thread has ended or waits */
} Server;

/* ---- replies ---- */

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
                                 const char *type, const Buf *text)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(text->len, text->at,
                                                             MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Cache-Control", "no-store");
    if (status == MHD_HTTP_TOO_MANY_REQUESTS)
        MHD_add_response_header(r, "Retry-After", "5");
    enum MHD_Result result = MHD_queue_response(connection, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result send_error(Request *q, unsigned status, const char *why)
{
    q->refused = true;
    buf_clear(&q->reply);
    serve_error(status, why, &q->reply);
    return send_text(q->connection, status, "application/json", &q->reply);
}

static enum MHD_Result send_reply(Request *q)
{
    bool stream = q->ask.stream && q->status == MHD_HTTP_OK;
    return send_text(q->connection, q->status, stream ? "text/event-stream" : "application/json",
                     &q->reply);
}

static enum MHD_Result send_models(Server *s, Request *q)
{
    serve_models(s->spec->model, s->started, &q->reply);
    return send_text(q->connection, MHD_HTTP_OK, "application/json", &q->reply);
}

/* ---- the queue ---- */

static bool enqueue(Server *s, Request *q)
{
    pthread_mutex_lock(&s->lock);
    bool room = s->waiting < s->spec->queue && !s->closing;
    if (room) {
        Request **at = &s->first;
        while (*at)
            at = &(*at)->next;
        *at = q;
        q->queued = true;
        q->number = ++s->requests;
        s->waiting++;
        MHD_suspend_connection(q->connection);
        pthread_cond_broadcast(&s->change);
    }
    pthread_mutex_unlock(&s->lock);
    return room;
}

/* The oldest request; NULL: the server is ending. */
static Request *next_request(Server *s)
{
    Request *q = NULL;
    pthread_mutex_lock(&s->lock);
    s->idle = true;
    pthread_cond_broadcast(&s->change);
    while (!s->first && !s->closing)
        pthread_cond_wait(&s->change, &s->lock);
    if (!s->closing) {
        q = s->first;
        s->first = q->next;
        s->waiting--;
        q->next = NULL;
        q->asked = true;
        s->idle = false;
    }
    pthread_mutex_unlock(&s->lock);
    return q;
}

static void free_request(Request *q)
{
    arena_drop(&q->arena);
    buf_free(&q->body);
    buf_free(&q->reply);
    heap_free(q);
}

static void finish(Server *s, Request *q, unsigned status)
{
    pthread_mutex_lock(&s->lock);
    q->status = status;
    q->done = true;
    bool gone = q->over;
    if (!gone)
        MHD_resume_connection(q->connection);
    pthread_mutex_unlock(&s->lock);
    if (gone)
        free_request(q);
}

/* ---- the model's thread ---- */

static const char *ask_model(Server *s, Request *q, ChatReply *replies)
{
    Generator *g = s->spec->generator;
    ChatAsk asks[SERVE_MOST_CHOICES];
    Diag diag = diag_make(&q->arena, "", STR(""));
    for (uint32_t i = 0; i < q->ask.choices; i++)
        asks[i] = (ChatAsk){.messages = q->ask.messages, .task = "", .sample = i};
    local_sampling(g, &q->ask.sampling);
    if (!g->ask(g->self, &q->arena, asks, q->ask.choices, replies, &diag))
        return diag.items.len ? diag.items.at[0].text : "the model does not answer";
    for (uint32_t i = 0; i < q->ask.choices; i++)
        if (replies[i].error[0])
            return replies[i].error;
    return NULL;
}

static void *answer_all(void *given)
{
    Server *s = given;
    for (Request *q; (q = next_request(s));) {
        ChatReply replies[SERVE_MOST_CHOICES];
        const char *why = ask_model(s, q, replies);
        if (why)
            serve_error(MHD_HTTP_BAD_REQUEST, why, &q->reply);
        else
            serve_answer(
                &(ServeAnswer){&q->ask, replies, q->number, (int64_t)time(NULL), s->spec->model},
                &q->reply);
        finish(s, q, why ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_OK);
    }
    return NULL;
}

/* ---- requests ---- */

static enum MHD_Result refuse_early(const Server *s, Request *q)
{
    struct MHD_Connection *c = q->connection;
    const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");
    if (s->loopback &&
        !loopback_is_ours(MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host"), s->port))
        return send_error(q, MHD_HTTP_FORBIDDEN, "this server answers for 127.0.0.1 only");
    if (MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin"))
        return send_error(q, MHD_HTTP_FORBIDDEN, "this server does not answer pages of browsers");
    if (length && strtoull(length, NULL, 10) > SERVE_MOST_BODY)
        return send_error(q, MHD_HTTP_CONTENT_TOO_LARGE, "at most 4 MiB in one request");
    return MHD_YES;
}

static enum MHD_Result take_question(Server *s, Request *q, ServeRoute route)
{
    const char *why;
    if (!serve_read(&q->arena, route, q->body.at ? buf_view(&q->body) : STR(""), &q->ask, &why))
        return send_error(q, MHD_HTTP_BAD_REQUEST, why);
    if (!enqueue(s, q))
        return send_error(q, MHD_HTTP_TOO_MANY_REQUESTS,
                          "too many questions are waiting; ask again later");
    return MHD_YES;
}

static enum MHD_Result take_whole(Server *s, Request *q, const char *url, const char *method)
{
    static const struct {
        const char *url, *method;
    } routes[] = {
        {"/v1/chat/completions", "POST"}, {"/v1/completions", "POST"}, {"/v1/models", "GET"}};
    for (int i = 0; i < 3; i++)
        if (!strcmp(url, routes[i].url)) {
            if (strcmp(method, routes[i].method))
                return send_error(q, MHD_HTTP_METHOD_NOT_ALLOWED,
                                  str_format(&q->arena, "%s takes %s", url, routes[i].method));
            return i == 2 ? send_models(s, q) : take_question(s, q, (ServeRoute)i);
        }
    return send_error(q, MHD_HTTP_NOT_FOUND,
                      "there are POST /v1/chat/completions, POST /v1/completions, GET /v1/models");
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *size, void **state)
{
    Server *s = context;
    Request *q = *state;
    (void)version;
    if (!q) {
        *state = q = heap_alloc(sizeof *q);
        q->connection = connection;
        return refuse_early(s, q);
    }
    if (q->queued)
        return send_reply(q); /* resumed */
    if (*size && q->body.len + *size > SERVE_MOST_BODY)
        return MHD_NO; /* a body without a length that does not end */
    if (*size) {
        buf_add(&q->body, upload, *size);
        *size = 0;
        return MHD_YES;
    }
    return q->refused ? MHD_YES : take_whole(s, q, url, method);
}

/* A request that waits leaves the queue; one the model is at is freed when its answer is there. */
static void on_over(void *context, struct MHD_Connection *connection, void **state,
                    enum MHD_RequestTerminationCode code)
{
    Server *s = context;
    Request *q = *state;
    (void)connection;
    (void)code;
    if (!q)
        return;
    pthread_mutex_lock(&s->lock);
    for (Request **at = &s->first; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            s->waiting--;
            break;
        }
    q->over = true;
    bool keep = q->asked && !q->done;
    pthread_mutex_unlock(&s->lock);
    if (!keep)
        free_request(q);
    *state = NULL;
}

/* ---- begin and end ---- */

static bool start(Server *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->spec->port)};
    if (inet_pton(AF_INET, s->spec->bind, &at.sin_addr) != 1) {
        fprintf(stderr, "acraft serve: '%s' is not an IPv4 address\n", s->spec->bind);
        return false;
    }
    s->loopback = (ntohl(at.sin_addr.s_addr) >> 24) == 127;
    s->port = s->spec->port; /* the daemon's thread reads it from its first request on */
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME,
        (uint16_t)s->spec->port, NULL, NULL, on_request, s, MHD_OPTION_SOCK_ADDR, &at,
        MHD_OPTION_NOTIFY_COMPLETED, on_over, s, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    if (!s->daemon) {
        fprintf(stderr, "acraft serve: port %lld of %s cannot be had\n", (long long)s->spec->port,
                s->spec->bind);
        return false;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    if (!s->port && info) /* nobody knows it before it is printed */
        s->port = info->port;
    return true;
}

/* Those that wait get 503; false: the model is still at an answer, which cannot be broken off. */
static bool stop(Server *s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_SECONDS;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    for (Request *q = s->first; q; q = q->next) {
        serve_error(MHD_HTTP_SERVICE_UNAVAILABLE, "the server is ending", &q->reply);
        q->status = MHD_HTTP_SERVICE_UNAVAILABLE;
        q->done = true;
        MHD_resume_connection(q->connection);
    }
    s->first = NULL;
    pthread_cond_broadcast(&s->change);
    while (!s->idle && pthread_cond_timedwait(&s->change, &s->lock, &until) == 0)
        ;
    bool idle = s->idle;
    pthread_mutex_unlock(&s->lock);
    return idle;
}

int serve_run(const ServeSpec *spec)
{
    Server s = {.spec = spec,
                .started = (int64_t)time(NULL),
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .change = PTHREAD_COND_INITIALIZER};
    sigset_t signals;
    pthread_t model;
    int number;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (!start(&s))
        return CMD_LACKS;
    if (pthread_create(&model, NULL, answer_all, &s) != 0) {
        MHD_stop_daemon(s.daemon);
        fprintf(stderr, "acraft serve: no thread can be started\n");
        return CMD_LACKS;
    }
    fprintf(stderr, "acraft serve: http://%s:%lld/v1\n", spec->bind, (long long)s.port);
    if (!s.loopback)
        fprintf(stderr, "acraft serve: whoever reaches this address may ask\n");
    sigwait(&signals, &number);
    if (!stop(&s)) {
        fflush(NULL);
        _exit(CMD_OK);
    }
    pthread_join(model, NULL);
    MHD_stop_daemon(s.daemon);
    return CMD_OK;
}
