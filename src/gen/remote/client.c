/* Several requests at once: which may start, which wait, what is spent. */
#include "gen/remote/client.h"

#include "base/file.h"
#include "gen/remote/client_int.h"
#include <string.h>
#include <sys/mman.h>
#include <time.h>

double client_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- opening ---- */

static void set_defaults(ClientConfig *c)
{
    c->parallel = c->parallel ? c->parallel : 8;
    c->tries = c->tries ? c->tries : 6;
    c->request_seconds = c->request_seconds > 0 ? c->request_seconds : 600;
    c->idle_seconds = c->idle_seconds > 0 ? c->idle_seconds : 120;
    c->answer_bytes = c->answer_bytes ? c->answer_bytes : 8u << 20;
    c->backoff_seconds = c->backoff_seconds > 0 ? c->backoff_seconds : 1;
}

static bool key_is_clean(const char *key)
{
    for (const char *k = key; k && *k; k++)
        if (*k < 33 || *k > 126)
            return false;
    return true;
}

/* "http://name:word@host/" */
static bool names_user(Str url)
{
    Str host = str_slice(url, (size_t)str_find(url, STR("//")) + 2, url.len);
    ptrdiff_t slash = str_find(host, STR("/"));
    return str_find(slash < 0 ? host : str_slice(host, 0, (size_t)slash), STR("@")) >= 0;
}

static bool settings_ok(const ClientConfig *c, Diag *diag)
{
    Str url = str_from(c->url);
    if (!str_starts(url, "http://") && !str_starts(url, "https://")) {
        diag_error(diag, "M004", (Span){0}, "'%s' is no address of a server", c->url ? c->url : "");
        diag_hint(diag, "for example --url http://localhost:8000/v1");
        return false;
    }
    if (names_user(url)) {
        diag_error(diag, "M004", (Span){0}, "the address holds a user name or password");
        diag_hint(diag, "give the key apart: it would show in every message about the address");
        return false;
    }
    if (!c->params.model || !c->params.model[0]) {
        diag_error(diag, "M005", (Span){0}, "no model is named");
        diag_hint(diag, "--model NAME, as the server lists it under /models");
        return false;
    }
    if (!key_is_clean(c->key)) {
        diag_error(diag, "M006", (Span){0}, "the key holds a character that no key has");
        diag_hint(diag, "look for a space or a line break at its end");
        return false;
    }
    return true;
}

/* "http://host/v1" + "/chat/completions"; an address that already names it stays. */
static char *endpoint_of(const ClientConfig *c)
{
    const char *path = c->params.api == WIRE_CHAT ? "/chat/completions" : "/completions";
    Str url = str_from(c->url);
    while (url.len && url.at[url.len - 1] == '/')
        url.len--;
    char *endpoint = heap_alloc(url.len + strlen(path) + 1);
    memcpy(endpoint, url.at, url.len);
    if (!str_ends(url, path))
        memcpy(endpoint + url.len, path, strlen(path));
    return endpoint;
}

static struct curl_slist *headers_of(const ClientConfig *c)
{
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    list = curl_slist_append(list, "Accept: text/event-stream, application/json");
    if (c->key && c->key[0]) {
        Buf line = {0};
        buf_printf(&line, "Authorization: Bearer %s", c->key);
        list = curl_slist_append(list, line.at);
        memset(line.at, 0, line.len);
        buf_free(&line);
    }
    return list;
}

Client *client_open(const ClientConfig *config, Diag *diag)
{
    if (!settings_ok(config, diag))
        return NULL;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    Client *c = heap_alloc(sizeof *c);
    c->config = *config;
    set_defaults(&c->config);
    c->endpoint = endpoint_of(config);
    c->headers = headers_of(config);
    c->multi = curl_multi_init();
    c->start = client_now();
    c->shared = mmap(NULL, sizeof *c->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0);
    if (c->shared == MAP_FAILED)
        panic("no page to share");
    if (config->record && (!cassette_check(config->record, diag) ||
                           !cassette_read(&c->arena, config->record, &c->recorded, diag))) {
        client_close(c);
        return NULL;
    }
    return c;
}

void client_close(Client *c)
{
    if (!c)
        return;
    curl_multi_cleanup(c->multi);
    curl_slist_free_all(c->headers);
    munmap(c->shared, sizeof *c->shared);
    arena_drop(&c->arena);
    heap_free(c->endpoint);
    heap_free(c);
    curl_global_cleanup();
}

uint32_t client_parallel(const Client *client) { return client->config.parallel; }

/* ---- what is spent ---- */

ClientTotals client_totals(const Client *c)
{
    const ClientShared *s = c->shared;
    ClientTotals t = {.requests = client_get(s->requests),
                      .tries = client_get(s->tries),
                      .failed = client_get(s->failed),
                      .replayed = client_get(s->replayed),
                      .unknown_usage = client_get(s->unknown_usage),
                      .prompt_tokens = client_get(s->prompt_tokens),
                      .answer_tokens = client_get(s->answer_tokens),
                      .seconds = client_now() - c->start};
    t.cost = (double)t.prompt_tokens * c->config.price_prompt / 1e6 +
             (double)t.answer_tokens * c->config.price_answer / 1e6;
    return t;
}

