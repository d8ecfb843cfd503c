"""How Sphinx builds the site from the pages in this folder: make docs."""

import importlib
import inspect
import re
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path

from sphinx.util import logging

WITH_TORCH = find_spec("torch") is not None

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
if not WITH_TORCH:
    nb_execution_excludepatterns = ["notebooks/torch_layers.nb.py"]

# ---- API --------------------------------------------------------------------------------------------------

toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what arguments are
autodoc_mock_imports = [] if WITH_TORCH else ["torch"]
napoleon_google_docstring = False
napoleon_use_ivar = False
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
html_domain_indices = False
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}  # light or dark as the reader's system
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
    """Take docstrings as the plain text that they are: x_, |x| and * have no meaning outside of `code`.

    A field such as "x : (n,), a sentence" is a name and a sentence; only one with a default has a type.
    """
    found, example, fields = [], False, ""
    for index, line in enumerate(lines):
        below = lines[index + 1].strip() if index + 1 < len(lines) else ""
        if below and not below.strip("-"):
            fields = line.strip() if line.strip() in ("Parameters", "Attributes") else ""
        example = line.lstrip().startswith((">>>", "...")) or (example and bool(line.strip()))
        if example:
            found.append(line)
            continue
        head, text = FIELD.fullmatch(line).groups()
        parts = CODE.split(text)
        parts[::2] = [re.sub(r"([|*])|(?<=\w)_\b", lambda it: "\\" + it[0], part) for part in parts[::2]]
        text = re.sub(r"\bdocs/([\w-]+)\.md", r":doc:`/\1`", "".join(parts))
        if head and fields and "default=" not in text:
            indent = " " * (len(head) - len(head.lstrip()))
            names = head.strip().removesuffix(" :")
            for variable in names.split(", ") if fields == "Attributes" else [names]:
                found += [indent + variable, f"{indent}    {text}"]
        else:
            found.append((head or "") + text)
    if what in ("property", "attribute") and found:
        found[0] = found[0].replace(": ", " – ")  # what is before a colon would be a type
    lines[:] = found


def without_requests(app, what, name, obj, skip, options):
    """Leave out the methods that scikit-learn adds to each estimator (metadata routing)."""
    return True if re.fullmatch("set_.*_request", name) else None


def public():
    """What public modules define or list in `__all__`: the names under which the reference may have it."""
    package = importlib.import_module("gaussian_neurons")
    folders = ["sampling", "datasets", "datasets.synthetic", "learning.reference"]
    files = sorted(it.stem for it in Path(package.__file__).parent.glob("[a-z]*.py"))
    for name in ["gaussian_neurons", *(f"gaussian_neurons.{it}" for it in [*files, *folders])]:
        if name == "gaussian_neurons.torch" and not WITH_TORCH:
            continue
        module = importlib.import_module(name)
        own = [it for it, value in vars(module).items() if getattr(value, "__module__", None) == name]
        for it in getattr(module, "__all__", [it for it in own if not it.startswith("_")]):
            if callable(value := getattr(module, it)):
                yield {f"{name}.{it}", f"{value.__module__}.{it}", f"gaussian_neurons.{it}"}


def require_every_public_name(app, env):
    """Warn of public names that the reference does not have."""
    known = set(env.get_domain("py").objects)
    for names in public():
        if not names & known:
            logging.getLogger(__name__).warning("%s is not in the API reference", max(names, key=len))


def own_signature(app, what, name, obj, options, signature, returns):
    """Show what a class of PyTorch layers takes also where PyTorch is not installed."""
    if what == "class" and signature == "(*args, **kwargs)":
        _, *others = inspect.signature(obj.__init__).parameters.values()
        bare = [it.replace(annotation=it.empty) for it in others]
        return str(inspect.Signature(bare)), returns
    return None


def setup(app):
    """Register what is defined above."""
    app.connect("env-check-consistency", require_every_public_name)
    app.connect("autodoc-skip-member", without_requests)
    app.connect("autodoc-process-signature", own_signature)
    app.connect("autodoc-process-docstring", plain, priority=400)  # before the sections are parsed
