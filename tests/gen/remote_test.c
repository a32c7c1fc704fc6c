/* The client against a server that keeps the protocol and one that breaks it. */
#include "gen/remote/client.h"

#include "base/file.h"
#include "server.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

#define KEY "sk-do-not-show-0123456789"

typedef struct Bed {
    Arena arena;
    Diag diag;
    Server server;
    ClientConfig config;
    ChatReply reply;
    ClientTotals totals;
    bool ok;
} Bed;

static Bed *bed(const char *model)
{
    static Bed b;
    b.diag = diag_make(&b.arena, "", (Str){0});
    b.server = server_start();
    b.config = (ClientConfig){.url = b.server.url,
                              .key = KEY,
                              .params = wire_params(model),
                              .tries = 3,
                              .backoff_seconds = 0.01,
                              .request_seconds = 10};
    return &b;
}

static ChatAsk question(Bed *b, uint32_t sample)
{
    ChatAsk ask = {.task = "relu", .sample = sample};
    vec_push(&b->arena, &ask.messages, ((ChatMessage){CHAT_SYSTEM, STR("be \"brief\"\n")}));
    vec_push(&b->arena, &ask.messages, ((ChatMessage){CHAT_USER, STR("write")}));
    return ask;
}

static const ChatReply *ask(Bed *b)
{
    Client *client = client_open(&b->config, &b->diag);
    REQUIRE(client);
    Generator g = client_generator(client);
    ChatAsk q = question(b, 0);
    b->ok = g.ask(g.self, &b->arena, &q, 1, &b->reply, &b->diag);
    b->totals = client_totals(client);
    client_close(client);
    server_stop(&b->server);
    return &b->reply;
}

static Str first(const ChatReply *r)
{
    return r->choices.len ? r->choices.at[0].text : STR("(no choice)");
}

static void check_failed(const ChatReply *r, const char *why)
{
    CHECK_EQ_INT(r->choices.len, 0);
    CHECK_MSG(strstr(r->error, why), "'%s' does not say '%s'", r->error, why);
}

T_TEST(remote_stream)
{
    Bed *b = bed("stream");
    const ChatReply *r = ask(b);
    CHECK(b->ok);
    CHECK_EQ_SLICE(first(r), "gr\xc3\xbc\xc3\x9f\xc3\xa9 end");
    CHECK_EQ_INT(r->choices.at[0].end, CHAT_STOPPED);
    CHECK_EQ_INT(r->usage.prompt, 11);
    CHECK_EQ_INT(r->usage.completion, 7);
    CHECK_EQ_STR(r->model, "scripted-1");
    CHECK_EQ_INT(r->tries, 1);
    CHECK_EQ_INT(b->totals.prompt_tokens, 11);
}

T_TEST(remote_plain_though_a_stream_was_asked_for)
{
    Bed *b = bed("plain");
    CHECK_EQ_SLICE(first(ask(b)), "whole");
}

T_TEST(remote_reasoning_apart)
{
    Bed *b = bed("reason");
    const ChatReply *r = ask(b);
    CHECK_EQ_SLICE(first(r), "said");
    CHECK_EQ_SLICE(r->choices.at[0].reasoning, "thinking");
}

T_TEST(remote_two_choices)
{
    Bed *b = bed("two");
    const ChatReply *r = ask(b);
    REQUIRE(r->choices.len == 2);
    CHECK_EQ_SLICE(r->choices.at[0].text, "a0a1");
    CHECK_EQ_SLICE(r->choices.at[1].text, "b0b1");
}

T_TEST(remote_cut_by_length)
{
    Bed *b = bed("length");
    const ChatReply *r = ask(b);
    CHECK_EQ_SLICE(first(r), "half of");
    CHECK_EQ_INT(r->choices.at[0].end, CHAT_CUT);
}

