/* Answers from a recording instead of a server. */
#include "gen/remote/cassette.h"
#include "gen/remote/client.h"

typedef struct Replay {
    Cassette cassette;
    WireParams params;
    const char *path;
} Replay;

static bool replay_one(Replay *r, Arena *arena, const ChatAsk *ask, ChatReply *reply, Diag *diag)
{
    Buf body = {0};
    bool ok = wire_request_for(&r->params, ask, &body, diag);
    const ChatReply *found = ok ? cassette_find(&r->cassette, ask, buf_view(&body)) : NULL;
    buf_free(&body);
    *reply = found ? *found : (ChatReply){.usage = {-1, -1, -1}, .model = "", .error = ""};
    reply->ours = !found;
    if (!found)
        reply->error = str_format(arena,
                                  "%s has no answer to this request (task %s, sample %u, turn %u): "
                                  "the prompt or the settings differ from when it was recorded",
                                  r->path, ask->task, ask->sample, ask->turn);
    return ok;
}

static bool replay_ask(void *self, Arena *arena, const ChatAsk *asks, uint32_t count,
                       ChatReply *replies, Diag *diag)
{
    for (uint32_t i = 0; i < count; i++)
        if (!replay_one(self, arena, &asks[i], &replies[i], diag))
            return false;
    return true;
}

bool replay_open(Arena *arena, const char *path, const WireParams *params, Generator *generator,
                 Diag *diag)
{
    Replay *r = arena_new(arena, Replay);
    r->params = *params;
    r->path = path;
    if (!cassette_read(arena, path, &r->cassette, diag))
        return false;
    *generator = (Generator){
        .name = str_format(arena, "replay %s", params->model), .self = r, .ask = replay_ask};
    return true;
}
