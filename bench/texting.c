/* Categories of texts by keywords, by a bag of words and by TextING, on texts that none of them has seen.
 *
 *     bench-texting                 the texts of tasks/, five folds over operator families
 *     bench-texting api DIR         the api_desc.md files of a clone of NPUKernelBench, by all texts but those
 *                                   of tasks/npukernelbench
 *     bench-texting CORPUS DIR      a public corpus of a clone of CRIPAC-DIG/TextING (mr, R8, R52, ohsumed)
 *
 * Public corpora: DIR/data/CORPUS.txt says of each document whether it is for training and its label,
 * DIR/data/corpus/CORPUS.clean.txt its words. Keywords there: for each class the ten most telling words
 * of the training documents; accuracy beside the paper's, whose word vectors (GloVe) we do not have. */
#include "gen/prompt/category.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct Paper {
    const char *corpus;
    double texting;
} papers[] = {{"mr", 79.82}, {"R8", 98.04}, {"R52", 95.48}, {"ohsumed", 70.42}};

typedef VEC(TextDoc) TextDocs;
typedef struct Corpus {
    TextWords words, labels;
    TextDocs train, test;
} Corpus;

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void show_epoch(void *name, const TextEpoch *e)
{
    fprintf(stderr, "  %s epoch %2u: loss %.4f, kept back %.2f %%, %.0f s of processor\n",
            (const char *)name, e->epoch, e->loss, 100 * e->held, seconds());
}

/* ---- corpora ---- */

static TextDoc doc_of(Arena *arena, Corpus *c, Str text, Str label, bool learn)
{
    VEC(uint32_t) ids = {0};
    Str word;
    while (str_next(&text, ' ', &word)) {
        uint32_t id;
        word = str_trim(word);
        if (word.len && (learn || text_word_find(&c->words, word, &id)))
            vec_push(arena, &ids, text_word_add(arena, &c->words, word));
    }
    return (TextDoc){ids.at, ids.len, text_word_add(arena, &c->labels, label)};
}

/* Words of training documents alone have a number. */
static bool read_corpus(Arena *arena, const char *dir, const char *name, Corpus *c, Diag *diag)
{
    Str labels, texts, line, text;
    const char *about = path_join(arena, dir, str_format(arena, "data/%s.txt", name));
    const char *clean = path_join(arena, dir, str_format(arena, "data/corpus/%s.clean.txt", name));
    if (!file_read(arena, about, 0, &labels, diag) || !file_read(arena, clean, 0, &texts, diag))
        return false;
    for (int learn = 1; learn >= 0; learn--) {
        Str left = labels, rest = texts;
        while (str_next(&left, '\n', &line) && str_next(&rest, '\n', &text)) {
            Str field, part[3] = {0};
            for (int i = 0; i < 3 && str_next(&line, '\t', &field); i++)
                part[i] = str_trim(field);
            if ((str_find(part[1], STR("train")) >= 0) != learn || !part[2].len)
                continue;
            TextDoc doc = doc_of(arena, c, text, part[2], learn);
            if (learn)
                vec_push(arena, &c->train, doc);
            else
                vec_push(arena, &c->test, doc);
        }
    }
    return c->train.len && c->test.len;
}

/* ---- scores ---- */

static uint32_t largest(const float *p, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < count; k++)
        best = p[k] > p[best] ? k : best;
    return best;
}

/* The training documents of each class that have a word. */
static uint32_t *class_counts(const Corpus *c)
{
    uint32_t K = c->labels.words.len;
    uint32_t *counts = heap_alloc(((size_t)c->words.words.len * K + 1) * sizeof *counts);
    uint32_t *last = heap_alloc((c->words.words.len + 1) * sizeof *last);
    for (uint32_t i = 0; i < c->train.len; i++)
        for (uint32_t k = 0; k < c->train.at[i].count; k++) {
            uint32_t w = c->train.at[i].words[k];
            if (last[w] != i + 1)
                counts[(size_t)w * K + c->train.at[i].label]++;
            last[w] = i + 1;
        }
    heap_free(last);
    return counts;
}

/* Keywords: for each class the ten words that tell it best (share of its documents, less the share of the
 * others); the class with the most of its words in the text, of equals the more frequent one. */
static double keyword_score(const Corpus *c)
{
    enum { TEN = 10 };
    uint32_t K = c->labels.words.len, W = c->words.words.len, right = 0;
    uint32_t *counts = class_counts(c), *size = heap_alloc(K * sizeof *size);
    uint8_t *key = heap_alloc((size_t)W * K + 1);
    for (uint32_t i = 0; i < c->train.len; i++)
        size[c->train.at[i].label]++;
    for (uint32_t k = 0; k < K; k++)
        for (int n = 0; n < TEN; n++) {
            double best = -1;
            uint32_t which = 0;
            for (uint32_t w = 0; w < W; w++) {
                uint32_t all = 0;
                for (uint32_t other = 0; other < K; other++)
                    all += counts[(size_t)w * K + other];
                double own = counts[(size_t)w * K + k];
                double tells = own / (size[k] + 1.0) - (all - own) / (c->train.len - size[k] + 1.0);
                if (!key[(size_t)w * K + k] && tells > best) {
                    best = tells;
                    which = w;
                }
            }
            key[(size_t)which * K + k] = 1;
        }
    for (uint32_t i = 0; i < c->test.len; i++) {
        uint32_t found[256] = {0}, best = 0;
        for (uint32_t n = 0; n < c->test.at[i].count; n++)
            for (uint32_t k = 0; k < K && k < 256; k++)
                found[k] += key[(size_t)c->test.at[i].words[n] * K + k];
        for (uint32_t k = 1; k < K && k < 256; k++)
            if (found[k] > found[best] || (found[k] == found[best] && size[k] > size[best]))
                best = k;
        right += best == c->test.at[i].label;
    }
    heap_free(counts);
    heap_free(size);
    heap_free(key);
    return 100.0 * right / c->test.len;
}

