/* A program in C++ that calls the operator's C interface on one stored case. In: the variants of a Craft
 * file. Out: example/main.cpp and its CMakeLists.txt. Operators with lists of tensors or with optional
 * ones have none: how many there are is the caller's to say. */
#include "emit/ascendc_host.h"

bool example_has(const EmitInput *in)
{
    const IrProgram *ir = in->variants.at[0]->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        IrRole role = ir->tensors.at[i].role;
        if (role != IR_ROLE_IN && role != IR_ROLE_OUT)
            return false;
    }
    return true;
}

static const char reader_text[] =
    "struct Array {\n"
    "    std::string type; // as NumPy writes it: <f4\n"
    "    std::vector<int64_t> shape;\n"
    "    std::vector<char> bytes;\n"
    "};\n"
    "\n"
    "static Array Read(const std::string &path)\n"
    "{\n"
    "    std::ifstream file(path, std::ios::binary);\n"
    "    const std::string all((std::istreambuf_iterator<char>(file)), {});\n"
    "    if (all.size() < 10 || all.compare(1, 5, \"NUMPY\") != 0) {\n"
    "        std::fprintf(stderr, \"%s: no .npy file\\n\", path.c_str());\n"
    "        std::exit(2);\n"
    "    }\n"
    "    const size_t length = static_cast<uint8_t>(all[8]) + 256 * static_cast<uint8_t>(all[9]);\n"
    "    const std::string head = all.substr(10, length);\n"
    "    Array a;\n"
    "    const size_t type = head.find(\"'descr': '\") + 10, dims = head.find('(') + 1;\n"
    "    a.type = head.substr(type, head.find('\\'', type) - type);\n"
    "    for (size_t at = dims; head[at] != ')';) {\n"
    "        size_t used = 1;\n"
    "        if (head[at] >= '0' && head[at] <= '9')\n"
    "            a.shape.push_back(std::stoll(head.substr(at), &used));\n"
    "        at += used;\n"
    "    }\n"
    "    a.bytes.assign(all.begin() + 10 + length, all.end());\n"
    "    return a;\n"
    "}\n"
    "\n"
    "static aclDataType Type(const std::string &type)\n"
    "{\n"
    "    static const std::pair<const char *, aclDataType> known[] = {\n"
    "        {\"<f4\", ACL_FLOAT}, {\"<f2\", ACL_FLOAT16}, {\"<V2\", ACL_BF16}, {\"|i1\", "
    "ACL_INT8},\n"
    "        {\"|u1\", ACL_UINT8}, {\"<i2\", ACL_INT16}, {\"<i4\", ACL_INT32}, {\"<i8\", "
    "ACL_INT64},\n"
    "        {\"|b1\", ACL_BOOL}};\n"
    "    for (const auto &row : known)\n"
    "        if (type == row.first)\n"
    "            return row.second;\n"
    "    std::fprintf(stderr, \"element type %s is not taken here\\n\", type.c_str());\n"
    "    std::exit(2);\n"
    "}\n"
    "\n"
    "static void Check(int status, const char *what)\n"
    "{\n"
    "    if (status == 0)\n"
    "        return;\n"
    "    std::fprintf(stderr, \"%s: status %d: %s\\n\", what, status, aclGetRecentErrMsg());\n"
    "    std::exit(1);\n"
    "}\n"
    "\n"
    "// A tensor on the device, of an array's type and shape; `filled`: with its elements.\n"
    "struct Tensor {\n"
    "    void *at = nullptr;\n"
    "    aclTensor *acl = nullptr;\n"
    "    Tensor(const Array &a, bool filled)\n"
    "    {\n"
    "        std::vector<int64_t> strides(a.shape.size(), 1);\n"
    "        for (size_t d = a.shape.size(); d-- > 1;)\n"
    "            strides[d - 1] = strides[d] * a.shape[d];\n"
    "        Check(aclrtMalloc(&at, a.bytes.size() + 32, ACL_MEM_MALLOC_HUGE_FIRST), "
    "\"aclrtMalloc\");\n"
    "        if (filled)\n"
    "            Check(aclrtMemcpy(at, a.bytes.size(), a.bytes.data(), a.bytes.size(),\n"
    "                              ACL_MEMCPY_HOST_TO_DEVICE), \"copy to the device\");\n"
    "        acl = aclCreateTensor(a.shape.data(), a.shape.size(), Type(a.type), strides.data(), "
    "0,\n"
    "                              ACL_FORMAT_ND, a.shape.data(), a.shape.size(), at);\n"
    "    }\n"
    "    ~Tensor()\n"
    "    {\n"
    "        aclDestroyTensor(acl);\n"
    "        aclrtFree(at);\n"
    "    }\n"
    "};\n"
    "\n"
    "// The largest difference of f32 results; of others the number of bytes that differ.\n"
    "static void Compare(const char *name, const Array &want, const Tensor &tensor)\n"
    "{\n"
    "    std::vector<char> got(want.bytes.size());\n"
    "    Check(aclrtMemcpy(got.data(), got.size(), tensor.at, got.size(), "
    "ACL_MEMCPY_DEVICE_TO_HOST),\n"
    "          \"copy from the device\");\n"
    "    double most = 0;\n"
    "    size_t differ = 0;\n"
    "    for (size_t i = 0; want.type == \"<f4\" && i + 4 <= got.size(); i += 4) {\n"
    "        float g, w;\n"
    "        std::memcpy(&g, &got[i], 4);\n"
    "        std::memcpy(&w, &want.bytes[i], 4);\n"
    "        most = std::fmax(most, std::fabs(double(g) - double(w)));\n"
    "    }\n"
    "    for (size_t i = 0; i < got.size(); i++)\n"
    "        differ += got[i] != want.bytes[i];\n"
    "    if (want.type == \"<f4\")\n"
    "        std::printf(\"%s: largest difference %g\\n\", name, most);\n"
    "    else\n"
    "        std::printf(\"%s: %zu of %zu bytes differ\\n\", name, differ, got.size());\n"
    "}\n";

