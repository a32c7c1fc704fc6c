/* The host program's side of acraft/host.h: turns a request into a context, runs the operator's
 * function, and writes what the op definitions say. Compiled once with an operator's op_host files. */
#include <algorithm>
#include "acraft/host/op_def.h"
#include "acraft/host/template_args.h"
#include "log/ops_log.h"

#include <cstdio>
#include <exception>
#include <set>
#include <unistd.h>

namespace {

using optiling::TilingDef;

const ops::OpDef *find_op(const char *type)
{
    for (const auto &op : ops::op_defs())
        if (op->type_ == type) return op.get();
    return nullptr;
}

int refuse(char *error, const char *format, const char *what, int code)
{
    std::snprintf(error, 256, format, what);
    return code;
}

/* What failed, and the first error that it logged. */
int failed(char *error, const char *what, const char *op)
{
    const std::string &said = acraft_ops_first_error();
    return refuse(error, "%s", (std::string(what) + op + " failed" + (said.empty() ? "" : ": ") + said).c_str(), 1);
}

void fill_tensors(const AcraftHostTensor *from, int32_t count, size_t declared, std::vector<gert::Tensor> &to,
                  std::vector<gert::AnchorInstanceInfo> &info)
{
    info.assign(declared, {});
    for (int32_t i = 0; i < count; i++) {
        gert::Tensor t;
        for (int32_t d = 0; d < from[i].rank && d < ACRAFT_HOST_RANK; d++) {
            t.shape_.MutableStorageShape().AppendDim(from[i].dims[d]);
            t.shape_.MutableOriginShape().AppendDim(from[i].dims[d]);
        }
        t.desc_.SetDataType(ge::DataType(from[i].dtype));
        t.desc_.SetFormat(ge::Format(from[i].format));
        t.data_ = from[i].data;
        t.bytes_ = from[i].bytes;
        size_t ir = size_t(from[i].ir_index);
        if (ir >= info.size()) info.resize(ir + 1);
        if (info[ir].num++ == 0) info[ir].start = to.size();
        to.push_back(t);
    }
}

gert::AttrValue attr_value(const ops::OpAttrDef &def, const AcraftHostAttr *given)
{
    gert::AttrValue v = def.value_;
    if (given && given->kind != ACRAFT_ATTR_NONE) {
        v.b = given->i != 0;
        v.i = given->kind == ACRAFT_ATTR_FLOAT ? int64_t(given->f) : given->i;
        v.f = given->kind == ACRAFT_ATTR_FLOAT ? float(given->f) : float(given->i);
        if (given->text) v.s = given->text;
        if (given->ints) {
            v.ints.assign(given->ints, given->ints + given->count);
            v.bools.assign(given->ints, given->ints + given->count);
        }
        if (given->floats) v.floats.assign(given->floats, given->floats + given->count);
    }
    return v;
}

void fill_context(gert::Context &c, const ops::OpDef &op, const AcraftTilingRequest &q)
{
    c.node = c.type = op.type_;
    c.chip = q.chip;
    platform_ascendc::current_chip() = q.chip;
    fill_tensors(q.inputs, q.input_count, op.inputs_.size(), c.inputs, c.info.inputs);
    fill_tensors(q.outputs, q.output_count, op.outputs_.size(), c.outputs, c.info.outputs);
    for (size_t i = 0; i < op.attrs_.size(); i++)
        c.attrs.values_.push_back(attr_value(*op.attrs_[i], int32_t(i) < q.attr_count ? &q.attrs[i] : nullptr));
    for (gert::AttrValue &v : c.attrs.values_) v.finish();
}

ge::graphStatus run_tiling(const ops::OpDef &op, gert::TilingContext &c, std::shared_ptr<void> &info)
{
    const gert::OpFunctions &f = gert::op_functions()[op.type_];
    if (f.make_compile_info) {
        info = f.make_compile_info();
        gert::TilingParseContext parse;
        static_cast<gert::Context &>(parse) = c;
        parse.platform.chip = c.chip;
        parse.compile_info = info.get();
        if (f.parse && f.parse(&parse) != ge::GRAPH_SUCCESS) return ge::GRAPH_FAILED;
        c.compile_info = info.get();
    }
    gert::TilingFunc tiling = op.aicore_.tiling_ ? op.aicore_.tiling_ : f.tiling;
    return tiling ? tiling(&c) : ge::GRAPH_SUCCESS;
}

void put(int fd, const std::string &text)
{
    for (size_t done = 0; done < text.size();) {
        ssize_t n = write(fd, text.data() + done, text.size() - done);
        if (n <= 0) return;
        done += size_t(n);
    }
}

const char *option_name(ops::Option o)
{
    return o == ops::OPTIONAL ? "optional" : o == ops::DYNAMIC ? "dynamic" : "required";
}

template <typename T> std::string numbers(const std::vector<T> &values)
{
    std::string s;
    for (size_t i = 0; i < values.size(); i++) s += (i ? "," : "") + std::to_string(int(values[i]));
    return s.empty() ? "-" : s;
}

std::string default_of(const gert::AttrValue &v)
{
    switch (v.kind) {
    case ACRAFT_ATTR_BOOL: return v.b ? "1" : "0";
    case ACRAFT_ATTR_INT: return std::to_string(v.i);
    case ACRAFT_ATTR_FLOAT: {
        char text[64];
        std::snprintf(text, sizeof text, "%.9g", double(v.f));
        return text;
    }
    case ACRAFT_ATTR_STRING: return v.s.empty() ? "-" : v.s;
    default: return "-";
    }
}

bool reads_value(const ops::OpDef &op, size_t input)
{
    const std::vector<size_t> &list = gert::op_functions()[op.type_].read_by_value;
    return op.inputs_[input]->depend_ || std::find(list.begin(), list.end(), input) != list.end();
}

std::string describe_op(const ops::OpDef &op)
{
    static const char *const kinds[] = {"none", "bool", "int", "float", "string", "list_int", "list_float", "list_bool"};
    std::string s = "op\t" + op.type_ + "\n";
    for (size_t i = 0; i < op.inputs_.size(); i++) {
        const auto &p = op.inputs_[i];
        s += "input\t" + p->name_ + "\t" + option_name(p->option_) + "\t" + numbers(p->types_) + "\t" + numbers(p->formats_) +
             "\t" + (reads_value(op, i) ? "1" : "0") + "\n";
    }
    for (const auto &p : op.outputs_)
        s += "output\t" + p->name_ + "\t" + option_name(p->option_) + "\t" + numbers(p->types_) + "\t" + numbers(p->formats_) + "\t0\n";
    for (const auto &a : op.attrs_)
        s += "attr\t" + a->name_ + "\t" + option_name(a->option_) + "\t" + kinds[a->value_.kind] + "\t" + default_of(a->value_) + "\n";
    for (const std::string &soc : op.aicore_.socs_) s += "config\t" + soc + "\n";
    const gert::OpFunctions &f = gert::op_functions()[op.type_];
    s += std::string("tiling\t") + (op.aicore_.tiling_ || f.tiling ? "1" : "0") + "\n";
    for (const auto &c : optiling::tiling_classes()) {
        if (c.key == op.type_) s += "key\tdefault\t" + c.name + "\n";
        else if (c.key.compare(0, op.type_.size() + 1, op.type_ + "_") == 0)
            s += "key\t" + c.key.substr(op.type_.size() + 1) + "\t" + c.name + "\n";
    }
    return s;
}

/* Nested structs first, so that the text can be read top down by a compiler too. */
void each_struct(const std::string &name, const TilingDef &def, std::set<std::string> &seen,
                 const std::function<void(const std::string &, const TilingDef &)> &visit)
{
    if (!seen.insert(name).second) return;
    for (const optiling::TilingField &f : def.acraft_fields())
        if (f.nested) each_struct(f.type, *f.nested, seen, visit);
    visit(name, def);
}

std::string plain(const std::string &type)
{
    size_t colon = type.rfind("::");
    return colon == std::string::npos ? type : type.substr(colon + 2);
}

std::string struct_lines(const std::string &name, const TilingDef &def)
{
    std::string s = "struct\t" + plain(name) + "\t" + std::to_string(def.GetDataSize()) + "\n";
    for (const optiling::TilingField &f : def.acraft_fields())
        s += std::string("field\t") + f.type + "\t" + f.name + "\t" + std::to_string(f.count) + "\t" + std::to_string(f.offset) + "\n";
    return s;
}

/* kernel_tiling.h has the structs of the high-level APIs already. */
bool in_kernel_tiling(const std::string &name)
{
    static const char *const known[] = {
#define ACRAFT_STRUCT(name, fields) #name,
#include "acraft/tiling_structs.def"
#undef ACRAFT_STRUCT
    };
    for (const char *k : known)
        if (name == k) return true;
    return false;
}

std::string struct_text(const std::string &name, const TilingDef &def)
{
    std::string n = plain(name), s = "struct alignas(8) " + n + " {\n";
    if (in_kernel_tiling(n)) return "";
    for (const optiling::TilingField &f : def.acraft_fields()) {
        s += std::string("    ") + (f.nested ? plain(f.type) : std::string(f.type)) + " " + f.name;
        s += (f.count ? "[" + std::to_string(f.count) + "]" : std::string()) + ";\n";
    }
    return s + "};\nstatic_assert(sizeof(" + n + ") == " + std::to_string(def.GetDataSize() ? def.GetDataSize() : 8) + ", \"tiling layout\");\n";
}

}  // namespace

