"""Trainers that call the rewards. Long: ACRAFT_ALL=1 runs them (make soak). TRL comes from PyPI, with torch, transformers
and datasets; without it that test is skipped."""
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import acraft  # noqa: E402

RELU = (ROOT / "examples/relu.craft").read_text()
WRONG = RELU.replace("relu(a[:t.size])", "abs(a[:t.size])")
TASK = str(ROOT / "tasks/activation/relu.py")
# The same operator small, as a text: a thousand answers are judged twice.
SMALL = (ROOT / "tasks/activation/relu.py").read_text().replace("ROWS = 4096", "ROWS = 64").replace("COLS = 393216", "COLS = 256")
OPTIONS = dict(time=False, trust=True, fuzz=0)

pytestmark = pytest.mark.skipif(not os.environ.get("ACRAFT_ALL"), reason="long; ACRAFT_ALL=1 runs it")


def test_a_thousand_rewards_and_none_lost():
    """verl's signature: one call for each answer, the same numbers as one judge gives for all of them."""
    answers = [(RELU, WRONG, "no program at all", f"# {i}\n" + RELU)[i % 4] for i in range(1000)]
    with acraft.Judge(**OPTIONS) as judge:
        expected = [v.reward for v in judge(SMALL, answers)]
    rewards = [acraft.compute_score("acraft", answer, SMALL, **OPTIONS) for answer in answers]
    assert len(rewards) == 1000 and rewards == expected
    assert rewards[:4] == [0.5, 0, 0, 0.5]


def test_grpo_of_trl_on_toy_data(tmp_path):
    trl = pytest.importorskip("trl")
    torch = pytest.importorskip("torch")
    datasets = pytest.importorskip("datasets")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    letters = {chr(c): c - 32 for c in range(32, 127)} | {"<pad>": 95, "<end>": 96}
    plain = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=letters, merges=[], unk_token="<pad>"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>", eos_token="<end>",
                                                     padding_side="left")
    torch.manual_seed(1)
    model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
        vocab_size=len(letters), hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=128, pad_token_id=95, eos_token_id=96, bos_token_id=96))
    judged = acraft.trl_reward(**OPTIONS)
    seen = []

    def reward(prompts, completions, **columns):
        rewards = judged(prompts=prompts, completions=completions, **columns)
        seen.extend(rewards)
        return rewards

    rows = datasets.Dataset.from_list([{"prompt": "write relu", "task": TASK}] * 8)
    args = trl.GRPOConfig(output_dir=str(tmp_path), per_device_train_batch_size=4, num_generations=4, max_steps=2,
                          max_completion_length=8, use_cpu=True, report_to=[], save_strategy="no", logging_steps=1)
    trl.GRPOTrainer(model=model, reward_funcs=reward, args=args, train_dataset=rows,
                    processing_class=tokenizer).train()
    assert len(seen) == 8 and all(r == 0 for r in seen)  # a model that knows nothing earns nothing
