"""The coverage-guided fuzzer: `NUMBA_DISABLE_JIT=1 python -m tests.fuzz.guided [libFuzzer options] [corpus]`."""

import sys


def main():
    """Fuzz until told to stop. Importing is part of it: the fuzzer watches what is imported before its eyes."""
    import atheris

    with atheris.instrument_imports(include=["hinged.io.examples"]):
        import hinged.io.examples.csv
        import hinged.io.examples.jsonl
        import hinged.io.examples.lines
        import hinged.io.examples.svmlight
        import hinged.io.examples.vw  # noqa: F401

    from tests.fuzz.target import run

    atheris.Setup(sys.argv, run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
