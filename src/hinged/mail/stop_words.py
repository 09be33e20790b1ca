"""Words that say nothing about a message's subject, in the languages that most mail is written in."""

from __future__ import annotations

__all__ = ["is_stop_word"]

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
