/* The OpenAI chat protocol: the body of a request, a whole reply, the words of a refusal. */
#include "gen/remote/wire.h"

#include "base/json_mend.h"
#include "gen/remote/wire_int.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

WireParams wire_params(const char *model)
{
    return (WireParams){
        .model = model,
        .temperature = NAN,
        .top_p = NAN,
        .max_tokens = -1,
        .seed = -1,
        .n = -1,
        .stream = true,
    };
}

/* ---- requests ---- */

/* ChatML, the frame of the Qwen family and of NPUKernelBench's raw route. */
static void add_frame(const ChatMessages *messages, bool think, Buf *body)
{
    Buf frame = {0};
    for (uint32_t i = 0; i < messages->len; i++)
        buf_printf(&frame, "<|im_start|>%s\n%.*s<|im_end|>\n", chat_role_text(messages->at[i].role),
                   STR_ARG(messages->at[i].text));
    buf_printf(&frame, "<|im_start|>assistant\n%s", think ? "<think>" : "");
    buf_puts(body, ", \"prompt\": ");
    buf_json_str(body, buf_view(&frame));
    buf_free(&frame);
}

static void add_number(Buf *body, const char *name, double value)
{
    if (isnan(value))
        return;
    buf_printf(body, ", \"%s\": ", name);
    buf_double(body, value);
}

static void add_count(Buf *body, const char *name, int64_t value)
{
    if (value >= 0)
        buf_printf(body, ", \"%s\": %lld", name, (long long)value);
}

static void add_stop(const WireParams *params, Buf *body)
{
    for (uint32_t i = 0; i < params->stop.len; i++) {
        buf_puts(body, i ? ", " : ", \"stop\": [");
        buf_json_str(body, str_from(params->stop.at[i]));
    }
    if (params->stop.len)
        buf_char(body, ']');
}

/* The fields of `extra`, without its braces. */
static bool add_extra(Str extra, Buf *body, Diag *diag)
{
    json_error_t error;
    json_t *object = json_loadb(extra.at, extra.len, JSON_REJECT_DUPLICATES, &error);
    char *text = json_is_object(object) ? json_dumps(object, JSON_PRESERVE_ORDER) : NULL;
    json_decref(object);
    if (!text) {
        diag_error(diag, "M001", (Span){0}, "the extra body fields are no JSON object: %.*s",
                   STR_ARG(str_slice(extra, 0, 80)));
        diag_hint(diag, "for example --extra '{\"top_k\": 20}'");
        return false;
    }
    Str inner = str_trim(str_slice(str_from(text), 1, strlen(text) - 1));
    if (inner.len)
        buf_printf(body, ", %.*s", STR_ARG(inner));
    free(text);
    return true;
}

bool wire_request(const WireParams *params, const ChatMessages *messages, Buf *body, Diag *diag)
{
    buf_puts(body, "{\"model\": ");
    buf_json_str(body, str_from(params->model));
    if (params->api == WIRE_CHAT) {
        buf_puts(body, ", \"messages\": ");
        chat_messages_json(messages, body);
    } else {
        add_frame(messages, params->think, body);
    }
    add_number(body, "temperature", params->temperature);
    add_number(body, "top_p", params->top_p);
    add_count(body, "max_tokens", params->max_tokens);
    add_count(body, "seed", params->seed);
    add_count(body, "n", params->n);
    add_stop(params, body);
    if (params->stream)
        buf_puts(body, ", \"stream\": true, \"stream_options\": {\"include_usage\": true}");
    bool ok = !params->extra.len || add_extra(params->extra, body, diag);
    buf_char(body, '}');
    return ok;
}

bool wire_request_for(const WireParams *params, const ChatAsk *ask, Buf *body, Diag *diag)
{
    WireParams own = *params;
    if (own.seed >= 0)
        own.seed += ask->sample;
    return wire_request(&own, &ask->messages, body, diag);
}

