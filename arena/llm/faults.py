"""What servers say where they answer nothing: whether one prompt, the settings or all calls fail.

Servers word one and the same thing differently. So known codes come first, then general rules over
the words of a message: a long prompt, for example, is something of the prompt that is longer than
something allows. The first of these that fits decides:

1. this prompt is filtered, or too long: final for it, and the run goes on;
2. no call can succeed: the key, the account's credit, the permission, the model;
3. a field of the request is refused: a setting is to change;
4. it may pass: tried again, after the wait that was asked for;
5. anything else: rejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from arena.data.errors import argument
from arena.llm import replies
from arena.llm.replies import Fault, shown_detail
from arena.llm.waits import asked_wait

MOST_READ = 20_000
"""Characters of a message that rules are applied to."""
DEEPEST = 6
"""Levels of JSON in which a message or a wait is looked for."""

_NO_CREDIT = "the account has no credit left; the results so far are in the store"
_ADVICE: Mapping[int, str] = MappingProxyType(
    {
        401: (
            "the key is not accepted; check it, and the variable that "
            f"{argument('api_key_env')} names"
        ),
        402: _NO_CREDIT,
        403: "the key may not use this model; check the model's name and the key's permissions",
        404: "check the model's name, and that base_url ends where /chat/completions or "
        "/embeddings begins",
    }
)
# Codes by words that they hold, most specific first.
_STATUS_OF_CODE = (
    (re.compile(r"insufficient_?(?:quota|balance|fund)|billing|payment|arrearage|credit"), 402),
    (re.compile(r"api_?key|authenticat|unauthori[sz]ed|invalid_?(?:token|iam)"), 401),
    (re.compile(r"permission|forbidden|access_?denied|not_?allowed_?region"), 403),
    (re.compile(r"model_?not|not_?found|deployment_?not|no_?such_?model|unknown_?model"), 404),
    (re.compile(r"rate_?limit|too_?many_?requests|resource_?exhausted|throttl|quota"), 429),
    (re.compile(r"overload|unavailable|capacity|engine_?busy|model_?not_?ready"), 503),
    (re.compile(r"time_?out|deadline"), 504),
    (re.compile(r"internal|server_?error|api_?error|bad_?gateway|upstream|provider_?error"), 500),
    (re.compile(r"invalid|bad_?request|unprocessable|unsupported|validation|failed_?precond"), 400),
)  # fmt: skip
_NO_CREDIT_WORDS = re.compile(
    r"insufficient (?:\w+ )?(?:credit|balance|fund|quota)|credit balance is too low|out of credits"
    r"|no credits?\b|not enough (?:credit|balance)|balance is not enough|余额不足|欠费"
    r"|requires? more credits|account is (?:not in good standing|overdue)|arrears|overdue.payment"
    r"|\baccount\b[^.;]{0,80}\bsuspended|(?<!thinking )(?<!token )budget (?:has been )?exceeded"
    r"|specified (?:\w+ ){0,2}usage limits",
    re.IGNORECASE,
)
_WRONG_KEY_WORDS = re.compile(
    r"(?:api[ _-]?key|access token|bearer token)\W{0,3}(?:\w+ ){0,3}(?:invalid|not valid|incorrect|"
    r"expired|missing|required|not found|unauthorized)"
    r"|(?:invalid|incorrect|expired|missing|no|wrong) (?:\w+ )?(?:api[ _-]?key|access token)\b"
    r"|unauthori[sz]ed|authentication (?:fail|error)|\A(?:invalid|expired) (?:\w+ )?token\W{0,3}\Z",
    re.IGNORECASE,
)
_UNKNOWN_MODEL_WORDS = re.compile(
    r"(?:no such|unknown|unsupported|invalid) model\b"
    r"|model (?:[`'\"]?[\w./:@-]{1,200}[`'\"]? )?(?:is |was )?"
    r"(?:not found|does not exist|not exist|not available|not supported on this)"
    r"|not a valid model|no endpoints found",
    re.IGNORECASE,
)
_RATE_WORDS = re.compile(
    r"rate.?limit|too many requests|tokens? per (?:min|day|hour)|requests? per (?:min|day|hour|sec)"
    r"|\b[tr]p[md]\b|quota|throttl|concurren|slow down|daily|monthly|限流|频率",
    re.IGNORECASE,
)

_FILTER_CODE = re.compile(
    r"content_?(?:filter|policy|moderation)|responsibleai|moderation|data_?inspection|safety"
    r"|recitation|prohibited_?content|blocklist|\bspii\b|guardrail|sensitive|invalid_?prompt|\b1301\b"
    r"|content_?safety|inappropriate|image_?safety|refusal|toxic|censor|unsafe",
    re.IGNORECASE,
)
_FILTER_WORDS = re.compile(
    r"content[ _]?(?:filter|polic|management|moderation|safety)|responsibleai|data[ _]?inspection"
    r"|inappropriate content|content exists risk|risk control|prohibited[ _]content"
    r"|guardrail|(?<!case[ -])(?<![a-z])sensitive\b|unsafe content|safety (?:system|filter"
    r"|reason|polic|check|violation)|recitation"
    r"|violat\w* [^.]{0,60}(?:polic|guideline|terms|rules)|(?:usage|content|safety|use) polic"
    r"|(?:prompt|content|input|output|message|response|text|request)s? (?:\w+ ){0,3}"
    r"(?:flagged|moderated|deemed unsafe)|flagged (?:as|by|for)|requires moderation"
    r"|blocked by (?:\w+ ){0,3}(?:moderation|safety|guardrail|polic|filter)"
    r"|(?:prompt|content|input|message|text)s? (?:is|are|was|were) illegal|审核未通过"
    r"|(?:prompt|content|input|output|response)s? (?:was |were |is |has been |have been )"
    r"(?:blocked|filtered|censored)|敏感|违规|不合规|不安全",
    re.IGNORECASE,
)

_LONG_CODE = re.compile(
    r"context_?(?:length|window|size|limit|overflow)|(?:prompt|input|request|text|message|content)"
    r"_?(?:is_?)?too_?(?:long|large)|string_above_max_length|tokens_limit_reached"
    r"|max_?(?:input|prompt|message|context)_?(?:length|token)|payload_?too_?large|\b1261\b",
    re.IGNORECASE,
)
_SUBJECT = (
    r"(?:prompt|inputs?|messages?|request|context|texts?|contents?|conversation|sequence|document"
    r"|body|payload|questions?|query|chat|instruction|token count)"
)
_OVER = (
    r"(?:too (?:long|large|big|many)|exceed(?:s|ed|ing)?|longer than|greater than|larger than"
    r"|more than|bigger than|must be (?:<=|≤|less|at most|below|smaller|shorter)"
    r"|must not (?:exceed|be (?:longer|more|larger|greater|above|over))"
    r"|must (?:have|contain) (?:less|fewer|at most|no more)|can ?not (?:be )?(?:exceed|longer)"
    r"|should be (?:\[|in|less|at most|shorter|smaller)|overflow|over the|beyond|above the"
    r"|not fit|but (?:the )?model only supports|is limited to)"
)
_UNIT = re.compile(
    r"token|length|character|\bchars?\b|\bcontext\b|\bsize\b|\bbytes\b|too long|words|长|字数"
)
_CONTEXT_WORDS = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|n_ctx|max_(?:model|seq|sequence|input|context)_len"
    r"|max(?:imum)? (?:\w+ ){0,2}(?:model|prompt|input|sequence|context|question) (?:\w+ ){0,2}"
    r"(?:length|tokens?|size|characters)|maximum context|model token limit|max(?:imum)? length of"
)
_LONG_WORDS = (
    re.compile(rf"\b{_SUBJECT}\b[^.;。]{{0,120}}?{_OVER}"),
    re.compile(r"(?:too many|exceed\w*|maximum)[^.;]{0,40}\b(?:input|prompt|context) tokens?"),
    re.compile(
        r"(?:reduce|shorten|decrease|trim|truncate|shorter)[^.;]{0,40}\b(?:prompt|inputs?|messages?"
        r"|context|text|conversation|content)"
    ),
    re.compile(rf"\b{_SUBJECT}\b[^.;]{{0,40}}?\d{{2,}} ?> ?\d{{2,}}"),
    re.compile(r"max_(?:prompt|input|context)_\w{1,20} (?:\w+ ){0,2}exceed"),
    re.compile(r"exceed\w* (?:\w+ ){0,3}context\b"),
    re.compile(r"token limit (?:was |is |has been )?exceeded"),
    re.compile(
        r"(?:supports?|accepts?|allows?|takes?)[^.;]{0,20}?\d+ (?:input|prompt|context) tokens"
    ),
    re.compile(r"\b(?:prompt|input|request|messages) \w+ [\d,]+ tokens[^.;]{0,20} limit"),
    re.compile(r"trop longs?\b|zu lang\b|demasiado larg"),
    re.compile(r"expected maxlength: \d+, actual: \d+"),
    re.compile(r"max(?:imum)? (?:input|prompt|context|message) (?:characters|tokens|length|size)"),
    re.compile(r"too many tokens|total (?:number of )?tokens[^.;]{0,40}(?:exceed|limit)"),
    re.compile(r"(?:输入|提示|上下文|长度|字数|token)[^。]{0,12}(?:超长|过长|超出|超过|太长)|超长"),
)
_TOO_LARGE = re.compile(
    r"(?:request|prompt|input)(?: body| entity)? (?:is |was )?too large"
    r"|(?:larger|longer|bigger) than (?:the|this) model can (?:handle|process|take)"
    r"|member must have length less than or equal to \d{5,}"
)
_OF_MOST_TOKENS = re.compile(
    r"max_?(?:new_|completion_|output_)?tokens\W{0,4}(?:\([^)]{0,40}\) )?(?:value )?"
    r"(?:must|should|is too|exceed|can ?not|: ?\d)|range of max_tokens"
)
_OF_INPUT = re.compile(
    r"\b(?:inputs?|prompt|messages|requested|text input|your request has|total tokens)\b"
)
_REQUESTED = re.compile(
    r"context length (?:is|of) (\d+).{0,120}?(\d+) (?:tokens )?(?:in|for) the (?:completion|output)"
)

_LOC = re.compile(r"[\w\[\].]+")
_OTHER_NAMES: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "response_format": re.compile(
            r"structured[ _-]outputs?|json[ _-]?(?:schema|mode|object)|response[ _-]format",
            re.IGNORECASE,
        ),
        "reasoning_effort": re.compile(r"reasoning[ _-]effort", re.IGNORECASE),
    }
)
"""What messages call fields of the request, besides their names."""
_ALL_REFUSED = re.compile(
    r"(?:requested|given|these|specified|all) parameters|parameters (?:you |that were )?requested",
    re.IGNORECASE,
)
_ASKED_ITSELF = frozenset({"model", "messages", "prompt", "input"})
_PLAIN_NAMES = frozenset({"temperature", "logprobs", "seed", "reasoning"})
"""Fields without an underscore that a message names without quotes, too."""
_REFUSING = re.compile(
    r"unsupported|not support|does ?n.t support|unrecogni[sz]ed|unknown|unexpected|not allowed"
    r"|not permitted|invalid|only|must|cannot|can.t|should|too (?:large|high|low|small)"
    r"|extra inputs|deprecated|incompatible|out of range|greater than|less than|exceed"
    r"|not (?:a )?valid|\bis not\b|at most|maximum|instead|removed|no longer|available",
    re.IGNORECASE,
)

_OF_VALUE = re.compile(
    r"too (?:large|high|low|small)|at (?:most|least)|maximum|range|greater|less than|exceed|must be"
    r"|should be|> ?\d|valid value"
)


@dataclass(frozen=True)
class ReportedError:
    """What a server said of an error.

    Attributes:
        message: In its words; those of an upstream server after them.
        codes: Its codes, types and states, in its words.
        status: HTTP status, or what the codes say; None if nothing says it.
        names: Fields that it names as the cause, such as ``max_tokens``.
        body: All that it said.
        is_paid: Whether an answer was begun, which may have to be paid for.
    """

    message: str
    codes: tuple[str, ...] = ()
    status: int | None = None
    names: tuple[str, ...] = ()
    body: object = field(default=None, repr=False)
    is_paid: bool = False


def reported(status: int, text: str) -> ReportedError:
    """Read what a server said with an error status: JSON in any form, or plain text."""
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return ReportedError(text[:MOST_READ], status=status)
    report = _report(_error_part(body), body)
    codes_status = report.status
    is_narrower = codes_status in {401, 402, 403, 404} and status not in {413, 429}
    if (
        is_narrower
        or (codes_status == 429 and status in {400, 403, 500})
        or (codes_status == 503 and status == 400)
    ):
        status = codes_status or status
    return ReportedError(
        report.message or text[:MOST_READ], report.codes, status, report.names, body
    )


def reported_error(payload: object) -> ReportedError | None:
    """Return the error that an answer with status 200 holds in place of a completion, if any.

    It stands in ``error``, at the top or in the first choice, or is the whole answer
    (``{"detail": …}``, ``{"message": …, "code": …}``).
    """
    answer = payload[0] if isinstance(payload, list) and len(payload) == 1 else payload
    if not isinstance(answer, Mapping):
        return None
    stated = answer.get("base_resp")  # of MiniMax
    if isinstance(stated, Mapping) and stated.get("status_code") not in (None, 0, "0"):
        part = {"code": stated.get("status_code"), "message": stated.get("status_msg")}
        return _report(part, answer)
    error = answer.get("error")
    if _is_error(error):
        return _report(error, answer)
    choices = answer.get("choices")
    if isinstance(choices, list) and choices:
        first = choices[0]
        inner = first.get("error") if isinstance(first, Mapping) else None
        message = first.get("message") if isinstance(first, Mapping) else None
        if not _is_error(inner) and isinstance(message, Mapping):
            inner = message.get("error")
        return replace(_report(inner, first), is_paid=True) if _is_error(inner) else None
    if answer.get("data") or answer.get("usage"):
        return None
    if any(answer.get(name) for name in ("detail", "errors")):
        return _report(_error_part(answer), answer)
    has_message = any(isinstance(answer.get(name), str) for name in _MESSAGE_NAMES)
    return _report(answer, answer) if has_message else None


def fault_of(
    report: ReportedError, headers: Mapping[str, str], api_key: str, fields: Collection[str] = ()
) -> Fault:
    """Say what an error means.

    Args:
        report: What the server said.
        headers: Of its answer.
        api_key: Taken out of what is shown.
        fields: Names of the fields that were sent.
    """
    status = report.status
    message = report.message
    detail = shown_detail(
        ": ".join(part for part in (f"status {status}" if status else "", message) if part)
        or "an error without a word",
        api_key,
    )
    low = message[:MOST_READ].casefold()
    codes = " ".join(report.codes)
    if _is_filtered(status, codes, low):
        return Fault(replies.CONTENT_FILTER, detail)
    if is_too_long(report):
        return Fault(replies.CONTEXT_LENGTH, detail)
    hopeless = _hopeless_status(report, low)
    if hopeless is not None:
        # What a server says of a wrong key may hold parts of it.
        shown = f"status {hopeless}" if hopeless in {401, 403} else detail
        return Fault(replies.REJECTED, shown, advice=_ADVICE[hopeless])
    wait = asked_wait(headers, report.body, message)
    passing = _passing_reason(status, low)
    if passing is not None:
        return Fault(passing, detail, again=True, asked_wait_s=wait, is_paid=report.is_paid)
    names = named_fields(report, fields)
    if not names and status == 404:
        names = [name for name in fields if name not in _ASKED_ITSELF]
    setting = _setting_advice(names, low) if names else None
    return Fault(replies.REJECTED, detail, setting=setting)


def is_too_long(report: ReportedError) -> bool:
    """Say whether a server refuses one prompt for its length, whatever its words.

    Limits of tokens a minute, quotas, and too large a ``max_tokens`` are no length of a prompt.
    """
    low = report.message[:MOST_READ].casefold()
    if _TOO_LARGE.search(low) or report.status == 413:
        return True
    if report.status in {401, 402, 403, 429}:
        return False
    if _OF_MOST_TOKENS.search(low) and not _OF_INPUT.search(low):
        return False
    requested = _REQUESTED.search(low)
    if requested is not None and int(requested[2]) >= int(requested[1]):
        return False  # max_tokens alone is more than the model has
    if _LONG_CODE.search(" ".join(report.codes)):
        return True
    if _RATE_WORDS.search(low):
        return False
    has_numbers = len(re.findall(r"\d{2,}", low)) >= 2
    is_over = re.search(_OVER, low) is not None
    if _CONTEXT_WORDS.search(low) and (is_over or has_numbers):
        return True
    if _UNIT.search(low) is None:
        return False
    return any(words.search(low) for words in _LONG_WORDS)


def named_fields(report: ReportedError, fields: Collection[str]) -> list[str]:
    """Return the fields of the request that an error names as its cause, in their order there."""
    if report.status not in {None, 400, 422, 500, 501}:
        return []
    message = report.message[:MOST_READ]
    named = {part for name in report.names for part in _LOC.findall(name)}
    named |= {part.split(".")[-1] for part in named}
    if _REFUSING.search(message) is not None:
        for name in fields:
            is_plain = "_" in name or name in _PLAIN_NAMES
            quoted = rf"[`'\"“]{re.escape(name)}[`'\"”]|\b{re.escape(name)}="
            words = rf"(?<![\w.])(?:body\.)?{re.escape(name)}(?!\w)" if is_plain else quoted
            other = _OTHER_NAMES.get(name)
            is_otherwise = other is not None and other.search(message) is not None
            if is_otherwise or re.search(f"{words}|{quoted}", message):
                named.add(name)
    return [name for name in fields if name in named]


def _setting_advice(names: list[str], low: str) -> str:
    """Say which settings to change where fields of the request are refused."""
    is_value = _OF_VALUE.search(low) is not None
    changed = [name for name in names if is_value and name.startswith("max_")]
    omitted = [name for name in names if name not in changed]
    hints = [f"another {name}" for name in changed]
    if "max_tokens" in names and "max_completion_tokens" in low:
        # Models that want this name mostly take no temperature but their own either.
        hints = ["body = {max_completion_tokens = N}"]
        omitted = [name for name in omitted if name != "max_tokens"] or ["temperature"]
    if omitted:
        listed = ", ".join(f'"{name}"' for name in omitted)
        hints.append(f"omit = [{listed}]")
    advice = f"change the settings: {' and '.join(hints)}"
    if "response_format" in omitted:
        advice += f" (metaeval: {argument('replies')} text)"
    return advice


def _hopeless_status(report: ReportedError, low: str) -> int | None:
    """Return the status that says that no call can succeed: 401, 402, 403 or 404."""
    status = report.status
    codes = " ".join(report.codes).casefold()
    is_spent = re.search(
        r"insufficient_?(?:quota|balance|credit)|arrearage|billing|exceeded_?current_?quota|budget_?exceeded",
        codes,
    )
    if status == 402 or is_spent or _NO_CREDIT_WORDS.search(low):
        return 402
    if status == 404 and _ALL_REFUSED.search(low):
        return None  # a gateway knows the model, and none of its servers takes all fields
    if status in {401, 403, 404}:
        return status
    if status in {None, 400, 422} and _WRONG_KEY_WORDS.search(low):
        return 401
    if status in {None, 400, 422} and (_UNKNOWN_MODEL_WORDS.search(low) or "model" in report.names):
        return 404
    return None


def _passing_reason(status: int | None, low: str) -> str | None:
    """Return the reason of an error that may pass; None if it will not."""
    if status is None:
        return replies.RATE_LIMITED if _RATE_WORDS.search(low) else replies.SERVER_ERROR
    if status == 429 or status == 420:
        return replies.RATE_LIMITED
    if status in {408, 504, 524}:
        return replies.TIMEOUT
    if status in {409, 423, 424, 425, 498, 499} or status >= 500:
        return replies.SERVER_ERROR
    return None


def _is_filtered(status: int | None, codes: str, low: str) -> bool:
    """Say whether a server refuses one prompt, or its answer, for what is in it."""
    if status in {401, 402, 429}:
        return False
    if status == 451 or _FILTER_CODE.search(codes):
        return True
    is_of_prompt = status is None or status in {400, 403, 406, 413, 422, 451} or status >= 500
    return is_of_prompt and _FILTER_WORDS.search(low) is not None


_MESSAGE_NAMES = ("message", "msg", "error_msg", "error_message", "error_description", "title")
_CODE_NAMES = (
    "code",
    "status",
    "type",
    "error_code",
    "statusCode",
    "status_code",
    "object",
    "reason",
    "__type",
)
_FIELD_NAMES = ("param", "field", "path", "parameter", "property")
"""Where an error names the field of the request that caused it."""


def _is_error(value: object) -> bool:
    """Say whether what stands in ``error`` is one: not null, empty, or a success."""
    if isinstance(value, Mapping):
        is_success = str(value.get("code", "")).casefold() in {"0", "200", "success", "ok"}
        return bool(value) and not (is_success and not value.get("message"))
    return isinstance(value, str | list) and bool(value)


def _error_part(body: object) -> object:
    """Return the part of an error's JSON that says what it is."""
    for _ in range(DEEPEST):
        if isinstance(body, list) and body:
            is_pydantic = isinstance(body[0], Mapping) and "loc" in body[0]
            if is_pydantic:
                return body
            body = body[0]
            continue
        if not isinstance(body, Mapping):
            return body
        inner = next((body[name] for name in ("error", "detail", "errors") if body.get(name)), None)
        if inner is None or (isinstance(inner, str) and _first_text(body)):
            return body
        body = inner
    return body


