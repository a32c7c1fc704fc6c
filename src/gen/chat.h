/* One exchange with a model as plain data: what is asked, what came back. */
#ifndef GEN_CHAT_H
#define GEN_CHAT_H

#include "base/diag.h"

typedef enum ChatRole { CHAT_SYSTEM, CHAT_USER, CHAT_ASSISTANT } ChatRole;

typedef struct ChatMessage {
    ChatRole role;
    Str text;
} ChatMessage;

typedef VEC(ChatMessage) ChatMessages;

const char *chat_role_text(ChatRole role);
/* [{"role": "user", "content": "..."}, ...] */
void chat_messages_json(const ChatMessages *messages, Buf *out);

typedef enum ChatEnd {
    CHAT_STOPPED, /* the model came to its end */
    CHAT_CUT,     /* it ran into the limit of tokens, or the stream broke off */
    CHAT_FAILED,  /* nothing usable came; `error` says why */
} ChatEnd;

typedef struct ChatChoice {
    Str text, reasoning;
    ChatEnd end;
} ChatChoice;

/* -1: the server did not say. */
typedef struct ChatUsage {
    int64_t prompt, completion, reasoning;
} ChatUsage;

typedef struct ChatReply {
    VEC(ChatChoice) choices; /* one at least unless it failed */
    ChatUsage usage;
    const char *model; /* as the server names itself; "": it does not */
    const char *error; /* "": none */
    bool final;        /* failed for good: the key, the address, the budget; asking on is useless */
    bool ours;         /* it failed by the server, the network or a budget: not the model's doing */
    uint32_t tries;
    double seconds;
} ChatReply;

/* One question; several are asked at once. */
typedef struct ChatAsk {
    ChatMessages messages;
    const char *task; /* for messages and recordings */
    uint32_t sample, turn;
    Str task_text;   /* the task as it was given, for programs */
    Str diagnostics; /* what is wrong with the last answer, as JSON, for programs; empty at first */
} ChatAsk;

/* Whoever answers: a server, a recording, a program. */
typedef struct Generator {
    const char *name; /* "remote qwen3-32b" */
    void *self;
    /* Fills one reply for each ask; false, with the reason in `diag`, when further requests are useless. */
    bool (*ask)(void *self, Arena *arena, const ChatAsk *asks, uint32_t count, ChatReply *replies,
                Diag *diag);
    void (*close)(void *self);
} Generator;

#endif
