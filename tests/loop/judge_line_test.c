/* The judge: every line gets an answer, and the terms say what happened. */
#include "loop/judge_line.h"

#include "tests/schema.h"
#include "tests/t.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

static json_t *judge_with(const char *request, bool time)
{
    static JudgeLines lines;
    Buf reply = {0};
    lines.spec = (JudgeSpec){
        .chip = npu_chip_find(STR("910B2")), .baseline_name = "", .trust = true, .time = time};
    judge_line(&lines, str_from(request), &reply);
    json_t *answer = json_loads(reply.at, 0, NULL);
    const char *place = schema_refuses("judge.schema.json", reply.at);
    CHECK_MSG(json_is_object(answer), "no JSON: %s", reply.at);
    CHECK_MSG(!place, "the schema does not take %s in %s", place, reply.at);
    buf_free(&reply);
    return answer;
}

static json_t *judge(const char *request) { return judge_with(request, false); }

static const char *text_of(json_t *answer, const char *key)
{
    const char *text = json_string_value(json_object_get(answer, key));
    return text ? text : "";
}

/* A line that asks for nothing that exists is no answer that failed: it has no reward at all. */
T_TEST(judge_answers_any_line)
{
    static const char *const lines[] = {
        "",
        "nonsense",
        "[1, 2]",
        "{}",
        "{\"task\": 7, \"answer\": \"x\"}",
        "{\"task\": \"tests/bench/tasks/square.py\"}",
        "{\"task\": \"tests/bench/tasks/square.py\", \"answer\": \"x\", \"form\": \"poem\"}",
        "{\"task\": \"/nonexistent.py\", \"answer\": \"x\"}",
        "{\"task\": \"sofmax\", \"answer\": \"x\"}", /* misspelt */
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        json_t *answer = judge(lines[i]);
        CHECK_MSG(!strcmp(text_of(answer, "status"), "bad-request"), "'%s' got %s", lines[i],
                  text_of(answer, "status"));
        CHECK(json_is_null(json_object_get(answer, "reward")));
        json_decref(answer);
    }
}

/* Characters that no text holds are mended, not a reason to lose the line. */
T_TEST(judge_takes_odd_characters)
{
    static const char *const answers[] = {"\\u0000\\ud83d\\ude00", "a \\ud800 b", "\xff\xfe"};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        Buf line = {0};
        buf_printf(&line,
                   "{\"id\": 5, \"task\": \"tests/bench/tasks/square.py\", \"answer\": \"%s\"}",
                   answers[i]);
        json_t *answer = judge(line.at);
        CHECK_EQ_STR(text_of(answer, "status"), "no-answer");
        CHECK(json_integer_value(json_object_get(answer, "id")) == 5);
        CHECK(json_number_value(json_object_get(answer, "reward")) == 0);
        json_decref(answer);
        buf_free(&line);
    }
}

/* Every line says which program, which rules and which inputs it comes from. */
T_TEST(judge_lines_say_where_they_come_from)
{
    json_t *answer = judge("{\"task\": \"t\", \"answer\": \"x\"}");
    CHECK(json_is_integer(json_object_get(answer, "schema")));
    CHECK(str_starts(str_from(text_of(answer, "program")), "acraft "));
    CHECK(strlen(text_of(answer, "config")) == 16);
    CHECK_EQ_STR(text_of(answer, "seed"), "0");
    json_decref(answer);
}

T_TEST(judge_gives_the_id_back)
{
    json_t *answer = judge("{\"id\": {\"a\": [1, null]}, \"task\": \"t\"}");
    CHECK(json_is_object(json_object_get(answer, "id")));
    CHECK_EQ_STR(text_of(answer, "task"), "t");
    json_decref(answer);
}

T_TEST(judge_takes_a_model_as_text)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Str model, craft;
    Buf line = {0};
    REQUIRE(file_read(&arena, "tests/bench/tasks/square.py", 0, &model, &diag));
    REQUIRE(file_read(&arena, "tests/bench/square.craft", 0, &craft, &diag));
    buf_puts(&line, "{\"id\": 1, \"model\": ");
    buf_json_str(&line, model);
    buf_puts(&line, ", \"answer\": ");
    buf_json_str(&line, craft);
    buf_puts(&line, "}");
    json_t *answer = judge(line.at);
    CHECK_EQ_STR(text_of(answer, "status"), "ok");
    CHECK(json_integer_value(json_object_get(answer, "hazard_free")) == 1);
    CHECK_NEAR(json_number_value(json_object_get(answer, "reward")), 0.5, 1e-12);
    json_decref(answer);
    buf_free(&line);
    arena_drop(&arena);
}

