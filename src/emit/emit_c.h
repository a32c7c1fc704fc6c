/* The C target: a tile IR program as one file of plain C17, cores as OpenMP threads.
 *
 * The file has one entry point, whose types stand at its top (docs/formats.md, "C target"):
 *
 *     int craft_entry(const CraftArgs *args);    0: done · 1: refused, args->message says why
 *
 * Values are those of the reference interpreter (ir/run.h), bit for bit; only the order of
 * atomic additions by different cores is the machine's. The text depends on the program alone. */
#ifndef EMIT_EMIT_C_H
#define EMIT_EMIT_C_H

#include "ir/ir.h"

/* p: verified. False, with an error, when the program cannot be written in C (today: never). */
bool emit_c(const IrProgram *p, Buf *out, Diag *diag);

#endif
