"""The sixty tables."""

from tests.data.sixty import answers, formats, kinds, layouts

TABLES = (*answers.CASES, *layouts.CASES, *kinds.CASES, *formats.CASES)
