"""What small models are made of."""

import json
import re
import shutil

SENTENCES = [
    "The capital of France is Paris, a city on the river Seine.",
    "Helsinki is the capital of Finland and its largest city.",
    "A whale is a mammal that lives in the sea and breathes air.",
    "Water boils at one hundred degrees at the level of the sea.",
    "The tower was built for the world fair of 1889.",
]


def save_tokenizer(folder, **settings):
    """Save a word-piece tokenizer that knows the words and letters of the sentences above."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    text = " ".join(SENTENCES).lower()
    letters = sorted(set(text) - {" "})
    pieces = [
        *letters,
        *(f"##{letter}" for letter in letters),
        *sorted(set(re.findall(r"\w+", text))),
    ]
    vocabulary = {piece: place for place, piece in enumerate(dict.fromkeys([*special, *pieces]))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    saved = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **dict(zip(names, special, strict=True)), **settings
    )
    saved.save_pretrained(folder)
    return len(saved)


def spread_weights(model):
    """Draw weights so large that different texts get plainly different scores."""
    import torch

    random = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.35, generator=random)
    return model.eval()


def change_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def renamed(folder, labels, copy):
    """Return a copy of a model under other names of its outputs."""
    shutil.copytree(folder, copy)
    change_config(copy, id2label=dict(enumerate(labels)))
    return copy
