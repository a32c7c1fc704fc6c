class Gen:
    def generate_answer_template(self, kernel_impl, host_impl):
        if kernel_only:
            return dedent(f"""
<kernel_impl>
{cpp_code}
</kernel_impl>
""")
        host_impl = host_impl.replace("context->SetBlockDim(8);", "")
        return dedent(f"""
== op_host/{self.task_obj.kernel_name}.cpp, {self.task_obj.op_name} {{
{host_impl}
== op_kernel
{kernel_impl}
""")

    def enhance_api_description(self):
        info = f"dtype {self.test_case_data['dtype']}\n"
        for marker in ["## Function"]:
            pass

    def build_code_generation_prompts(self):
        short = f"{x}"
        user_prompt = dedent(f"""
Rules:
{code_requirement}
{example_content}
{self.enhance_api_description()}
{self.test_case_data}
{self.generate_answer_template(*template_contents)}
        """)