static double bag_score(Arena *arena, const Corpus *c)
{
    uint32_t right = 0;
    TextBag bag = text_bag_new(arena, c->words.words.len, c->labels.words.len);
    float *p = arena_array(arena, float, c->labels.words.len);
    TextTrain train = {.epochs = 20, .rate = 1, .held = 10, .decay = 1e-5, .seed = 1};
    text_bag_train(arena, &bag, c->train.at, c->train.len, &train);
    for (uint32_t i = 0; i < c->test.len; i++) {
        text_bag_classify(&bag, &c->test.at[i], p);
        right += largest(p, bag.classes) == c->test.at[i].label;
    }
    return 100.0 * right / c->test.len;
}

static double texting_score(Arena *arena, const Corpus *c, const char *name)
{
    uint32_t right = 0, K = c->labels.words.len;
    Texting model = texting_new(&(TextingConfig){c->words.words.len, 300, 96, K, 2}, 1);
    NnPool *pool = nn_pool_open(1);
    float *p = arena_array(arena, float, K);
    TextTrain train = {.epochs = 10,
                       .batch = 32,
                       .held = 10,
                       .rate = 1e-3,
                       .dropout = 0.5,
                       .seed = 1,
                       .progress = show_epoch,
                       .context = (void *)(uintptr_t)name};
    texting_train(arena, &model, c->train.at, c->train.len, &train, pool);
    TextingPass *pass = texting_pass_open(&model, pool);
    for (uint32_t i = 0; i < c->test.len; i++) {
        TextGraph g = text_graph(arena, &c->test.at[i]);
        texting_classify(pass, &g, p);
        right += largest(p, K) == c->test.at[i].label;
    }
    texting_pass_close(pass);
    texting_close(&model);
    nn_pool_close(pool);
    return 100.0 * right / c->test.len;
}

static int bench_corpus(const char *name, const char *dir)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, name, STR(""));
    Corpus c = {0};
    const struct Paper *paper = NULL;
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
        if (!strcmp(papers[i].corpus, name))
            paper = &papers[i];
    if (!read_corpus(&arena, dir, name, &c, &diag)) {
        Buf out = {0};
        diag_print(&diag, &out);
        fprintf(stderr, "%s", out.at ? out.at : "no documents\n");
        return 2;
    }
    printf("%s: %u to learn from, %u to test, %u classes, %u words\n", name, c.train.len,
           c.test.len, c.labels.words.len, c.words.words.len);
    printf("  keywords     %6.2f\n", keyword_score(&c));
    printf("  bag of words %6.2f\n", bag_score(&arena, &c));
    fflush(stdout);
    printf("  TextING      %6.2f  (no GloVe, one seed, %.0f s of processor)\n",
           texting_score(&arena, &c, name), seconds());
    if (paper)
        printf("  the paper's  %6.2f  (with GloVe, mean of ten runs)\n", paper->texting);
    arena_drop(&arena);
    return 0;
}

/* ---- our own texts ---- */

enum { FOLDS = 5, KINDS = CATEGORY_KINDS, MOST_CATEGORIES = 32 };
static const char *const kind_names[KINDS] = {"code", "prose", "name", "question"};

/* Counts of one method by kind and category: texts, right ones, answered ones, and answered
 * right. */
typedef struct Tally {
    uint32_t all[KINDS][MOST_CATEGORIES], right[KINDS][MOST_CATEGORIES];
    uint32_t answered[KINDS], answered_right[KINDS];
} Tally;

static void count_guess(Tally *t, const CategoryGuess *g, CategoryKind kind, uint32_t category)
{
    bool right = !strcmp(g->likely, category_name(category));
    t->all[kind][category]++;
    t->right[kind][category] += right;
    t->answered[kind] += *g->name != 0;
    t->answered_right[kind] += *g->name && right;
}

static void print_tally(const char *method, const Tally *t)
{
    for (int kind = 0; kind < KINDS; kind++) {
        double all = 0, right = 0, macro = 0, categories = 0;
        for (uint32_t k = 0; k < category_count(); k++) {
            all += t->all[kind][k];
            right += t->right[kind][k];
            categories += t->all[kind][k] > 0;
            macro += t->all[kind][k] ? (double)t->right[kind][k] / t->all[kind][k] : 0;
        }
        if (all > 0)
            printf(
                "  %-13s %-9s %5.0f texts  right %5.1f %%  by category %5.1f %%  answers %5.1f %%, "
                "of these right %5.1f %%\n",
                method, kind_names[kind], all, 100 * right / all, 100 * macro / categories,
                100 * t->answered[kind] / all,
                t->answered[kind] ? 100.0 * t->answered_right[kind] / t->answered[kind] : 0);
    }
}

