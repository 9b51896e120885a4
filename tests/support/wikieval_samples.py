"""A small WikiEval made up for tests: three questions."""

QUESTIONS = {
    "Where is Oslo, and how many people live there?": {
        "context": "Oslo is the capital of Norway. About 720,000 people live in the city.",
        "answer": "Oslo is in Norway, and about 720,000 people live there.",
        "ungrounded": "Oslo is a village in Sweden with 12 inhabitants and a famous <b>tower</b>.",
        "poor": "Oslo is nice. Many people travel.",
        "added": " Bergen is rainy. Its fish market opened in 1276 & sells cod.",
    },
    "When was the [[A]] tower built?": {
        "context": "The tower was finished in 1889. It was built for a world fair.",
        "answer": "The tower was built for a world fair and finished in 1889.",
        "ungrounded": "Nobody knows when, though some say that it was in the year 1750.",
        "poor": "I do not have the date. {{ towers }} are tall.",
        "added": "\nTowers are tall. The tallest one stands in Dubai.",
    },
    'Who wrote "Solaris"?': {
        "context": "Solaris is a novel of 1961 by Stanisław Lem. It was filmed twice.",
        "answer": "Solaris was written by Stanisław Lem.",
        "ungrounded": "The book comes from the pen of Isaac Asimov, who was a chemist.",
        "poor": "A writer did.",
        "added": " Films are shown in cinemas. Popcorn is sold there.",
    },
}


def published_rows():
    """Return the questions as the published data set has them: contexts are lists of texts."""
    return [
        {
            "question": question,
            "answer": texts["answer"],
            "ungrounded_answer": texts["ungrounded"],
            "poor_answer": texts["poor"],
            "context_v1": [texts["context"]],
            "context_v2": [texts["context"] + texts["added"]],
            "source": "https://en.wikipedia.org/wiki/Oslo",
        }
        for question, texts in QUESTIONS.items()
    ]
