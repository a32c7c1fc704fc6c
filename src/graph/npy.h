/* NumPy's .npy files: how tensors leave and enter the program.
 *
 *     \x93NUMPY  major minor  header length
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n
 *     elements
 *
 * Read: versions 1, 2 and 3, little endian, f2 f4 f8 i1..i8 u1..u8 b1 c8, row or column order.
 * NumPy has no bf16: it is written and read as '<V2', two opaque bytes an element, which is also
 * what the ml_dtypes package writes; view them as uint16 to get at the bits. Written: version 1.
 */
#ifndef GRAPH_NPY_H
#define GRAPH_NPY_H

#include "graph/tensor.h"

/* NULL after an error in diag: not such a file, cut short, bytes left over, a type we lack. */
Tensor *npy_parse(Str bytes, Diag *diag);
Tensor *npy_read(const char *path, Diag *diag);
void npy_format(const Tensor *t, Buf *out);
bool npy_write(const char *path, const Tensor *t, Diag *diag);

#endif
