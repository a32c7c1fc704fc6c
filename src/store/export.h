/* Training rows: attempts in the store become JSON Lines that trainers read.
 *
 * Prompts and answers are lists of chat messages ({"role", "content"}). Every row carries where it
 * comes from: task, suite, wording, form, generator, status, source, rule, provenance, licence and
 * task_licence. What acraft itself could not judge (unsupported and the like) is in `attempts` only.
 *
 * Preference: right over wrong over not compiling, and of two right ones the faster where the
 * predicted times differ by more than the model's error. */
#ifndef STORE_EXPORT_H
#define STORE_EXPORT_H

#include "store/store.h"

typedef enum ExportKind {
#define KIND(name, ...) EXPORT_##name,
#include "store/export_kind.def"
#undef KIND
    EXPORT_KIND_COUNT
} ExportKind;

typedef struct ExportKindRow {
    const char *name, *meaning, *needs;
} ExportKindRow;

const ExportKindRow *export_kind_row(ExportKind kind);
bool export_kind_from_name(Str name, ExportKind *kind);

typedef struct ExportSpec {
    ExportKind kind;
    StoreFilter filter;
    uint32_t pairs; /* most for one task of one run */
    uint64_t most;  /* rows at most; 0: all */
    /* Takes one line with its newline; false stops. */
    bool (*line)(void *context, Str line);
    void *context;
} ExportSpec;

/* False with the reason in diag; *rows counts what was given out. */
bool export_rows(Store *store, const ExportSpec *spec, uint64_t *rows, Diag *diag);

#endif
