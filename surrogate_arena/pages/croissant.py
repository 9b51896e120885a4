"""An arena folder's description in Croissant 1.0, the vocabulary for data sets of MLCommons."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.data.files import file_digest
from arena.data.folder import find_table_file, read_info
from arena.data.schema import ANSWERS, JUDGMENTS, QUERIES, TableSchema
from arena.data.tables import read_rows, row_suffix
from surrogate_arena.pages.site_settings import SiteSettings

_TERMS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format "
    "includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated "
    "replace samplingRate separator source subField transform"
)
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
"""Names of version 1.0, as its specification lists them."""
FORMATS = {
    ".jsonl": "application/jsonlines",
    ".jsonl.gz": "application/jsonlines",
    ".csv": "text/csv",
    ".csv.gz": "text/csv",
    ".parquet": "application/x-parquet",
}
"""Endings of tables that programs for Croissant read, with the kind of their content."""
_NUMBERS = ("amount", "probability", "weight")
_NESTED = ("passages", "history", "sides")
"""Kinds of columns that hold lists, which only the files have."""


def croissant_text(folder: Path, settings: SiteSettings) -> str:
    """Return the description as JSON-LD, to be kept in the arena's folder.

    Tables are described by their scalar columns; files have further ones, such as passages.

    Raises:
        UsageError: If the folder holds no arena.
    """
    info = read_info(folder)
    files = []
    records = []
    for schema in (QUERIES, ANSWERS, JUDGMENTS):
        path = find_table_file(folder, schema.name)
        if path is None or not path.is_file() or row_suffix(path) not in FORMATS:
            continue
        files.append(
            {
                "@type": "cr:FileObject",
                "@id": path.name,
                "name": path.name,
                "contentUrl": path.name,
                "encodingFormat": FORMATS[row_suffix(path)],
                "sha256": file_digest(path),
            }
        )
        records.append(_record_set(path, schema))
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": settings.title or info.name,
        "description": settings.description or info.note or f"Arena {info.name}",
        "citeAs": info.source,
        "license": settings.license,
        "url": settings.home,
        "creator": _organization(settings.organization),
        "datePublished": settings.date.isoformat() if settings.date else "",
        "inLanguage": list(info.languages),
        "distribution": files,
        "recordSet": records,
    }
    stated = {name: value for name, value in described.items() if value}
    return json.dumps(stated, ensure_ascii=False, indent=2) + "\n"


def _organization(name: str) -> dict[str, str]:
    return {"@type": "sc:Organization", "name": name} if name else {}


def _record_set(path: Path, schema: TableSchema) -> dict[str, Any]:
    columns = {**schema.columns, **schema.optional}
    present = read_rows(path).table.columns
    fields = []
    for name, kind in columns.items():
        if name not in present or kind in _NESTED:
            continue
        fields.append(
            {
                "@type": "cr:Field",
                "@id": f"{schema.name}/{name}",
                "name": f"{schema.name}/{name}",
                "dataType": "sc:Float" if kind in _NUMBERS else "sc:Text",
                "source": {"fileObject": {"@id": path.name}, "extract": {"column": name}},
            }
        )
    return {"@type": "cr:RecordSet", "@id": schema.name, "name": schema.name, "field": fields}
