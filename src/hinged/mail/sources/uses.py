"""What folders are for, guessed by name where nobody says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping

__all__ = ["guess_uses"]

#: Names in the languages that mail programs come in, in lower case.
NAMES: Mapping[str, tuple[str, ...]] = {
    "sent": (
        "sent", "sent items", "sent mail", "sent messages", "gesendet", "gesendete elemente", "gesendete objekte",
        "envoyés", "messages envoyés", "éléments envoyés", "enviados", "elementos enviados", "itens enviados",
        "inviata", "posta inviata", "verzonden", "verzonden items", "skickat", "sendt", "wysłane", "отправленные",
    ),
    "drafts": (
        "drafts", "draft", "entwürfe", "brouillons", "borradores", "rascunhos", "bozze", "concepten", "utkast",
        "kladder", "robocze", "kopie robocze", "черновики",
    ),
    "templates": (
        "templates", "vorlagen", "modèles", "plantillas", "modelos", "modelli", "sjablonen", "mallar", "skabeloner",
        "maler", "szablony", "шаблоны",
    ),
    "outbox": (
        "outbox", "unsent messages", "unsent", "postausgang", "nicht gesendete nachrichten", "boîte d'envoi",
        "messages non envoyés", "bandeja de salida", "caixa de saída", "posta in uscita", "postvak uit", "utkorgen",
        "udbakke", "utboks", "skrzynka nadawcza", "исходящие",
    ),
    "trash": (
        "trash", "deleted", "deleted items", "deleted messages", "bin", "papierkorb", "gelöscht", "gelöschte elemente",
        "corbeille", "éléments supprimés", "papelera", "elementos eliminados", "lixeira", "cestino", "prullenbak",
        "verwijderde items", "papperskorgen", "papirkurv", "kosz", "корзина",
    ),
    "junk": (
        "junk", "junk e-mail", "junk email", "junk mail", "spam", "bulk mail", "junk-e-mail", "unerwünscht",
        "courrier indésirable", "indésirables", "pourriel", "correo no deseado", "lixo eletrônico",
        "posta indesiderata", "ongewenste e-mail", "skräppost", "søppelpost", "спам",
    ),
}  # fmt: skip
USE = {name: use for use, names in NAMES.items() for name in names}
ABOVE = ("INBOX", "[Gmail]", "[Google Mail]")


def guess_uses(uses: MutableMapping[str, str], accounts: Collection[str] = ()) -> None:
    """Fill in uses that no folder has yet, from the names of top folders and of those right below the inbox.

    Parameters
    ----------
    uses : mapping of name to use
        "" for folders whose use nobody told; changed in place. Only uses are guessed whose folders must not be
        learnt: a folder that somebody calls Archive may well be one of their own.
    accounts : names of folders that hold accounts
        Folders right below these are guessed as well.

    Examples
    --------
    >>> uses = {"INBOX": "inbox", "Gesendet": "", "Papierkorb": "", "Bin": "trash", "Work": "", "Work/Sent": ""}
    >>> guess_uses(uses)
    >>> uses
    {'INBOX': 'inbox', 'Gesendet': 'sent', 'Papierkorb': '', 'Bin': 'trash', 'Work': '', 'Work/Sent': ''}
    """
    told = set(uses.values())
    for name, use in uses.items():
        above, _, last = name.rpartition("/")
        guess = USE.get(last.casefold(), "")
        if not use and guess and guess not in told and above in ("", *ABOVE, *accounts):
            uses[name] = guess
