"""A page as a browser's parser sees it: elements with attributes, and the text inside."""

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "input", "hr", "base", "embed", "source"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self._open = [], {}, []
        self.feed(text)
        self.close()
        assert not self._open, f"elements left open: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append((tag, len(self.elements) - 1))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1][0] == tag, f"</{tag}> closes <{self._open[-1][0]}>"
        self._open.pop()
        self.handle_data(" ")  # words of two cells or items are apart

    def handle_data(self, data):
        for _, number in self._open:
            self.texts[number] = self.texts.get(number, "") + data

    def all(self, tag, **wanted):
        """Return (attributes, text) of the elements with these attributes."""
        return [
            (attributes, self.texts.get(number, ""))
            for number, (found, attributes) in enumerate(self.elements)
            if found == tag and all(attributes.get(key.rstrip("_")) == value for key, value in wanted.items())
        ]

    def section(self, key):
        """Return the text of a section."""
        return " ".join(self.all("details", id=key)[0][1].split())


def differences(text):
    """Return the differences of shares in a text, in percentage points."""
    return [float(number) for number in re.findall(r"([+-]?\d[\d,.]*)(?= points\b)", text)]
