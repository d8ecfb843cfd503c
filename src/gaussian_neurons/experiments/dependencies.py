"""Which definitions of this package a function needs, read from the source without running it."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

PACKAGE = "gaussian_neurons"
COMPILED = "_core"  # has no Python source
# Learning calls these modules to show its progress. They return nothing that changes a number.
DISPLAY = (f"{PACKAGE}.views", f"{PACKAGE}.base.progress")
ALL = "*"


class Reference(NamedTuple):
    """A name at the top level of a module; "*" is the whole module."""

    module: str
    name: str


def package_sources() -> dict[str, str]:
    """The source of each module of this package, by the full name of the module."""
    folder, sources = Path(__file__).parents[1], {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join([PACKAGE, *(part for part in parts if part != "__init__")])
        sources[name] = path.read_text(encoding="utf-8")
    return sources


class Dependencies:
    """Finds what definitions need: all definitions that they name, what these name, and so on.

    Imports are followed everywhere: at the top, inside functions, and through the `__init__` of a
    package. Statements that run when a needed module is imported count as well. If code uses a module
    otherwise than as `module.name`, then all of that module counts. Docstrings, comments and the annotations
    of functions and variables do not count.

    Parameters
    ----------
    sources : the source of each module, by its full name

    Examples
    --------
    >>> sources = {"a": "import b\\ndef f(x): return b.g(x)", "b": "def g(x): return x\\ndef h(x): return -x"}
    >>> sorted(Dependencies(sources).of([Reference("a", "f")]))
    [Reference(module='a', name='f'), Reference(module='b', name='g')]
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._modules: dict[str, _Module] = {}

    def of(self, roots: Iterable[Reference]) -> dict[Reference, str]:
        """The normalized source of each definition that the roots need, including their own."""
        found: dict[Reference, str] = {}
        seen: set[Reference] = set()
        left = list(roots)
        while left:
            reference = left.pop()
            if reference in seen or not self._counts(reference.module):
                continue
            seen.add(reference)
            module, submodule = self._module(reference.module), f"{reference.module}.{reference.name}"
            if reference.name in module.definitions:
                found[reference], needed = module.definition(reference.name)
                left += needed
            elif submodule in self._sources:
                left.append(Reference(submodule, ALL))
            elif reference.name in module.imports:
                left.append(module.imports[reference.name])
            elif reference.name != COMPILED:  # the whole module, or a name that is made at run time
                left += [Reference(reference.module, name) for name in module.names]
        return found

    def _counts(self, module: str) -> bool:
        return module in self._sources and not f"{module}.".startswith(tuple(f"{name}." for name in DISPLAY))

    def _module(self, name: str) -> "_Module":
        if name not in self._modules:
            self._modules[name] = _Module(name, self._sources)
        return self._modules[name]


class _Module:
    """The statements at the top level of a module, by the names that they bind."""

    def __init__(self, name: str, sources: Mapping[str, str]) -> None:
        self._name, self._sources = name, sources
        self.imports: dict[str, Reference] = {}
        self.definitions: dict[str, list[ast.stmt]] = defaultdict(list)
        self._at_import: list[ast.stmt] = []  # statements that bind no name
        self._described: dict[str, tuple[str, list[Reference]]] = {}
        tree = ast.parse(sources[name])
        _Normalize().visit(tree)
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.definitions[statement.name].append(statement)
                continue
            imports, names = _imports(statement), _assigned_names(statement)
            self.imports |= imports
            for target in names:
                self.definitions[target].append(statement)
            if not imports and not names:
                self._at_import.append(statement)

    @property
    def names(self) -> set[str]:
        """All names at the top level."""
        return {*self.definitions, *self.imports}

    def definition(self, name: str) -> tuple[str, list[Reference]]:
        """The normalized source of a definition, and what it refers to."""
        if name not in self._described:
            statements = [*self.definitions[name], *self._at_import]
            needed = sorted({it for statement in statements for it in self._references(statement)})
            self._described[name] = "\n".join([*map(ast.unparse, statements), *map(str, needed)]), needed
        return self._described[name]

    def _references(self, statement: ast.stmt) -> Iterator[Reference]:
        imports = self.imports | _imports(statement)
        resolved = set()
        for node in ast.walk(statement):  # visits `module.name` before the `module` in it
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                module, name = imports.get(node.value.id, Reference("", ""))
                full = module if name == ALL else f"{module}.{name}"
                if full in self._sources:
                    resolved.add(node.value)
                    yield Reference(full, node.attr)
            elif isinstance(node, ast.Name) and node not in resolved:
                if node.id in imports:
                    yield imports[node.id]
                elif node.id in self.definitions:
                    yield Reference(self._name, node.id)


def _imports(statement: ast.stmt) -> dict[str, Reference]:
    """What the import statements in a statement bind."""
    found = {}
    for node in ast.walk(statement):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = Reference(alias.name, ALL)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = Reference(str(node.module), alias.name)
    return found


def _assigned_names(statement: ast.stmt) -> set[str]:
    """The names that an assignment, a condition or a loop at the top level binds."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
    return found


class _Normalize(ast.NodeTransformer):
    """Removes docstrings, and annotations other than the fields of a class, which dataclasses use."""

    def __init__(self) -> None:
        self._fields: set[ast.AST] = set()

    def visit(self, node: ast.AST) -> ast.AST | None:
        """Normalize a node and all below it."""
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = node.body[ast.get_docstring(node, clean=False) is not None :]
        if isinstance(node, ast.ClassDef):
            self._fields |= {part for part in node.body if isinstance(part, ast.AnnAssign)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign) and node not in self._fields:
            if node.value is None:
                return None
            node = ast.copy_location(ast.Assign([node.target], node.value), node)
        return self.generic_visit(node)
