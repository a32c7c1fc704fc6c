/* Inside src/torch: what a mask picks, without how many that are.
 *
 *     x[m]               elements of x, as many as m has true ones: only values tell
 *     f(x[m], y[m])      f(x, y) under m
 *     f(x[m]).mean()     where(m, f(x), 0).sum() / m.sum()
 *     z[m] = f(x[m])     where(m, f(x), z)
 *
 * The first stays as it is; the last two become nodes whose shapes follow from shapes alone, so
 * that they hold for any values, not for those that were drawn. */
#ifndef TORCH_MASKED_H
#define TORCH_MASKED_H

#include "torch/tvar.h"

/* The node to be emitted reduces what a mask picks: the caller emits it from the whole tensor. False: it does not. */
bool masked_reduce(Interp *it, const NodeSpec *spec, ValueId *out);
/* z[mask] = v where v is made from what the same mask picks: what z becomes. */
bool masked_put(Interp *it, Span at, ValueId z, ValueId mask, ValueId v, ValueId *out);

#endif