T_TEST(remote_stream_without_end_is_cut)
{
    Bed *b = bed("cut");
    const ChatReply *r = ask(b);
    CHECK_EQ_SLICE(first(r), "never ended");
    CHECK_EQ_INT(r->choices.at[0].end, CHAT_CUT);
}

T_TEST(remote_broken_stream_is_tried_again)
{
    Bed *b = bed("cut-once");
    const ChatReply *r = ask(b);
    CHECK_EQ_SLICE(first(r), "gr\xc3\xbc\xc3\x9f\xc3\xa9 end");
    CHECK_EQ_INT(r->tries, 2);
}

T_TEST(remote_rate_limit_is_kept)
{
    Bed *b = bed("busy-once");
    const ChatReply *r = ask(b);
    CHECK_EQ_SLICE(first(r), "whole");
    CHECK_EQ_INT(r->tries, 2);
    CHECK(r->seconds >= 0.29);
}

T_TEST(remote_rate_limit_for_ever)
{
    Bed *b = bed("busy");
    const ChatReply *r = ask(b);
    check_failed(r, "429: slow down");
    CHECK(r->ours);
    CHECK_EQ_INT(r->tries, 3);
    CHECK(b->ok); /* another task may still fare better */
}

T_TEST(remote_passing_failures)
{
    Bed *b = bed("fails-twice");
    const ChatReply *r = ask(b);
    CHECK_EQ_SLICE(first(r), "whole");
    CHECK_EQ_INT(r->tries, 3);
}

T_TEST(remote_key_in_an_answer_is_blotted_out)
{
    Bed *b = bed("reason"); /* says "said", thinks "thinking" */
    b->config.key = "ai";
    CHECK_EQ_SLICE(first(ask(b)), "s**d");
    b = bed("reason");
    b->config.key = "think";
    CHECK_EQ_SLICE(ask(b)->choices.at[0].reasoning, "*****ing");
}

T_TEST(remote_record_that_cannot_be_written)
{
    Bed *b = bed("plain");
    b->config.record = "/nonexistent/talk.jsonl";
    CHECK(!client_open(&b->config, &b->diag));
    CHECK_EQ_STR(b->diag.items.at[0].code, "M002");
    server_stop(&b->server);
}

T_TEST(remote_wrong_key_ends_it_and_is_not_shown)
{
    Bed *b = bed("locked");
    const ChatReply *r = ask(b);
    check_failed(r, "401: Incorrect API key provided: ***");
    CHECK(!b->ok);
    CHECK(r->final);
    CHECK_EQ_INT(r->tries, 1);
    Buf said = {0};
    diag_print(&b->diag, &said);
    CHECK(!strstr(said.at, KEY));
    CHECK(!strstr(r->error, KEY));
    buf_free(&said);
}

T_TEST(remote_bad_request_is_not_repeated)
{
    Bed *b = bed("refused");
    const ChatReply *r = ask(b);
    check_failed(r, "400: max_tokens is too large");
    CHECK_EQ_INT(r->tries, 1);
}

T_TEST(remote_redirects_are_not_followed)
{
    Bed *b = bed("elsewhere");
    const ChatReply *r = ask(b);
    check_failed(r, "302");
    CHECK(r->final);
}

T_TEST(remote_unknown_model)
{
    Bed *b = bed("no-such");
    check_failed(ask(b), "404: no such model");
}