static void print_tensors(Host *h, bool output)
{
    const IrProgram *ir = h->p->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        if ((t->role == IR_ROLE_OUT) != output)
            continue;
        pen_line(h->pen, "const Array %sArray = Read(dir + \"/%s_%s.npy\");",
                 camel(h->arena, t->name), output ? "out" : "in", t->name);
        pen_line(h->pen, "Tensor %sTensor(%sArray, %s);", camel(h->arena, t->name),
                 camel(h->arena, t->name), output ? "false" : "true");
    }
}

static void add_argument(Buf *args, const char *text)
{
    buf_printf(args, "%s%s", args->len ? ", " : "", text);
}

/* Inputs, attributes, outputs: the order that opbuild gives the function. */
static const char *call_arguments(Host *h)
{
    const IrProgram *ir = h->p->ir;
    Buf args = {0};
    for (int output = 0; output < 2; output++) {
        for (uint32_t i = 0; i < ir->operand_count; i++)
            if ((ir->tensors.at[i].role == IR_ROLE_OUT) == output)
                add_argument(&args, str_format(h->arena, "%sTensor.acl",
                                               camel(h->arena, ir->tensors.at[i].name)));
        for (uint32_t i = 0; i < ir->attrs.len && !output; i++)
            add_argument(&args, camel(h->arena, ir->vars.at[ir->attrs.at[i]].name));
    }
    const char *text = buf_take(&args, h->arena);
    buf_free(&args);
    return text;
}

static void print_attrs(Host *h)
{
    const IrProgram *ir = h->p->ir;
    for (uint32_t i = 0; i < ir->attrs.len; i++) {
        const IrVar *v = &ir->vars.at[ir->attrs.at[i]];
        const IrExpr *e = v->value ? &ir->exprs.at[v->value] : NULL;
        const char *type = v->type == DT_F32 ? "double" : v->type == DT_BOOL ? "bool" : "int64_t";
        double value = !e ? 1 : e->op == IR_E_FLOAT ? e->of.f : (double)e->of.i;
        pen_line(h->pen, "const %s %s = %.9g;%s", type, camel(h->arena, v->name), value,
                 e ? "" : " // has no default: say it");
    }
}

