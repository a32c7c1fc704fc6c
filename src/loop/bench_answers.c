/* Finding answers below a directory; see bench_answers.h for where. */
#include "loop/bench_answers.h"

#include "base/json_mend.h"
#include "base/map.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const Span no_place = {0, 0, 0};
enum { DEEPEST = 16 };

typedef struct Finder {
    Arena *arena;
    const BenchTasks *tasks;
    Map names;
    Map seen; /* directories by device and number: links may lead back */
    BenchAnswers *found;
    Diag *diag;
} Finder;

static const uint32_t no_sample = UINT32_MAX;

/* ---- names ---- */

static bool task_named(const Finder *f, Str name, uint32_t *task)
{
    return map_get(&f->names, name, task);
}

/* The number in "run3", "sample12". */
static bool number_after(Str name, const char *word, uint32_t *number)
{
    int64_t value;
    size_t len = strlen(word);
    if (!str_starts(name, word) || !str_to_i64(str_slice(name, len, name.len), &value) ||
        value < 0 || value >= no_sample)
        return false;
    *number = (uint32_t)value;
    return true;
}

static Str without(Str name, const char *ending)
{
    return str_ends(name, ending) ? str_slice(name, 0, name.len - strlen(ending)) : name;
}

static Str unpacked_name(Str name) { return without(without(name, ".zst"), ".gz"); }

static void add_answer(Finder *f, BenchAnswer answer) { vec_push(f->arena, &f->found->at, answer); }

/* ---- JSON Lines ---- */

static const char *dump(Arena *arena, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    const char *copy = text ? str_dup(arena, str_from(text)) : "";
    free(text);
    return copy;
}

static void add_object(Finder *f, const char *path, json_t *o)
{
    json_t *task = json_object_get(o, "task"), *answer = json_object_get(o, "answer");
    json_t *sample = json_object_get(o, "sample"), *prompt = json_object_get(o, "prompt");
    BenchAnswer a = {.path = path, .sample = no_sample, .kase = -1};
    if (!json_is_string(task) || !json_is_string(answer) ||
        !task_named(f, path_stem(json_string_value(task)), &a.task)) {
        f->found->unknown++;
        return;
    }
    if (json_is_integer(sample) && json_integer_value(sample) >= 0 &&
        json_integer_value(sample) < no_sample)
        a.sample = (uint32_t)json_integer_value(sample);
    a.text = str_copy(f->arena, (Str){json_string_value(answer), json_string_length(answer)});
    if (json_is_array(prompt))
        a.prompt = str_from(dump(f->arena, prompt));
    add_answer(f, a);
}

/* A file that cannot be unpacked costs its own answer only. */
static bool read_or_say(Finder *f, const char *path, Str *text, const char **unreadable)
{
    Diag own = diag_make(f->arena, path, (Str){0});
    *text = STR("");
    if (bench_read_packed(f->arena, path, text, &own))
        return true;
    *unreadable = own.items.len ? own.items.at[0].text : "the file cannot be read";
    f->found->damaged++;
    return false;
}

static bool add_lines(Finder *f, const char *path)
{
    Str text, line;
    const char *unreadable;
    if (!read_or_say(f, path, &text, &unreadable))
        return true;
    if (str_starts(text, "\xef\xbb\xbf"))
        text = str_slice(text, 3, text.len);
    for (uint32_t number = 1; str_next(&text, '\n', &line); number++) {
        json_error_t error;
        if (str_trim(line).len == 0)
            continue;
        line = json_mend(f->arena, line);
        json_t *o = json_loadb(line.at, line.len, JSON_ALLOW_NUL, &error);
        if (!json_is_object(o)) {
            diag_error(f->diag, "B004", no_place, "%s:%u: this is no JSON object: %s", path, number,
                       error.text);
            json_decref(o);
            return false;
        }
        add_object(f, path, o);
        json_decref(o);
    }
    return true;
}

/* ---- places ---- */

typedef struct Here {
    const char *path;
    bool in_task; /* a folder above is named after a task */
    uint32_t task, sample;
    int64_t kase;
    int depth;
} Here;

static BenchAnswer answer_at(Here here)
{
    return (BenchAnswer){
        .task = here.task, .sample = here.sample, .path = here.path, .kase = here.kase};
}

/* ---- NPUKernelBench ---- */

/* The model's answer after its reasoning, in the log of one sample. */
static bool add_generated(Finder *f, Here here)
{
    Str text;
    json_error_t error;
    BenchAnswer a = answer_at(here);
    read_or_say(f, here.path, &text, &a.unreadable);
    json_t *o = json_loadb(text.at, text.len, JSON_ALLOW_NUL, &error);
    json_t *content = json_object_get(o, "gen_content");
    if (json_is_array(content))
        content = json_array_get(content, 0);
    Str said = {json_string_value(content), json_string_length(content)};
    ptrdiff_t thoughts = said.at ? str_find(said, STR("</think>")) : -1;
    if (thoughts >= 0)
        said = str_slice(said, (size_t)thoughts + 8, said.len);
    a.text = said.at ? str_copy(f->arena, said) : STR("");
    add_answer(f, a);
    json_decref(o);
    return true;
}

/* ---- walking ---- */

static bool is_candidate_dir(Arena *arena, const char *path)
{
    return file_is_dir(path_join(arena, path, "op_kernel"));
}

static bool walk(Finder *f, Here here);

