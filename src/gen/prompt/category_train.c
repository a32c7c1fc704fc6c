/* What the classifiers of texts learn from. In: tasks/, examples/exemplars, tasks/questions.tsv. Out: texts with
 * category and operator family; a trained classifier. */
#include "gen/prompt/category.h"

#include <ctype.h>
#include <string.h>

/* ---- families ---- */

/* The first of these that a file's name has is its operator family; else the name's first word is. */
static const char *const families[] = {"softmax",
                                       "gelu",
                                       "geglu",
                                       "swiglu",
                                       "relu",
                                       "elu",
                                       "sigmoid",
                                       "swish",
                                       "tanh",
                                       "soft",
                                       "lstm",
                                       "gru",
                                       "rnn",
                                       "mlp",
                                       "densenet",
                                       "efficientnet",
                                       "resnet",
                                       "regnet",
                                       "mobilenet",
                                       "shufflenet",
                                       "squeeze",
                                       "vgg",
                                       "googlenet",
                                       "vlad",
                                       "mamba",
                                       "gpt",
                                       "transformer",
                                       "cached",
                                       "scaled_dot",
                                       "causal",
                                       "cross",
                                       "query",
                                       "conv_depthwise",
                                       "conv_pointwise",
                                       "conv_standard",
                                       "conv_transpose",
                                       "convtranspose",
                                       "argmax",
                                       "argmin",
                                       "scatter",
                                       "gather",
                                       "take_along",
                                       "index_",
                                       "cumsum",
                                       "cumprod",
                                       "triangular",
                                       "symmetric",
                                       "diagonal",
                                       "transposed",
                                       "dim_tensor",
                                       "layer_norm",
                                       "layernorm",
                                       "rms_norm",
                                       "rmsnorm",
                                       "batch_norm",
                                       "group_norm",
                                       "instance_norm",
                                       "l1_norm",
                                       "l2_norm",
                                       "average",
                                       "max_pool",
                                       "nearest",
                                       "bilinear",
                                       "bicubic",
                                       "trilinear",
                                       "grid_sample",
                                       "quant",
                                       "adam",
                                       "matmul"};

static const char *family_of(Arena *arena, uint32_t category, const char *name)
{
    Str first = str_from(name);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (str_find(str_from(name), str_from(families[i])) >= 0)
            return str_format(arena, "%s/%s", category_name(category), families[i]);
    Str rest = first;
    str_next(&rest, '_', &first);
    return str_format(arena, "%s/%.*s", category_name(category), STR_ARG(first));
}

/* ---- texts ---- */

/* The docstring's first paragraph, and what follows the docstring. */
static void split_source(Str source, Str *prose, Str *code)
{
    ptrdiff_t open = str_find(source, STR("\"\"\""));
    *prose = (Str){0};
    *code = source;
    if (open < 0)
        return;
    Str rest = str_slice(source, (size_t)open + 3, source.len);
    ptrdiff_t close = str_find(rest, STR("\"\"\"")), blank = str_find(rest, STR("\n\n"));
    if (close < 0)
        return;
    *prose = str_slice(rest, 0, (size_t)(blank >= 0 && blank < close ? blank : close));
    *code = str_slice(rest, (size_t)close + 3, rest.len);
    /* Exemplars name their category in the same paragraph. */
    ptrdiff_t field = str_find(*prose, STR("\ncategory:"));
    if (field >= 0)
        *prose = str_slice(*prose, 0, (size_t)field);
}

/* "FastGeluGrad": fast_gelu_grad */
static const char *snake(Arena *arena, Str name)
{
    CategoryWords words = {0};
    Buf out = {0};
    category_words(arena, name, &words);
    for (uint32_t i = 0; i < words.len; i++)
        buf_printf(&out, "%s%.*s", i ? "_" : "", STR_ARG(words.at[i]));
    const char *text = out.len ? buf_take(&out, arena) : str_dup(arena, name);
    buf_free(&out);
    return text;
}

static bool add_file(Arena *arena, const char *path, uint32_t category, bool npukb,
                     CategoryTexts *texts, Diag *diag)
{
    Str source, prose, code;
    if (!file_read(arena, path, 1 << 20, &source, diag))
        return false;
    split_source(source, &prose, &code);
    const char *name = snake(arena, path_stem(path));
    CategoryText t = {
        .family = family_of(arena, category, name), .category = category, .npukb = npukb};
    const Str parts[] = {code, prose, str_from(name)};
    for (int kind = CATEGORY_CODE; kind <= CATEGORY_NAME; kind++) {
        t.text = parts[kind];
        t.kind = (CategoryKind)kind;
        if (t.text.len)
            vec_push(arena, texts, t);
    }
    return true;
}

static bool add_folder(Arena *arena, const char *dir, uint32_t category, bool npukb,
                       CategoryTexts *texts, Diag *diag)
{
    NameList names = {0};
    bool ok = file_list(arena, dir, &names, diag);
    for (uint32_t i = 0; ok && i < names.len; i++)
        if (str_ends(str_from(names.at[i]), ".py"))
            ok = add_file(arena, path_join(arena, dir, names.at[i]), category, npukb, texts, diag);
    return ok;
}

/* Folders of tasks/ that have the name of a category, and those of tasks/npukernelbench below the levels. */
static bool add_tasks(Arena *arena, const char *dir, bool npukb, CategoryTexts *texts, Diag *diag)
{
    NameList names = {0};
    bool ok = file_list(arena, dir, &names, diag);
    for (uint32_t i = 0, category; ok && i < names.len; i++) {
        const char *below = path_join(arena, dir, names.at[i]);
        if (!file_is_dir(below))
            continue;
        if (category_find(str_from(names.at[i]), &category))
            ok = add_folder(arena, below, category, npukb, texts, diag);
        else if (!strcmp(names.at[i], "npukernelbench") ||
                 str_starts(str_from(names.at[i]), "level"))
            ok = add_tasks(arena, below, true, texts, diag);
    }
    return ok;
}

