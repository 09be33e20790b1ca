"""Suggestions for a message: folders, best first, with confidence and reasons; or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

from hinged.estimators.learner import Learner
from hinged.estimators.scored import Scored
from hinged.mail.features import LOUD, in_words
from hinged.mail.message import Message

__all__ = ["Candidate", "Suggestion", "Thresholds", "ranked", "reasons", "within"]

Shares: TypeAlias = list[tuple[Hashable, float]]  # of features in a score
MOST_REASONS = 3
#: Words that say nothing about a message's subject, in the languages that most mail is written in.
WORDS = """
a about after all also am an and any are as at be because been before being but by can could did do does for from get
had has have he her here him his how i if in into is it its just let like may me more most my no not now of on one only
or other our out over please she should so some such than that the their them then there these they this those to too up
us very was we were what when where which who will with would you your
dear hello hi hey good morning afternoon evening day thanks thank regards best kind sincerely cheers patience re fwd fw
der die das den dem des ein eine einen einem einer und oder aber ist sind war ich du er sie es wir ihr mein dein sein
nicht auch auf aus bei bis durch für im mit nach von vor zu zum zur über wenn wie bitte danke hallo guten liebe lieber
le la les un une des du de et ou mais est sont je tu il elle nous vous ils mon ma mes ne pas que qui dans sur pour par
avec bonjour merci el los las y o pero es son yo nosotros su sus mi no en por para con sin hola gracias lo che di del
della il gli ed ma sono io noi non nel per ciao grazie o os e mas eu nao não em com sem ola olá obrigado obrigada het
een en van voor met zijn niet ook aan op te bij
"""
STOP_WORDS = frozenset(WORDS.split())


@dataclass(frozen=True)
class Thresholds:
    """When to suggest nothing.

    Attributes
    ----------
    score : minimum score of the best folder
    gap : minimum lead over the second
    confidence : minimum probability, in [0, 1], that the best folder is right
    messages : number of messages that must have been learnt before
    """

    score: float = 0.0
    gap: float = 0.0
    confidence: float = 0.0
    messages: int = 20

    def allow(self, score: float, lead: float, confidence: float) -> bool:
        """Return True if the best folder is good enough to be suggested."""
        return score > self.score and lead >= self.gap and confidence >= self.confidence


@dataclass(frozen=True)
class Candidate:
    """A folder, its score, and the reasons for it."""

    folder: str
    score: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suggestion:
    """Folders for one message.

    Attributes
    ----------
    candidates : best first; empty if nothing is suggested
    confidence : probability that the first is right; None if nothing is suggested
    silent : why nothing is suggested, else ""
    pinned : True if a pin decided, not what was learnt
    further : True if the message lies in other folders already; how often further ones are right is not known
    """

    candidates: tuple[Candidate, ...] = field(default=())
    confidence: float | None = None
    silent: str = ""
    pinned: bool = False
    further: bool = False

    @property
    def best(self) -> str | None:
        """The first folder, None if there is none."""
        return self.candidates[0].folder if self.candidates else None


def ranked(
    model: Learner,
    x: object,
    usable: Callable[[str], bool],
    limits: Thresholds,
    top: int = 3,
    has: Collection[str] = (),
) -> Suggestion:
    """Return the best folders among those that may be suggested, unless a limit is not met.

    `has` are folders that the message lies in already. Others are suggested then if the best scores as the folders of a
    message do (the threshold of `hinged.Ranker`).
    """
    if getattr(model, "n_rounds_", 0) < limits.messages or not hasattr(model, "model_"):
        return Suggestion(silent=f"too little is learnt yet: {limits.messages} messages are needed")
    said: Scored = model.scored([x])
    kept = [i for i, folder in enumerate(said.labels) if usable(str(folder)) and folder not in has]
    if len(kept) < 2:
        return Suggestion(silent="fewer than two folders are known that may be suggested")
    said = said.among(kept)
    sure = float(said.confidence[0])
    best = tuple(Candidate(str(said.labels[i]), float(said.scores[0, i])) for i in said.order(0, top))
    if has and best[0].score <= said.threshold:
        return Suggestion(silent=f"it is in {', '.join(sorted(has))} already")
    if limits.allow(best[0].score, best[0].score - best[1].score, sure):
        return Suggestion(best, sure)
    return Suggestion(silent="no folder is ahead far enough")


def reasons(
    model: Learner,
    x: object,
    message: Message,
    folder: str,
    name_of: Callable[[int], str],
    most: int | None = MOST_REASONS,
    telling: bool = True,
) -> list[tuple[str, float]]:
    """Return the reasons for a folder, in words, with their shares of the score; the strongest first.

    With `telling`, stop words are left out, unless they are the only reasons for the folder, or against it. With
    `most`, only the features with the largest shares are put in words.
    """
    found: Shares = model.explain(x, folder, top=None)
    if telling:
        found = [one for sign in (1.0, -1.0) for one in _telling([item for item in found if item[1] * sign > 0.0])]
    if most is not None:
        found = sorted(found, key=lambda item: -item[1])[: 4 * LOUD * most]
    shares: dict[str, float] = {}
    for feature, share in found:
        words = in_words(str(feature), message, name_of)
        shares[words] = shares.get(words, 0.0) + share
    return sorted(shares.items(), key=lambda item: -item[1])[:most]


def _telling(found: Shares) -> Shares:
    return [item for item in found if not is_stop_word(str(item[0]))] or found


def within(folder: str, folders: Collection[str]) -> bool:
    """Return True if a folder is one of these or below one.

    Examples
    --------
    >>> within("Work/Tax", {"Work"}), within("Workshop", {"Work"})
    (True, False)
    """
    parts = folder.split("/")
    return any("/".join(parts[:n]) in folders for n in range(1, len(parts) + 1))


def is_stop_word(feature: str) -> bool:
    """Return True if a feature is a word of the subject or the text that says nothing: a common one, or one letter.

    Examples
    --------
    >>> is_stop_word("body:the"), is_stop_word("subject:thank_you"), is_stop_word("body:invoice"), is_stop_word("to:me")
    (True, True, False, False)
    """
    field, _, words = feature.partition(":")
    return field in ("subject", "body") and all(
        word in STOP_WORDS or (len(word) < 2 and word.isascii()) for word in words.lower().replace("_", " ").split()
    )
