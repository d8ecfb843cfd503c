"""The measurements on a terminal."""

from statistics import median

from benchmarks.peers.claims import claims, ratio
from benchmarks.peers.growth import slopes
from benchmarks.peers.results import Results, Spread
from benchmarks.quality.table import text

HEAD = ("", "samples/s", "us/sample", "quartiles", "MiB", "first, ms", "times ours")


def number(value: float | None, digits: int = 3) -> str:
    """A number with these digits and commas; a dash for None."""
    if value is None:
        return "–"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:#.{digits}g}".removesuffix(".")


def systems(results: Results) -> str:
    """The compared systems and their settings."""
    return "\n".join(
        f"{system.key}: {system.name}, {system.package} {system.version}\n    {system.settings}"
        for system in results.systems.values()
    )


def workload(results: Results, key: str) -> str:
    """All systems on one workload, the fastest first; those without a result below."""
    about = results.workloads[key]
    measured = [name for name, on in results.measured() if on == key]
    measured.sort(key=lambda name: median(results.microseconds(name, key)))
    failed = [
        f"  {each.system}: {each.why}"
        for each in results.refusals
        if each.workload == key and each.system not in measured
    ]
    rows = [HEAD, *(_row(results, name, key) for name in measured)]
    return "\n".join([f"{key}: {about.name}, K = {about.K}, D = {about.D}", "", text(rows), *failed])


def _row(results: Results, name: str, key: str) -> tuple[str, ...]:
    time = Spread.of(results.microseconds(name, key))
    memory = [each.mebibytes for each in results.memory if (each.system, each.workload) == (name, key)]
    first = [each.seconds * 1e3 for each in results.firsts if (each.system, each.workload) == (name, key)]
    return (
        name,
        number(1e6 / time.middle),
        number(time.middle),
        f"{number(time.low)} to {number(time.high)}",
        f"{memory[0]:.1f}" if memory else "–",
        number(first[0] if first else None),
        number(ratio(results, name, key)),
    )


def imports(results: Results) -> str:
    """Import times, also without NumPy and scikit-learn."""
    rows = [("import", "s", "more than NumPy and scikit-learn, s")]
    known = set()
    for key, system in results.systems.items():
        times = [each for each in results.imports if each.system == key]
        if times and (system.package, times[0].seconds) not in known:  # one import per package
            known.add((system.package, times[0].seconds))
            whole, more = (median(each.seconds for each in times), median(e.seconds - e.base for e in times))
            rows.append((key, f"{whole:.2f}", f"{more:+.2f}" if more > 0 else "–"))
    return text(rows)


def growth(results: Results) -> str:
    """The exponents of growth."""
    rows = [("time grows as", "N^", "D^", "K^")]
    for key, found in slopes(results).items():
        exponents = [found[letter] for letter in ("N", "D", "K")]
        if any(value is not None for value in exponents):
            rows.append((key, *("–" if value is None else f"{value:.2f}" for value in exponents)))
    legend = "N: the time for N samples; D and K: the time per sample, over the grid of rows"
    return f"{text(rows)}\n{legend}" if len(rows) > 1 else "No exponents: too few sizes were measured."


def refusals(results: Results) -> str:
    """The systems without a result, and why."""
    lines = [f"  {each.system} on {each.workload}: {each.why}" for each in results.refusals]
    return "\n".join(["Not measured:", *lines]) if lines else "All systems were measured on all workloads."


def shown(results: Results) -> str:
    """The claims about speed, and whether this run supports them."""
    lines = [f"  {each.verdict:<12}  {each.text}: {each.figure or '–'}" for each in claims(results)]
    return "\n".join(["Claims:", *lines])