void example_print_main(Host *h)
{
    Pen *pen = h->pen;
    const IrProgram *ir = h->p->ir;
    const char *type = host_op_type(h);
    pen_line(pen, "// Written by acraft from %s. Runs aclnn%s on one case and compares:",
             craft_name(h->in), type);
    pen_line(pen, "//     example CASE    a directory with in_X.npy and out_Y.npy, as in cases/");
    static const char *const headers[] = {"<cmath>",   "<cstdint>", "<cstdio>",   "<cstdlib>",
                                          "<cstring>", "<fstream>", "<iterator>", "<string>",
                                          "<utility>", "<vector>"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        pen_line(pen, "#include %s", headers[i]);
    pen_line(pen, "#include \"acl/acl.h\"");
    pen_line(pen, "#include \"aclnn_%s.h\"", host_op_name(h));
    pen_blank(pen);
    Str rest = str_from(reader_text), line;
    while (str_next(&rest, '\n', &line))
        pen_line(pen, "%.*s", STR_ARG(line));
    pen_blank(pen);
    pen_line(pen, "static void Run(const std::string &dir, aclrtStream stream)");
    pen_line(pen, "{");
    pen->depth++;
    print_tensors(h, false);
    print_tensors(h, true);
    print_attrs(h);
    pen_line(pen, "uint64_t roomBytes = 0;");
    pen_line(pen, "aclOpExecutor *executor = nullptr;");
    pen_line(pen, "Check(aclnn%sGetWorkspaceSize(%s, &roomBytes, &executor), \"workspace size\");",
             type, call_arguments(h));
    pen_line(pen, "void *room = nullptr;");
    pen_line(pen, "if (roomBytes > 0)");
    pen_line(pen,
             "    Check(aclrtMalloc(&room, roomBytes, ACL_MEM_MALLOC_HUGE_FIRST), \"workspace\");");
    pen_line(pen, "Check(aclnn%s(room, roomBytes, executor, stream), \"aclnn%s\");", type, type);
    pen_line(pen, "Check(aclrtSynchronizeStream(stream), \"the kernel\");");
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (ir->tensors.at[i].role == IR_ROLE_OUT)
            pen_line(pen, "Compare(\"%s\", %sArray, %sTensor);", ir->tensors.at[i].name,
                     camel(h->arena, ir->tensors.at[i].name),
                     camel(h->arena, ir->tensors.at[i].name));
    pen_line(pen, "aclrtFree(room);");
    pen->depth--;
    pen_line(pen, "}");
    pen_blank(pen);
    pen_line(pen, "int main(int argc, char **argv)");
    pen_line(pen, "{");
    pen->depth++;
    pen_line(pen, "aclrtStream stream = nullptr;");
    pen_line(pen, "Check(aclInit(nullptr), \"aclInit\");");
    pen_line(pen, "Check(aclrtSetDevice(0), \"aclrtSetDevice\");");
    pen_line(pen, "Check(aclrtCreateStream(&stream), \"aclrtCreateStream\");");
    pen_line(pen, "Run(argc > 1 ? argv[1] : \"cases/tiny\", stream);");
    pen_line(pen, "aclrtDestroyStream(stream);");
    pen_line(pen, "aclrtResetDevice(0);");
    pen_line(pen, "return aclFinalize();");
    pen->depth--;
    pen_line(pen, "}");
}

void example_print_cmake(Host *h)
{
    Pen *pen = h->pen;
    pen_line(pen, "# Written by acraft from %s. After build.sh and installing its package:",
             craft_name(h->in));
    pen_line(pen, "#     cmake -S example -B build/example -DOP_API=VENDOR/op_api && cmake --build "
                  "build/example");
    pen_line(pen, "cmake_minimum_required(VERSION 3.16)");
    pen_line(pen, "project(%s_example LANGUAGES CXX)", host_op_name(h));
    pen_line(pen, "set(CMAKE_CXX_STANDARD 17)");
    pen_line(pen, "set(OP_API $ENV{ACRAFT_OP_API} CACHE PATH \"op_api of the installed package\")");
    pen_line(pen, "add_executable(example main.cpp)");
    pen_line(pen, "target_include_directories(example PRIVATE $ENV{ASCEND_HOME_PATH}/include "
                  "${OP_API}/include)");
    pen_line(pen, "target_link_directories(example PRIVATE $ENV{ASCEND_HOME_PATH}/lib64 "
                  "${OP_API}/lib)");
    pen_line(pen, "target_link_libraries(example PRIVATE ascendcl nnopbase cust_opapi)");
}
