"""What `hinged predict` and `hinged evaluate` do with sentences: a tag for each token, and how many are right."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hinged.cli.tables import emit

if TYPE_CHECKING:
    from hinged.cli.inputs import Inputs
    from hinged.evaluate.tagging import Judged

__all__ = ["judges_tags", "print_judged", "print_reasons", "print_tags"]

SHOWN = 20  # tags in the table


def print_tags(learner: Any, inputs: Inputs, top: int | None, confidence: bool, as_json: bool) -> None:
    """Print each token with its tags; as JSON, an object a sentence."""
    from hinged.evaluate.tagging import words_of
    from hinged.text import window

    if confidence:
        raise typer.BadParameter("--confidence is for single labels; a tagger has none")
    rest = inputs.sentences(tagged=False)
    piped = "-" in inputs.files  # whoever types waits for an answer to each
    while some := list(islice(rest, 1 if piped else 64)):
        words = [words_of(learner, sentence, inputs.name) for sentence in some]
        ranked = learner.rank([window(tokens) for tokens in words], top or 1)
        for sentence, tokens, best in zip(some, words, ranked, strict=True):
            if as_json:
                ranking = [{"tags": tags, "score": round(score, 6)} for tags, score in best]
                about = {"line": sentence.line, "words": [token[0] for token in tokens], "tags": best[0][0]}
                emit(json.dumps(about | ({"ranking": ranking} if top else {}), ensure_ascii=False))
            else:
                columns = zip(tokens, *(tags for tags, _ in best), strict=True)
                emit("\n".join(" ".join([*token, *map(str, tags)]) for token, *tags in columns) + "\n")
    inputs.report_skipped()
    inputs.check_any()


def print_reasons(learner: Any, text: str, label: str | None, top: int, as_json: bool) -> None:
    """Print what speaks for the tag of each word: words with spaces between, further columns after a slash."""
    from hinged.cli.tables import bold, dim, say
    from hinged.evaluate.tagging import words_of
    from hinged.io.examples.conll import Sentence
    from hinged.text import window

    if label is not None:
        raise typer.BadParameter("--label is for single labels; a tagger explains the tags it gives")
    tokens = [tuple(word.split("/")) for word in text.split()]
    if not tokens:
        raise ValueError("there is nothing to explain: the text is empty.")
    words = words_of(learner, Sentence(tokens, [], 1), "the text")
    sentence = window(words)
    tags = learner.predict([sentence])[0]
    reasons = [learner.explain(sentence, i, top=top) for i in range(len(words))]
    if as_json:
        about = [
            {"word": word[0], "tag": tag, "features": [{"feature": name, "share": share} for name, share in reason]}
            for word, tag, reason in zip(words, tags, reasons, strict=True)
        ]
        emit(json.dumps(about, indent=2, ensure_ascii=False))
        return
    widest = max(len(word[0]) for word in words)
    for word, tag, reason in zip(words, tags, reasons, strict=True):
        named = (" → ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name, _ in reason[:4])
        shares = (f"{share:+.2f}".replace("-", "−") for _, share in reason)
        spoken = ", ".join(f"{name} {share}" for name, share in zip(named, shares, strict=False))
        say(f"{word[0]:>{widest}}  {bold(str(tag))}  {dim(spoken)}")


def judges_tags(task: str | None, model: Path | None) -> bool:
    """Whether sentences are to be judged: the task says so, or the model tags."""
    if model is None:
        return task == "sequence"
    from hinged.evaluate.examples import load_learner
    from hinged.evaluate.tagging import is_tagger

    return is_tagger(load_learner(model, sentences=True))


def print_judged(
    inputs: Inputs,
    model: Path | None,
    settings: dict[str, Any],
    holdout: float | None,
    passes: int,
    report: Path | None,
    as_json: bool,
) -> None:
    """Judge a tagger, or one while it learns, and print how many tokens, sentences and spans were right."""
    if report is not None:
        raise typer.BadParameter("--report draws pages for single labels; leave it out for sequences")
    result, how = _judged(inputs, model, settings, holdout, passes)
    inputs.report_skipped()
    inputs.check_any()
    if as_json:
        labels = [dict(zip(("label", "precision", "recall", "support"), row, strict=True)) for row in result.by_tag()]
        about = {"how": how, "sentences": result.sentences, "sentences_right": result.whole, "tokens": result.tokens}
        about |= {"accuracy": result.accuracy, "span_f1": result.span_f1, "seconds": result.seconds, "labels": labels}
        emit(json.dumps(about, indent=2, ensure_ascii=False))
        return
    _print(result, how)


def _judged(
    inputs: Inputs, model: Path | None, settings: dict[str, Any], holdout: float | None, passes: int
) -> tuple[Judged, str]:
    from hinged.evaluate.examples import check_agrees, load_learner
    from hinged.evaluate.tagging import judge, judge_progressively, learn_sentences, spread_sentences, tagger_for

    if model is not None:
        learner = load_learner(model, sentences=True)
        check_agrees(learner, None, settings, str(model))
        return judge(learner, inputs.sentences(), inputs.name), "judged by a model that learnt nothing from them"
    if holdout is None:
        learner, sentences = tagger_for(inputs.sentences(), settings)
        return judge_progressively(learner, sentences, inputs.name), "each judged, then learnt"
    learner = None
    for _ in range(passes):
        inputs.begin_again()
        kept = spread_sentences(inputs.sentences(), holdout, kept=False)
        if learner is None:
            learner, kept = tagger_for(kept, settings)
        for _ in learn_sentences(learner, kept, source=inputs.name):
            pass
    inputs.begin_again()
    held_out = spread_sentences(inputs.sentences(), holdout, kept=True)
    return judge(learner, held_out, inputs.name), "kept from learning, then judged"


def _print(result: Judged, how: str) -> None:
    from hinged.cli.tables import bold, count, dim, percent, rows_of, say, shorten

    say(f"{bold(count(result.sentences, 'sentence'))}, {how} {dim(f'({result.seconds:.1f} s)')}")
    say(f"{bold(f'{percent(result.accuracy)} of {result.tokens:,} tokens right')}")
    say(f"{percent(result.whole / max(1, result.sentences))} of the sentences right throughout")
    if result.span_f1 is not None:
        say(f"F1 of spans {percent(result.span_f1)}")
    rows = result.by_tag()
    table = [(shorten(tag, 40), f"{p:.3f}", f"{r:.3f}", f"{n:,}") for tag, p, r, n in rows[:SHOWN]]
    lines = rows_of([("tag", "precision", "recall", "support"), *table])
    say("\n" + dim(lines[0]))
    for line in lines[1:]:
        say(line)
    if len(rows) > SHOWN:
        say(dim(f"… {len(rows) - SHOWN:,} more tags; --json has all"))
