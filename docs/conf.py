"""How Sphinx builds the site from the pages in this folder: make docs."""

import re
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path

from jupyter_client.connect import ConnectionFileMixin

DOCS = Path(__file__).parent
# Named in tables and toctrees, and shown if they exist.
LATER = (
    "pytorch",
    "beyond",
    "compatibility",
    "api/torch",
)

project = "Gaussian Neurons"
release = version = version_of("gaussian-neurons")
copyright = "the authors of Gaussian Neurons, BSD-3-Clause"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery", "generated/**/*.ipynb", "performance"]
default_role = "py:obj"  # `name` in a docstring is a link if the name is documented, and code if it is not

# ---- pages ------------------------------------------------------------------------------------------------

myst_heading_anchors = 4  # anchors as on GitHub: page.md#some-heading
nb_custom_formats = {".nb.py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
myst_enable_extensions = ["html_image"]
ConnectionFileMixin.transport.default_value = "ipc"  # over TCP, kernels warn of eavesdroppers
if find_spec("torch") is None:
    nb_execution_excludepatterns = ["notebooks/pytorch.nb.py"]

# ---- API --------------------------------------------------------------------------------------------------

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what arguments are
autodoc_mock_imports = ["torch"] if find_spec("torch") is None else []
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

# ---- gallery ----------------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "backreferences_dir": None,
    "doc_module": ("gaussian_neurons",),
    "reference_url": {"gaussian_neurons": None},
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 10**6,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
}

# ---- appearance -------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = "Gaussian Neurons"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "Gaussian Neurons"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_persistent": [],
    "navbar_end": ["search-button", "theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


CODE = re.compile(r"(`+[^`]*`+)")
FIELD = re.compile(r"( *[\w*]+(?:, [\w*]+)* : )?(.*)", re.DOTALL)


def plain(app, what, name, obj, options, lines):
    """Take docstrings as the plain text that they are: x_, |x| and * have no meaning outside of `code`."""
    example = False
    for index, line in enumerate(lines):
        example = line.lstrip().startswith((">>>", "...")) or (example and bool(line.strip()))
        if example:
            continue
        field, text = FIELD.fullmatch(line).groups()
        parts = CODE.split(text)
        parts[::2] = [re.sub(r"([|*])|(?<=\w)_\b", lambda it: "\\" + it[0], part) for part in parts[::2]]
        lines[index] = (field or "") + re.sub(r"\bdocs/([\w-]+)\.md", r":doc:`/\1`", "".join(parts))


def without_later_pages(app, docname, content):
    """Leave out lines that name pages which this version does not have."""
    missing = [page for page in LATER if not (DOCS / f"{page}.md").exists()]
    lines = content[0].splitlines(keepends=True)
    content[0] = "".join(
        line for line in lines if not any(line.strip() == page or f"({page}.md" in line for page in missing)
    )


def without_requests(app, what, name, obj, skip, options):
    """Leave out the methods that scikit-learn adds to each estimator (metadata routing)."""
    return True if re.fullmatch("set_.*_request", name) else None


def setup(app):
    """Register what is defined above."""
    app.connect("source-read", without_later_pages)
    app.connect("autodoc-skip-member", without_requests)
    app.connect("autodoc-process-docstring", plain, priority=400)  # before the sections are parsed
