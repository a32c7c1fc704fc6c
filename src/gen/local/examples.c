/* Questions and answers of training rows, for the baselines. */
#include "gen/local/local_int.h"

#include "base/file.h"
#include <jansson.h>
#include <string.h>

static Str content_of(Arena *arena, const json_t *row, size_t at)
{
    const json_t *text = json_object_get(json_array_get(json_object_get(row, "messages"), at),
                                         "content");
    return json_is_string(text)
               ? str_copy(arena, (Str){json_string_value(text), json_string_length(text)})
               : (Str){0};
}

bool examples_read(Arena *arena, const char *path, ExampleList *list, Diag *diag)
{
    Str rest, line;
    if (!file_read(arena, path, 0, &rest, diag))
        return false;
    for (uint32_t number = 1; str_next(&rest, '\n', &line); number++) {
        json_t *row = json_loadb(line.at, line.len, 0, NULL);
        const char *kind = json_string_value(json_object_get(row, "kind"));
        Example e = {content_of(arena, row, 0), content_of(arena, row, 1)};
        if (kind && !strcmp(kind, "write") && e.prompt.len && e.answer.len)
            vec_push(arena, list, e);
        json_decref(row);
        if (!row && line.len) {
            diag_error(diag, "N005", (Span){0}, "%s:%u: no JSON", path, number);
            return false;
        }
    }
    if (!list->len)
        diag_error(diag, "N005", (Span){0}, "'%s' has no row to write", path);
    return list->len > 0;
}

ChatReply example_reply(Arena *arena, Str text, bool cut)
{
    ChatReply reply = {.usage = {-1, -1, -1}, .model = "", .error = "", .tries = 1};
    ChatChoice choice = {.text = text, .end = cut ? CHAT_CUT : CHAT_STOPPED};
    vec_push(arena, &reply.choices, choice);
    return reply;
}