static void count_reply(Client *c, const ChatReply *r)
{
    ClientShared *s = c->shared;
    client_add(s->requests, 1);
    client_add(s->failed, r->error[0] != 0);
    if (r->usage.prompt < 0 || r->usage.completion < 0) {
        client_add(s->unknown_usage, !r->error[0]);
        return;
    }
    client_add(s->prompt_tokens, r->usage.prompt);
    client_add(s->answer_tokens, r->usage.completion);
}

static const char *spent(const Client *c)
{
    const ClientConfig *g = &c->config;
    ClientTotals t = client_totals(c);
    if (g->budget_seconds > 0 && t.seconds >= g->budget_seconds)
        return "the time budget is spent";
    if (g->budget_tokens > 0 && t.prompt_tokens + t.answer_tokens >= g->budget_tokens)
        return "the token budget is spent";
    if (g->budget_cost > 0 && t.cost >= g->budget_cost)
        return "the cost budget is spent";
    return NULL;
}

/* ---- the loop ---- */

typedef struct Batch {
    Client *client;
    Transfer *all;
    uint32_t count, running, over;
    Diag *diag;
    bool ok;
} Batch;

static double earliest(const Client *c, const Transfer *t)
{
    double quiet = (double)client_get(c->shared->quiet_till) * 1e-9;
    double last = (double)client_get(c->shared->last_start) * 1e-9;
    double next = c->config.requests_per_minute > 0 ? last + 60 / c->config.requests_per_minute : 0;
    double due = t->due > quiet ? t->due : quiet;
    return due > next ? due : next;
}

static void settle(Batch *b, Transfer *t)
{
    if (t->state != TRANSFER_OVER)
        return;
    Client *c = b->client;
    b->over++;
    count_reply(c, t->reply);
    if (!t->reply->error[0] && c->config.record)
        b->ok &= cassette_add(c->config.record, t->ask, buf_view(&t->request), t->reply, b->diag);
}

/* Starts what is due; returns the seconds until something else will be. */
static double start_due(Batch *b)
{
    double wait = 1, now = client_now();
    const char *over_budget = spent(b->client);
    for (uint32_t i = 0; i < b->count; i++) {
        Transfer *t = &b->all[i];
        if (t->state == TRANSFER_WAITING && over_budget) {
            transfer_stop(t, over_budget);
            settle(b, t);
        }
        if (t->state != TRANSFER_WAITING || b->running >= b->client->config.parallel)
            continue;
        double due = earliest(b->client, t);
        if (due > now) {
            wait = due - now < wait ? due - now : wait;
            continue;
        }
        client_set(b->client->shared->last_start, (int64_t)(now * 1e9));
        client_add(b->client->shared->tries, 1);
        if (transfer_start(t)) {
            b->running++;
        } else {
            transfer_stop(t, "curl could not start the request");
            settle(b, t);
        }
    }
    return wait;
}

static void collect(Batch *b)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(b->client->multi, &left))) {
        if (message->msg != CURLMSG_DONE)
            continue;
        Transfer *t = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        transfer_finish(t, message->data.result);
        b->running--;
        settle(b, t);
    }
}

static void stop_late(Batch *b)
{
    const ClientConfig *g = &b->client->config;
    if (!(g->budget_seconds > 0) || client_now() - b->client->start < g->budget_seconds)
        return;
    for (uint32_t i = 0; i < b->count; i++) {
        Transfer *t = &b->all[i];
        if (t->state == TRANSFER_OVER)
            continue;
        b->running -= t->state == TRANSFER_RUNNING;
        transfer_stop(t, "the time budget is spent");
        settle(b, t);
    }
}

static void run(Batch *b)
{
    while (b->over < b->count) {
        double wait = start_due(b);
        int still = 0;
        curl_multi_perform(b->client->multi, &still);
        collect(b);
        stop_late(b);
        if (b->over < b->count)
            curl_multi_poll(b->client->multi, NULL, 0, (int)(wait * 1000) + 1, NULL);
    }
}

static bool asked_before(Transfer *t)
{
    Client *c = t->client;
    const ChatReply *old = cassette_find(&c->recorded, t->ask, buf_view(&t->request));
    if (!old)
        return false;
    *t->reply = *old;
    t->state = TRANSFER_OVER;
    client_add(c->shared->replayed, 1);
    return true;
}

static bool ask(void *self, Arena *arena, const ChatAsk *asks, uint32_t count, ChatReply *replies,
                Diag *diag)
{
    Batch b = {.client = self, .count = count, .diag = diag, .ok = true};
    b.all = arena_array(arena, Transfer, count + 1);
    for (uint32_t i = 0; i < count && b.ok; i++) {
        b.ok = transfer_open(&b.all[i], self, arena, &asks[i], &replies[i], diag);
        b.over += b.ok && asked_before(&b.all[i]);
    }
    if (b.ok)
        run(&b);
    const char *final = NULL;
    for (uint32_t i = 0; i < count; i++) {
        final = replies[i].final && !final ? replies[i].error : final;
        wire_stream_free(&b.all[i].stream);
        buf_free(&b.all[i].request);
        buf_free(&b.all[i].body);
    }
    if (final)
        diag_error(diag, "M007", (Span){0}, "%s: %s", b.client->endpoint, final);
    return b.ok && !final;
}

Generator client_generator(Client *client)
{
    return (Generator){.name = client->config.params.model, .self = client, .ask = ask};
}
