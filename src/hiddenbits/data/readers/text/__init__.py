"""Files of text: how they are written, and their cells."""