/* Families of a category are dealt to the folds in turn, in order of their first text. */
static uint32_t *deal_folds(Arena *arena, const CategoryTexts *texts)
{
    Map fold_of = {0};
    uint32_t next[MOST_CATEGORIES] = {0}, *folds = arena_array(arena, uint32_t, texts->len + 1);
    for (uint32_t i = 0; i < texts->len; i++) {
        Str family = str_from(texts->at[i].family);
        if (!map_get(&fold_of, family, &folds[i])) {
            folds[i] = (next[texts->at[i].category]++ + texts->at[i].category) % FOLDS;
            map_put(arena, &fold_of, family, folds[i]);
        }
    }
    return folds;
}

static void score_folds(const CategoryTexts *texts, CategoryMethod method)
{
    Arena arena = {0};
    Tally tally = {0};
    uint32_t *folds = deal_folds(&arena, texts);
    bool *use = arena_array(&arena, bool, texts->len + 1);
    for (uint32_t fold = 0; fold < FOLDS; fold++) {
        Category c;
        for (uint32_t i = 0; i < texts->len; i++)
            use[i] = folds[i] != fold;
        category_train(&arena, method, texts, use, &c);
        for (uint32_t i = 0; i < texts->len; i++)
            if (!use[i]) {
                CategoryGuess g = category_guess(&arena, &c, texts->at[i].text);
                count_guess(&tally, &g, texts->at[i].kind, texts->at[i].category);
            }
        category_close(&c);
    }
    print_tally(category_method_name(method), &tally);
    fflush(stdout);
    arena_drop(&arena);
}

/* The description without the lines that name the benchmark's own category. */
static Str without_answer(Arena *arena, Str text)
{
    Buf out = {0};
    Str line;
    while (str_next(&text, '\n', &line))
        if (str_find(line, STR("task family")) < 0)
            buf_printf(&out, "%.*s\n", STR_ARG(line));
    Str copy = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return copy;
}

static bool score_folder(Arena *arena, const Category *c, const char *dir, uint32_t category,
                         Tally *tally, Diag *diag)
{
    NameList names = {0};
    bool ok = file_list(arena, dir, &names, diag);
    for (uint32_t i = 0; ok && i < names.len; i++) {
        const char *path = path_join(arena, path_join(arena, dir, names.at[i]), "api_desc.md");
        Str text;
        if (!file_exists(path))
            continue;
        ok = file_read(arena, path, 0, &text, diag);
        CategoryGuess g = category_guess(arena, c, ok ? without_answer(arena, text) : STR(""));
        count_guess(tally, &g, CATEGORY_PROSE, category);
    }
    return ok;
}

static bool score_api(const CategoryTexts *texts, CategoryMethod method, const char *dir,
                      Diag *diag)
{
    Arena arena = {0};
    Tally tally = {0};
    Category c;
    bool *use = arena_array(&arena, bool, texts->len + 1), ok = true;
    for (uint32_t i = 0; i < texts->len; i++)
        use[i] = !texts->at[i].npukb;
    category_train(&arena, method, texts, use, &c);
    for (uint32_t level = 1; ok && level <= 3; level++) {
        const char *tasks = path_join(&arena, dir, str_format(&arena, "tasks/level%u", level));
        NameList names = {0};
        ok = file_list(&arena, tasks, &names, diag);
        for (uint32_t i = 0, category; ok && i < names.len; i++)
            if (category_find(str_from(names.at[i]), &category))
                ok = score_folder(&arena, &c, path_join(&arena, tasks, names.at[i]), category,
                                  &tally, diag);
    }
    category_close(&c);
    print_tally(category_method_name(method), &tally);
    fflush(stdout);
    arena_drop(&arena);
    return ok;
}

static int bench_tasks(const char *api)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    CategoryTexts texts = {0};
    bool ok = category_texts(&arena, ".", &texts, &diag);
    printf("%u texts of tasks/ and examples/, %s\n", texts.len,
           api ? "tested on api_desc.md" : "families held out in five folds");
    for (int method = CATEGORY_KEYWORDS; ok && method <= CATEGORY_TEXTING; method++)
        if (api)
            ok = score_api(&texts, (CategoryMethod)method, api, &diag);
        else
            score_folds(&texts, (CategoryMethod)method);
    printf("  %.0f s of processor\n", seconds());
    if (!ok) {
        Buf out = {0};
        diag_print(&diag, &out);
        fprintf(stderr, "%s", out.at ? out.at : "");
        buf_free(&out);
    }
    arena_drop(&arena);
    return ok ? 0 : 2;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return bench_tasks(NULL);
    if (!strcmp(argv[1], "api"))
        return bench_tasks(argv[2]);
    return bench_corpus(argv[1], argv[2]);
}