/* The template arguments that the key stands for. */
static int say_template(const std::string &op, AcraftTilingResult *r)
{
    acraft::TplChoice choice = acraft::tpl_choose(op, r->key);
    if (!acraft::tpl_error().empty()) choice.error = acraft::tpl_error();
    if (choice.args.size() >= sizeof r->template_args || choice.tiling_struct.size() >= sizeof r->tiling_struct)
        choice.error = "the template arguments are too long";
    if (!choice.error.empty()) return refuse(r->error, "%s", choice.error.c_str(), 1);
    std::strcpy(r->template_args, choice.args.c_str());
    std::strcpy(r->tiling_struct, choice.tiling_struct.c_str());
    r->kernel_type = choice.kernel_type;
    return 0;
}

extern "C" int acraft_host_tiling(const AcraftTilingRequest *q, AcraftTilingResult *r)
{
    std::memset(r, 0, sizeof *r);
    const ops::OpDef *op = q && q->op ? find_op(q->op) : nullptr;
    if (!op) return refuse(r->error, "no op %s is defined here", q && q->op ? q->op : "?", 2);
    try {
        gert::TilingContext c;
        std::shared_ptr<void> info;
        fill_context(c, *op, *q);
        c.tiling.data_ = q->tiling;
        c.tiling.capacity_ = q->tiling_room;
        c.block_dim = 1;
        if (run_tiling(*op, c, info) != ge::GRAPH_SUCCESS) return failed(r->error, "the tiling function of ", q->op);
        r->tiling_bytes = c.tiling.size_;
        r->key = c.key;
        r->block_dim = c.block_dim;
        r->schedule_mode = c.schedule_mode;
        r->workspace_count = uint32_t(c.workspace_count);
        for (size_t i = 0; i < c.workspace_count; i++) r->workspace[i] = c.workspace[i];
        return say_template(op->type_, r);
    } catch (const std::exception &e) {
        return refuse(r->error, "the tiling function threw: %s", e.what(), 1);
    }
    return 0;
}

