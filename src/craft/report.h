/* Diagnostics on a Craft file: rows of codes.def, each reported once per place. */
#ifndef CRAFT_REPORT_H
#define CRAFT_REPORT_H

#include "base/diag.h"

typedef enum CraftCodeId {
#define CODE(id, ...) CC_##id,
#include "craft/codes.def"
#undef CODE
    CC_COUNT
} CraftCodeId;

/* hint: how to repair it, or NULL. The same words at the same place are reported only once, so
 * that the variants of a program do not repeat each other. */
void craft_report(Diag *diag, CraftCodeId id, Span at, const char *hint, const char *format, ...)
    ATTR_PRINTF(5, 6);

#endif
