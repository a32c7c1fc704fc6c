/* What a text is about: a category of tasks/, for a model file that the reader refuses or that lies in a folder
 * of another name, and for prose.
 *
 *     text ─words─▶ keywords, bag of words or TextING ─▶ category, or none where no answer is likely enough
 *
 * The learnt methods know the files of tasks/ and examples/exemplars and the questions of tasks/questions.tsv.
 * `bench-texting tasks` scores the three on operator families that they have not seen. */
#ifndef GEN_PROMPT_CATEGORY_H
#define GEN_PROMPT_CATEGORY_H

#include "base/file.h"
#include "nn/texting.h"

uint32_t category_count(void);
const char *category_name(uint32_t index);
/* False: no category of tasks/ has this name. */
bool category_find(Str name, uint32_t *index);

typedef enum CategoryMethod { CATEGORY_KEYWORDS, CATEGORY_BAG, CATEGORY_TEXTING } CategoryMethod;
const char *category_method_name(CategoryMethod method);
bool category_method_from_name(Str name, CategoryMethod *method);

/* ---- words ---- */

typedef VEC(Str) CategoryWords;
/* Letters in a row, in small letters, cut before a capital that a small one follows: "LayerNorm2d" is layer, norm.
 * Single letters, digits and dimensions ("2d") are no words. */
void category_words(Arena *arena, Str text, CategoryWords *words);

/* ---- training texts ---- */

typedef enum CategoryKind {
    CATEGORY_CODE,
    CATEGORY_PROSE,
    CATEGORY_NAME,
    CATEGORY_QUESTION,
    CATEGORY_KINDS
} CategoryKind;
typedef struct CategoryText {
    Str text;
    const char *family; /* "activation/gelu" */
    uint32_t category;
    CategoryKind kind;
    bool npukb; /* of tasks/npukernelbench */
} CategoryText;
typedef VEC(CategoryText) CategoryTexts;
bool category_texts(Arena *arena, const char *home, CategoryTexts *texts, Diag *diag);

/* ---- classifiers ---- */

typedef struct Category {
    CategoryMethod method;
    TextWords words, labels;
    TextBag bag;
    Texting texting;
} Category;

/* Learns from the texts for which `use` is true (NULL: all). Keywords learn nothing. */
void category_train(Arena *arena, CategoryMethod method, const CategoryTexts *texts,
                    const bool *use, Category *classifier);
void category_close(Category *classifier);

typedef struct CategoryGuess {
    const char *name;   /* "": none is likely enough */
    const char *likely; /* the likeliest, "" where no word of the text is known */
    double probability;
} CategoryGuess;
CategoryGuess category_guess(Arena *arena, const Category *classifier, Str text);

/* ---- what the program does ---- */

/* The bag of words for Python files, keywords for prose: what wins on held-out files of each (docs/models.md). */
CategoryMethod category_default(const char *path);
/* Learns from the texts at `home` first (a fraction of a second; TextING: some seconds). */
bool category_of_text(Arena *arena, const char *home, CategoryMethod method, Str text,
                      CategoryGuess *guess, Diag *diag);
/* For a prompt: the folder's name where it is a category, else what the text seems to be about, else "". */
const char *category_of_task(Arena *arena, const char *home, const char *path, Str text);

#endif
