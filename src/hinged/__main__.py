"""`python -m hinged`: the command line."""

from hinged.cli.start import main

if __name__ == "__main__":
    main()
