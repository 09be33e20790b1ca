"""`python -m hinged`: the command line."""

from hinged.cli.main import main

if __name__ == "__main__":
    main()
