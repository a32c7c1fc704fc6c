/* Inside the client: one request on its way, and the rules for trying again. */
#ifndef GEN_REMOTE_CLIENT_INT_H
#define GEN_REMOTE_CLIENT_INT_H

#include "gen/remote/cassette.h"
#include "gen/remote/client.h"
#include <curl/curl.h>

/* What forked clients have in common; counters are changed atomically. */
typedef struct ClientShared {
    uint64_t requests, tries, failed, replayed, unknown_usage;
    int64_t prompt_tokens, answer_tokens;
    int64_t quiet_till; /* the server asked for rest until then: nanoseconds */
    int64_t last_start; /* of a request */
} ClientShared;

struct Client {
    ClientConfig config;
    char *endpoint;
    struct curl_slist *headers;
    CURLM *multi;
    ClientShared *shared;
    double start; /* of the client, seconds of the monotonic clock */
    Arena arena;
    Cassette recorded; /* what was asked in an earlier run */
};

#define client_add(field, n) ((void)__atomic_add_fetch(&(field), (n), __ATOMIC_RELAXED))
#define client_get(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define client_set(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

typedef enum TransferState { TRANSFER_WAITING, TRANSFER_RUNNING, TRANSFER_OVER } TransferState;

typedef struct Transfer {
    Client *client;
    Arena *arena;
    const ChatAsk *ask;
    ChatReply *reply;
    TransferState state;
    CURL *easy;
    Buf request, body; /* body: of a reply that is no stream */
    WireStream stream;
    bool streamed, too_long;
    size_t bytes;
    double due, began, first; /* not before; this try; the first try */
    double retry_after;       /* seconds the server asked for; below 0: it did not */
    uint32_t tries;
    char curl_error[CURL_ERROR_SIZE];
} Transfer;

double client_now(void);

/* transfer.c */
bool transfer_open(Transfer *t, Client *client, Arena *arena, const ChatAsk *ask, ChatReply *reply,
                   Diag *diag);
bool transfer_start(Transfer *t);
/* After curl is done with it: over, or waiting for another try. */
void transfer_finish(Transfer *t, CURLcode code);
void transfer_stop(Transfer *t, const char *why); /* over, failed for good */
void transfer_close(Transfer *t);

/* retry.c */
typedef enum RetryKind {
    RETRY_NO,    /* a bad request: repeating it would fail again */
    RETRY_FINAL, /* and so would any other: the key, the address */
    RETRY_LATER, /* a passing failure */
} RetryKind;
RetryKind retry_http(long status);
RetryKind retry_curl(CURLcode code);
/* Seconds that a Retry-After header asks for; below 0: it does not say. */
double retry_after_header(Str line);
/* `chance` in [0, 1) spreads those that failed together. */
double retry_backoff(double first, uint32_t tries, double chance);

#endif
