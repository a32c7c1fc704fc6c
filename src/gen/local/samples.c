/* Answers that were drawn elsewhere. In: a file of rows, each a question and an answer to it. Out: the k-th
 * answer to a question. */
#include "gen/local/local_int.h"

#include "base/map.h"
#include "gen/prompt/prompt.h"

typedef struct Samples {
    ExampleList rows;
    Map first;      /* by question: the place of its first answer, plus 1 */
    uint32_t *next; /* the next sample of the same question; 0: none */
} Samples;

static bool ask(void *self, Arena *arena, const ChatAsk *asks, uint32_t count, ChatReply *replies,
                Diag *diag)
{
    const Samples *r = self;
    (void)diag;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        map_get(&r->first, prompt_rows_of(arena, &asks[i].messages), &at);
        for (uint32_t k = 0; at && k < asks[i].sample; k++)
            at = r->next[at];
        if (at)
            replies[i] = example_reply(arena, r->rows.at[at - 1].answer, false);
        else
            replies[i] = (ChatReply){.usage = {-1, -1, -1},
                                     .model = "",
                                     .error = "the file has no further answer to this question",
                                     .tries = 1};
    }
    return true;
}

bool samples_open(Arena *arena, const BaselineSpec *spec, Generator *out, Diag *diag)
{
    Samples *r = arena_new(arena, Samples);
    *r = (Samples){0};
    if (!examples_read(arena, spec->rows, &r->rows, diag))
        return false;
    r->next = arena_array(arena, uint32_t, r->rows.len + 1);
    for (uint32_t i = r->rows.len; i-- > 0;) { /* backwards: chains are in the file's order */
        uint32_t after = 0;
        map_get(&r->first, r->rows.at[i].prompt, &after);
        r->next[i + 1] = after;
        map_put(arena, &r->first, r->rows.at[i].prompt, i + 1);
    }
    *out = (Generator){.name = "samples of a file", .self = r, .ask = ask};
    return true;
}
