/* The boundary between an operator's host code and its runtime, as a C ABI.
 *
 * A host program is the operator's op_host files, compiled against twin/include/host, plus
 * acraft/host/entry.cpp. Its main (the runtime's) calls the functions below; the operator's own
 * code runs inside them and may print, so results travel through memory or the given file only.
 *
 *     describe   what the op definitions say, as lines of text (format below)
 *     tiling     run one op's tiling function
 *     header     the kernel-side tiling structs as C++ text, to be force-included in the kernel
 *
 * describe writes, one item per line, words separated by tabs, in order of definition:
 *     op      NAME
 *     input   NAME  required|optional|dynamic  DTYPE,...  FORMAT,...  (depend on value) 0|1
 *     output  NAME  required|optional|dynamic  DTYPE,...  FORMAT,...  0
 *     attr    NAME  required|optional  bool|int|float|string|list_int|list_float|list_bool|...  DEFAULT
 *     config  SOC
 *     tiling  0|1   (has a tiling function)
 *     key     KEY|default  STRUCT      (which tiling struct a tiling key has)
 * and after all ops
 *     struct  NAME  BYTES
 *     field   TYPE  NAME  COUNT  OFFSET       (COUNT 0: one value)
 * DTYPE and FORMAT are numbers of ge::DataType and ge::Format. Column i of every list is one
 * combination for which the kernel is compiled. */
#ifndef ACRAFT_HOST_H
#define ACRAFT_HOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACRAFT_HOST_ABI 2u
#define ACRAFT_HOST_RANK 25
#define ACRAFT_HOST_WORKSPACES 8

typedef struct AcraftHostTensor {
    int32_t ir_index; /* which declared input or output; several of one index: a tensor list */
    int32_t dtype;    /* ge::DataType */
    int32_t format;   /* ge::Format */
    int32_t rank;
    int64_t dims[ACRAFT_HOST_RANK];
    const void *data; /* values of inputs a tiling function depends on; may be NULL */
    uint64_t bytes;
} AcraftHostTensor;

enum AcraftAttrKind {
    ACRAFT_ATTR_NONE, /* the op definition's default */
    ACRAFT_ATTR_BOOL,
    ACRAFT_ATTR_INT,
    ACRAFT_ATTR_FLOAT,
    ACRAFT_ATTR_STRING,
    ACRAFT_ATTR_LIST_INT,
    ACRAFT_ATTR_LIST_FLOAT,
    ACRAFT_ATTR_LIST_BOOL
};

typedef struct AcraftHostAttr {
    int32_t kind; /* AcraftAttrKind */
    int32_t count;
    int64_t i;
    double f;
    const char *text;
    const int64_t *ints;
    const double *floats;
} AcraftHostAttr;

/* The chip, as the platform calls report it. */
typedef struct AcraftHostChip {
    const char *soc; /* "Ascend910B2" */
    uint32_t aic, aiv;
    uint64_t ub, l1, l0a, l0b, l0c, l2;
    uint64_t system_workspace;
} AcraftHostChip;

typedef struct AcraftTilingRequest {
    const char *op;
    const AcraftHostChip *chip;
    const AcraftHostTensor *inputs;
    int32_t input_count;
    const AcraftHostTensor *outputs;
    int32_t output_count;
    const AcraftHostAttr *attrs; /* in order of the op definition's attributes */
    int32_t attr_count;
    uint8_t *tiling; /* where the tiling data goes */
    uint64_t tiling_room;
} AcraftTilingRequest;

typedef struct AcraftTilingResult {
    uint64_t tiling_bytes;
    uint64_t key;
    uint32_t block_dim;
    uint32_t schedule_mode;
    uint32_t workspace_count;
    uint32_t pad;
    uint64_t workspace[ACRAFT_HOST_WORKSPACES];
    char error[256];
    /* What the key says where the kernel is a template (ASCENDC_TPL_*): its arguments as C++ writes
     * them, the struct its tiling data is, an ASCENDC_TPL_... kernel type (-1: none is said). */
    char template_args[512];
    char tiling_struct[128];
    int32_t kernel_type;
    int32_t pad_end;
} AcraftTilingResult;

/* All return 0 on success, 1 when the operator's code refused, 2 when the op is not there or the
 * request is bad; result->error says why. */
int acraft_host_tiling(const AcraftTilingRequest *request, AcraftTilingResult *result);

/* Shape and dtype inference: fills rank, dims, dtype of outputs (output_count of them, ir_index
 * set by the caller). */
int acraft_host_infer(const AcraftTilingRequest *request, AcraftHostTensor *outputs, char error[256]);

/* Write to a file descriptor; op NULL: every op of this program. */
int acraft_host_describe(int fd);
int acraft_host_header(int fd, const char *op);

#ifdef __cplusplus
}
#endif

#endif
