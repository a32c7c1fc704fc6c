/* Several requests at once: which may start, which wait, what is spent. */
#include "gen/remote/client.h"

#include "gen/remote/cassette.h"
#include "gen/remote/client_int.h"
#include <string.h>
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
    c->last_start = -1e9;
    return c;
}

void client_close(Client *c)
{
    if (!c)
        return;
    curl_multi_cleanup(c->multi);
    curl_slist_free_all(c->headers);
    heap_free(c->endpoint);
    heap_free(c);
    curl_global_cleanup();
}

const ClientTotals *client_totals(const Client *client) { return &client->totals; }

/* ---- what is spent ---- */

static void count_reply(Client *c, const ChatReply *r)
{
    c->totals.requests++;
    c->totals.failed += r->error[0] != 0;
    c->totals.seconds = client_now() - c->start;
    if (r->usage.prompt < 0 || r->usage.completion < 0) {
        c->totals.unknown_usage += !r->error[0];
        return;
    }
    c->totals.prompt_tokens += r->usage.prompt;
    c->totals.answer_tokens += r->usage.completion;
    c->totals.cost += (double)r->usage.prompt * c->config.price_prompt / 1e6 +
                      (double)r->usage.completion * c->config.price_answer / 1e6;
}

static const char *spent(const Client *c)
{
    const ClientConfig *g = &c->config;
    if (g->budget_seconds > 0 && client_now() - c->start >= g->budget_seconds)
        return "the time budget is spent";
    if (g->budget_tokens > 0 &&
        c->totals.prompt_tokens + c->totals.answer_tokens >= g->budget_tokens)
        return "the token budget is spent";
    if (g->budget_cost > 0 && c->totals.cost >= g->budget_cost)
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
    double due = t->due > c->quiet_till ? t->due : c->quiet_till;
    double gap = c->config.requests_per_minute > 0 ? 60 / c->config.requests_per_minute : 0;
    return due > c->last_start + gap ? due : c->last_start + gap;
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
        b->client->last_start = now;
        b->client->totals.tries++;
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

static bool ask(void *self, Arena *arena, const ChatAsk *asks, uint32_t count, ChatReply *replies,
                Diag *diag)
{
    Batch b = {.client = self, .count = count, .diag = diag, .ok = true};
    b.all = arena_array(arena, Transfer, count + 1);
    for (uint32_t i = 0; i < count && b.ok; i++)
        b.ok = transfer_open(&b.all[i], self, arena, &asks[i], &replies[i], diag);
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
