/* OpenAI's protocol from the server's side. In: bodies of requests, which are hostile. Out: what they ask, and
 * replies as documents or server-sent events. */
#include "cmd/serve.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- requests ---- */

typedef struct Reader {
    Arena *arena;
    const json_t *root;
    const char *why; /* the first thing that is wrong */
} Reader;

static bool refuse_field(Reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
    return false;
}

static Str text_of(Arena *arena, const json_t *value)
{
    return str_copy(arena, (Str){json_string_value(value), json_string_length(value)});
}

/* A field that is left out, or null, keeps what stands in *value. */
static bool read_number(Reader *r, const char *name, double least, double most, double *value)
{
    const json_t *field = json_object_get(r->root, name);
    if (!field || json_is_null(field))
        return true;
    double given = json_number_value(field);
    if (!json_is_number(field) || !(given >= least && given <= most))
        return refuse_field(
            r, str_format(r->arena, "'%s' is a number from %g to %g", name, least, most));
    *value = given;
    return true;
}

static bool read_count(Reader *r, const char *name, double most, double *value)
{
    const json_t *field = json_object_get(r->root, name);
    if (field && !json_is_null(field) && !json_is_integer(field))
        return refuse_field(r, str_format(r->arena, "'%s' is a whole number", name));
    return read_number(r, name, 1, most, value);
}

static bool read_flag(Reader *r, const json_t *object, const char *name, bool *value)
{
    const json_t *field = json_object_get(object, name);
    if (field && !json_is_null(field) && !json_is_boolean(field))
        return refuse_field(r, str_format(r->arena, "'%s' is true or false", name));
    *value = json_is_true(field);
    return true;
}

/* A text, or a list of parts of type text. */
static bool read_content(Reader *r, const json_t *content, Str *text)
{
    Buf all = {0};
    bool ok = json_is_string(content) || json_is_array(content);
    if (json_is_string(content))
        buf_add(&all, json_string_value(content), json_string_length(content));
    for (size_t i = 0; ok && i < json_array_size(content); i++) {
        const json_t *part = json_object_get(json_array_get(content, i), "text");
        ok = json_is_string(part);
        if (ok)
            buf_add(&all, json_string_value(part), json_string_length(part));
    }
    *text = all.len ? str_copy(r->arena, buf_view(&all)) : STR("");
    buf_free(&all);
    return ok ||
           refuse_field(r, "the content of a message is a text or a list of parts of type text");
}

static bool read_role(Reader *r, const char *name, ChatRole *role)
{
    static const struct {
        const char *name;
        ChatRole role;
    } roles[] = {{"system", CHAT_SYSTEM},
                 {"developer", CHAT_SYSTEM},
                 {"user", CHAT_USER},
                 {"assistant", CHAT_ASSISTANT}};
    for (size_t i = 0; name && i < sizeof roles / sizeof *roles; i++)
        if (!strcmp(name, roles[i].name)) {
            *role = roles[i].role;
            return true;
        }
    return refuse_field(r, "the role of a message is system, developer, user or assistant");
}

static bool read_messages(Reader *r, ServeAsk *ask)
{
    const json_t *list = json_object_get(r->root, "messages");
    size_t count = json_array_size(list);
    bool asked = false;
    if (!count || count > SERVE_MOST_MESSAGES)
        return refuse_field(r, "'messages' is a list of 1 to 256 messages");
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(list, i);
        ChatMessage m;
        if (!read_role(r, json_string_value(json_object_get(one, "role")), &m.role) ||
            !read_content(r, json_object_get(one, "content"), &m.text))
            return false;
        asked |= m.role == CHAT_USER && m.text.len;
        vec_push(r->arena, &ask->messages, m);
    }
    return asked || refuse_field(r, "no message of the user says anything");
}

static bool read_prompt(Reader *r, ServeAsk *ask)
{
    const json_t *prompt = json_object_get(r->root, "prompt");
    if (json_array_size(prompt) == 1)
        prompt = json_array_get(prompt, 0);
    if (!json_is_string(prompt) || !json_string_length(prompt))
        return refuse_field(r, "'prompt' is one text that is not empty");
    vec_push(r->arena, &ask->messages, ((ChatMessage){CHAT_USER, text_of(r->arena, prompt)}));
    return true;
}

