import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU
from sentences import SENTENCES

from features import parse_features
from features.declare.sample import EMPTY_REFERENCE, NO_REFERENCE_ANSWER, NO_REFERENCE_SYSTEM
from features.text.tokens import words, words_and_marks

BLEU_FEATURE, ROUGE = parse_features("bleu,rouge_l")
OVERLAP = (BLEU_FEATURE, ROUGE)


class Words:
    def tokenize(self, text):
        return [word.casefold() for word in words(text)]


SOME_TEXT = st.text(alphabet="ab cé. 北京はकि१ 서", max_size=30)


@pytest.mark.parametrize("code", SENTENCES)
def test_features_agree_with_their_libraries_in_every_language(code, make_sample):
    reference = SENTENCES[code]
    answer = reference[5:] + " " + reference[:9]
    sample = make_sample(answer, code, reference=reference)
    rouge = RougeScorer(["rougeL"], tokenizer=Words()).score(reference, answer)["rougeL"].fmeasure
    tokens = [" ".join(words_and_marks(text)) for text in (answer, reference)]
    bleu = BLEU(tokenize="none", effective_order=True).sentence_score(tokens[0], tokens[1:])
    assert ROUGE.measure(sample) == pytest.approx(rouge, abs=1e-9)
    assert BLEU_FEATURE.measure(sample) == pytest.approx(bleu.score / 100, abs=1e-12)


def overlap(text, sample):
    [feature] = parse_features(text)
    feature.require()
    return feature.measure(sample)


@pytest.mark.parametrize("code", SENTENCES)
@pytest.mark.parametrize("tokenize", ["13a", "intl", "zh", "char"])
def test_tokenizers_of_sacrebleu_give_what_it_gives(code, tokenize, make_sample):
    reference = SENTENCES[code]
    answer = reference[5:] + " " + reference[:9] + "  "
    for text, kind in ((answer, "long"), (reference[:4], "short"), ("zq", "alien")):
        sample = make_sample(text, code, reference=reference)
        sentence = sacrebleu.sentence_bleu(text, [reference], tokenize=tokenize)
        corpus = sacrebleu.corpus_bleu([text], [[reference]], tokenize=tokenize)
        found = overlap(f"bleu(tokenize={tokenize})", sample)
        assert found == pytest.approx(sentence.score / 100, abs=1e-12), kind
        found = overlap(f"bleu(tokenize={tokenize},order=full)", sample)
        assert found == pytest.approx(corpus.score / 100, abs=1e-12), kind


@pytest.mark.parametrize("stem", ["no", "yes"])
@given(answer=SOME_TEXT, reference=SOME_TEXT.filter(lambda text: any(c in "ab" for c in text)))
def test_rouge_score_gives_what_it_gives(stem, answer, reference):
    from features.declare.sample import Question, Sample

    scorer = RougeScorer(["rougeL"], use_stemmer=stem == "yes")
    expected = scorer.score(reference, answer)["rougeL"].fmeasure
    question = Question("en", "q", "Where?", (), f"##Answer: {reference}")
    sample = Sample(question, f"##Answer: {answer}")
    found = overlap(f"rouge_l(stem={stem},tokens=rouge-score)", sample)
    assert found == pytest.approx(expected, abs=1e-9)


def test_english_is_stemmed_and_no_other_language(make_sample):
    pair = ("Cats were running quickly", "The cat runs quick")
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    english = make_sample(pair[0], "en", reference=pair[1])
    stemmed = scorer.score(*pair[::-1])["rougeL"].fmeasure
    assert overlap("rouge_l(stem=yes,tokens=rouge-score)", english) == pytest.approx(stemmed)
    assert overlap("rouge_l(stem=yes)", english) == pytest.approx(stemmed)
    spanish = make_sample(pair[0], "es", reference=pair[1])
    assert overlap("rouge_l(stem=yes)", spanish) == overlap("rouge_l", spanish) == 0.0


def test_a_reference_that_rouge_score_cannot_read_is_missing_not_0(make_sample):
    sample = make_sample("राजधानी", "hi", reference="राजधानी पेरिस है")
    assert overlap("rouge_l(tokens=rouge-score)", sample) == EMPTY_REFERENCE
    assert overlap("rouge_l", sample) == pytest.approx(0.5)


@pytest.mark.parametrize("reason", [NO_REFERENCE_SYSTEM, NO_REFERENCE_ANSWER])
def test_a_missing_reference_is_said(reason, make_sample):
    sample = make_sample("Paris", reference=reason)
    assert [feature.measure(sample) for feature in OVERLAP] == [reason] * 2


@pytest.mark.parametrize("reference", ["", "[1]", "##Reason: a ##Answer:", "\u200f"])
def test_an_empty_reference_is_said(reference, make_sample):
    sample = make_sample("Paris", reference=reference)
    assert BLEU_FEATURE.measure(sample) == ROUGE.measure(sample) == EMPTY_REFERENCE
