/* The judge: every line gets an answer, and the terms say what happened. */
#include "loop/judge_line.h"

#include "tests/t.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

static json_t *judge(const char *request)
{
    static JudgeLines lines;
    Buf reply = {0};
    lines.spec = (JudgeSpec){
        .chip = npu_chip_find(STR("910B2")), .baseline_name = "", .trust = true};
    judge_line(&lines, str_from(request), &reply);
    json_t *answer = json_loads(reply.at, 0, NULL);
    CHECK_MSG(json_is_object(answer), "no JSON: %s", reply.at);
    buf_free(&reply);
    return answer;
}

static const char *text_of(json_t *answer, const char *key)
{
    const char *text = json_string_value(json_object_get(answer, key));
    return text ? text : "";
}

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
        "{\"task\": \"tests/bench/tasks/square.py\", \"answer\": \"\\u0000\\ud83d\\ude00\"}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        json_t *answer = judge(lines[i]);
        CHECK_MSG(!strcmp(text_of(answer, "status"), "no-answer"), "'%s' got %s", lines[i],
                  text_of(answer, "status"));
        CHECK(json_number_value(json_object_get(answer, "reward")) == 0);
        json_decref(answer);
    }
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

T_TEST(judge_reward_terms)
{
    Judged j = {.status = VERDICT_OK,
                .compiled = VERDICT_YES,
                .correct = VERDICT_YES,
                .predicted_us = 20,
                .bound_us = 5};
    CHECK_NEAR(judge_reward(&j).speed, 0.25, 1e-12);
    CHECK_NEAR(judge_reward(&j).reward, 0.2 + 0.3 + 0.5 * 0.25, 1e-12);
    j.status = VERDICT_HAZARD; /* right values do not pay when there is a race */
    CHECK_NEAR(judge_reward(&j).reward, 0.2, 1e-12);
    CHECK(isnan(judge_reward(&j).speed));
}