static bool add_exemplars(Arena *arena, const char *dir, CategoryTexts *texts, Diag *diag)
{
    NameList names = {0};
    bool ok = file_list(arena, dir, &names, diag);
    for (uint32_t i = 0, category; ok && i < names.len; i++) {
        Str source, rest, line;
        const char *path = path_join(arena, dir, names.at[i]);
        if (!str_ends(str_from(names.at[i]), ".py"))
            continue;
        ok = file_read(arena, path, 1 << 20, &source, diag);
        rest = str_slice(source, 0, 1000);
        while (ok && str_next(&rest, '\n', &line))
            if (str_starts(line, "category:") &&
                category_find(str_trim(str_slice(line, 9, line.len)), &category)) {
                ok = add_file(arena, path, category, false, texts, diag);
                break;
            }
    }
    return ok;
}

static bool add_questions(Arena *arena, const char *path, CategoryTexts *texts, Diag *diag)
{
    Str rest, line;
    if (!file_read(arena, path, 1 << 20, &rest, diag))
        return false;
    while (str_next(&rest, '\n', &line)) {
        Str field[3] = {0};
        uint32_t category;
        for (int i = 0; i < 3 && str_next(&line, '\t', &field[i]); i++)
            ;
        if (field[2].len && category_find(field[0], &category))
            vec_push(arena, texts,
                     ((CategoryText){.text = field[2],
                                     .family = family_of(arena, category, str_dup(arena, field[1])),
                                     .category = category,
                                     .kind = CATEGORY_QUESTION}));
    }
    return true;
}

bool category_texts(Arena *arena, const char *home, CategoryTexts *texts, Diag *diag)
{
    return add_tasks(arena, path_join(arena, home, "tasks"), false, texts, diag) &&
           add_exemplars(arena, path_join(arena, home, "examples/exemplars"), texts, diag) &&
           add_questions(arena, path_join(arena, home, "tasks/questions.tsv"), texts, diag);
}

/* ---- training ---- */

typedef VEC(TextDoc) DocList;

/* Words of at least two texts, and of at most three in ten: what nearly all files have says nothing. */
static void choose_words(Arena *arena, const CategoryWords *of, const bool *use, uint32_t count,
                         TextWords *words)
{
    TextWords all = {0};
    VEC(uint32_t) seen = {0}, last = {0};
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        used += !use || use[i];
        for (uint32_t k = 0; (!use || use[i]) && k < of[i].len; k++) {
            uint32_t id = text_word_add(arena, &all, of[i].at[k]);
            if (id == seen.len) {
                vec_push(arena, &seen, 0);
                vec_push(arena, &last, 0);
            }
            seen.at[id] += last.at[id] != i + 1;
            last.at[id] = i + 1;
        }
    }
    for (uint32_t id = 0; id < seen.len; id++)
        if (seen.at[id] >= 2 && 10 * seen.at[id] <= 3 * used)
            text_word_add(arena, words, all.words.at[id]);
}

/* Rare categories are repeated until they are a quarter of the most frequent one. */
static void balance(Arena *arena, DocList *docs, uint32_t classes)
{
    uint32_t *size = arena_array(arena, uint32_t, classes + 1), most = 0, count = docs->len;
    for (uint32_t i = 0; i < count; i++) {
        size[docs->at[i].label]++;
        most = size[docs->at[i].label] > most ? size[docs->at[i].label] : most;
    }
    for (uint32_t i = 0; i < count; i++) {
        TextDoc doc = docs->at[i];
        for (uint32_t have = size[doc.label]; have < most / 4; have += size[doc.label])
            vec_push(arena, docs, doc);
    }
}

void category_train(Arena *arena, CategoryMethod method, const CategoryTexts *texts,
                    const bool *use, Category *c)
{
    CategoryWords *words = arena_array(arena, CategoryWords, texts->len + 1);
    DocList docs = {0};
    *c = (Category){.method = method};
    for (uint32_t i = 0; i < texts->len; i++)
        category_words(arena, texts->at[i].text, &words[i]);
    choose_words(arena, words, use, texts->len, &c->words);
    for (uint32_t k = 0; k < category_count(); k++)
        text_word_add(arena, &c->labels, str_from(category_name(k)));
    for (uint32_t i = 0; i < texts->len; i++) {
        VEC(uint32_t) ids = {0};
        for (uint32_t k = 0, id; k < words[i].len; k++)
            if (text_word_find(&c->words, words[i].at[k], &id))
                vec_push(arena, &ids, id);
        if ((!use || use[i]) && ids.len)
            vec_push(arena, &docs, ((TextDoc){ids.at, ids.len, texts->at[i].category}));
    }
    balance(arena, &docs, category_count());
    if (method == CATEGORY_BAG) {
        c->bag = text_bag_new(arena, c->words.words.len, category_count());
        text_bag_train(arena, &c->bag, docs.at, docs.len,
                       &(TextTrain){.epochs = 30, .rate = 1, .decay = 1e-4, .seed = 1});
    } else if (method == CATEGORY_TEXTING) {
        c->texting = texting_new(&(TextingConfig){c->words.words.len, 64, 64, category_count(), 2},
                                 1);
        texting_train(
            arena, &c->texting, docs.at, docs.len,
            &(TextTrain){.epochs = 20, .batch = 16, .rate = 2e-3, .dropout = 0.5, .seed = 1}, NULL);
    }
}
