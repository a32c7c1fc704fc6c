/* Template parameters of the kernel: element type, tiles per core, whether the sum is taken twice. */
#ifndef ADD_TEMPLATE_KEY_H
#define ADD_TEMPLATE_KEY_H
#include "ascendc/host_api/tiling/template_argument.h"
#include "graph/c_types.h"

ASCENDC_TPL_ARGS_DECL(AddTemplate,
    ASCENDC_TPL_DATATYPE_DECL(T, C_DT_FLOAT, C_DT_FLOAT16, ASCENDC_TPL_INPUT(0)),
    ASCENDC_TPL_UINT_DECL(TILES, ASCENDC_TPL_4_BW, ASCENDC_TPL_UI_MIX, 1, 7, 8, 2, 4),
    ASCENDC_TPL_BOOL_DECL(TWICE, 0, 1),
);

ASCENDC_TPL_SEL(
    ASCENDC_TPL_ARGS_SEL(
        ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_AIV_ONLY),
        ASCENDC_TPL_DATATYPE_SEL(T, C_DT_FLOAT, C_DT_FLOAT16),
        ASCENDC_TPL_UINT_SEL(TILES, ASCENDC_TPL_UI_LIST, 2, 4),
        ASCENDC_TPL_BOOL_SEL(TWICE, 0),
        ASCENDC_TPL_TILING_STRUCT_SEL(AddTemplateTiling)),
);
#endif