/* A row of `acraft export` is a line to judge: the assistant's last message is the answer, and `model`
 * is who wrote it. */
T_TEST(judge_takes_an_exported_row)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Str craft;
    REQUIRE(file_read(&arena, "tests/bench/square.craft", 0, &craft, &diag));
    for (int said = 0; said < 2; said++) {
        Buf line = {0};
        buf_puts(&line, "{\"messages\": [{\"role\": \"user\", \"content\": \"square\"}");
        buf_printf(&line, ", {\"role\": \"%s\", \"content\": ", said ? "assistant" : "user");
        buf_json_str(&line, craft);
        buf_puts(&line, "}], \"task\": \"tests/bench/tasks/square.py\", \"model\": \"\", "
                        "\"form\": \"craft\", \"status\": \"ok\"}");
        json_t *answer = judge(line.at);
        CHECK_EQ_STR(text_of(answer, "status"), said ? "ok" : "bad-request");
        json_decref(answer);
        buf_free(&line);
    }
    arena_drop(&arena);
}

/* Squares while the sizes are small, and writes zeros when they are not. */
static const char squares[] = "n = dim(1, 4294967296)\n"
                              "@host\n"
                              "def op(x: gm[f32, n], y: out[f32, n]):\n"
                              "    work[chip.cores](x, y, 0 if n < LIMIT else 1)\n"
                              "@kernel\n"
                              "def work(x: gm[f32, n], y: out[f32, n], large: i32):\n"
                              "    a = ub(f32, 1024)\n"
                              "    known = large == 1\n"
                              "    for t in tiles(share(n, 64), 1024):\n"
                              "        if known:\n"
                              "            with compute():\n"
                              "                a[:t.size] = 0.0\n"
                              "        else:\n"
                              "            with copyin():\n"
                              "                load(a[:t.size], x[t])\n"
                              "            with compute():\n"
                              "                a[:t.size] = a[:t.size] * a[:t.size]\n"
                              "        with copyout():\n"
                              "            store(y[t], a[:t.size])\n";

static const char large_squares[] = "import torch\n"
                                    "import torch.nn as nn\n"
                                    "class Model(nn.Module):\n"
                                    "    def forward(self, x):\n"
                                    "        return x * x\n"
                                    "def get_inputs():\n"
                                    "    return [torch.rand(8192, 8192)]\n"
                                    "def get_init_inputs():\n"
                                    "    return []\n";

static json_t *judge_squares(const char *limit)
{
    Arena arena = {0};
    Buf line = {0};
    const char *craft = str_format(&arena, "craft = 1\nLIMIT = %s\n%s", limit, squares);
    buf_puts(&line, "{\"id\": 1, \"model\": ");
    buf_json_str(&line, str_from(large_squares));
    buf_puts(&line, ", \"answer\": ");
    buf_json_str(&line, str_from(craft));
    buf_puts(&line, "}");
    json_t *answer = judge_with(line.at, true);
    buf_free(&line);
    arena_drop(&arena);
    return answer;
}

T_TEST(judge_times_only_the_way_it_has_judged)
{
    json_t *honest = judge_squares("4294967297"), *sly = judge_squares("9000000");
    CHECK_EQ_STR(text_of(honest, "status"), "ok");
    CHECK(json_is_number(json_object_get(honest, "speed")));
    CHECK_EQ_STR(text_of(sly, "status"), "not-computed"); /* at a size it takes for a large one */
    CHECK(json_is_null(json_object_get(sly, "speed")));
    CHECK(json_number_value(json_object_get(sly, "reward")) == 0);
    json_decref(honest);
    json_decref(sly);
}

T_TEST(judge_reward_terms)
{
    Judged j = {.status = VERDICT_OK,
                .compiled = VERDICT_YES,
                .correct = VERDICT_YES,
                .predicted_us = 20,
                .bound_us = 5};
    CHECK_NEAR(judge_reward(&j).speed, 0.25, 1e-12);
    CHECK_NEAR(judge_reward(&j).reward, 0.5 + 0.5 * 0.25, 1e-12);
    j.predicted_us = 4; /* faster than the chip: no score */
    CHECK(isnan(judge_reward(&j).speed));
    CHECK_NEAR(judge_reward(&j).reward, 0.5, 1e-12);
    j.correct = VERDICT_UNKNOWN; /* nothing was compared */
    CHECK(judge_reward(&j).reward == 0);
    j.correct = VERDICT_YES;
    j.status =
        VERDICT_HAZARD; /* right values do not pay when there is a race, nor does compiling */
    CHECK(judge_reward(&j).reward == 0);
    CHECK(isnan(judge_reward(&j).speed));
}
