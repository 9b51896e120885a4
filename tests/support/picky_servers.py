"""Servers for ``ChatServer`` that refuse fields of requests as models of today do."""

from chat_server import completion, error


def refusing_limits(server, reply):
    """Behave as OpenAI's models that think: other names for limits, no temperature but 1."""

    def behave(prompt, earlier):
        body = server().bodies[-1]
        if "max_tokens" in body:
            return error(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                type="invalid_request_error",
                param="max_tokens",
                code="unsupported_parameter",
            )
        if body.get("temperature", 1) != 1:
            return error(
                400,
                "Unsupported value: 'temperature' does not support 0.0 with this model. "
                "Only the default (1) value is supported.",
                type="invalid_request_error",
                param="temperature",
                code="unsupported_value",
            )
        return completion(reply(prompt) if callable(reply) else reply)

    return behave


def refusing_two_samplings(server, reply):
    """Behave as Anthropic's models: temperature or top_p, not both."""

    def behave(prompt, earlier):
        if {"temperature", "top_p"} <= server().bodies[-1].keys():
            return error(
                400,
                "`temperature` and `top_p` cannot both be specified for this model. "
                "Please use only one.",
                type="invalid_request_error",
            )
        return completion(reply(prompt) if callable(reply) else reply)

    return behave


def refusing_extra_fields(server, reply, accepted=("temperature", "max_tokens")):
    """Behave as strict gateways: fields that they do not know are an error."""

    def behave(prompt, earlier):
        extra = sorted(server().bodies[-1].keys() - {"model", "messages", *accepted})
        if extra:
            return error(
                422,
                f"Extra inputs are not permitted: {', '.join(extra)}",
                type="invalid_request_error",
                param=extra[0],
            )
        return completion(reply(prompt) if callable(reply) else reply)

    return behave
