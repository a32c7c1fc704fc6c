/* A client of any OpenAI-compatible server: several requests at once, streamed, tried again where
 * that can help, within budgets. The key goes into one header and nowhere else. */
#ifndef GEN_REMOTE_CLIENT_H
#define GEN_REMOTE_CLIENT_H

#include "gen/remote/wire.h"

typedef struct ClientConfig {
    const char *url; /* "http://localhost:8000/v1" */
    const char *key; /* NULL: none */
    WireParams params;
    uint32_t parallel;                 /* requests at once; 0: 8 */
    uint32_t tries;                    /* 0: 6 */
    double request_seconds;            /* for one try; 0: 600 */
    double idle_seconds;               /* without a byte; 0: 120 */
    size_t answer_bytes;               /* longest answer taken; 0: 8 MiB */
    double backoff_seconds;            /* first wait before another try, then doubled; 0: 1 */
    double requests_per_minute;        /* 0: no limit of ours */
    double budget_seconds;             /* for everything; 0: no limit */
    int64_t budget_tokens;             /* both ways; 0: no limit */
    double budget_cost;                /* in the currency of the prices; 0: no limit */
    double price_prompt, price_answer; /* per million tokens */
    uint64_t seed;                     /* of the jitter */
    /* File that gets every exchange; NULL: none. What it holds already is not asked again, so that
     * an interrupted run goes on where it was. */
    const char *record;
} ClientConfig;

typedef struct ClientTotals {
    uint64_t requests, tries, failed, replayed;
    int64_t prompt_tokens, answer_tokens;
    uint64_t unknown_usage; /* replies whose tokens the server did not count */
    double cost, seconds;
} ClientTotals;

/* A client may be opened before processes are forked: they share totals, budgets and the rests
 * that a server asks for. */
typedef struct Client Client;

/* NULL with a diagnostic when the address or the settings cannot be right. */
Client *client_open(const ClientConfig *config, Diag *diag);
void client_close(Client *client);
Generator client_generator(Client *client);
ClientTotals client_totals(const Client *client);
uint32_t client_parallel(const Client *client); /* requests at once */

/* Reads a recording and answers from it: the same request, sample and turn, or an error that names
 * what is missing. */
bool replay_open(Arena *arena, const char *path, const WireParams *params, Generator *generator,
                 Diag *diag);

#endif