static bool was_here(Finder *f, const char *path)
{
    struct stat st;
    uint32_t before;
    if (stat(path, &st) != 0)
        return false;
    const char *key = str_format(f->arena, "%llx %llx", (unsigned long long)st.st_dev,
                                 (unsigned long long)st.st_ino);
    bool seen = map_get(&f->seen, str_from(key), &before);
    map_put(f->arena, &f->seen, str_from(key), 1);
    return seen;
}

static bool walk_dir(Finder *f, Here here)
{
    NameList names = {0};
    if (was_here(f, here.path))
        return true;
    if (here.depth > DEEPEST || !file_list(f->arena, here.path, &names, f->diag))
        return here.depth > DEEPEST;
    bool ok = true;
    for (uint32_t i = 0; ok && i < names.len; i++) {
        Here in = here;
        in.path = path_join(f->arena, here.path, names.at[i]);
        in.depth++;
        ok = walk(f, in);
    }
    return ok;
}

static bool enter(Finder *f, Here here, Str name)
{
    uint32_t number;
    int64_t plain;
    if (task_named(f, name, &here.task))
        here.in_task = true;
    if (number_after(name, "run", &number) || number_after(name, "sample", &number))
        here.sample = number;
    else if (number_after(name, "fixed_case_", &number))
        here.kase = number;
    else if (here.in_task && str_to_i64(name, &plain) && plain >= 0 && plain < no_sample)
        here.sample = (uint32_t)plain;
    if (here.in_task && is_candidate_dir(f->arena, here.path)) {
        if (!str_is(name, "question")) /* the empty template is nobody's answer */
        {
            BenchAnswer a = answer_at(here);
            a.whole = true;
            add_answer(f, a);
        }
        return true;
    }
    return walk_dir(f, here);
}

/* "softmax.craft", "softmax.3.cpp": a task, perhaps a number, and an ending of a candidate. */
static bool candidate_file(const Finder *f, Str name, uint32_t *task, uint32_t *sample)
{
    static const char *const endings[] = {".craft", ".cpp", ".asc", ".json", ".txt", ".md", ".py"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (!str_ends(name, endings[i]))
            continue;
        Str stem = without(name, endings[i]);
        if (task_named(f, stem, task))
            return true;
        size_t dot = stem.len;
        while (dot > 0 && stem.at[dot - 1] != '.')
            dot--;
        int64_t number;
        if (dot > 1 && str_to_i64(str_slice(stem, dot, stem.len), &number) && number >= 0 &&
            number < no_sample && task_named(f, str_slice(stem, 0, dot - 1), task)) {
            *sample = (uint32_t)number;
            return true;
        }
    }
    return false;
}

static bool take_file(Finder *f, Here here, Str name)
{
    Str plain = unpacked_name(name);
    BenchAnswer a = answer_at(here);
    if (!file_is_plain(here.path)) {
        f->found->unknown++;
        return true;
    }
    if (str_ends(plain, ".jsonl"))
        return add_lines(f, here.path);
    if (here.in_task && str_ends(plain, "_code_gen_prompt.json"))
        return add_generated(f, here);
    if (str_ends(plain, "_cot.txt") || str_starts(plain, "result_") ||
        !candidate_file(f, plain, &a.task, &a.sample)) {
        f->found->unknown++;
        return true;
    }
    a.whole = str_ends(plain, ".craft") || str_ends(plain, ".cpp") || str_ends(plain, ".asc");
    if (a.whole && plain.len == name.len) {
        add_answer(f, a);
        return true;
    }
    a.whole = false;
    read_or_say(f, here.path, &a.text, &a.unreadable);
    add_answer(f, a);
    return true;
}

static bool walk(Finder *f, Here here)
{
    Str name = path_base(here.path);
    return file_is_dir(here.path) ? enter(f, here, name) : take_file(f, here, name);
}

/* ---- numbering ---- */

static int by_task_sample_path(const void *a, const void *b)
{
    const BenchAnswer *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->sample != y->sample)
        return x->sample < y->sample ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Answers without a number, or with one in use, get the next free one. */
static void number_samples(BenchAnswers *found)
{
    if (found->at.len)
        qsort(found->at.at, found->at.len, sizeof *found->at.at, by_task_sample_path);
    for (uint32_t i = 0; i < found->at.len; i++) {
        BenchAnswer *a = &found->at.at[i];
        bool first = i == 0 || found->at.at[i - 1].task != a->task;
        uint32_t next = first ? 0 : found->at.at[i - 1].sample + 1;
        if (a->sample == no_sample || a->sample < next)
            a->sample = next;
    }
}

bool bench_answers(Arena *arena, const char *path, const BenchTasks *tasks, BenchAnswers *answers,
                   Diag *diag)
{
    Finder f = {.arena = arena, .tasks = tasks, .found = answers, .diag = diag};
    *answers = (BenchAnswers){0};
    for (uint32_t i = 0; i < tasks->len; i++)
        map_put(arena, &f.names, str_from(tasks->at[i].name), i);
    Here top = {.path = path, .sample = no_sample, .kase = -1};
    if (!file_exists(path)) {
        diag_error(diag, "B004", no_place, "there are no answers at '%s'", path);
        return false;
    }
    if (!walk(&f, top))
        return false;
    if (answers->at.len == 0) {
        diag_error(diag, "B004", no_place,
                   "'%s' holds no answer to a task of the suite (%u others, %u damaged)", path,
                   answers->unknown, answers->damaged);
        return false;
    }
    number_samples(answers);
    return true;
}
