/* What make hands over is the model's operator: models of rank 1 to 5 with parameters, buffers, masks,
 * indices, several results, results in place and results without axes. Every form is written and takes
 * what forward takes; two forms of each model are read back and judged, in turn, so that each form is
 * judged with several models (bench-written judges all of all). */
#include "loop/make_written.h"

#include "base/file.h"
#include "tests/t.h"
#include "twin/binding.h"
#include <string.h>

typedef struct Handed {
    Arena arena;
    MakeResult made;
    MakeWritten written;
} Handed;

enum {
    OF_PROJECT = 1u << FORM_PROJECT | 1u << FORM_TORCH,
    OF_CRAFT = 1u << FORM_CRAFT | 1u << FORM_MKB,
    OF_DIRECT = 1u << FORM_DIRECT | 1u << FORM_TORCH,
    OF_MKB = 1u << FORM_MKB | 1u << FORM_MKB_DIRECT,
};

/* `forms`: bits of those that are judged. */
static void hand_over(Handed *h, const char *name, uint32_t forms)
{
    const char *path = str_format(&h->arena, "tests/loop/models/%s.py", name);
    MakeSpec spec = {.path = path,
                     .chip = npu_chip_find(STR("910B2")),
                     .engine = EVAL_TWIN,
                     .plan_only = true,
                     .written_once = true,
                     .written_forms = forms,
                     .trust = true};
    Diag diag = diag_make(&h->arena, path, STR(""));
    REQUIRE(file_read(&h->arena, path, 0, &spec.source, &diag));
    bool ok = make_kernel(&h->arena, &spec, &h->made, &diag);
    REQUIRE(ok);
    MakeProgram program = make_attributes(&h->arena, &spec, &h->made, h->made.plan.craft);
    ok = make_written(&h->arena, &spec, &h->made, &program, &h->written, &diag);
    CHECK_MSG(ok, "%s: %s", name, diag.items.len ? diag.items.at[0].text : "");
    CHECK_EQ_INT(h->written.forms.forms.len, 6);
    CHECK(h->written.verdicts.len >= 1);
    for (uint32_t i = 0; i < h->written.verdicts.len; i++)
        CHECK_EQ_INT(h->written.verdicts.at[i].status, VERDICT_OK);
}

static bool says(const Handed *h, const char *file, const char *text)
{
    for (uint32_t i = 0; i < h->written.forms.files.len; i++)
        if (strstr(h->written.forms.files.at[i].path, file) &&
            str_find(h->written.forms.files.at[i].text, str_from(text)) >= 0)
            return true;
    return false;
}

/* The program in C++ compiles against ACL's types and the operator's C interface. It reads files, which the
 * sandbox has not: it is not run. */
static void check_example(Handed *h)
{
    Verdict v = verdict_make();
    TwinOptions options = {.compile_seconds = 60, .trust = true};
    TwinHostFile file = {.path = "example/main.cpp"};
    Diag diag = diag_make(&h->arena, file.path, STR(""));
    for (uint32_t i = 0; i < h->written.forms.files.len; i++)
        if (!strcmp(h->written.forms.files.at[i].path, file.path))
            file.text = h->written.forms.files.at[i].text;
    REQUIRE(file.text.len);
    TwinBinding *binding = twin_binding_compile(&h->arena, &file, 1, &options, &v, &diag);
    CHECK_MSG(binding, "%s", v.reason);
    if (binding)
        twin_binding_release(binding);
}

T_TEST(written_one_axis_with_a_parameter)
{
    Handed h = {0};
    hand_over(&h, "one_d", OF_PROJECT);
    check_example(&h);
    CHECK(says(&h, "torch/module.py", "torch.ops.acraft_one_d.one_d(x, self.model.slope)"));
    CHECK(says(&h, "torch/module.py",
               "class OneDNpu(torch.nn.Module):")); /* the file's class is OneD */
    CHECK(
        says(&h, ".craft", "def one_d(x: gm[f32, n0], slope: gm[f32, n0], output0: out[f32, n0])"));
    CHECK(says(&h, "mkb/one_d.py", "def forward(self, x):"));
    CHECK(says(&h, "mkb/one_d.py", "(x, self.slope)"));
    arena_drop(&h.arena);
}

