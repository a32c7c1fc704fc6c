/* Numbers of the element types and formats, as macros: kernels compare ORIG_DTYPE_X with them in
 * the preprocessor (asc-devkit include/basic_api/kernel_type.h). A file that includes the headers of
 * host code, too, has them as enumerators (acraft/host/ge.h), as the vendor's single-source mode. */
#ifndef ACRAFT_DT_H
#define ACRAFT_DT_H

#ifndef ACRAFT_HOST_GE_H

#define DT_FLOAT 0
#define DT_FLOAT16 1
#define DT_INT8 2
#define DT_INT32 3
#define DT_UINT8 4
#define DT_INT16 6
#define DT_UINT16 7
#define DT_UINT32 8
#define DT_INT64 9
#define DT_UINT64 10
#define DT_DOUBLE 11
#define DT_BOOL 12
#define DT_COMPLEX64 16
#define DT_BF16 27
#define DT_INT4 29

#define FORMAT_NCHW 0
#define FORMAT_NHWC 1
#define FORMAT_ND 2
#define FORMAT_NC1HWC0 3
#define FORMAT_FRACTAL_Z 4
#define FORMAT_NDHWC 27
#define FORMAT_FRACTAL_ZZ 28
#define FORMAT_FRACTAL_NZ 29
#define FORMAT_NCDHW 30
#define FORMAT_NDC1HWC0 32
#define FORMAT_FRACTAL_Z_3D 33

#endif

#endif
