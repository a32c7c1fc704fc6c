#!/usr/bin/env python3
"""Runs rows of `acraft export` or of `acraft data make` through the preprocessing of TRL's SFT, DPO, KTO and
GRPO trainers.

    pip install trl datasets
    tools/export_trl.py ROWS_DIR [N]      # sft.jsonl preference.jsonl kto.jsonl grpo.jsonl, or what data make
                                          # writes; the first N rows of each (100)

Nothing is trained and nothing downloaded: tokenizer (one token a byte) and model (a few thousand
weights) are made here. Prints one line a kind; exit status 1
when a row was lost or refused.
"""
import json
import os
import sys

import datasets
import transformers
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
MADE = {"sft": "rows", "preference": "preferences", "kto": "labels", "grpo": "rows"}  # files of data make


def byte_tokenizer():
    """Every byte is a token, so that any text survives."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    vocab = {token: i for i, token in enumerate(special + alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<|pad|>", eos_token="<|end|>")
    fast.chat_template = TEMPLATE
    return fast


def load(folder, kind, most):
    """The first rows of a kind; GRPO's questions are those of data make's write rows."""
    path = os.path.join(folder, kind + ".jsonl")
    made = not os.path.exists(path)
    if made:
        path = os.path.join(folder, MADE[kind] + ".jsonl")
    keep = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if made and kind == "grpo":
                if row["kind"] != "write":
                    continue
                row = {"prompt": row["messages"][:1], "task": row["id"]}
            elif made and kind == "sft":
                row = {"messages": row["messages"]}
            keep.append(row)
            if len(keep) == most:
                break
    return datasets.Dataset.from_list(keep)


def tokens(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def check(tokenizer, kind, rows, keys):
    """The rows under TRL's chat template; each text must come back from its tokens."""
    from trl import data_utils

    for row in rows:
        example = {k: row[k] for k in keys}
        if not data_utils.is_conversational(example):
            raise ValueError(f"{kind}: TRL does not take this row as a conversation")
        flat = data_utils.apply_chat_template(example, tokenizer)
        for key, text in flat.items():
            if isinstance(text, str) and tokenizer.decode(tokens(tokenizer, text)) != text:
                raise ValueError(f"{kind}: {key} is not what it was after tokenizing")
    return len(rows)


def run_trainers(folder, tokenizer, most):
    """The trainers' own preparation of a data set, on a model of a few thousand weights."""
    from transformers import LlamaConfig, LlamaForCausalLM
    from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

    try:
        from trl import KTOConfig, KTOTrainer
    except ImportError:
        from trl.experimental.kto import KTOConfig, KTOTrainer

    path = os.path.join(folder, "trl-model")
    LlamaForCausalLM(
        LlamaConfig(vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16,
                    num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=16384)
    ).save_pretrained(path)
    tokenizer.save_pretrained(path)

    common = dict(output_dir=os.path.join(folder, "trl-out"), report_to=[], use_cpu=True, bf16=False,
                  per_device_train_batch_size=2)
    kinds = [
        ("sft", ["messages"], SFTTrainer, SFTConfig(max_length=16384, **common), {}),
        ("preference", ["prompt", "chosen", "rejected"], DPOTrainer, DPOConfig(max_length=16384, **common), {}),
        ("kto", ["prompt", "completion", "label"], KTOTrainer, KTOConfig(max_length=16384, **common), {}),
        ("grpo", ["prompt", "task"], GRPOTrainer, GRPOConfig(num_generations=2, **common),
         {"reward_funcs": lambda completions, **_: [0.0] * len(completions)}),
    ]
    print(f"trl {trl.__version__}, transformers {transformers.__version__}, datasets {datasets.__version__}")
    for kind, keys, trainer, config, more in kinds:
        rows = load(folder, kind, most)
        asked = check(tokenizer, kind, rows, [k for k in keys if k not in ("task",)])
        made = trainer(model=path, args=config, processing_class=tokenizer,
                       train_dataset=rows.select_columns(keys), **more)
        kept = len(made.train_dataset)
        batch = next(iter(made.get_train_dataloader())) if kind != "grpo" else made.train_dataset[0]
        print(f"{kind}: {asked} rows read, {kept} prepared by {trainer.__name__}, first batch has "
              f"{', '.join(sorted(batch))}")
        if kept != asked:
            raise ValueError(f"{kind}: {asked - kept} rows were lost")


def main():
    if len(sys.argv) not in (2, 3) or (len(sys.argv) == 3 and not sys.argv[2].isdigit()):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        run_trainers(sys.argv[1], byte_tokenizer(), int(sys.argv[2]) if len(sys.argv) == 3 else 100)
    except ValueError as error:
        print(f"export_trl: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
