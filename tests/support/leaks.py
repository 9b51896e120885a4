"""Searches of what was published for texts that were not to be."""

import base64
import gzip
import html
import json
import urllib.parse
import zipfile
from dataclasses import replace

from markupsafe import escape


def forms(text):
    """Return a text in every encoding that a published file may have it in."""
    as_json = json.dumps(text)[1:-1]
    unicode_json = json.dumps(text, ensure_ascii=False)[1:-1]
    spellings = {text, html.escape(text), html.escape(text, quote=False), str(escape(text))}
    for escaped in (as_json, unicode_json):
        spellings.add(escaped)
        for mark, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("'", "\\u0027")):
            escaped = escaped.replace(mark, code)
        spellings.add(escaped)
    spellings.add(urllib.parse.quote(text))
    spellings.add(urllib.parse.quote_plus(text))
    encoded = {spelling.encode() for spelling in spellings}
    encoded.add(base64.b64encode(text.encode()).rstrip(b"="))
    return encoded


def contents(folder):
    """Yield every file below a folder with its bytes, packed ones unpacked."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                content = b"\n".join(packed.read(name) for name in packed.namelist())
        yield path.relative_to(folder).as_posix(), path.name.encode() + b"\n" + content


def leaks(folder, texts):
    """Return the files below a folder that hold any of the texts, each with one it holds."""
    text_of_form = {form: text for text in texts for form in forms(text)}
    leaked = {}
    for name, content in contents(folder):
        for form, text in text_of_form.items():
            if form in content:
                leaked[name] = text
                break
    return leaked


def marked(arena):
    """Return an arena all of whose texts and question ids begin with a mark of their own.

    A text that is cut where it is shown is found by its mark.
    """
    ids = {key: f"zq{n}&<é>" for n, key in enumerate(sorted(set(arena.queries["query_id"])))}
    queries = arena.queries.assign(
        query_id=arena.queries["query_id"].map(ids),
        query=[f"zt{n}<é> {text}" for n, text in enumerate(arena.queries["query"])],
        passages=[
            [passage | {"text": f"zp{n}<é> {passage['text']}"} for passage in passages]
            for n, passages in enumerate(arena.queries["passages"])
        ],
    )
    answers = arena.answers.assign(
        query_id=arena.answers["query_id"].map(ids),
        answer=[f"za{n}<é> {text}" for n, text in enumerate(arena.answers["answer"])],
    )
    judgments = arena.judgments.assign(
        query_id=arena.judgments["query_id"].map(ids),
        # Few, as each is looked for in every file.
        reason=[f"zr{n % 20}<é> because" for n in range(len(arena.judgments))],
    )
    return replace(arena, queries=queries, answers=answers, judgments=judgments)


def private_texts(arena):
    """Return the marks of an arena from ``marked``, and its whole texts."""
    texts = [*arena.queries["query"], *arena.answers["answer"], *arena.judgments["reason"]]
    texts += [passage["text"] for passages in arena.queries["passages"] for passage in passages]
    marks = {text.split(" ")[0] for text in texts}
    return [*sorted(marks), *sorted(set(arena.queries["query_id"])), *dict.fromkeys(texts)]