T_TEST(remote_malformed)
{
    static const char *const cases[][2] = {
        {"html", "no JSON"},          {"garbled", "no JSON"},
        {"error", "the engine died"}, {"odd-index", "names a choice"},
        {"empty", "no choices"},      {"gone", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Bed *b = bed(cases[i][0]);
        const ChatReply *r = ask(b);
        check_failed(r, cases[i][1]);
        CHECK_MSG(r->tries == 3, "%s: %u tries", cases[i][0], r->tries);
    }
}

/* Bytes that are no UTF-8 are replaced: asking again would bring them again. */
T_TEST(remote_odd_bytes_are_mended)
{
    const ChatReply *r = ask(bed("latin"));
    CHECK_EQ_INT(r->choices.len, 1);
    CHECK_EQ_INT(r->tries, 1);
}

T_TEST(remote_huge_answer_is_refused)
{
    Bed *b = bed("huge");
    b->config.answer_bytes = 1 << 20;
    const ChatReply *r = ask(b);
    check_failed(r, "longer than 1048576 bytes");
    CHECK(!r->ours);
    CHECK_EQ_INT(r->tries, 1);
}

T_TEST(remote_endless_answer_is_stopped)
{
    Bed *b = bed("never");
    b->config.request_seconds = 0.5;
    b->config.tries = 2;
    const ChatReply *r = ask(b);
    check_failed(r, "");
    CHECK(r->seconds < 5);
}

T_TEST(remote_silent_server_is_left)
{
    Bed *b = bed("silent");
    b->config.idle_seconds = 1;
    b->config.tries = 1;
    const ChatReply *r = ask(b);
    check_failed(r, "");
    CHECK(r->seconds < 8);
}

T_TEST(remote_nobody_there)
{
    Bed *b = bed("plain");
    server_stop(&b->server);
    b->config.url = "http://127.0.0.1:9/v1";
    check_failed(ask(b), "onnect");
}

T_TEST(remote_several_at_once)
{
    Bed *b = bed("stream");
    ChatAsk asks[12];
    ChatReply replies[12];
    for (uint32_t i = 0; i < 12; i++)
        asks[i] = question(b, i);
    b->config.parallel = 4;
    Client *client = client_open(&b->config, &b->diag);
    REQUIRE(client);
    Generator g = client_generator(client);
    CHECK(g.ask(g.self, &b->arena, asks, 12, replies, &b->diag));
    for (uint32_t i = 0; i < 12; i++)
        CHECK_EQ_SLICE(first(&replies[i]), "gr\xc3\xbc\xc3\x9f\xc3\xa9 end");
    CHECK_EQ_INT(client_totals(client).requests, 12);
    client_close(client);
    server_stop(&b->server);
}

T_TEST(remote_token_budget_stops_asking)
{
    Bed *b = bed("stream");
    ChatAsk asks[5];
    ChatReply replies[5];
    for (uint32_t i = 0; i < 5; i++)
        asks[i] = question(b, i);
    b->config.parallel = 1;
    b->config.budget_tokens = 30;
    b->config.price_prompt = 100000;
    Client *client = client_open(&b->config, &b->diag);
    Generator g = client_generator(client);
    CHECK(!g.ask(g.self, &b->arena, asks, 5, replies, &b->diag));
    CHECK_EQ_SLICE(first(&replies[1]), "gr\xc3\xbc\xc3\x9f\xc3\xa9 end");
    check_failed(&replies[2], "token budget");
    CHECK_EQ_INT(*b->server.asked, 2);
    CHECK_NEAR(client_totals(client).cost, 2.2, 1e-9);
    client_close(client);
    server_stop(&b->server);
}

T_TEST(remote_record_and_replay)
{
    Bed *b = bed("stream");
    const char *dir, *path;
    REQUIRE(file_temp_dir(&b->arena, "acraft-record", &dir, &b->diag));
    path = path_join(&b->arena, dir, "talk.jsonl");
    b->config.record = path;
    ask(b);
    Str text;
    REQUIRE(file_read(&b->arena, path, 0, &text, &b->diag));
    CHECK(str_find(text, STR(KEY)) < 0);
    CHECK(str_find(text, STR("127.0.0.1")) < 0);

    Generator g;
    REQUIRE(replay_open(&b->arena, path, &b->config.params, &g, &b->diag));
    ChatAsk same = question(b, 0), other = question(b, 1);
    ChatReply r;
    CHECK(g.ask(g.self, &b->arena, &same, 1, &r, &b->diag));
    CHECK_EQ_SLICE(first(&r), "gr\xc3\xbc\xc3\x9f\xc3\xa9 end");
    CHECK_EQ_INT(r.usage.completion, 7);
    CHECK(g.ask(g.self, &b->arena, &other, 1, &r, &b->diag));
    check_failed(&r, "has no answer to this request (task relu, sample 1, turn 0)");
    file_remove_tree(dir, &b->diag);
}

/* A run that was killed goes on: what the record holds is neither asked nor paid again. */
T_TEST(remote_recorded_is_not_asked_again)
{
    Bed *b = bed("stream");
    const char *dir;
    REQUIRE(file_temp_dir(&b->arena, "acraft-record", &dir, &b->diag));
    b->config.record = path_join(&b->arena, dir, "talk.jsonl");
    for (uint32_t run = 0; run < 2; run++) {
        Client *client = client_open(&b->config, &b->diag);
        REQUIRE(client);
        Generator g = client_generator(client);
        ChatAsk q[2] = {question(b, 0), question(b, 1)};
        ChatReply r[2];
        CHECK(g.ask(g.self, &b->arena, q, run + 1, r, &b->diag));
        CHECK_EQ_SLICE(first(&r[run]), "gr\xc3\xbc\xc3\x9f\xc3\xa9 end");
        CHECK_EQ_INT(client_totals(client).replayed, run);
        client_close(client);
    }
    CHECK_EQ_INT(*b->server.asked, 2);
    server_stop(&b->server);
    file_remove_tree(dir, &b->diag);
}

T_TEST(remote_settings_that_cannot_be)
{
    Bed *b = bed("stream");
    server_stop(&b->server);
    ClientConfig c = b->config;
    c.url = "localhost:8000";
    CHECK(!client_open(&c, &b->diag));
    c.url = "http://me:word@localhost/v1";
    CHECK(!client_open(&c, &b->diag));
    c = b->config;
    c.key = KEY "\n";
    CHECK(!client_open(&c, &b->diag));
    c = b->config;
    c.params.model = "";
    CHECK(!client_open(&c, &b->diag));
    CHECK_EQ_INT(b->diag.errors, 4);
    Buf said = {0};
    diag_print(&b->diag, &said);
    CHECK(!strstr(said.at, KEY) && !strstr(said.at, "word@"));
    buf_free(&said);
}

T_TEST(wire_request_text)
{
    Arena a = {0};
    Diag d = diag_make(&a, "", (Str){0});
    WireParams p = wire_params("m");
    ChatMessages messages = {0};
    Buf body = {0};
    vec_push(&a, &messages, ((ChatMessage){CHAT_USER, STR("a\"b")}));
    vec_push(&a, &p.stop, "END");
    p.temperature = 0.25;
    p.max_tokens = 64;
    p.seed = 7;
    p.extra = STR("{\"top_k\": 20, \"chat_template_kwargs\": {\"enable_thinking\": false}}");
    CHECK(wire_request(&p, &messages, &body, &d));
    CHECK_EQ_STR(
        body.at,
        "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"a\\\"b\"}], "
        "\"temperature\": 0.25, \"max_tokens\": 64, \"seed\": 7, \"stop\": [\"END\"], "
        "\"stream\": true, \"stream_options\": {\"include_usage\": true}, \"top_k\": 20, "
        "\"chat_template_kwargs\": {\"enable_thinking\": false}}");
    buf_clear(&body);
    p = wire_params("m");
    p.api = WIRE_COMPLETIONS;
    p.stream = false;
    p.think = true;
    CHECK(wire_request(&p, &messages, &body, &d));
    CHECK_EQ_STR(body.at, "{\"model\": \"m\", \"prompt\": \"<|im_start|>user\\na\\\"b<|im_end|>\\n"
                          "<|im_start|>assistant\\n<think>\"}");
    p.extra = STR("[1]");
    buf_clear(&body);
    CHECK(!wire_request(&p, &messages, &body, &d));
    buf_free(&body);
    arena_drop(&a);
}
