/* How the tensors of a nest are seen in Craft: accesses are affine in one number, Craft's are per axis.
 *
 *     strides 128 (rows) and 1 (64 of 128 columns, from 64 on)   ─▶   x: gm[f32, n1, 128], x[i, 64 : 128]
 *
 * A tensor has a dimension for every stride of its accesses. One that an axis walks from end to end has the
 * size of that axis, which may vary; any other is a number. */
#ifndef GEN_PLAN_BUILD_LAYOUT_H
#define GEN_PLAN_BUILD_LAYOUT_H

#include "gen/plan/nest/nest.h"

enum { LAYOUT_RANK = 8 };

typedef struct LayoutDim {
    int64_t stride; /* of the axes that walk it */
    int64_t unit; /* elements from one index to the next: the stride, but 1 in the last dimension */
    int64_t size;
    uint32_t axis; /* it has `size of axis` * stride / unit indices; 0: a number of them */
} LayoutDim;

typedef struct LayoutTensor {
    uint32_t rank;
    LayoutDim dim[LAYOUT_RANK];
} LayoutTensor;

/* Along one dimension: at + by * axis; axis 0: at. Where every k-th element is read, by is k, and an axis
 * `inner` of up to k elements may say which one. */
typedef struct LayoutIndex {
    uint32_t axis;
    int64_t at, by;
    uint32_t inner;
} LayoutIndex;

typedef struct Layout {
    LayoutTensor *tensors; /* as the nest's */
    uint32_t
        same[NEST_MAX_AXES];  /* per axis: the first one that has the same size by the tensors */
    bool free[NEST_MAX_AXES]; /* its size may vary */
    const char *size[NEST_MAX_AXES]; /* "n3", or a number */
} Layout;

/* `inside`: steps of up to 4 elements and what is inside them are one dimension of inputs. False, with a
 * diagnostic: the accesses of some tensor fit no common shape. */
bool layout_make(const Nest *nest, bool inside, Layout *layout, Diag *diag);
void layout_index(const Nest *nest, const LayoutTensor *tensor, const Affine *index,
                  LayoutIndex out[LAYOUT_RANK]);
/* "n0, 128" */
const char *layout_shape(const Nest *nest, const Layout *layout, uint32_t tensor);

#endif