def _report(part: object, body: object) -> ReportedError:
    """Read the part that says what an error is."""
    if isinstance(part, str):
        return ReportedError(part[:MOST_READ], body=body)
    if isinstance(part, list):  # pydantic's: [{"loc": ["body", "top_k"], "msg": …}]
        entries = [each for each in part[:20] if isinstance(each, Mapping)]
        locations = [each.get("loc") for each in entries]
        names = tuple(
            str(name) for loc in locations if isinstance(loc, list) for name in loc[1:][:1]
        )
        texts = [
            f"{'.'.join(map(str, loc)) if isinstance(loc, list) else ''}: {_first_text(each)}"
            for each, loc in zip(entries, locations, strict=True)
        ]
        return ReportedError("; ".join(texts)[:MOST_READ], ("validation_error",), 422, names, body)
    if not isinstance(part, Mapping):
        return ReportedError("", body=body)
    message = _first_text(part)
    raw = _upstream(part)
    if raw and raw not in message:
        message = f"{message}: {raw}" if message else raw
    codes = [part.get(name) for name in _CODE_NAMES]
    inner = part.get("innererror")
    if isinstance(inner, Mapping):
        codes.append(inner.get("code"))
    details = part.get("details")
    if isinstance(details, list):
        codes += [each.get("reason") for each in details[:20] if isinstance(each, Mapping)]
    stated = tuple(str(code) for code in codes if isinstance(code, str | int) and code is not True)
    stated_fields = [part.get(name) for name in _FIELD_NAMES]
    fields = [
        ".".join(map(str, each)) if isinstance(each, list) else each for each in stated_fields
    ]
    return ReportedError(
        message=message[:MOST_READ],
        codes=stated,
        status=_status_of(stated),
        names=tuple(name for name in fields if isinstance(name, str)),
        body=body,
    )


def _first_text(part: Mapping[str, Any]) -> str:
    texts = (part.get(name) for name in (*_MESSAGE_NAMES, "detail", "error"))
    return next((text for text in texts if isinstance(text, str) and text), "")


def _upstream(part: Mapping[str, Any]) -> str:
    """Return what a gateway passes on of the server behind it (OpenRouter: ``metadata.raw``)."""
    metadata = part.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    if isinstance(raw, Mapping):
        raw = json.dumps(raw, ensure_ascii=False)
    return raw[:MOST_READ] if isinstance(raw, str) else ""


def _status_of(codes: Collection[str]) -> int | None:
    """Return the HTTP status that codes say: 429, ``"429"`` or ``rate_limit_exceeded``."""
    for code in codes:
        if code.isdecimal() and len(code) <= 3 and 400 <= int(code) < 600:
            return int(code)
    for code in codes:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", code).casefold().replace("-", "_")
        for words, status in _STATUS_OF_CODE:
            if words.search(name):
                return status
    return None
