"""The pages of the documentation site, in groups, in the order in which its sidebar lists them.

A page is the path of its source from the root of the repository. A pair gives it a shorter title in the sidebar.
"""

from __future__ import annotations

__all__ = ["COMMANDS", "FRONT", "HTTP", "MADE", "NAVIGATION", "TUTORIAL", "entries", "page_name"]

FRONT = "README.md"
TUTORIAL = "tutorial.md"  # the tour of README.md, on a page of its own
PYTHON, COMMANDS, HTTP = "reference/python.rst", "reference/commands.md", "reference/http.md"  # from the code
MADE = {TUTORIAL, PYTHON, COMMANDS, HTTP}  # pages that are not in the repository

NAVIGATION: dict[str, tuple[str | tuple[str, str], ...]] = {
    "Start": (
        TUTORIAL,
        "docs/which_rule.md",
        "docs/comparison.md",
    ),
    "Examples": (
        "docs/gallery.md",
        "docs/notebooks/watching_a_stream.ipynb",
        "docs/notebooks/reading_reasons.ipynb",
        "docs/notebooks/following_drift.ipynb",
    ),
    "How-to guides": (
        "docs/howto/support_tickets.md",
        ("docs/howto/passive_aggressive_in_production.md", "Passive-aggressive in production"),
        "docs/migrating_from_scikit_learn.md",
        "docs/howto/river_pipeline.md",
        "docs/howto/vowpal_wabbit.md",
        "docs/howto/ranking_documents.md",
        "docs/howto/growing_labels.md",
        "docs/howto/delayed_feedback.md",
        "docs/howto/drift.md",
        "docs/howto/costs.md",
        "docs/howto/ordinal_grades.md",
        "docs/howto/tagging.md",
        ("docs/howto/kernels.md", "Learn non-linear boundaries"),
        "docs/howto/serving.md",
        ("docs/mail.md", "File your mail"),
        ("docs/mail_imap.md", "File mail on a server"),
        ("docs/mail_oauth.md", "Sign in by OAuth2"),
        "docs/page.md",
        ("docs/mail_run.md", "Mail as one process"),
        ("docs/mail_filters.md", "Mail filters on the server"),
        ("docs/howto/container.md", "Mail in a container"),
        ("docs/scale.md", "Spark: beyond one machine"),
    ),
    "Explanations": (
        "docs/rules_compared.md",
        ("docs/tasks.md", "Other tasks: two labels, numbers, ranks, …"),
        "docs/text.md",
        "docs/sequences.md",
        "docs/kernels.md",
        "docs/multilabel.md",
        "docs/confidence.md",
        "docs/bounds.md",
        "docs/maths.md",
        "docs/journal.md",
        "docs/concurrency.md",
        "docs/speed.md",
        "docs/history.md",
        ("docs/results.md", "The papers' experiments"),
    ),
    "Reference": (
        ("docs/api.md", "Python, by topic"),
        PYTHON,
        ("docs/cli.md", "The command line, with output"),
        COMMANDS,
        "docs/service.md",
        HTTP,
        "docs/formats.md",
        "docs/model_file.md",
    ),
    "Project": (
        ("CHANGELOG.md", "Changes"),
        "docs/stability.md",
        ("docs/security.md", "Security, part by part"),
        ("SECURITY.md", "Reporting a vulnerability"),
        ("CONTRIBUTING.md", "Contributing"),
        "CODE_OF_CONDUCT.md",
        "docs/architecture.md",
        "docs/adding_a_rule.md",
        "docs/adding_a_sharing_scheme.md",
        "docs/adding_a_task.md",
        "docs/adding_a_geometry.md",
        "docs/adding_a_reader.md",
        "docs/adding_a_mail_source.md",
        "docs/adding_a_command.md",
        "docs/measuring.md",
        "docs/native.md",
        "docs/dependencies.md",
        "docs/releasing.md",
    ),
}


def entries() -> list[tuple[str, str]]:
    """Return (source, title in the sidebar or "") of every page but the front page."""
    listed = [entry for group in NAVIGATION.values() for entry in group]
    return [(entry, "") if isinstance(entry, str) else entry for entry in listed]


def page_name(source: str) -> str:
    """Return the path of a page in the site's source, from that in the repository.

    >>> page_name("docs/howto/drift.md"), page_name("CHANGELOG.md"), page_name("README.md")
    ('howto/drift.md', 'project/changelog.md', 'index.md')
    """
    if source in {FRONT, *MADE}:
        return "index.md" if source == FRONT else source
    name = source.removeprefix("docs/").replace(".ipynb", ".md")
    return name if "/" in source else f"project/{name.lower()}"
