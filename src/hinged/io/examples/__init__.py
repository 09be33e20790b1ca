"""Examples from files and to files: chunks of rows, whatever the format."""

from hinged.io.examples.chunk import BadLine, Chunk, Named, Strings
from hinged.io.examples.conll import Sentence, read_sentences
from hinged.io.examples.formats import FORMATS, detect
from hinged.io.examples.reader import Reader, read
from hinged.io.examples.write import write

__all__ = [
    "FORMATS",
    "BadLine",
    "Chunk",
    "Named",
    "Reader",
    "Sentence",
    "Strings",
    "detect",
    "read",
    "read_sentences",
    "write",
]
