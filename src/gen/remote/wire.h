/* The OpenAI chat protocol as text: requests written, replies and stream events read.
 *
 * Replies are foreign bytes: anything malformed is an error with a sentence, never trusted. */
#ifndef GEN_REMOTE_WIRE_H
#define GEN_REMOTE_WIRE_H

#include "gen/chat.h"

typedef enum WireApi {
    WIRE_CHAT,        /* POST URL/chat/completions */
    WIRE_COMPLETIONS, /* POST URL/completions, messages framed as ChatML */
} WireApi;

/* NaN and -1: not sent, the server's own default. */
typedef struct WireParams {
    WireApi api;
    const char *model;
    double temperature, top_p;
    int64_t max_tokens, seed, n;
    VEC(const char *) stop;
    Str extra; /* a JSON object whose fields are added to the body; empty: none */
    bool stream;
    bool think; /* completions: end the frame inside an opened think tag */
} WireParams;

WireParams wire_params(const char *model);
/* The body, keys in a fixed order. False when `extra` is no JSON object. */
bool wire_request(const WireParams *params, const ChatMessages *messages, Buf *body, Diag *diag);

/* Writes the request for one question; samples get seeds of their own. */
bool wire_request_for(const WireParams *params, const ChatAsk *ask, Buf *body, Diag *diag);

/* A whole answer that was not streamed. */
bool wire_reply(Arena *arena, Str body, ChatReply *reply, const char **error);
/* What a server says when it refuses: its error message, or the first line of the body. */
const char *wire_error_text(Arena *arena, Str body);

/* A stream of server-sent events, fed as bytes come. */
typedef struct WireStream {
    Arena *arena;
    Buf line, data; /* of the event being read */
    VEC(Buf) text, reasoning;
    VEC(uint8_t) ends; /* ChatEnd + 1; 0: still open */
    ChatUsage usage;
    const char *model, *error;
    bool done;
} WireStream;

WireStream wire_stream(Arena *arena);
/* False: an event was malformed or an error; stream->error says so. */
bool wire_stream_feed(WireStream *stream, Str bytes);
/* What came; choices that never ended are CHAT_CUT. */
void wire_stream_reply(WireStream *stream, ChatReply *reply);
void wire_stream_free(WireStream *stream);

#endif
