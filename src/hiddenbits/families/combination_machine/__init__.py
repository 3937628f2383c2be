"""The influence combination machine (Freund & Haussler 1994)."""
