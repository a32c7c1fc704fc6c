/* One request on its way: sent with curl, its answer taken in as it comes, judged when it ends. */
#include "gen/remote/client_int.h"

#include "base/rng.h"
#include <string.h>

/* The answer may be this much longer than its text: the frame around each streamed token. */
enum { FRAME = 64 };

static size_t answer_limit(const Client *c) { return c->config.answer_bytes; }

static size_t on_header(char *bytes, size_t size, size_t count, void *context)
{
    Transfer *t = context;
    Str line = str_trim((Str){bytes, size * count});
    double after = retry_after_header(line);
    if (after >= 0)
        t->retry_after = after;
    if (line.len > 13 && !strncasecmp(line.at, "content-type:", 13))
        t->streamed = str_find(line, STR("text/event-stream")) >= 0;
    return size * count;
}

static size_t text_length(const Transfer *t)
{
    size_t sum = t->body.len + t->stream.line.len + t->stream.data.len;
    for (uint32_t i = 0; i < t->stream.text.len; i++)
        sum += t->stream.text.at[i].len + t->stream.reasoning.at[i].len;
    return sum;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
    Transfer *t = context;
    Str piece = {bytes, size * count};
    t->bytes += piece.len;
    long status = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    if (t->streamed && status == 200)
        wire_stream_feed(&t->stream, piece);
    else
        buf_str(&t->body, piece);
    t->too_long = text_length(t) > answer_limit(t->client) ||
                  t->bytes / FRAME > answer_limit(t->client);
    return t->too_long || t->stream.error ? 0 : piece.len;
}

static void set_options(Transfer *t)
{
    const ClientConfig *c = &t->client->config;
    CURL *e = t->easy;
    curl_easy_setopt(e, CURLOPT_URL, t->client->endpoint);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, t->client->headers);
    curl_easy_setopt(e, CURLOPT_POSTFIELDS, t->request.at);
    curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->request.len);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(e, CURLOPT_PRIVATE, t);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->curl_error);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "");
    /* A redirect could carry the key elsewhere. */
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, 20L);
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)(c->request_seconds * 1000));
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)(c->idle_seconds + 0.999));
}

bool transfer_open(Transfer *t, Client *client, Arena *arena, const ChatAsk *ask, ChatReply *reply,
                   Diag *diag)
{
    *t = (Transfer){.client = client, .arena = arena, .ask = ask, .reply = reply};
    *reply = (ChatReply){.usage = {-1, -1, -1}, .model = "", .error = ""};
    t->stream = wire_stream(arena);
    t->first = client_now();
    return wire_request_for(&client->config.params, ask, &t->request, diag);
}

bool transfer_start(Transfer *t)
{
    wire_stream_free(&t->stream);
    t->stream = wire_stream(t->arena);
    buf_clear(&t->body);
    t->streamed = t->too_long = false;
    t->bytes = 0;
    t->retry_after = -1;
    t->curl_error[0] = 0;
    t->began = client_now();
    t->tries++;
    t->easy = curl_easy_init();
    if (!t->easy)
        return false;
    set_options(t);
    t->state = TRANSFER_RUNNING;
    return curl_multi_add_handle(t->client->multi, t->easy) == CURLM_OK;
}

/* ---- the end of a try ---- */

/* A server may repeat the key it was sent; nothing of it may reach a log, a store, a recording. */
static Str without_key(const Transfer *t, Str text)
{
    Str key = str_from(t->client->config.key ? t->client->config.key : "");
    ptrdiff_t found;
    if (!key.len || str_find(text, key) < 0)
        return text;
    char *copy = str_dup(t->arena, text);
    Str out = {copy, text.len};
    while ((found = str_find(out, key)) >= 0)
        memset(copy + found, '*', key.len);
    return out;
}

static void forget_key(const Transfer *t, ChatReply *reply)
{
    for (uint32_t i = 0; i < reply->choices.len; i++) {
        ChatChoice *c = &reply->choices.at[i];
        c->text = without_key(t, c->text);
        c->reasoning = without_key(t, c->reasoning);
    }
    reply->model = without_key(t, str_from(reply->model ? reply->model : "")).at;
}

static void fail_transfer(Transfer *t, RetryKind kind, const char *why)
{
    Client *c = t->client;
    t->reply->error = without_key(t, str_from(why)).at;
    if (kind == RETRY_LATER && t->tries < c->config.tries) {
        double chance = rng_uniform(c->config.seed, 1, client_get(c->shared->tries));
        double wait = retry_backoff(c->config.backoff_seconds, t->tries, chance);
        if (t->retry_after >= 0)
            wait = t->retry_after;
        t->due = client_now() + wait;
        if (t->retry_after >= 0 && t->due * 1e9 > (double)client_get(c->shared->quiet_till))
            client_set(c->shared->quiet_till, (int64_t)(t->due * 1e9));
        t->state = TRANSFER_WAITING;
        return;
    }
    t->reply->final = kind == RETRY_FINAL;
    t->reply->ours = !t->too_long;
    t->state = TRANSFER_OVER;
}

void transfer_stop(Transfer *t, const char *why)
{
    if (t->easy)
        transfer_close(t);
    t->reply->error = why;
    t->reply->final = t->reply->ours = true;
    t->state = TRANSFER_OVER;
}

static void take_reply(Transfer *t, bool broken)
{
    const char *error = NULL;
    t->reply->choices.len = 0;
    if (t->streamed) {
        wire_stream_reply(&t->stream, t->reply);
        error = t->stream.error;
    } else if (!broken) {
        wire_reply(t->arena, buf_view(&t->body), t->reply, &error);
    }
    if (!error && !t->reply->choices.len)
        error = broken ? "the connection broke off before anything came" : "the answer is empty";
    if (error) {
        fail_transfer(t, RETRY_LATER, error);
        return;
    }
    forget_key(t, t->reply);
    t->reply->error = "";
    t->state = TRANSFER_OVER;
}

static const char *http_error(Transfer *t, long status)
{
    const char *said = wire_error_text(t->arena, buf_view(&t->body));
    return str_format(t->arena, "the server answered %ld%s%s", status, said[0] ? ": " : "", said);
}

/* An answer whose stream stopped half-way is worth another try, but not nothing. */
static bool worth_keeping(const Transfer *t)
{
    return t->streamed && t->stream.text.len && t->tries >= t->client->config.tries;
}

static void judge(Transfer *t, CURLcode code, long status)
{
    if (t->too_long)
        fail_transfer(
            t, RETRY_NO,
            str_format(t->arena, "the answer is longer than %zu bytes", answer_limit(t->client)));
    else if (t->stream.error)
        fail_transfer(t, RETRY_LATER, t->stream.error);
    else if (code != CURLE_OK && worth_keeping(t))
        take_reply(t, true);
    else if (code != CURLE_OK)
        fail_transfer(t, retry_curl(code),
                      str_dup(t->arena, str_from(t->curl_error[0] ? t->curl_error
                                                                  : curl_easy_strerror(code))));
    else if (status != 200)
        fail_transfer(t, retry_http(status), http_error(t, status));
    else
        take_reply(t, false);
}

void transfer_finish(Transfer *t, CURLcode code)
{
    long status = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    transfer_close(t);
    judge(t, code, status);
    t->reply->tries = t->tries;
    t->reply->seconds = client_now() - t->first;
}

void transfer_close(Transfer *t)
{
    if (t->easy) {
        curl_multi_remove_handle(t->client->multi, t->easy);
        curl_easy_cleanup(t->easy);
        t->easy = NULL;
    }
}
