"""Answers that say that they do not answer."""

import re

import pytest

from surrogate.checks.rules import refuses
from surrogate.checks.table import refusals


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I don't know.", "en"),
        ("I’m sorry, but I can't help with that.", "en"),
        ("The passages do not contain any information on this.", "en"),
        ("Das kann ich leider nicht beantworten.", "de"),
        ("Je suis désolé, je ne peux pas répondre.", "fr"),
        ("Les extraits fournis ne permettent pas de répondre à cette question.", "fr"),
        ("Je n'ai trouvé aucune réponse dans les documents.", "fr"),
        ("No he encontrado la respuesta en los documentos.", "es"),
        ("Los fragmentos no mencionan el precio.", "es"),
        ("Não encontrei essa informação nos documentos.", "pt"),
        ("Os trechos não respondem a essa pergunta.", "pt"),
        ("Non ho trovato la risposta nei documenti.", "it"),
        ("I passaggi non forniscono questo dato.", "it"),
        ("In den vorliegenden Texten finde ich dazu nichts.", "de"),
        ("Das geht aus den Texten leider nicht hervor.", "de"),
        ("This is not mentioned in the passages.", "en"),
        ("申し訳ありませんが、この質問にはお答えできません。", "ja"),
        ("抱歉，我无法回答这个问题。", "zh"),
        ("죄송하지만 답변을 드릴 수 없습니다.", "ko"),
        ("ขออภัย ไม่พบข้อมูลในเอกสาร", "th"),
        ("عذرًا، لا أعرف الإجابة.", "ar"),
        ("I cannot answer this.", "ja"),
    ],
)
def test_refusals_are_found_in_many_languages(text, language):
    assert refuses(text, language) is True


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tower was built in 1889.", "en"),
        ("Sorry is a small town. " + "It has a mill, a church and a mayor. " * 10, "en"),
        ("I'm sorry to hear that. " + "Restart the router, then wait for the light. " * 10, "en"),
        ("La tour n'a pas été détruite, elle a été déplacée en 1931.", "fr"),
        ("El documento no caduca antes de diez años.", "es"),
        ("Il documento non scade prima di dieci anni.", "it"),
        ("O documento não vence antes de dez anos.", "pt"),
        ("Das Dokument gilt zehn Jahre und nicht länger.", "de"),
        ("エッフェル塔は1889年に建てられました。", "ja"),
        ("Yes, the portal does it, but I don't know since when.", "en"),
        ("Ja, das geht, nur kann ich dazu nichts sagen, seit wann.", "de"),
        ("", "en"),
    ],
)
def test_answers_are_no_refusals(text, language):
    assert refuses(text, language) is False


def test_languages_without_phrases_cannot_be_checked():
    assert refuses("I don't know.", "xx") is None


def test_every_pattern_is_in_lower_case_and_finds_no_empty_text():
    for patterns in refusals().values():
        for pattern in patterns:
            assert re.compile(pattern).search("") is None
            assert not any(map(str.isupper, re.sub(r"\\.", "", pattern)))
