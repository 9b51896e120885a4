"""The meaning of a server's error: whether one prompt, the settings or all calls fail.

Servers word the same error differently. So known codes come first, then general rules over
the words of a message: a long prompt, for example, is something of the prompt that is longer than
something allows. The first of these that fits decides:

1. this prompt is filtered, or too long: this call fails for good, and the run continues;
2. no call can succeed: the key, the account's credit, the permission, the model;
3. a field of the request is refused: a setting is to change;
4. it may pass: tried again, after the wait that was asked for;
5. anything else: rejected.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from arena.data.errors import argument
from arena.llm import replies
from arena.llm.error_reports import MOST_READ, ReportedError
from arena.llm.replies import Fault, shown_detail
from arena.llm.waits import asked_wait

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
_NO_CREDIT_WORDS = re.compile(
    r"insufficient (?:\w+ )?(?:credit|balance|fund|quota)|balance is (?:too low|negative)"
    r"|out of credits|no credits?\b|not enough (?:credit|balance)|balance is not enough"
    r"|余额不足|欠费"
    r"|requires? more credits|account is (?:not in good standing|overdue)|arrears|overdue.payment"
    r"|\baccount\b[^.;]{0,80}\bsuspended|(?<!thinking )(?<!token )budget (?:has been )?exceeded"
    r"|specified (?:\w+ ){0,2}usage limits|(?:used|spent) (?:up )?all (?:\w+ ){0,2}credits"
    r"|(?:do|does)(?:n['’]t| not) have any credits|credits? (?:(?:has|have) )?expired"
    r"|(?:reached|exceeded|hit) [^.;]{0,40}\bspend(?:ing)? limit|run out of credits?"
    r"|free (?:allocated )?(?:quota|tier)[^.;]{0,40}exhausted|\blimit: 0(?![\d.])",
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
    r"|not a valid model|no endpoints found|not a chat (?:completions? )?model"
    r"|model (?:[`'\"]?[\w./:@-]{1,200}[`'\"]? )?has been (?:deprecated|decommissioned|retired)",
    re.IGNORECASE,
)
_RATE_WORDS = re.compile(
    r"rate.?limit|too many requests|tokens? per (?:min|day|hour)|requests? per (?:min|day|hour|sec)"
    r"|\b[tr]p[md]\b|quota|throttl|concurren|slow down|daily|monthly|限流|频率",
    re.IGNORECASE,
)

_BUSY_WORDS = re.compile(
    r"throttl|too many (?:concurrent )?requests|rate limit exceeded|overloaded|high demand"
    r"|temporarily unavailable",
    re.IGNORECASE,
)
"""Of what may pass, even where the status says that the request is wrong."""

_FILTER_CODE = re.compile(
    r"content_?(?:filter|policy|moderation)|responsibleai|moderation|data_?inspection|safety"
    r"|recitation|prohibited_?content|blocklist|\bspii\b|guardrail|sensitive|invalid_?prompt|\b1301\b"
    r"|content_?safety|inappropriate|image_?safety|refusal|toxic|censor|unsafe|jailbreak",
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
    r"|jailbreak|prompt injection|\bpii\b[^.]{0,40}blocked"
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
    r"|(?:must|should) (?:have|contain) (?:less|fewer|at most|no more)"
    r"|can ?not (?:be )?(?:exceed|longer)|should be (?:\[|in|less|at most|shorter|smaller)"
    r"|overflow|over the|beyond|above the"
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
_OF_TIME = re.compile(
    r"deadline|time[ -]?(?:out|limit)|timed[ -]out|(?:took|takes|take) longer"
    r"|longer than \d+ ?s(?:ec|\b)"
)
"""Of a call that takes too long, even where a "context" or a "request" does."""
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
"""Other words for fields of the request in messages."""
_ALL_REFUSED = re.compile(
    r"(?:requested|given|these|specified|all) parameters|parameters (?:you |that were )?requested",
    re.IGNORECASE,
)
_REFUSING = re.compile(
    r"unsupported|not support|does ?n.t support|unrecogni[sz]ed|unknown|unexpected|not allowed"
    r"|not permitted|invalid|only|must|cannot|can.t|should|too (?:large|high|low|small)"
    r"|extra inputs|deprecated|incompatible|out of range|greater than|less than|exceed"
    r"|not (?:a )?valid|\bis not\b|at most|maximum|instead|removed|no longer|available|not allow"
    r"|larger than|非法|有误|无效|不支持",
    re.IGNORECASE,
)

_OF_VALUE = re.compile(
    r"too (?:large|high|low|small)|at (?:most|least)|maximum|range|greater|less than|exceed|must be"
    r"|should be|> ?\d|valid value"
)


def fault_of(
    report: ReportedError, headers: Mapping[str, str], api_key: str, fields: Collection[str] = ()
) -> Fault:
    """Return what an error means.

    Args:
        report: The server's report of the error.
        headers: Headers of its answer.
        api_key: The key, which is removed from what is shown.
        fields: Names of the fields that were sent.
    """
    status = report.status
    message = report.message
    parts = [f"status {status}"] if status else []
    if message:
        parts.append(message)
    detail = shown_detail(": ".join(parts) or "an error without a word", api_key)
    folded = message[:MOST_READ].casefold()
    codes = " ".join(report.codes)
    if not report.is_page and _is_filtered(status, codes, folded):
        return Fault(replies.CONTENT_FILTER, detail)
    if is_too_long(report):
        return Fault(replies.CONTEXT_LENGTH, detail)
    hopeless = _hopeless_status(report, folded)
    if hopeless is not None:
        # A message about a wrong key may repeat parts of it.
        shown = f"status {hopeless}" if hopeless == 401 else detail
        return Fault(replies.REJECTED, shown, advice=_ADVICE[hopeless])
    wait = asked_wait(headers, report.body, message)
    passing = _passing_reason(status, folded)
    if passing is not None:
        return Fault(passing, detail, again=True, asked_wait_s=wait, is_paid=report.is_paid)
    names = named_fields(report, fields)
    if not names and status == 404:
        # No server behind the gateway takes all fields, and it does not say which.
        needed = {"model", "messages", "prompt", "input"}
        names = [name for name in fields if name not in needed]
    setting = _setting_advice(names, folded) if names else None
    return Fault(replies.REJECTED, detail, setting=setting)


def is_too_long(report: ReportedError) -> bool:
    """Return whether a server refuses a prompt for its length, in whatever words.

    Limits of tokens per minute, quotas, and a ``max_tokens`` that is too large do not count.
    """
    folded = report.message[:MOST_READ].casefold()
    if report.status == 413:
        return True
    if report.is_page or _OF_TIME.search(folded):
        return False
    if _TOO_LARGE.search(folded):
        return True
    if report.status in {401, 402, 403, 429}:
        return False
    if _OF_MOST_TOKENS.search(folded) and not _OF_INPUT.search(folded):
        return False
    requested = _REQUESTED.search(folded)
    if requested is not None and int(requested[2]) >= int(requested[1]):
        return False  # max_tokens alone is more than the model has
    if _LONG_CODE.search(" ".join(report.codes)):
        return True
    if _RATE_WORDS.search(folded):
        return False
    # "8192 tokens, you requested 9000": the limit and the length.
    has_numbers = len(re.findall(r"\d{2,}", folded)) >= 2
    is_over = re.search(_OVER, folded) is not None
    if _CONTEXT_WORDS.search(folded) and (is_over or has_numbers):
        return True
    if _UNIT.search(folded) is None:
        return False
    return any(words.search(folded) for words in _LONG_WORDS)


def named_fields(report: ReportedError, fields: Collection[str]) -> list[str]:
    """Return the fields of the request that an error names as its cause, in their order there."""
    if report.status not in {None, 400, 422, 500, 501}:
        return []
    message = report.message[:MOST_READ]
    named: set[str] = set()
    for name in report.names:
        for path in _LOC.findall(name):
            named.update([path, path.split(".")[-1]])
    if _REFUSING.search(message) is not None:
        named.update(name for name in fields if _mentions(message, name))
    return [name for name in fields if name in named]


def _mentions(message: str, name: str) -> bool:
    """Return whether a message mentions a field of the request, by its name or in other words."""
    other_words = _OTHER_NAMES.get(name)
    if other_words is not None and other_words.search(message):
        return True
    # Some servers write "reasoningEffort", or begin a sentence with a field.
    escaped = re.escape(name).replace("_", "_?")
    pattern = rf"[`'\"“]{escaped}[`'\"”]|\b{escaped}="
    # Other names are words of English too ("stop", "n"): these count in quotes alone.
    if "_" in name or name in {"temperature", "logprobs", "seed", "reasoning"}:
        pattern = rf"(?<![\w.])(?:body\.)?{escaped}(?!\w)|{pattern}"
    return re.search(pattern, message, re.IGNORECASE) is not None


def _setting_advice(names: list[str], folded: str) -> str:
    """Return which settings to change if fields of the request are refused."""
    is_about_value = _OF_VALUE.search(folded) is not None
    changed = [name for name in names if is_about_value and name.startswith("max_")]
    omitted = [name for name in names if name not in changed]
    hints = [f"another {name}" for name in changed]
    if "max_tokens" in names and "max_completion_tokens" in folded:
        # Models that want this name mostly take no temperature but their own either.
        hints = ["body = {max_completion_tokens = N}"]
        omitted = [name for name in omitted if name != "max_tokens"] or ["temperature"]
    if omitted:
        listed = ", ".join(f'"{name}"' for name in omitted)
        hints.append(f"omit = [{listed}]")
    advice = f"change the settings: {' and '.join(hints)}"
    if "response_format" in omitted:
        advice += f" (metaeval: {argument('replies')} text)"
    if "logprobs" in omitted:
        advice += '; judge with verdict = "text"'
    return advice


def _hopeless_status(report: ReportedError, folded: str) -> int | None:
    """Return the status if it means that no call can succeed: 401, 402, 403 or 404."""
    status = report.status
    codes = " ".join(report.codes).casefold()
    is_spent = re.search(
        r"insufficient_?(?:quota|balance|credit)|arrearage|billing|exceeded_?current_?quota|budget_?exceeded",
        codes,
    )
    if status == 402 or is_spent or _NO_CREDIT_WORDS.search(folded):
        return 402
    # A gateway knows the model, and none of its servers takes all fields.
    if status == 404 and _ALL_REFUSED.search(folded):
        return None
    if status in {401, 403, 404}:
        return status
    if status == 405:  # base_url leads to something else
        return 404
    if status in {None, 400, 422} and _WRONG_KEY_WORDS.search(folded):
        return 401
    is_unknown_model = "model" in report.names or _UNKNOWN_MODEL_WORDS.search(folded)
    if status in {None, 400, 422} and is_unknown_model:
        return 404
    return None


def _passing_reason(status: int | None, folded: str) -> str | None:
    """Return the reason of an error that may pass; None if it will not."""
    if status is None:
        return replies.RATE_LIMITED if _RATE_WORDS.search(folded) else replies.SERVER_ERROR
    if status == 429 or status == 420:
        return replies.RATE_LIMITED
    if status in {400, 422} and _BUSY_WORDS.search(folded):
        return replies.RATE_LIMITED if _RATE_WORDS.search(folded) else replies.SERVER_ERROR
    if status in {408, 504, 524}:
        return replies.TIMEOUT
    if status in {501, 505}:  # the server cannot do it
        return None
    if status in {409, 423, 424, 425, 498, 499} or status >= 500:
        return replies.SERVER_ERROR
    return None


def _is_filtered(status: int | None, codes: str, folded: str) -> bool:
    """Return whether a server refuses one prompt, or its answer, for its content."""
    if status in {401, 402, 429}:
        return False
    if status == 451 or _FILTER_CODE.search(codes):
        return True
    is_of_prompt = status is None or status in {400, 403, 406, 413, 422, 451} or status >= 500
    return is_of_prompt and _FILTER_WORDS.search(folded) is not None