/* ---- replies ---- */

Str wire_text(Arena *arena, const json_t *value)
{
    if (!json_is_string(value))
        return (Str){0};
    return str_copy(arena, (Str){json_string_value(value), json_string_length(value)});
}

static int64_t count_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value)
                                                                    : -1;
}

ChatUsage wire_usage(const json_t *reply)
{
    const json_t *usage = json_object_get(reply, "usage");
    const json_t *details = json_object_get(usage, "completion_tokens_details");
    return (ChatUsage){count_of(usage, "prompt_tokens"), count_of(usage, "completion_tokens"),
                       count_of(details, "reasoning_tokens")};
}

ChatEnd wire_end(const json_t *finish_reason)
{
    const char *reason = json_string_value(finish_reason);
    return reason && !strcmp(reason, "length") ? CHAT_CUT : CHAT_STOPPED;
}

/* The text beside the answer where a model thinks aloud; servers name it in two ways. */
const json_t *wire_reasoning(const json_t *message)
{
    const json_t *value = json_object_get(message, "reasoning_content");
    return json_is_string(value) ? value : json_object_get(message, "reasoning");
}

static bool read_choice(Arena *arena, const json_t *choice, ChatReply *reply)
{
    const json_t *message = json_object_get(choice, "message");
    const json_t *text = message ? json_object_get(message, "content")
                                 : json_object_get(choice, "text");
    bool has_reasoning = json_is_string(wire_reasoning(message));
    if (!json_is_string(text) && !has_reasoning)
        return false;
    ChatChoice c = {.text = wire_text(arena, text),
                    .reasoning = wire_text(arena, wire_reasoning(message)),
                    .end = wire_end(json_object_get(choice, "finish_reason"))};
    vec_push(arena, &reply->choices, c);
    return true;
}

const char *wire_error_of(Arena *arena, const json_t *reply)
{
    const json_t *error = json_object_get(reply, "error");
    const json_t *message = json_is_object(error) ? json_object_get(error, "message") : error;
    if (!json_is_string(message))
        message = json_object_get(reply, "message");
    if (!json_is_string(message))
        message = json_object_get(reply, "detail");
    return json_is_string(message) ? str_dup(arena, wire_text(arena, message)) : NULL;
}

static const char *read_reply(Arena *arena, const json_t *root, ChatReply *reply)
{
    const char *refusal = json_object_get(root, "error") ? wire_error_of(arena, root) : NULL;
    if (refusal)
        return refusal;
    const json_t *choices = json_object_get(root, "choices");
    size_t count = json_array_size(choices);
    for (size_t i = 0; i < count; i++)
        if (!read_choice(arena, json_array_get(choices, i), reply))
            return "a choice of the reply has no text";
    if (!count)
        return "the reply has no choices";
    reply->usage = wire_usage(root);
    reply->model = wire_text(arena, json_object_get(root, "model")).at;
    return NULL;
}

bool wire_reply(Arena *arena, Str body, ChatReply *reply, const char **error)
{
    json_error_t where;
    Str mended = json_mend(arena, body);
    json_t *root = json_loadb(mended.at, mended.len, JSON_ALLOW_NUL, &where);
    if (root)
        *error = read_reply(arena, root, reply);
    else
        *error = str_format(arena, "the reply is no JSON: %s at byte %d", where.text,
                            where.position);
    json_decref(root);
    if (!reply->model)
        reply->model = "";
    return !*error;
}

const char *wire_error_text(Arena *arena, Str body)
{
    json_t *root = json_loadb(body.at, body.len, 0, NULL);
    const char *text = root ? wire_error_of(arena, root) : NULL;
    json_decref(root);
    if (text)
        return text;
    Str line = {0}, rest = body;
    while (!line.len && str_next(&rest, '\n', &line))
        line = str_trim(line);
    return str_dup(arena, str_slice(line, 0, 200));
}
