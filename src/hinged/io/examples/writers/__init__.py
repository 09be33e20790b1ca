"""Examples to files, a module for each kind of content."""
