"""How the site is built: ``sphinx-build -W --keep-going -n -b html docs OUT``.

Pages are plain Markdown, most of them read well on their own. Nothing on the built site comes from the network:
equations are MathML (`_ext/offline_maths.py`), and source pages are made here (`_ext/equations.py`).
"""

import os
import re
import sys
import warnings
from pathlib import Path

import hiddenbits

here = Path(__file__).parent
sys.path.insert(0, str(here / "_ext"))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the examples are small

project = "hiddenbits"
author = "The hiddenbits developers"
copyright = author  # noqa: A001
release = version = hiddenbits.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "offline_maths",
    "equations",
    "docstrings",
    "optional_pages",
]
exclude_patterns = ["_build", "_ext", "_templates", "design"]  # notes for developers
templates_path = ["_templates"]
default_role = "code"  # single backticks in docstrings are names
suppress_warnings = ["config.cache"]  # functions in the gallery's settings

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections say it in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_validation_checks: set[str] = set()

html_theme = "pydata_sphinx_theme"
html_title = "hiddenbits"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "which_model": [], "start": []}
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}


before_example: list = []  # filters of warnings, to be put back


def one_look(_conf: dict, _file: str, when: str) -> None:
    """Give every example the same sizes, and let no warning pass that it does not handle itself."""
    import matplotlib

    if when == "after":
        warnings.filters[:] = before_example
        return
    before_example[:] = warnings.filters
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"figure.dpi": 100, "savefig.dpi": 110})
    warnings.simplefilter("error")  # as in the tests: an example that warns is a bad example


class AsListed:
    """Order examples as the opening of the gallery lists them; an example that it does not list is an error."""

    def __init__(self, _folder: str) -> None:
        header = here.with_name("examples").joinpath("GALLERY_HEADER.rst").read_text(encoding="utf-8")
        self.listed = re.findall(r"<(plot_\w+)>", header)

    def __call__(self, name: str) -> int:
        """Return the place of an example."""
        return self.listed.index(name.removesuffix(".py"))


sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("hiddenbits",),
    "reset_modules": ("matplotlib", one_look),
    "reset_modules_order": "both",
    "within_subsection_order": AsListed,
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "plot_gallery": "True",
}
