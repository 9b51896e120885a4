"""Versions of a support system whose faults are known: 30 questions in English, 30 in German."""

import pandas as pd

from arena import Arena

TOPICS = (
    *(("invoice", "Rechnung"), ("password", "Passwort"), ("delivery", "Lieferung")),
    *(("refund", "Erstattung"), ("contract", "Vertrag"), ("router", "Router")),
    *(("warranty", "Garantie"), ("account", "Konto"), ("discount", "Rabatt")),
    *(("battery", "Batterie"), ("printer", "Drucker"), ("voucher", "Gutschein")),
    *(("charger", "Ladegerät"), ("screen", "Bildschirm"), ("keyboard", "Tastatur")),
    *(("camera", "Kamera"), ("adapter", "Adapter"), ("license", "Lizenz")),
    *(("speaker", "Lautsprecher"), ("headset", "Kopfhörer"), ("tablet", "Tablet")),
    *(("subscription", "Abonnement"), ("receipt", "Quittung"), ("address", "Adresse")),
    *(("complaint", "Beschwerde"), ("upgrade", "Aufrüstung"), ("backup", "Sicherung")),
    *(("download", "Download"), ("payment", "Zahlung"), ("parcel", "Paket")),
)
QUESTIONS = {
    "en": "How do I change the {} of my order?",
    "de": "Wie ändere ich bei meiner Bestellung: {}?",
}
PASSAGES = {
    "en": "The {} can be changed in the settings of the customer portal.",
    "de": "{}: Die Änderung geht in den Einstellungen des Kundenportals.",
}
ANSWERS = {
    "en": "Open the customer portal, choose the {}, and save the change [1]. It takes {} minutes.",
    "de": "Öffnen Sie das Kundenportal, wählen Sie „{}“ und speichern Sie die Änderung [1]. Das "
    "dauert {} Minuten.",
}
OTHER_ANSWERS = {
    "en": "You can change the {} yourself: log in, go to the settings [1], and wait {} minutes.",
    "de": "Das können Sie selbst ändern: Melden Sie sich an, gehen Sie zu „{}“ in den "
    "Einstellungen [1], und warten Sie {} Minuten.",
}
ERROR = "Error: upstream request timed out (504)"
"""What stands in the place of an answer where a server failed."""


def good(language, number):
    """Write a sound answer."""
    return ANSWERS[language].format(TOPICS[number][language == "de"], number + 2)


def other(language, number):
    """Write a sound answer in other words."""
    return OTHER_ANSWERS[language].format(TOPICS[number][language == "de"], number + 2)


def broken(language, number):
    """Write what v5 did: 7 answers in English to German questions, 4 cut, 2 dead citations."""
    answer = other(language, number)
    if language == "de" and number < 7:
        return other("en", number)
    if language == "en" and number < 4:
        return answer[: answer.index("go to the settings") + 12]
    if language == "en" and number in (10, 11):
        return answer.replace("[1]", "[9]")
    return answer


def support_arena(versions, systems=None):
    """Return an arena of versions, by name, each a function of a language and a number."""
    questions = []
    rows = []
    for language in ("en", "de"):
        for number, names in enumerate(TOPICS):
            query_id = f"{language}-{number:02d}"
            topic = names[language == "de"]
            passages = [
                {"passage_id": str(place), "text": PASSAGES[language].format(topic)}
                for place in (1, 2, 3)
            ]
            question = {"query_id": query_id, "language": language, "passages": passages}
            questions.append({**question, "query": QUESTIONS[language].format(topic)})
            for system, write in versions.items():
                row = {"query_id": query_id, "language": language, "system": system}
                rows.append({**row, "answer": write(language, number)})
    info = {} if systems is None else {"systems": systems}
    return Arena.from_frames(pd.DataFrame(questions), pd.DataFrame(rows), name="support", **info)
