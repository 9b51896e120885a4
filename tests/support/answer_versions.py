"""Versions of one system: good answers, the same in other words, and broken ones."""

import pandas as pd

from arena import Arena

TOPICS = (
    *("volcano", "glacier", "harbour", "orchard", "library", "satellite", "bakery", "cathedral"),
    *("railway", "lighthouse", "vineyard", "observatory", "aquarium", "quarry", "windmill"),
    *("monastery", "stadium", "theatre", "reservoir", "greenhouse"),
)
ANSWER = (
    "The {0} was built in 19{1:02d} by people of the town. Every visitor of the {0} pays {1} "
    "coins, and the money goes to its repair [1]."
)
OTHER = (
    "People of the town made the {0} in the year 19{1:02d}. Those who come to see the {0} spend "
    "{1} coins on it, which pay for repairs [1]."
)


def arena_of(versions, language="en", passages=True, topics=TOPICS):
    """Return an arena of versions, by name, each a function of a topic and its number."""
    questions = pd.DataFrame(
        {
            "query_id": [f"q{number}" for number in range(len(topics))],
            "query": [f"Who built the {topic}, and what does a visit cost?" for topic in topics],
            "language": language,
        }
    )
    if passages:
        texts = [f"The {topic} of the town was built long ago." for topic in topics]
        questions["passages"] = [[{"passage_id": "1", "text": text}] for text in texts]
    rows = []
    for system, write in versions.items():
        for number, topic in enumerate(topics):
            answer = write(topic, number)
            if answer is not None:
                row = {"query_id": f"q{number}", "system": system, "answer": answer}
                rows.append({**row, "language": language})
    return Arena.from_frames(questions, pd.DataFrame(rows), name="versions")


def good(topic, number):
    return ANSWER.format(topic, number)


def other(topic, number):
    return OTHER.format(topic, number)


BROKEN = {
    "cut": lambda topic, number: good(topic, number)[:60],
    "empty": lambda topic, number: "",
    "other language": lambda topic, number: (
        f"Das Bauwerk {topic} wurde 19{number:02d} von den Bürgern der Stadt errichtet, und wer es "
        "besucht, zahlt dafür einige Münzen [1]."
    ),
    "dead citation": lambda topic, number: f"{good(topic, number)} It is well kept [9].",
    "repetition": lambda topic, number: f"{good(topic, number)}\n\n{good(topic, number)}",
    "refusal": lambda topic, number: f"I'm sorry, I cannot say who built the {topic}.",
    "stock": lambda topic, number: "An error came up while the service was asked for this.",
    "misplaced": lambda topic, number: good(TOPICS[number - 1], number),
}
