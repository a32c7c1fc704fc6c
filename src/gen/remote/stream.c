/* A streamed reply: bytes become lines, lines become events, events become choices.
 *
 *     data: {"choices": [{"index": 0, "delta": {"content": "de"}}]}
 *     data: {"choices": [{"index": 0, "delta": {"content": "f"}, "finish_reason": "stop"}]}
 *     data: [DONE]
 */
#include "gen/remote/wire.h"

#include "base/json_mend.h"
#include "gen/remote/wire_int.h"

enum { MOST_CHOICES = 128 };

WireStream wire_stream(Arena *arena)
{
    return (WireStream){.arena = arena, .usage = {-1, -1, -1}, .model = ""};
}

static bool fail_stream(WireStream *s, const char *why)
{
    if (!s->error)
        s->error = why;
    return false;
}

static bool open_choice(WireStream *s, json_int_t index)
{
    if (index < 0 || index >= MOST_CHOICES)
        return fail_stream(s, "an event of the stream names a choice that was not asked for");
    while (s->text.len <= (uint32_t)index) {
        vec_push(s->arena, &s->text, (Buf){0});
        vec_push(s->arena, &s->reasoning, (Buf){0});
        vec_push(s->arena, &s->ends, 0);
    }
    return true;
}

static void add_string(Buf *to, const json_t *value)
{
    if (json_is_string(value))
        buf_add(to, json_string_value(value), json_string_length(value));
}

static bool take_choice(WireStream *s, const json_t *choice)
{
    json_int_t index = json_integer_value(json_object_get(choice, "index"));
    if (!open_choice(s, index))
        return false;
    const json_t *delta = json_object_get(choice, "delta");
    const json_t *finish = json_object_get(choice, "finish_reason");
    add_string(&s->text.at[index],
               delta ? json_object_get(delta, "content") : json_object_get(choice, "text"));
    add_string(&s->reasoning.at[index], wire_reasoning(delta));
    if (json_is_string(finish))
        s->ends.at[index] = (uint8_t)(wire_end(finish) + 1);
    return true;
}

static bool take_event(WireStream *s, const json_t *event)
{
    if (json_object_get(event, "error")) {
        const char *text = wire_error_of(s->arena, event);
        return fail_stream(s, text ? text : "the server broke off with an error");
    }
    const json_t *choices = json_object_get(event, "choices");
    for (size_t i = 0; i < json_array_size(choices); i++)
        if (!take_choice(s, json_array_get(choices, i)))
            return false;
    if (json_is_object(json_object_get(event, "usage")))
        s->usage = wire_usage(event);
    if (!s->model[0] && json_is_string(json_object_get(event, "model")))
        s->model = wire_text(s->arena, json_object_get(event, "model")).at;
    return true;
}

static bool end_event(WireStream *s)
{
    Str data = str_trim(buf_view(&s->data));
    bool ok = true;
    if (str_is(data, "[DONE]")) {
        s->done = true;
    } else if (data.len) {
        json_error_t where;
        data = json_mend(s->arena, data);
        json_t *event = json_loadb(data.at, data.len, JSON_ALLOW_NUL, &where);
        ok = event ? take_event(s, event)
                   : fail_stream(s, str_format(s->arena, "an event of the stream is no JSON: %s",
                                               where.text));
        json_decref(event);
    }
    buf_clear(&s->data);
    return ok;
}

/* One line without its end. Comments (":") and other fields are passed over. */
static bool take_line(WireStream *s, Str line)
{
    if (line.len && line.at[line.len - 1] == '\r')
        line.len--;
    if (!line.len)
        return end_event(s);
    if (!str_starts(line, "data:"))
        return true;
    if (s->data.len)
        buf_char(&s->data, '\n');
    buf_str(&s->data, str_slice(line, 5, line.len));
    return true;
}

bool wire_stream_feed(WireStream *s, Str bytes)
{
    for (size_t i = 0; i < bytes.len && !s->error; i++) {
        if (bytes.at[i] != '\n') {
            buf_char(&s->line, bytes.at[i]);
            continue;
        }
        take_line(s, buf_view(&s->line));
        buf_clear(&s->line);
    }
    return !s->error;
}

void wire_stream_reply(WireStream *s, ChatReply *reply)
{
    if (s->line.len && !s->error)
        take_line(s, buf_view(&s->line));
    if (s->data.len && !s->error)
        end_event(s);
    for (uint32_t i = 0; i < s->text.len; i++) {
        uint8_t end = s->ends.at[i];
        ChatChoice c = {.text = str_copy(s->arena, buf_view(&s->text.at[i])),
                        .reasoning = str_copy(s->arena, buf_view(&s->reasoning.at[i])),
                        .end = end ? (ChatEnd)(end - 1) : CHAT_CUT};
        vec_push(s->arena, &reply->choices, c);
    }
    reply->usage = s->usage;
    reply->model = s->model;
}

void wire_stream_free(WireStream *s)
{
    buf_free(&s->line);
    buf_free(&s->data);
    for (uint32_t i = 0; i < s->text.len; i++) {
        buf_free(&s->text.at[i]);
        buf_free(&s->reasoning.at[i]);
    }
}
