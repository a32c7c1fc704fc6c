/* A server's answer: anything may come. The first byte says how it is read; streams are fed in two
 * pieces and must give the same choices as in one. */
#include "gen/remote/wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_stream(Arena *arena, Str text, size_t at, ChatReply *reply)
{
    WireStream s = wire_stream(arena);
    if (wire_stream_feed(&s, str_slice(text, 0, at)))
        wire_stream_feed(&s, str_slice(text, at, text.len));
    wire_stream_reply(&s, reply);
    wire_stream_free(&s);
}

static void demand_same(const ChatReply *a, const ChatReply *b)
{
    if (a->choices.len != b->choices.len)
        abort();
    for (uint32_t i = 0; i < a->choices.len; i++)
        if (!str_equal(a->choices.at[i].text, b->choices.at[i].text) ||
            a->choices.at[i].end != b->choices.at[i].end)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena arena = {0};
    ChatReply whole = {0}, parted = {0};
    const char *error;
    if (!size)
        return 0;
    Str text = {(const char *)bytes + 1, size - 1};
    if (bytes[0] % 4 == 0) {
        wire_reply(&arena, text, &whole, &error);
        wire_error_text(&arena, text);
    } else {
        read_stream(&arena, text, 0, &whole);
        read_stream(&arena, text, bytes[0] * text.len / 256, &parted);
        demand_same(&whole, &parted);
    }
    arena_drop(&arena);
    return 0;
}