/* Complex tensors are complex in every form. */
T_TEST(written_complex)
{
    Handed h = {0};
    hand_over(&h, "complex", OF_MKB);
    CHECK(says(&h, ".craft", "x: gm[c64, "));
    CHECK(says(&h, "op_host/", "ge::DT_COMPLEX64"));
    arena_drop(&h.arena);
}

T_TEST(written_no_axes)
{
    Handed h = {0};
    hand_over(&h, "scale0d", OF_CRAFT);
    CHECK(says(&h, ".craft", "bias: gm[f32], temperature: gm[f32], "));
    CHECK(says(&h, "mkb/scale0d.py", "(logits, bias, self.temperature)"));
    CHECK(says(&h, ".craft", "output1: out[f32]"));
    arena_drop(&h.arena);
}

T_TEST(written_one_number)
{
    Handed h = {0};
    hand_over(&h, "one_number", OF_PROJECT);
    CHECK(says(&h, "mkb/one_number.py", "(x, y)"));
    arena_drop(&h.arena);
}

T_TEST(written_two_norms_with_names_alike)
{
    Handed h = {0};
    hand_over(&h, "two_norms", OF_MKB);
    CHECK(says(&h, ".craft", "ln1_weight: gm["));
    CHECK(says(&h, "mkb/two_norms.py", "self.ln1.weight, self.ln1.bias, self.ln2.weight"));
    CHECK(says(&h, "mkb/two_norms.py", "super(ModelNew, self).__init__()"));
    arena_drop(&h.arena);
}

T_TEST(written_four_axes_and_a_mask)
{
    Handed h = {0};
    hand_over(&h, "masked_softmax4", OF_DIRECT);
    CHECK(says(&h, ".craft", "mask: gm[bool, "));
    arena_drop(&h.arena);
}

T_TEST(written_five_axes_and_a_buffer)
{
    Handed h = {0};
    hand_over(&h, "volume5", OF_PROJECT);
    CHECK(says(&h, "mkb/volume5.py", "self.register_buffer(\"shift\""));
    arena_drop(&h.arena);
}

T_TEST(written_indices)
{
    Handed h = {0};
    hand_over(&h, "embed_add", OF_CRAFT);
    CHECK(says(&h, ".craft", "tokens: gm[i64, "));
    CHECK(says(&h, "mkb/embed_add.py", "(tokens, pos, self.table.weight)"));
    arena_drop(&h.arena);
}

/* All results are zeros, which the inputs have too: that is no copy. */
T_TEST(written_results_that_are_among_the_inputs)
{
    Handed h = {0};
    hand_over(&h, "none_above", OF_MKB);
    arena_drop(&h.arena);
}

T_TEST(written_lists_of_parameters)
{
    Handed h = {0};
    hand_over(&h, "layers", OF_PROJECT);
    CHECK(says(&h, "mkb/layers.py", "(x, self.scales[0], self.scales[1], self.eps)"));
    arena_drop(&h.arena);
}

T_TEST(written_group_norm)
{
    Handed h = {0};
    hand_over(&h, "groupnorm4", OF_DIRECT);
    arena_drop(&h.arena);
}

T_TEST(written_batch_norm)
{
    Handed h = {0};
    hand_over(&h, "batchnorm_eval", OF_MKB);
    arena_drop(&h.arena);
}

T_TEST(written_inputs_that_no_kernel_reads)
{
    Handed h = {0};
    hand_over(&h, "unused", OF_PROJECT);
    CHECK(says(&h, ".craft", "lengths: gm[i64, any_0]"));
    CHECK(says(&h, "mkb/unused.py", "(x, lengths, y)"));
    arena_drop(&h.arena);
}

