/* Categories of texts: the table, words, and the three methods; see category.h. */
#include "gen/prompt/category.h"

#include <ctype.h>
#include <string.h>

typedef struct CategoryRow {
    const char *name, *others, *keywords;
} CategoryRow;

static const CategoryRow rows[] = {
#define CATEGORY(name, others, keywords) {name, others, keywords},
#include "gen/prompt/category.def"
#undef CATEGORY
};
enum { COUNT = sizeof rows / sizeof *rows };

static const char *const methods[] = {"keywords", "bag", "texting"};

/* Below, none is answered: a wrong category shows exemplars of another kind, none shows the nearest shapes. */
static const double least_probability = 0.4;

uint32_t category_count(void) { return COUNT; }
const char *category_name(uint32_t index) { return rows[index].name; }
const char *category_method_name(CategoryMethod method) { return methods[method]; }

bool category_method_from_name(Str name, CategoryMethod *method)
{
    for (int i = 0; i < 3; i++)
        if (str_is(name, methods[i])) {
            *method = (CategoryMethod)i;
            return true;
        }
    return false;
}

bool category_find(Str name, uint32_t *index)
{
    for (uint32_t i = 0; i < COUNT; i++)
        if (str_is(name, rows[i].name) || (*rows[i].others && str_is(name, rows[i].others))) {
            *index = i;
            return true;
        }
    return false;
}

/* ---- words ---- */

static bool letter(char c) { return isalpha((unsigned char)c) != 0; }
static bool capital(char c) { return isupper((unsigned char)c) != 0; }

/* Where the word that begins at `from` ends: a capital that a small letter follows begins another, so that
 * "GELUGrad" is two words and "ReLU" is one. */
static size_t word_end(Str text, size_t from)
{
    size_t at = from + 1;
    while (at < text.len && letter(text.at[at]) &&
           !(capital(text.at[at]) && at + 1 < text.len && letter(text.at[at + 1]) &&
             !capital(text.at[at + 1])))
        at++;
    return at;
}

void category_words(Arena *arena, Str text, CategoryWords *words)
{
    for (size_t at = 0; at < text.len;) {
        if (!letter(text.at[at])) {
            at++;
            continue;
        }
        size_t end = word_end(text, at);
        if (end - at > 1) {
            char *word = str_dup(arena, str_slice(text, at, end));
            for (char *c = word; *c; c++)
                *c = (char)tolower((unsigned char)*c);
            vec_push(arena, words, str_from(word));
        }
        at = end;
    }
}

/* ---- methods ---- */

static bool has_word(const char *list, Str word)
{
    Str rest = str_from(list), one;
    while (str_next(&rest, ' ', &one))
        if (str_equal(one, word))
            return true;
    return false;
}

/* The share of all keywords found; the first of equals. */
static void by_keywords(const CategoryWords *words, float *p)
{
    uint32_t found = 0;
    for (uint32_t k = 0; k < COUNT; k++)
        for (uint32_t i = 0; i < words->len; i++)
            if (has_word(rows[k].keywords, words->at[i])) {
                p[k]++;
                found++;
            }
    for (uint32_t k = 0; k < COUNT && found; k++)
        p[k] /= (float)found;
}

static TextDoc known_words(Arena *arena, const Category *c, const CategoryWords *words)
{
    VEC(uint32_t) ids = {0};
    for (uint32_t i = 0, id; i < words->len; i++)
        if (text_word_find(&c->words, words->at[i], &id))
            vec_push(arena, &ids, id);
    return (TextDoc){ids.at, ids.len, 0};
}

/* False: the method knows nothing of the text. */
static bool probabilities(Arena *arena, const Category *c, Str text, float *p)
{
    CategoryWords words = {0};
    category_words(arena, text, &words);
    if (c->method == CATEGORY_KEYWORDS) {
        by_keywords(&words, p);
        for (uint32_t k = 0; k < COUNT; k++)
            if (p[k] > 0)
                return true;
        return false;
    }
    TextDoc doc = known_words(arena, c, &words);
    if (c->method == CATEGORY_BAG) {
        text_bag_classify(&c->bag, &doc, p);
    } else {
        TextGraph graph = text_graph(arena, &doc);
        TextingPass *pass = texting_pass_open(&c->texting, NULL);
        texting_classify(pass, &graph, p);
        texting_pass_close(pass);
    }
    return doc.count > 0;
}

CategoryGuess category_guess(Arena *arena, const Category *c, Str text)
{
    uint32_t count = c->method == CATEGORY_KEYWORDS ? COUNT : c->labels.words.len, best = 0;
    float *p = arena_array(arena, float, count + 1);
    CategoryGuess guess = {"", "", 0};
    if (!probabilities(arena, c, text, p))
        return guess;
    for (uint32_t k = 1; k < count; k++)
        best = p[k] > p[best] ? k : best;
    guess.likely = c->method == CATEGORY_KEYWORDS ? rows[best].name
                                                  : str_dup(arena, c->labels.words.at[best]);
    guess.probability = (double)p[best];
    if (guess.probability >= least_probability)
        guess.name = guess.likely;
    return guess;
}

void category_close(Category *c)
{
    if (c->method == CATEGORY_TEXTING)
        texting_close(&c->texting);
}

/* ---- what the program does ---- */

CategoryMethod category_default(const char *path)
{
    return str_ends(str_from(path), ".py") ? CATEGORY_BAG : CATEGORY_KEYWORDS;
}

bool category_of_text(Arena *arena, const char *home, CategoryMethod method, Str text,
                      CategoryGuess *guess, Diag *diag)
{
    CategoryTexts texts = {0};
    Category classifier;
    if (method != CATEGORY_KEYWORDS && !category_texts(arena, home, &texts, diag))
        return false;
    category_train(arena, method, &texts, NULL, &classifier);
    *guess = category_guess(arena, &classifier, text);
    category_close(&classifier);
    return true;
}

const char *category_of_task(Arena *arena, const char *home, const char *path, Str text)
{
    uint32_t index;
    Str folder = path_base(path_dir(arena, path));
    CategoryGuess guess = {"", "", 0};
    Diag quiet = diag_make(arena, "", STR(""));
    if (category_find(folder, &index))
        return rows[index].name;
    if (home)
        category_of_text(arena, home, category_default(path), text, &guess, &quiet);
    return guess.name;
}