static bool read_stops(Reader *r, ServeAsk *ask)
{
    const json_t *stop = json_object_get(r->root, "stop");
    size_t count = json_is_array(stop) ? json_array_size(stop) : stop && !json_is_null(stop);
    bool ok = count <= SERVE_MOST_STOPS;
    for (size_t i = 0; ok && i < count; i++) {
        const json_t *one = json_is_array(stop) ? json_array_get(stop, i) : stop;
        ok = json_is_string(one) && json_string_length(one);
        if (ok)
            ask->stop[ask->stops++] = text_of(r->arena, one);
    }
    return ok || refuse_field(r, "'stop' is a text or a list of up to four");
}

/* Without a temperature the first choice is the likeliest answer, as --gen local has it. */
static bool read_sampling(Reader *r, ServeAsk *ask)
{
    double temperature = NAN, top_p = 0.95, most = 0, choices = 1;
    const json_t *seed = json_object_get(r->root, "seed");
    if (!read_number(r, "temperature", 0, 2, &temperature) ||
        !read_number(r, "top_p", 0, 1, &top_p) || !read_count(r, "max_tokens", 1e6, &most) ||
        !read_count(r, "max_completion_tokens", 1e6, &most) ||
        !read_count(r, "n", SERVE_MOST_CHOICES, &choices))
        return false;
    if (seed && !json_is_null(seed) && !json_is_integer(seed))
        return refuse_field(r, "'seed' is a whole number");
    ask->choices = (uint32_t)choices;
    ask->sampling = (LocalSampling){.temperature = isnan(temperature) ? 0.7 : temperature,
                                    .likely_first = isnan(temperature),
                                    .top_p = top_p,
                                    .most = (uint32_t)most,
                                    .seed = (uint64_t)json_integer_value(seed)};
    return true;
}

static bool read_root(Reader *r, ServeAsk *ask)
{
    if (!json_is_object(r->root))
        return refuse_field(r, "the body is no JSON object");
    if (json_array_size(json_object_get(r->root, "tools")))
        return refuse_field(r, "this model calls no tools");
    return (ask->route == SERVE_CHAT ? read_messages(r, ask) : read_prompt(r, ask)) &&
           read_sampling(r, ask) && read_stops(r, ask) &&
           read_flag(r, r->root, "stream", &ask->stream) &&
           read_flag(r, json_object_get(r->root, "stream_options"), "include_usage", &ask->usage);
}

bool serve_read(Arena *arena, ServeRoute route, Str body, ServeAsk *ask, const char **why)
{
    json_error_t where;
    json_t *root = body.len ? json_loadb(body.at, body.len, JSON_REJECT_DUPLICATES, &where) : NULL;
    Reader r = {arena, root, NULL};
    *ask = (ServeAsk){.route = route};
    bool ok = read_root(&r, ask);
    if (!root && body.len)
        r.why = str_format(arena, "the body is no JSON: %s at byte %d", where.text, where.position);
    *why = r.why;
    json_decref(root);
    return ok;
}

/* ---- replies ---- */

void serve_error(unsigned status, const char *why, Buf *out)
{
    static const struct {
        unsigned status;
        const char *type, *code;
    } kinds[] = {{403, "permission_error", "forbidden"},
                 {404, "invalid_request_error", "not_found"},
                 {405, "invalid_request_error", "method_not_allowed"},
                 {413, "invalid_request_error", "request_too_large"},
                 {429, "rate_limit_error", "queue_full"},
                 {503, "server_error", "shutting_down"}};
    const char *type = status >= 500 ? "server_error" : "invalid_request_error", *code = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].status == status) {
            type = kinds[i].type;
            code = kinds[i].code;
        }
    buf_puts(out, "{\"error\": {\"message\": ");
    buf_json_str(out, str_from(why));
    buf_printf(out, ", \"type\": \"%s\", \"param\": null, \"code\": ", type);
    if (code)
        buf_json_str(out, str_from(code));
    else
        buf_puts(out, "null");
    buf_puts(out, "}}\n");
}

/* The answer up to the first text that ends it. */
static Str cut_at_stop(const ServeAsk *ask, Str text)
{
    size_t end = text.len;
    for (uint32_t i = 0; i < ask->stops; i++) {
        ptrdiff_t at = str_find(text, ask->stop[i]);
        if (at >= 0 && (size_t)at < end)
            end = (size_t)at;
    }
    return str_slice(text, 0, end);
}

static const char *end_name(const ServeAsk *ask, const ChatChoice *choice)
{
    bool stopped = choice->end == CHAT_STOPPED ||
                   cut_at_stop(ask, choice->text).len < choice->text.len;
    return stopped ? "stop" : "length";
}