/* 2 / numel was computed for the sizes of this case: the program takes no others. */
T_TEST(written_sizes_that_numbers_follow)
{
    Handed h = {0};
    MakeSpec spec = {.path = "tasks/npukernelbench/level2/Loss/MseLossGradV2.py",
                     .chip = npu_chip_find(STR("910B2")),
                     .plan_only = true};
    Diag diag = diag_make(&h.arena, spec.path, STR(""));
    REQUIRE(file_read(&h.arena, spec.path, 0, &spec.source, &diag));
    REQUIRE(make_kernel(&h.arena, &spec, &h.made, &diag));
    CHECK(str_find(h.made.plan.craft, STR("predict: gm[f32, 48, 128]")) > 0);
    CHECK(h.made.fixed && strstr(h.made.fixed, "predict[48, 128]"));
    arena_drop(&h.arena);
}

/* Results that replace inputs are these tensors, and are returned where the model returns them. */
T_TEST(written_results_in_place_and_in_order)
{
    Handed h = {0};
    hand_over(&h, "replaced", OF_PROJECT);
    CHECK(says(&h, ".craft", "def replaced(x1: inout[f32, "));
    CHECK(says(&h, "direct/", "std::make_tuple(x1, total, x2)"));
    CHECK(says(&h, "torch/", "-> (Tensor(a0!), Tensor, Tensor(a1!))"));
    arena_drop(&h.arena);
}

/* A list that is replaced is one operand for each of its tensors, both ways. */
T_TEST(written_list_in_place)
{
    Handed h = {0};
    hand_over(&h, "zeroed", 1u << FORM_PROJECT);
    CHECK(says(&h, ".craft", "def zeroed(x_0: inout[f32, "));
    arena_drop(&h.arena);
}

/* Constants of the file that size its parameters are those of the case in ModelNew, too. */
T_TEST(written_constants_follow_the_case)
{
    Handed h = {0};
    hand_over(&h, "sized", 1u << FORM_MKB_DIRECT);
    CHECK(says(&h, "mkb/sized.json", "WIDTH = 24"));
    arena_drop(&h.arena);
}

/* Floats of the constructor that kernels use are attributes; all forms are judged with other values, too. */
T_TEST(written_attributes_of_the_constructor)
{
    Handed h = {0};
    hand_over(&h, "attributes", 1u << FORM_CRAFT | 1u << FORM_DIRECT | 1u << FORM_MKB);
    CHECK(says(&h, ".craft", "alpha: f32 = 2.5, decay: f32 = 0.9)"));
    CHECK(says(&h, ".craft", "1.0 - decay"));
    CHECK(!says(&h, ".craft", "size:"));
    CHECK(says(&h, "op_host/", "this->Attr(\"alpha\")"));
    CHECK(says(&h, "mkb/attributes.py", "(x, state, self.alpha, self.decay)"));
    CHECK(says(&h, "torch/module.py", "(x, state, self.model.alpha, self.model.decay)"));
    CHECK(says(&h, "direct/", "pybind11::arg(\"decay\") = 0.899999976"));
    CHECK(h.written.cases.len && strstr(vec_last(&h.written.cases), "attributes: "));
    CHECK(h.written.cases.len && strstr(vec_last(&h.written.cases), "alpha = 1.875"));
    arena_drop(&h.arena);
}

/* What the table declares is an attribute, and what the program was planned for is refused otherwise. */
T_TEST(written_attributes_of_the_table)
{
    Handed h = {0};
    hand_over(&h, "declared", OF_PROJECT);
    CHECK(says(&h, ".craft", "scale: f32 = 0.25, axis: i64 = -1,"));
    CHECK(says(&h, ".craft", "assert axis == -1, \"made for axis = -1\""));
    CHECK(says(&h, ".craft", "assert twice, \"made for twice = true\""));
    CHECK(says(&h, "op_host/", "this->Attr(\"axis\")"));
    arena_drop(&h.arena);
}
