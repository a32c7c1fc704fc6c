/* The graph as text:
 *
 *     graph "gemm_relu" {
 *       %0 = input "x" f32[8,4] source 0
 *       %1 = param "w" f32[3,4] source 1
 *       %2 = linear(%0, %1, _) : f32[8,3] @12 in "fc"
 *       %3 = unary.relu(%2) : f32[8,3] @13
 *       note "line 3: ..."
 *       return %3
 *     }
 *     source { ... }
 *
 * One line for each value that is no node's, and one for each node, in order. Printing what was
 * parsed gives the same bytes. text_parse.c reads it. */
#include "graph/graph.h"

static void print_type(const Value *value, Buf *out)
{
    buf_puts(out, dtype_name(value->dtype));
    shape_print(value->shape, out);
}

static void print_element(const Value *value, int64_t index, Buf *out)
{
    size_t i = (size_t)index;
    if (value->dtype == DT_I64)
        buf_printf(out, "%lld", (long long)((const int64_t *)value->data)[i]);
    else if (value->dtype == DT_U64)
        buf_printf(out, "%llu", (unsigned long long)((const uint64_t *)value->data)[i]);
    else
        buf_double(out, dtype_load(value->dtype, value->data, i));
    if (value->dtype == DT_C64) {
        buf_char(out, ' ');
        buf_double(out, (double)((const float *)value->data)[2 * i + 1]);
    }
}

static void print_const(const Value *value, Buf *out)
{
    int64_t count;
    buf_puts(out, value->weak ? "const weak " : "const ");
    print_type(value, out);
    if (!shape_count(value->shape, &count))
        return;
    for (int64_t i = 0; i < count; i++) {
        buf_char(out, ' ');
        print_element(value, i, out);
    }
}

static void print_given(const Value *value, Buf *out)
{
    static const char *const kinds[] = {
        [VALUE_INPUT] = "input", [VALUE_PARAM] = "param", [VALUE_BUFFER] = "buffer"};
    buf_printf(out, "%s ", kinds[value->kind]);
    buf_json_str(out, str_from(value->name));
    buf_char(out, ' ');
    print_type(value, out);
    buf_printf(out, " source %u", value->source);
}

static void print_attr(const Attr *attr, Buf *out)
{
    buf_printf(out, "%s=", attr_rows[attr->key].name);
    switch (attr_rows[attr->key].type) {
    case ATTR_INT: buf_printf(out, "%lld", (long long)attr->i); break;
    case ATTR_BOOL: buf_puts(out, attr->i ? "true" : "false"); break;
    case ATTR_FLOAT: buf_double(out, attr->f); break;
    case ATTR_TEXT: buf_json_str(out, attr->text); break;
    case ATTR_DTYPE: buf_puts(out, dtype_name(attr->dtype)); break;
    case ATTR_INTS:
        buf_char(out, '[');
        for (uint32_t i = 0; i < attr->ints.len; i++)
            buf_printf(out, "%s%lld", i ? "," : "", (long long)attr->ints.at[i]);
        buf_char(out, ']');
        break;
    }
}

static void print_node(const Graph *graph, const Node *node, Buf *out)
{
    const char *kind = node_kind_name(node);
    for (uint32_t i = 0; i < node->n_out; i++)
        buf_printf(out, "%s%%%u", i ? ", " : "", node->out + i);
    buf_printf(out, " = %s%s%s(", op_rows[node->op].name, *kind ? "." : "", kind);
    for (uint32_t i = 0; i < node->n_in; i++) {
        buf_puts(out, i ? ", " : "");
        if (node->in[i] == VALUE_NONE)
            buf_char(out, '_');
        else
            buf_printf(out, "%%%u", node->in[i]);
    }
    buf_char(out, ')');
    for (uint32_t i = 0; i < node->n_attr; i++) {
        buf_puts(out, i ? ", " : " {");
        print_attr(&node->attr[i], out);
    }
    buf_puts(out, node->n_attr ? "} :" : " :");
    for (uint32_t i = 0; i < node->n_out; i++) {
        buf_puts(out, i ? ", " : " ");
        print_type(graph_value(graph, node->out + i), out);
    }
}

/* Where it stands in the task's file. */
static void print_place(const Node *node, Buf *out)
{
    if (node->at.line)
        buf_printf(out, " @%u", node->at.line);
    if (node->scope) {
        buf_puts(out, " in ");
        buf_json_str(out, str_from(node->scope));
    }
}

void graph_print_value(const Graph *graph, ValueId id, Buf *out)
{
    const Value *value = graph_value(graph, id);
    if (value->kind == VALUE_NODE) {
        print_node(graph, &graph->nodes.at[value->node], out);
        return;
    }
    buf_printf(out, "%%%u = ", id);
    if (value->kind == VALUE_CONST)
        print_const(value, out);
    else
        print_given(value, out);
}

static void print_body(const Graph *graph, Buf *out)
{
    for (ValueId i = 0; i < graph->values.len;) {
        const Value *value = graph_value(graph, i);
        buf_puts(out, "  ");
        graph_print_value(graph, i++, out);
        if (value->kind == VALUE_NODE) {
            const Node *node = &graph->nodes.at[value->node];
            print_place(node, out);
            i = node->out + node->n_out;
        }
        buf_char(out, '\n');
    }
    for (uint32_t i = 0; i < graph->notes.len; i++) {
        buf_puts(out, "  note ");
        buf_json_str(out, str_from(graph->notes.at[i]));
        buf_char(out, '\n');
    }
    buf_puts(out, "  return");
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        buf_printf(out, "%s%%%u", i ? ", " : " ", graph->outputs.at[i]);
    buf_puts(out, "\n}\n");
}

void graph_print(const Graph *graph, Buf *out)
{
    buf_puts(out, "graph ");
    buf_json_str(out, str_from(graph->name));
    buf_puts(out, " {\n");
    print_body(graph, out);
    if (!graph->source)
        return;
    buf_puts(out, "source {\n");
    print_body(graph->source, out);
}
