/* Craft, the kernel language (docs/craft.md): text in, tile IR out.
 *
 *     Diag diag = diag_make(&arena, name, text);
 *     CraftFile *file = craft_read(&arena, name, text, &diag);
 *     for (uint32_t v = 0; file && v < craft_variant_count(file); v++) {
 *         IrProgram *program = craft_program(&arena, file, v, &diag);
 *         ...
 *     }
 */
#ifndef CRAFT_CRAFT_H
#define CRAFT_CRAFT_H

#include "base/diag.h"

typedef struct CraftFile CraftFile;
typedef struct IrProgram IrProgram;

/* Parses; every error of the file is collected in `diag`. NULL only when there is nothing to
 * go on with (not text, too large). A file with errors may still be formatted in part. */
CraftFile *craft_read(Arena *arena, const char *name, Str text, Diag *diag);

/* How many texts this process has parsed so far: for tests that nothing parses what it built. */
uint64_t craft_read_count(void);

/* How many programs the file stands for: one for each combination of its dtype variables,
 * at least 1, at most CRAFT_MAX_VARIANTS. */
uint32_t craft_variant_count(const CraftFile *file);

/* The tile IR of one variant; NULL when it has errors, all of which are in `diag` then. An
 * error that several variants share is reported once. */
IrProgram *craft_program(Arena *arena, const CraftFile *file, uint32_t variant, Diag *diag);

/* Whether the front end finds no fault with whole lines that begin a program: what a program needs
 * besides (its host function, launches, kernels that are launched) may still come. */
bool craft_check_beginning(Arena *arena, Str text, Diag *diag);

/* The canonical spelling. False when the file has syntax errors. */
bool craft_format(const CraftFile *file, Buf *out);

/* ---- diagnostic codes (codes.def) ---- */

typedef struct CraftCode {
    const char *code;       /* "E031" */
    const char *brief;      /* one line */
    const char *text;       /* what it means and how to repair it */
    const char *bad, *good; /* Craft lines; may be empty */
} CraftCode;

/* NULL when there is no such code. */
const CraftCode *craft_explain(Str code);
/* All of them in order; ends with a row whose `code` is NULL. */
extern const CraftCode craft_codes[];

#endif
