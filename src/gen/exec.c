/* A program that answers, one process for each turn. */
#include "gen/exec.h"

#include "base/json_mend.h"
#include "base/proc.h"
#include <jansson.h>

typedef struct Exec {
    const char *command;
    double seconds;
} Exec;

enum { LONGEST_ANSWER = 8 << 20 };

static void write_ask(const ChatAsk *ask, Buf *out)
{
    buf_puts(out, "{\"task\": ");
    buf_json_str(out, str_from(ask->task));
    buf_printf(out, ", \"sample\": %u, \"turn\": %u, \"source\": ", ask->sample, ask->turn);
    buf_json_str(out, ask->task_text);
    buf_puts(out, ", \"messages\": ");
    chat_messages_json(&ask->messages, out);
    buf_puts(out, ", \"diagnostics\": ");
    buf_str(out, ask->diagnostics.len ? ask->diagnostics : STR("null"));
    buf_puts(out, "}\n");
}

/* {"answer": TEXT}, or the whole output. */
static Str answer_of(Arena *arena, Str out)
{
    Str mended = json_mend(arena, out);
    json_t *root = json_loadb(mended.at, mended.len, JSON_ALLOW_NUL, NULL);
    const json_t *answer = json_object_get(root, "answer");
    Str text = out;
    if (json_is_string(answer))
        text = str_copy(arena, (Str){json_string_value(answer), json_string_length(answer)});
    json_decref(root);
    return text;
}

static const char *failure(Arena *arena, const ProcResult *r)
{
    Str last = {0}, rest = str_trim(r->err), line;
    while (str_next(&rest, '\n', &line))
        last = line;
    const char *how = r->end == PROC_TIMEOUT    ? "ran past its time"
                      : r->end == PROC_SIGNALED ? str_format(arena, "died of signal %d", r->status)
                      : r->cut                  ? "wrote more than 8 MiB"
                      : r->status ? str_format(arena, "ended with status %d", r->status)
                                  : NULL;
    return how ? str_format(arena, "the program %s%s%.*s", how, last.len ? ": " : "",
                            STR_ARG(str_slice(last, 0, 200)))
               : "";
}

static bool ask_one(const Exec *e, Arena *arena, const ChatAsk *ask, ChatReply *reply, Diag *diag)
{
    Buf input = {0};
    write_ask(ask, &input);
    const char *argv[] = {"sh", "-c", e->command, NULL};
    ProcSpec spec = {.argv = argv,
                     .input = buf_view(&input),
                     .seconds = e->seconds,
                     .output_limit = LONGEST_ANSWER};
    ProcResult result = {0};
    bool started = proc_run(arena, &spec, &result, diag);
    buf_free(&input);
    *reply = (ChatReply){.usage = {-1, -1, -1}, .model = "", .error = "", .tries = 1};
    if (!started)
        return false;
    reply->seconds = result.seconds;
    reply->error = failure(arena, &result);
    ChatChoice choice = {.text = answer_of(arena, result.out)};
    if (!reply->error[0])
        vec_push(arena, &reply->choices, choice);
    return true;
}

static bool ask(void *self, Arena *arena, const ChatAsk *asks, uint32_t count, ChatReply *replies,
                Diag *diag)
{
    for (uint32_t i = 0; i < count; i++)
        if (!ask_one(self, arena, &asks[i], &replies[i], diag))
            return false;
    return true;
}

Generator exec_generator(Arena *arena, const char *command, double seconds)
{
    Exec *e = arena_new(arena, Exec);
    *e = (Exec){command, seconds > 0 ? seconds : 600};
    return (Generator){.name = str_format(arena, "exec %s", command), .self = e, .ask = ask};
}
