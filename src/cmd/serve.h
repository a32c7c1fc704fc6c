/* acraft serve: what a request of OpenAI's protocol asks, and how it is answered. */
#ifndef CMD_SERVE_H
#define CMD_SERVE_H

#include "gen/local/local.h"

enum {
    SERVE_MOST_BODY = 4 << 20,
    SERVE_MOST_MESSAGES = 256,
    SERVE_MOST_CHOICES = 16,
    SERVE_MOST_STOPS = 4,
};

typedef enum ServeRoute { SERVE_CHAT, SERVE_COMPLETION } ServeRoute;

typedef struct ServeAsk {
    ServeRoute route;
    ChatMessages messages;
    LocalSampling sampling;
    uint32_t choices;
    Str stop[SERVE_MOST_STOPS];
    uint32_t stops;
    bool stream, usage; /* usage: an event of its own at the end of the stream */
} ServeAsk;

/* serve_wire.c */
/* Reads a body; false: it is refused, and *why says so. */
bool serve_read(Arena *arena, ServeRoute route, Str body, ServeAsk *ask, const char **why);
/* {"error": {...}}, as OpenAI's servers refuse. */
void serve_error(unsigned status, const char *why, Buf *out);
typedef struct ServeAnswer {
    const ServeAsk *ask;
    const ChatReply *replies; /* one for each choice */
    uint64_t number;          /* of the request */
    int64_t created;          /* seconds since 1970 */
    const char *model;
} ServeAnswer;
/* One document, or the events of a stream. */
void serve_answer(const ServeAnswer *answer, Buf *out);
void serve_models(const char *model, int64_t created, Buf *out);

/* Answers requests until a signal ends it, then returns an exit status (serve.c). */
typedef struct ServeSpec {
    const char *bind, *model;
    int64_t port;
    uint32_t queue; /* requests that may wait */
    Generator *generator;
} ServeSpec;
int serve_run(const ServeSpec *spec);

#endif
