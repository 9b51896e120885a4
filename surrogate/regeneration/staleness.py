"""Why a step is to be made anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from surrogate.regeneration.digests import Digests, folder_digests
from surrogate.regeneration.manifest import Manifest, StepRecord
from surrogate.regeneration.step import Step

NEVER_MADE = "it was never made"
NOT_STATED = "unset"


def inputs_of(step: Step, manifest: Manifest) -> Digests:
    """Digest what a step is made from: files from elsewhere, and what stages before it made."""
    inputs = step.files()
    for stage, wanted in step.upstream.items():
        record = manifest.steps.get(f"{step.board}/{stage}")
        made = {} if record is None else record.outputs
        inputs |= {f"{stage}/{name}": digest for name, digest in made.items() if wanted(name)}
    return inputs


def reasons_to_make(step: Step, manifest: Manifest, folder: Path) -> list[str]:
    """Say why a step is not current; an empty list if it is.

    Args:
        step: The step.
        manifest: What was made.
        folder: Folder that the step's files are in.
    """
    record = manifest.steps.get(step.name)
    if record is None:
        return [NEVER_MADE]
    return [
        *_changed_files(record.inputs, inputs_of(step, manifest)),
        *_changed_values(record.options, step.options),
        *_changed_values(record.versions, step.versions),
        *_changed_outputs(record, folder),
        *([record.unfinished] if record.unfinished else []),
    ]


def _changed_files(old: Digests, new: Digests) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"{_words(name)} is gone"
        elif name not in old:
            yield f"{_words(name)} is new"
        elif old[name] != new[name]:
            yield f"{_words(name)} changed"


def _words(name: str) -> str:
    """Say ``arena judgments.jsonl`` for ``arena/judgments.jsonl``."""
    return name.replace("/", " ", 1)


def _changed_values(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        before, after = (_shown(values, name) for values in (old, new))
        if before != after:
            yield f"{name}: {before} → {after}"


def _shown(values: Mapping[str, object], name: str) -> str:
    value = values.get(name, NOT_STATED)
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _changed_outputs(record: StepRecord, folder: Path) -> Iterator[str]:
    there = folder_digests(folder)
    for name, digest in sorted(record.outputs.items()):
        if name not in there:
            yield f"output {name} is missing"
        elif there[name] != digest:
            yield f"output {name} was altered"
    for name in sorted(there.keys() - record.outputs.keys()):
        yield f"output {name} is none of its own"
