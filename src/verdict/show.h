/* A verdict on a terminal: as verdict_to_text, with colours and with the source lines of its findings. */
#ifndef VERDICT_SHOW_H
#define VERDICT_SHOW_H

#include "verdict/verdict.h"

typedef struct VerdictShow {
    bool colour;
    /* The text of a file that a finding names; empty: not to be had. NULL: no excerpts. */
    Str (*source)(void *context, const char *file);
    void *context;
} VerdictShow;

void verdict_show(const Verdict *verdict, const VerdictShow *how, Buf *out);

#endif