extern "C" int acraft_host_infer(const AcraftTilingRequest *q, AcraftHostTensor *outputs, char error[256])
{
    const ops::OpDef *op = q && q->op ? find_op(q->op) : nullptr;
    if (!op) return refuse(error, "no op %s is defined here", q && q->op ? q->op : "?", 2);
    const gert::OpFunctions &f = gert::op_functions()[op->type_];
    gert::InferShapeFunc shape = op->infer_shape_ ? op->infer_shape_ : f.infer_shape;
    gert::InferDataTypeFunc dtype = op->infer_dtype_ ? op->infer_dtype_ : f.infer_dtype;
    if (!shape) return refuse(error, "%s has no shape inference", q->op, 2);
    try {
        gert::InferShapeContext c;
        fill_context(c, *op, *q);
        if (shape(&c) != ge::GRAPH_SUCCESS) return failed(error, "shape inference of ", q->op);
        gert::InferDataTypeContext t;
        fill_context(t, *op, *q);
        if (dtype && dtype(&t) != ge::GRAPH_SUCCESS) return failed(error, "dtype inference of ", q->op);
        for (int32_t i = 0; i < q->output_count; i++) {
            const gert::Shape &s = c.outputs[size_t(i)].GetStorageShape();
            outputs[i].rank = int32_t(s.GetDimNum());
            for (size_t d = 0; d < s.GetDimNum(); d++) outputs[i].dims[d] = s.GetDim(d);
            if (dtype) outputs[i].dtype = t.outputs[size_t(i)].GetDataType();
        }
    } catch (const std::exception &e) {
        return refuse(error, "inference threw: %s", e.what(), 1);
    }
    return 0;
}

extern "C" int acraft_host_describe(int fd)
{
    std::set<std::string> seen;
    for (const auto &op : ops::op_defs()) put(fd, describe_op(*op));
    for (const auto &c : optiling::tiling_classes())
        each_struct(c.name, *c.make(), seen, [fd](const std::string &n, const TilingDef &d) { put(fd, struct_lines(n, d)); });
    return 0;
}

extern "C" int acraft_host_header(int fd, const char *op)
{
    std::set<std::string> seen;
    std::string first;
    put(fd, "#include \"kernel_tiling/kernel_tiling.h\"\n");
    for (const auto &c : optiling::tiling_classes()) {
        each_struct(c.name, *c.make(), seen, [fd](const std::string &n, const TilingDef &d) { put(fd, struct_text(n, d)); });
        if (first.empty() || (op && c.key == op)) first = plain(c.name);
    }
    std::string keys;
    for (const auto &c : optiling::tiling_classes())
        if (op && c.key.compare(0, std::strlen(op) + 1, std::string(op) + "_") == 0)
            keys += std::string(keys.empty() ? "#if" : "#elif") + " TILING_KEY_VAR == " + c.key.substr(std::strlen(op) + 1) +
                    "\n#define ACRAFT_TILING_STRUCT " + plain(c.name) + "\n";
    /* With the key known while compiling, the code of other keys is not even generated. */
    put(fd, "#ifdef TILING_KEY_VAR\n#undef TILING_KEY_IS\n#define TILING_KEY_IS(key) ((key) == TILING_KEY_VAR)\n#endif\n");
    if (!keys.empty()) put(fd, "#ifdef TILING_KEY_VAR\n" + keys + "#endif\n#endif\n");
    if (!first.empty()) put(fd, "using acraft_tiling_default = " + first + ";\n");
    return 0;
}
