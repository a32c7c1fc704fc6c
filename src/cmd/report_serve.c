/* The report over HTTP, on 127.0.0.1, while a bench fills the store.
 *
 *     GET /            the page, made anew when the store has grown
 *     GET /state       {"attempts": N, "finished": M}: what the page polls
 *     GET /attempt/ID  one attempt;  GET /blob/HASH  a text;  GET /timeline/HASH  a trace, drawn
 *
 * With training runs instead of a store there is GET / alone, which a browser asks for again by itself.
 *
 * A request that names another host (a page elsewhere whose name was turned to this machine) is
 * refused. One thread of libmicrohttpd does all the work; the main one waits for a signal. */
#include "cmd/report.h"

#include "cmd/cmd.h"
#include "cmd/loopback.h"
#include "loop/bench_pool.h"
#include <arpa/inet.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

typedef struct Server {
    const NameList *training; /* runs whose page is served in the place of a store's; NULL */
    Store *store;
    const ReportAsk *ask;
    int64_t port;
    Buf page;
    uint64_t attempts, finished; /* when the page was made */
    double made, took;           /* seconds */
} Server;

typedef struct Reply {
    unsigned status;
    const char *type;
    bool again; /* the browser shall ask again soon */
    Buf body;
} Reply;

/* ---- the store ---- */

static bool count(Server *s, uint64_t *attempts, uint64_t *finished)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    StoreRuns runs = {0};
    bool ok = store_attempt_count(s->store, &(StoreFilter){0}, attempts, &diag) &&
              store_runs(s->store, &arena, &runs, &diag);
    *finished = 0;
    for (uint32_t i = 0; i < runs.len; i++)
        *finished += runs.at[i].finished != 0;
    arena_drop(&arena);
    return ok;
}

/* A page that took long to make is kept for longer. */
static bool is_fresh(const Server *s, uint64_t attempts, uint64_t finished)
{
    bool same = attempts == s->attempts && finished == s->finished;
    return s->page.len && (same || pool_clock() - s->made < 10 * s->took);
}

static void send_page(Server *s, Reply *r)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, s->ask->store, STR(""));
    uint64_t attempts = 0, finished = 0;
    if (count(s, &attempts, &finished) && !is_fresh(s, attempts, finished)) {
        double start = pool_clock();
        buf_clear(&s->page);
        if (!report_make(s->store, s->ask, &s->page, &diag)) {
            buf_clear(&s->page);
            r->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
            diag_print(&diag, &r->body);
        }
        s->attempts = attempts;
        s->finished = finished;
        s->made = pool_clock();
        s->took = s->made - start;
    }
    if (s->page.len) {
        r->type = "text/html; charset=utf-8";
        buf_str(&r->body, buf_view(&s->page));
    }
    arena_drop(&arena);
}

static void send_training(const Server *s, Reply *r)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    r->again = true;
    if (report_training(s->training, &r->body, &diag)) {
        r->type = "text/html; charset=utf-8";
    } else {
        r->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
        diag_print(&diag, &r->body);
    }
    arena_drop(&arena);
}

static void send_state(Server *s, Reply *r)
{
    uint64_t attempts = 0, finished = 0;
    count(s, &attempts, &finished);
    r->type = "application/json";
    buf_printf(&r->body, "{\"attempts\": %llu, \"finished\": %llu}", (unsigned long long)attempts,
               (unsigned long long)finished);
}

static bool send_attempt(Server *s, Str number, Reply *r)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    int64_t id;
    r->type = "application/json";
    bool ok = str_to_i64(number, &id) && report_attempt(s->store, id, &r->body, &diag);
    arena_drop(&arena);
    return ok;
}

static bool send_blob(Server *s, Str hash, bool timeline, Reply *r)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Str text;
    bool ok = store_blob_get(s->store, &arena, str_dup(&arena, hash), &text, &diag);
    r->type = timeline ? "application/json" : "text/plain; charset=utf-8";
    if (ok && timeline)
        ok = report_timeline(text, &r->body);
    else if (ok)
        buf_str(&r->body, text);
    arena_drop(&arena);
    return ok;
}

/* ---- requests ---- */

static void refuse_request(Reply *r, unsigned status, const char *why)
{
    buf_clear(&r->body);
    r->status = status;
    r->type = "text/plain; charset=utf-8";
    buf_puts(&r->body, why);
}

static void answer(Server *s, const char *url, Reply *r)
{
    Str at = str_from(url);
    bool found = true;
    if (s->training && str_is(at, "/"))
        send_training(s, r);
    else if (s->training)
        found = false;
    else if (str_is(at, "/"))
        send_page(s, r);
    else if (str_is(at, "/state"))
        send_state(s, r);
    else if (str_starts(at, "/attempt/"))
        found = send_attempt(s, str_slice(at, 9, at.len), r);
    else if (str_starts(at, "/blob/"))
        found = send_blob(s, str_slice(at, 6, at.len), false, r);
    else if (str_starts(at, "/timeline/"))
        found = send_blob(s, str_slice(at, 10, at.len), true, r);
    else
        found = false;
    if (!found)
        refuse_request(r, MHD_HTTP_NOT_FOUND, "nothing of that name\n");
}

static enum MHD_Result queue_reply(struct MHD_Connection *connection, const Reply *r)
{
    struct MHD_Response *m = MHD_create_response_from_buffer(
        r->body.len, r->body.at ? r->body.at : (void *)(uintptr_t) "", MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(m, "Content-Type", r->type);
    MHD_add_response_header(m, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(m, "X-Frame-Options", "DENY");
    MHD_add_response_header(m, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(m, "Cache-Control", "no-store");
    if (r->again)
        MHD_add_response_header(m, "Refresh", "5");
    enum MHD_Result result = MHD_queue_response(connection, r->status, m);
    MHD_destroy_response(m);
    return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *size, void **state)
{
    Server *s = context;
    Reply r = {.status = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
    static int seen;
    (void)version;
    (void)upload;
    if (!*state) { /* the headers are there, a body may follow */
        *state = &seen;
        return MHD_YES;
    }
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    if (!loopback_is_ours(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
                          s->port))
        refuse_request(&r, MHD_HTTP_FORBIDDEN, "this server answers for 127.0.0.1 only\n");
    else if (strcmp(method, "GET") && strcmp(method, "HEAD"))
        refuse_request(&r, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    else
        answer(s, url, &r);
    enum MHD_Result result = queue_reply(connection, &r);
    buf_free(&r.body);
    return result;
}

static int serve(Server *s)
{
    int64_t port = s->port;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    sigset_t stop;
    int signal_number;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stop, NULL);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)port, NULL, NULL, on_request, s,
        MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_CONNECTION_LIMIT, 64u, MHD_OPTION_END);
    if (!daemon) {
        fprintf(stderr, "acraft report: port %lld of 127.0.0.1 cannot be had\n", (long long)port);
        return CMD_LACKS;
    }
    fprintf(stderr, "acraft report: http://127.0.0.1:%lld/\n", (long long)port);
    sigwait(&stop, &signal_number);
    MHD_stop_daemon(daemon);
    buf_free(&s->page);
    return CMD_OK;
}

int report_serve(Store *store, const ReportAsk *ask, int64_t port)
{
    Server s = {.store = store, .ask = ask, .port = port};
    return serve(&s);
}

int report_serve_training(const NameList *runs, int64_t port)
{
    Server s = {.training = runs, .port = port};
    return serve(&s);
}
