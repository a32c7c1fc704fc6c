/* Recordings of exchanges: JSON Lines, one object for each answered request.
 *
 *     {"request": {...}, "task": "relu", "sample": 0, "turn": 0, "reply": {...}}
 *
 * The key and the address are not in it. */
#ifndef GEN_REMOTE_CASSETTE_H
#define GEN_REMOTE_CASSETTE_H

#include "gen/remote/wire.h"

/* Can the file be added to? It exists afterwards. */
bool cassette_check(const char *path, Diag *diag);
/* Added as one write under a lock, so that several processes can share the file. */
bool cassette_add(const char *path, const ChatAsk *ask, Str request, const ChatReply *reply,
                  Diag *diag);

typedef struct CassetteEntry {
    const char *task;
    uint32_t sample, turn;
    char request[65]; /* hash of the body */
    ChatReply reply;
} CassetteEntry;

typedef VEC(CassetteEntry) Cassette;

bool cassette_read(Arena *arena, const char *path, Cassette *cassette, Diag *diag);
/* NULL: not recorded. */
const ChatReply *cassette_find(const Cassette *cassette, const ChatAsk *ask, Str request);

#endif
