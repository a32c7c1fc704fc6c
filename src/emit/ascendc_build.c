/* How an operator project is built, on a machine with CANN: CMake files and scripts. In: the variants of
 * a Craft file. Out: texts.
 *
 *     build.sh ─┬─ CANN 9.0.0 and newer: CMakeLists.txt, find_package(ASC); targets binary, package
 *               └─ older: msopgen makes its own project from NAME.json, with the presets and CMake
 *                  files of that toolkit; our sources take the place of its templates
 *     board.sh ── build.sh, install, torch binding, cases, profile */
#include "emit/ascendc_host.h"

static const char *const units = "ascend910b;ascend910_93";

void build_print_cmake(Host *h)
{
    Pen *pen = h->pen;
    pen_line(pen, "# Written by acraft from %s. Needs CMake package ASC: CANN 9.0.0 or newer.",
             craft_name(h->in));
    pen_line(pen, "# For older toolkits build.sh has msopgen make the project.");
    pen_line(pen, "cmake_minimum_required(VERSION 3.16)");
    pen_line(pen, "project(%s_op LANGUAGES CXX)", host_op_name(h));
    pen_line(pen, "find_package(ASC REQUIRED)");
    pen_blank(pen);
    pen_line(pen, "set(ASCEND_COMPUTE_UNIT %s CACHE STRING \"chips to build for\")", units);
    pen_line(pen, "set(package_name acraft_%s)", host_op_name(h));
    pen_line(pen,
             "npu_op_package(${package_name} TYPE RUN CONFIG INSTALL_PATH ${CMAKE_BINARY_DIR})");
    pen_line(pen, "add_subdirectory(op_host)");
    pen_line(pen, "add_subdirectory(op_kernel)");
}

void build_print_presets(Host *h)
{
    Pen *pen = h->pen;
    pen_line(pen, "{");
    pen_line(pen, "  \"version\": 3,");
    pen_line(pen, "  \"cmakeMinimumRequired\": {\"major\": 3, \"minor\": 21, \"patch\": 0},");
    pen_line(pen, "  \"configurePresets\": [{");
    pen_line(pen, "    \"name\": \"default\",");
    pen_line(pen, "    \"displayName\": \"operator package of %s\",", host_op_type(h));
    pen_line(pen, "    \"generator\": \"Unix Makefiles\",");
    pen_line(pen, "    \"binaryDir\": \"${sourceDir}/build\",");
    pen_line(pen, "    \"cacheVariables\": {");
    pen_line(pen, "      \"CMAKE_BUILD_TYPE\": \"Release\",");
    pen_line(pen, "      \"ASCEND_COMPUTE_UNIT\": \"%s\",", units);
    pen_line(pen, "      \"ASCEND_CANN_PACKAGE_PATH\": \"$env{ASCEND_HOME_PATH}\"");
    pen_line(pen, "    }");
    pen_line(pen, "  }],");
    pen_line(pen, "  \"buildPresets\": [{\"name\": \"default\", \"configurePreset\": \"default\", "
                  "\"targets\": [\"binary\", \"package\"]}]");
    pen_line(pen, "}");
}

static void print_shell_head(Pen *pen)
{
    pen_line(pen, "set -eu");
    pen_line(pen, "here=$(cd \"$(dirname \"$0\")\" && pwd)");
    pen_line(pen, ": \"${ASCEND_HOME_PATH:?source set_env.sh of CANN first}\"");
}

/* msopgen writes a project from the description, for the toolkit it belongs to. */
static void print_msopgen(Host *h)
{
    Pen *pen = h->pen;
    const char *name = host_op_name(h);
    pen_line(pen, "by_msopgen() {");
    pen_line(pen, "    units=$(echo \"${ASCEND_COMPUTE_UNIT:-ascend910b}\" | "
                  "sed 's/;/,ai_core-/g; s/^/ai_core-/')");
    pen_line(pen, "    rm -rf \"$here/build/msopgen\"");
    pen_line(pen,
             "    msopgen gen -i \"$here/%s.json\" -f pytorch -c \"$units\" -lan cpp "
             "-out \"$here/build/msopgen\"",
             name);
    pen_line(
        pen,
        "    cp \"$here\"/op_host/*.cpp \"$here\"/op_host/*.h \"$here/build/msopgen/op_host/\"");
    pen_line(pen, "    cp \"$here\"/op_kernel/*.cpp \"$here/build/msopgen/op_kernel/\"");
    pen_line(pen,
             "    sed -i 's/\"value\": \"customize\"/\"value\": \"acraft_%s\"/' "
             "\"$here/build/msopgen/CMakePresets.json\"",
             name);
    pen_line(pen, "    (cd \"$here/build/msopgen\" && bash build.sh)");
    pen_line(pen, "    cp \"$here\"/build/msopgen/build_out/*.run \"$here/build/\"");
    pen_line(pen, "}");
}

