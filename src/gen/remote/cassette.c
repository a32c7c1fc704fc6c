/* Recordings: exchanges appended as JSON Lines, read back, found by request, sample and turn. */
#include "gen/remote/cassette.h"

#include "base/file.h"
#include "base/hash.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void hash_request(Str request, char hex[65])
{
    Sha256 sha = sha256_begin();
    sha256_add(&sha, request.at, request.len);
    sha256_end(&sha, hex);
}

/* ---- writing ---- */

static const char *const ends[] = {"stop", "cut", "failed"};

static void add_choice(Buf *out, const ChatChoice *c)
{
    buf_puts(out, "{\"text\": ");
    buf_json_str(out, c->text);
    if (c->reasoning.len) {
        buf_puts(out, ", \"reasoning\": ");
        buf_json_str(out, c->reasoning);
    }
    buf_printf(out, ", \"end\": \"%s\"}", ends[c->end]);
}

static void add_reply(Buf *out, const ChatReply *reply)
{
    buf_puts(out, "{\"choices\": [");
    for (uint32_t i = 0; i < reply->choices.len; i++) {
        buf_puts(out, i ? ", " : "");
        add_choice(out, &reply->choices.at[i]);
    }
    buf_printf(out,
               "], \"usage\": {\"prompt\": %lld, \"completion\": %lld, \"reasoning\": %lld}, "
               "\"model\": ",
               (long long)reply->usage.prompt, (long long)reply->usage.completion,
               (long long)reply->usage.reasoning);
    buf_json_str(out, str_from(reply->model));
    buf_printf(out, ", \"seconds\": %.3f}", reply->seconds);
}

static bool append(const char *path, Str line, Diag *diag)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    bool ok = fd >= 0 && flock(fd, LOCK_EX) == 0;
    for (size_t at = 0; ok && at < line.len;) {
        ssize_t n = write(fd, line.at + at, line.len - at);
        if (n > 0)
            at += (size_t)n;
        else
            ok = n < 0 && errno == EINTR;
    }
    if (!ok)
        diag_error(diag, "M002", (Span){0}, "cannot record to %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

bool cassette_check(const char *path, Diag *diag) { return append(path, STR(""), diag); }

bool cassette_add(const char *path, const ChatAsk *ask, Str request, const ChatReply *reply,
                  Diag *diag)
{
    Buf line = {0};
    buf_puts(&line, "{\"task\": ");
    buf_json_str(&line, str_from(ask->task));
    buf_printf(&line, ", \"sample\": %u, \"turn\": %u, \"request\": %.*s, \"reply\": ", ask->sample,
               ask->turn, STR_ARG(request));
    char hex[65];
    hash_request(request, hex);
    add_reply(&line, reply);
    buf_printf(&line, ", \"sha256\": \"%s\"}\n", hex);
    bool ok = append(path, buf_view(&line), diag);
    buf_free(&line);
    return ok;
}

/* ---- reading ---- */

static Str text_of(Arena *arena, const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_string(value))
        return (Str){"", 0};
    return str_copy(arena, (Str){json_string_value(value), json_string_length(value)});
}

static int64_t int_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static ChatEnd end_of(Str text)
{
    for (int i = CHAT_STOPPED; i <= CHAT_FAILED; i++)
        if (str_is(text, ends[i]))
            return (ChatEnd)i;
    return CHAT_FAILED;
}

static bool read_reply(Arena *arena, const json_t *from, ChatReply *reply)
{
    const json_t *choices = json_object_get(from, "choices");
    const json_t *usage = json_object_get(from, "usage");
    for (size_t i = 0; i < json_array_size(choices); i++) {
        const json_t *c = json_array_get(choices, i);
        ChatChoice choice = {text_of(arena, c, "text"), text_of(arena, c, "reasoning"),
                             end_of(text_of(arena, c, "end"))};
        vec_push(arena, &reply->choices, choice);
    }
    reply->usage = (ChatUsage){int_of(usage, "prompt"), int_of(usage, "completion"),
                               int_of(usage, "reasoning")};
    reply->model = text_of(arena, from, "model").at;
    reply->error = "";
    reply->tries = 1;
    return reply->choices.len > 0;
}

static bool read_entry(Arena *arena, const json_t *root, CassetteEntry *entry)
{
    Str hash = text_of(arena, root, "sha256");
    int64_t sample = int_of(root, "sample"), turn = int_of(root, "turn");
    if (hash.len != 64 || sample < 0 || sample > UINT32_MAX || turn < 0 || turn > UINT32_MAX)
        return false;
    memcpy(entry->request, hash.at, 65);
    entry->task = text_of(arena, root, "task").at;
    entry->sample = (uint32_t)sample;
    entry->turn = (uint32_t)turn;
    return read_reply(arena, json_object_get(root, "reply"), &entry->reply);
}

bool cassette_read(Arena *arena, const char *path, Cassette *cassette, Diag *diag)
{
    Str rest, line;
    if (!file_read(arena, path, 0, &rest, diag))
        return false;
    for (uint32_t n = 1; str_next(&rest, '\n', &line); n++) {
        if (!str_trim(line).len)
            continue;
        CassetteEntry entry = {0};
        json_error_t where;
        json_t *root = json_loadb(line.at, line.len, 0, &where);
        bool ok = root && read_entry(arena, root, &entry);
        json_decref(root);
        if (!ok) {
            diag_error(diag, "M003", (Span){0}, "%s:%u: not an exchange that acraft recorded", path,
                       n);
            return false;
        }
        vec_push(arena, cassette, entry);
    }
    return true;
}

const ChatReply *cassette_find(const Cassette *cassette, const ChatAsk *ask, Str request)
{
    char hex[65];
    hash_request(request, hex);
    for (uint32_t i = 0; i < cassette->len; i++) {
        const CassetteEntry *e = &cassette->at[i];
        if (e->sample == ask->sample && e->turn == ask->turn && !strcmp(e->request, hex))
            return &e->reply;
    }
    return NULL;
}
