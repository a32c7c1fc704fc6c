/* An operator project as a whole: op_host decides tiling, op_kernel computes. In: the texts of
 * both folders, tensors and attributes of one case. Out: as twin_run. */
#ifndef TWIN_PROJECT_H
#define TWIN_PROJECT_H

#include "twin/host.h"

typedef struct TwinProject {
    const char *dir; /* NULL: texts only */
    VEC(TwinHostFile) host, kernel;
    const char *const *include_dirs; /* ends with NULL; NULL: none */
    const char *const *defines;      /* of host and kernel texts, as -D takes them; likewise */
    NameList open; /* outputs that may stay unwritten: data decide their length, or they are an
                      operand written in place */
} TwinProject;

/* The .cpp files of DIR/op_host and DIR/op_kernel, or of deeper folders of these names. */
bool twin_project_read(Arena *arena, const char *dir, TwinProject *project, Diag *diag);
/* Glue for the vendor's operator library (aclnn) lies among the tiling files; it needs that
 * library's headers and decides nothing about the kernel. */
bool twin_is_library_glue(const char *path, Str text);

typedef struct TwinCase {
    const char *op; /* NULL: the only one of the project */
    /* By the names of the op definition; several of one name are a list. Outputs that are missing
     * are inferred and added. */
    TwinTensor *tensors;
    uint32_t tensor_count;
    NameList attrs; /* "NAME=VALUE" */
    bool inferred;  /* the definition's own inference must say what the outputs are */
    bool
        typed; /* a user typed the names: one that only its place fits is a warning, one that is not used an
                       error */
} TwinCase;

typedef struct TwinOpened TwinOpened;

/* Compiles the host side. */
TwinOpened *twin_project_open(Arena *arena, const TwinProject *project, const TwinOptions *options,
                              Verdict *verdict, Diag *diag);
void twin_project_close(TwinOpened *opened);
const TwinHost *twin_project_host(const TwinOpened *opened);
/* Tiling, kernel compilation for these dtypes, run. `outputs` receives the outputs that the case
 * did not give, and "shape_out" where the kernel writes one; free them with twin_tensor_free. */
typedef VEC(TwinTensor) TwinTensors;
bool twin_project_run(Arena *arena, const TwinOpened *opened, const TwinCase *kase,
                      const TwinOptions *options, TwinTensors *outputs, TwinRun *run,
                      Verdict *verdict, Diag *diag);

#endif
