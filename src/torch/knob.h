/* Inside src/torch: the integers of a file that say sizes, and what they are set to. */
#ifndef TORCH_KNOB_H
#define TORCH_KNOB_H

#include "torch/case.h"

typedef struct KnobEntry {
    TorchKnob knob;
    const Py *literal;
    bool pinned; /* set by the caller: scaling leaves it alone */
    bool named;  /* at module level, under a name of its own */
    bool deep;   /* inside a class: scaled only when the others do not suffice */
} KnobEntry;

typedef struct KnobList {
    VEC(KnobEntry) all;
    CaseRow row;         /* the case in hand, when it is one whose sizes are knobs */
    VEC(Knob) overrides; /* those whose value differs from the file's */
} KnobList;

/* Collects the knobs of a file and its case, and applies the caller's sets. False: a set names none, or
 * the case does not read. */
bool knob_list(Arena *arena, const Py *module, const TorchOptions *options, KnobList *knobs,
               Diag *diag);
/* Makes `overrides` from the values of `all`. */
void knob_apply(Arena *arena, KnobList *knobs);

/* Sizes that another module repeats under the task's own names and with the task's own values (a
 * constant, the default of an argument of `class_name`) follow the task's: the overrides of both. */
void knob_follow(Arena *arena, const KnobList *task, const Py *module, const char *class_name,
                 KnobList *both);

TorchTask *torch_read_tree(Arena *arena, const char *path, const Py *module, const KnobList *knobs,
                           const TorchOptions *options, Diag *diag);
/* Narrows the ranges that indices are drawn from to what they index, with a note. False: some
 * index may still lie outside. */
bool torch_fit_indices(Graph *graph);

#endif
