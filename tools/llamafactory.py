#!/usr/bin/env python3
"""Rows of `acraft data make` for LLaMA-Factory: a dataset directory with its dataset_info.json.

    tools/llamafactory.py ROWS_DIR [OUT_DIR]       # ROWS_DIR/llamafactory
    tools/llamafactory.py ROWS_DIR OUT_DIR --check LLAMA_FACTORY    # a checkout; needs what it imports

    llamafactory-cli train --dataset_dir OUT_DIR --dataset acraft_rows ...            (sft)
                                         --dataset acraft_preferences --stage dpo
                                         --dataset acraft_labels --stage kto

--check puts every row through LLaMA-Factory's own parser and converter; exit status 1 when one is skipped.
"""
import json
import os
import sys

TAGS = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
FILES = {
    "acraft_rows": ("rows.jsonl", lambda r: {"messages": r["messages"]}, {}),
    "acraft_preferences": (
        "preferences.jsonl",
        lambda r: {"messages": r["prompt"], "chosen": r["chosen"][0], "rejected": r["rejected"][0]},
        {"ranking": True, "columns": {"messages": "messages", "chosen": "chosen", "rejected": "rejected"}},
    ),
    "acraft_labels": (
        "labels.jsonl",
        lambda r: {"messages": r["prompt"] + r["completion"], "label": r["label"]},
        {"columns": {"messages": "messages", "kto_tag": "label"}},
    ),
}


def entry(file, more):
    return {"file_name": file, "formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": TAGS, **more}


def convert(rows_dir, out_dir):
    """Writes the files; the number of rows of each."""
    os.makedirs(out_dir, exist_ok=True)
    count = {}
    for name, (file, change, _) in FILES.items():
        count[name] = 0
        with open(os.path.join(rows_dir, file), encoding="utf-8") as lines, \
                open(os.path.join(out_dir, file), "w", encoding="utf-8") as out:
            for line in lines:
                out.write(json.dumps(change(json.loads(line)), ensure_ascii=False) + "\n")
                count[name] += 1
    with open(os.path.join(out_dir, "dataset_info.json"), "w", encoding="utf-8") as out:
        json.dump({name: entry(file, more) for name, (file, _, more) in FILES.items()}, out, indent=2)
    return count


def check(out_dir, factory):
    """Rows that LLaMA-Factory takes, by data set."""
    sys.path.insert(0, os.path.join(factory, "src"))
    from llamafactory.data.converter import get_dataset_converter
    from llamafactory.data.parser import get_dataset_list

    taken = {}
    for attr in get_dataset_list(list(FILES), out_dir):
        name = next(n for n, (file, _, _) in FILES.items() if file == str(attr))
        converter = get_dataset_converter(attr.formatting, attr, None)
        responses = 2 if attr.ranking or attr.kto_tag else 1
        taken[name] = 0
        with open(os.path.join(out_dir, str(attr)), encoding="utf-8") as lines:
            for line in lines:
                made = converter(json.loads(line))
                taken[name] += len(made["_prompt"]) == 1 and len(made["_response"]) == responses
    return taken


def main():
    args = [a for a in sys.argv[1:] if a != "--check"]
    checked = "--check" in sys.argv
    if not 1 <= len(args) <= 3 or checked != (len(args) == 3) or args[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    out_dir = args[1] if len(args) > 1 else os.path.join(args[0], "llamafactory")
    count = convert(args[0], out_dir)
    taken = check(out_dir, args[2]) if checked else count
    for name, rows in count.items():
        print(f"{name}: {rows} rows" + (f", {taken[name]} taken by LLaMA-Factory" if checked else ""))
    return 0 if taken == count else 1


if __name__ == "__main__":
    sys.exit(main())