void build_print_script(Host *h)
{
    Pen *pen = h->pen;
    pen_line(pen, "#!/bin/sh");
    pen_line(pen, "# Written by acraft from %s. Builds the operator package build/*.run:",
             craft_name(h->in));
    pen_line(pen,
             "#     ./build.sh             with the CMake package of CANN 9.0.0, else msopgen");
    pen_line(pen,
             "#     ./build.sh asc         CMakeLists.txt beside this file (CANN 9.0.0 or newer)");
    pen_line(pen,
             "#     ./build.sh msopgen     the form of older toolkits, made by their own msopgen");
    pen_line(pen, "# ASCEND_COMPUTE_UNIT=ascend910b says the chips; several with ; between them.");
    print_shell_head(pen);
    pen_line(pen, "form=${1:-}");
    pen_line(pen, "mkdir -p \"$here/build\"");
    pen_line(pen, "rm -f \"$here\"/build/*.run");
    pen_blank(pen);
    pen_line(pen, "by_cmake() {");
    pen_line(pen,
             "    cmake -S \"$here\" -B \"$here/build\" "
             "\"-DASCEND_COMPUTE_UNIT=${ASCEND_COMPUTE_UNIT:-%s}\"",
             units);
    pen_line(pen, "    cmake --build \"$here/build\" --target binary -j");
    pen_line(pen, "    cmake --build \"$here/build\" --target package -j");
    pen_line(pen, "}");
    pen_blank(pen);
    print_msopgen(h);
    pen_blank(pen);
    pen_line(pen, "if [ -z \"$form\" ]; then");
    pen_line(pen, "    form=msopgen");
    pen_line(pen,
             "    if find -L \"$ASCEND_HOME_PATH\" -name asc-config.cmake 2>/dev/null | grep -q .; "
             "then form=asc; fi");
    pen_line(pen, "fi");
    pen_line(pen, "case $form in");
    pen_line(pen, "asc) by_cmake ;;");
    pen_line(pen, "msopgen) by_msopgen ;;");
    pen_line(pen, "*) echo \"build.sh [asc|msopgen]\" >&2; exit 2 ;;");
    pen_line(pen, "esac");
    pen_line(pen, "ls \"$here\"/build/*.run");
}

void build_print_board(Host *h)
{
    Pen *pen = h->pen;
    pen_line(pen, "#!/bin/sh");
    pen_line(pen, "# Written by acraft from %s. On a machine with CANN, torch_npu and a board:",
             craft_name(h->in));
    pen_line(pen, "#     ./board.sh [CASES]    builds and installs the operator, runs the cases "
                  "(cases/), profiles them");
    print_shell_head(pen);
    pen_line(pen, "cases=${1:-$here/cases}");
    pen_line(pen, "[ -d \"$cases\" ] || { echo \"$cases: no such directory; README.md says what a "
                  "case is\" >&2; exit 2; }");
    pen_line(pen, "\"$here/build.sh\"");
    pen_line(pen, "\"$here\"/build/*.run --quiet --install-path=\"$here/build/opp\"");
    pen_line(
        pen,
        "vendor=$(find \"$here/build/opp\" -type d -path '*vendors/*' -name op_api | head -n 1)");
    pen_line(pen,
             "export ASCEND_CUSTOM_OPP_PATH=\"$(dirname \"$vendor\")\" ACRAFT_OP_API=\"$vendor\"");
    pen_line(pen, "export LD_LIBRARY_PATH=\"$vendor/lib:${LD_LIBRARY_PATH:-}\"");
    pen_line(pen, "(cd \"$here/torch\" && python3 setup.py build_ext --inplace)");
    pen_line(pen, "export PYTHONPATH=\"$here/torch:${PYTHONPATH:-}\"");
    pen_line(pen, "python3 \"$here/test_op.py\" \"$cases\"");
    pen_line(pen,
             "msprof op --output=\"$here/profile\" --kernel-name=%s python3 \"$here/test_op.py\" "
             "\"$cases\"",
             host_op_name(h));
}