static void add_head(const ServeAnswer *a, const char *object, Buf *out)
{
    bool chat = a->ask->route == SERVE_CHAT;
    buf_printf(out, "{\"id\": \"%s-%llu\", \"object\": \"%s\", \"created\": %lld, \"model\": ",
               chat ? "chatcmpl" : "cmpl", (unsigned long long)a->number, object,
               (long long)a->created);
    buf_json_str(out, str_from(a->model));
    buf_puts(out, ", \"choices\": [");
}

static void add_usage(const ServeAnswer *a, Buf *out)
{
    int64_t prompt = a->replies[0].usage.prompt, completion = 0;
    for (uint32_t i = 0; i < a->ask->choices; i++)
        completion += a->replies[i].usage.completion;
    buf_printf(out,
               "\"usage\": {\"prompt_tokens\": %lld, \"completion_tokens\": %lld, "
               "\"total_tokens\": %lld}}",
               (long long)prompt, (long long)completion, (long long)(prompt + completion));
}

static void add_document(const ServeAnswer *a, Buf *out)
{
    bool chat = a->ask->route == SERVE_CHAT;
    add_head(a, chat ? "chat.completion" : "text_completion", out);
    for (uint32_t i = 0; i < a->ask->choices; i++) {
        const ChatChoice *c = &a->replies[i].choices.at[0];
        buf_printf(out, "%s{\"index\": %u, %s", i ? ", " : "", i,
                   chat ? "\"message\": {\"role\": \"assistant\", \"content\": " : "\"text\": ");
        buf_json_str(out, cut_at_stop(a->ask, c->text));
        buf_printf(out, "%s, \"logprobs\": null, \"finish_reason\": \"%s\"}", chat ? "}" : "",
                   end_name(a->ask, c));
    }
    buf_puts(out, "], ");
    add_usage(a, out);
    buf_char(out, '\n');
}

/* One event of choice `index`; `end` NULL: there is more. */
static void add_event(const ServeAnswer *a, uint32_t index, const char *role, Str piece,
                      const char *end, Buf *out)
{
    bool chat = a->ask->route == SERVE_CHAT;
    buf_puts(out, "data: ");
    add_head(a, chat ? "chat.completion.chunk" : "text_completion", out);
    buf_printf(out, "{\"index\": %u, ", index);
    if (chat)
        buf_printf(out, "\"delta\": {%s%s", role, piece.len ? "\"content\": " : "");
    else
        buf_puts(out, "\"text\": ");
    if (piece.len || !chat)
        buf_json_str(out, piece);
    buf_printf(out, "%s, \"logprobs\": null, \"finish_reason\": %s%s%s}]}\n\n", chat ? "}" : "",
               end ? "\"" : "", end ? end : "null", end ? "\"" : "");
}

/* An event for each line of an answer. */
static void add_events(const ServeAnswer *a, uint32_t index, Buf *out)
{
    const ChatChoice *c = &a->replies[index].choices.at[0];
    Str rest = cut_at_stop(a->ask, c->text);
    if (a->ask->route == SERVE_CHAT)
        add_event(a, index, "\"role\": \"assistant\"", (Str){0}, NULL, out);
    while (rest.len) {
        ptrdiff_t line = str_find(rest, STR("\n"));
        size_t end = line < 0 ? rest.len : (size_t)line + 1;
        add_event(a, index, "", str_slice(rest, 0, end), NULL, out);
        rest = str_slice(rest, end, rest.len);
    }
    add_event(a, index, "", (Str){0}, end_name(a->ask, c), out);
}

void serve_answer(const ServeAnswer *a, Buf *out)
{
    if (!a->ask->stream) {
        add_document(a, out);
        return;
    }
    for (uint32_t i = 0; i < a->ask->choices; i++)
        add_events(a, i, out);
    if (a->ask->usage) {
        buf_puts(out, "data: ");
        add_head(a, a->ask->route == SERVE_CHAT ? "chat.completion.chunk" : "text_completion", out);
        buf_puts(out, "], ");
        add_usage(a, out);
        buf_puts(out, "\n\n");
    }
    buf_puts(out, "data: [DONE]\n\n");
}

void serve_models(const char *model, int64_t created, Buf *out)
{
    buf_puts(out, "{\"object\": \"list\", \"data\": [{\"id\": ");
    buf_json_str(out, str_from(model));
    buf_printf(out, ", \"object\": \"model\", \"created\": %lld, \"owned_by\": \"acraft\"}]}\n",
               (long long)created);
}
