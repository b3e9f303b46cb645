"""What `citewell sync` shows: what a project uses, what can be had at what cost, what was done."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from citewell.cli.shell_errors import name_page
from citewell.cli.table import text_table
from citewell.cli.work import Outcome
from citewell.core.frozen import frozen
from citewell.core.text import counted, join_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.app.package_sites import SiteOffer
    from citewell.app.packages import PackageReport, PackageState
    from citewell.ingest.packages.dependency import Dependency, Project
    from citewell.ingest.packages.find_site import PackageSite

MOST_PAGES = 300


@frozen
class Plan:
    """What could be indexed for a folder."""

    folder: str
    project: Project
    packages: tuple[Dependency, ...]
    states: tuple[PackageState, ...]
    offers: tuple[SiteOffer, ...] | None
    """None when sites were not looked for."""
    redoes_indexed: bool = False
    without_vectors: tuple[int, ...] = ()
    """Pages of synced packages that lack vectors, as after an interrupted run."""

    @property
    def due(self) -> list[Dependency]:
        """The packages to read."""
        wanted = ("installed", "indexed") if self.redoes_indexed else ("installed",)
        pairs = zip(self.packages, self.states, strict=True)
        return [dependency for dependency, state in pairs if state.availability in wanted]

    @property
    def due_sites(self) -> list[tuple[Dependency, PackageSite]]:
        """The sites to read, each with the package that it is for."""
        pairs = zip(self.packages, self.offers or (), strict=bool(self.offers))
        return [
            (dependency, offer.site)
            for dependency, offer in pairs
            if offer.site is not None and not offer.is_indexed
        ]


def plan_table(plan: Plan) -> str:
    """Return the table of a project's packages."""
    heads = ["package", "version", "found in", "documentation", "cost"]
    rows = [
        [
            f"{dependency.ecosystem}:{dependency.name}",
            dependency.version or "?",
            dependency.found_in,
            state.described,
            _cost(state),
        ]
        for dependency, state in zip(plan.packages, plan.states, strict=True)
    ]
    if plan.offers is not None:
        heads.append("site")
        for row, offer in zip(rows, plan.offers, strict=True):
            row.append(_describe_offer(offer))
    return text_table(heads, rows)


def plan_outcome(plan: Plan) -> Outcome:
    """Return what the project uses, when nothing is indexed now."""
    counts = Counter(state.availability for state in plan.states)
    lines = plan_table(plan).splitlines() if plan.packages else []
    lines += [f"- {problem}" for problem in plan.project.problems]
    if not plan.packages:
        # If there are problems, a dependency file exists.
        why = "" if plan.project.problems else ": no pyproject.toml, package.json or lock file"
        lines.append(f"No dependencies found{why}.")
    elif plan.due or plan.due_sites:
        sites = f" and {counted(len(plan.due_sites), 'site')}" if plan.due_sites else ""
        flag = " --sites" if plan.due_sites else ""
        due = counted(len(plan.due), "package")
        lines.append(f"{due}{sites} can be indexed: run `citewell sync{flag} --yes`.")
    elif plan.without_vectors:
        left = counted(len(plan.without_vectors), "page")
        lines.append(f"{left} still lack vectors: run `citewell sync --yes` to finish.")
    elif counts["indexed"]:
        lines.append(f"Nothing to do: {_packages(counts['indexed'])} indexed as installed.")
    lines += _hints(plan)
    packages = [
        {
            "package": f"{dependency.ecosystem}:{dependency.name}",
            "version": dependency.version or "?",
            "found_in": dependency.found_in,
            "documentation": state.availability,
            "files": state.files,
            "bytes": state.bytes,
        }
        for dependency, state in zip(plan.packages, plan.states, strict=True)
    ]
    structured: dict[str, Any] = {"packages": packages, "problems": list(plan.project.problems)}
    if plan.offers is not None:
        structured["sites"] = [_offer_shape(offer) for offer in plan.offers]
    has_failed = plan.project.has_unread_files
    return Outcome(text=join_lines(lines), structured=structured, has_failed=has_failed)


def _hints(plan: Plan) -> list[str]:
    """Return how to get documentation for what is not installed."""
    missing = [
        dependency.ecosystem
        for dependency, state in zip(plan.packages, plan.states, strict=True)
        if state.availability == "not installed"
    ]
    installable = sum(ecosystem in ("pypi", "npm") for ecosystem in missing)
    hosted = len(missing) - installable
    hints = []
    if installable:
        hints.append(f"{_packages(installable)} not installed: install and sync again.")
    if hosted and plan.offers is None:
        hints.append(
            f"{_packages(hosted)} documented on sites only: `citewell sync --sites` looks for them."
        )
    return hints


def _packages(count: int) -> str:
    return "1 package is" if count == 1 else f"{count:,} packages are"


def reports_outcome(plan: Plan, reports: Sequence[PackageReport]) -> Outcome:
    """Return what indexing the packages took."""
    shapes = [
        {
            "package": report.dependency.name,
            "version": report.dependency.version,
            "indexed": len(report.pages),
            "symbols": report.symbols,
            "unchanged": report.unchanged,
            "removed": report.deleted,
            "failed": {url: error.message for url, error in report.failed.items()},
        }
        for report in reports
    ]
    lines = [
        f"{shape['package']} {shape['version']}: indexed {shape['indexed']} "
        f"({counted(report.symbols, 'symbol')}), "
        f"unchanged {shape['unchanged']}, removed {shape['removed']}, skipped {len(report.failed)}"
        for shape, report in zip(shapes, reports, strict=True)
    ]
    lines += [
        f"- skipped: {name_page(url, error.message)}"
        for report in reports
        for url, error in report.failed.items()
    ]
    if plan.without_vectors:
        left = counted(len(plan.without_vectors), "page")
        lines.append(f"Made the vectors of {left} that lacked them.")
    lines += [f"- {problem}" for problem in plan.project.problems]
    return Outcome(
        text=join_lines(lines),
        structured={"packages": shapes, "problems": list(plan.project.problems)},
        # A module that cannot be parsed is the package's fault, and the rest of it is there.
        has_failed=plan.project.has_unread_files
        or any(report.failed and not report.pages for report in reports),
    )


def _cost(state: PackageState) -> str:
    if state.availability != "installed":
        return ""
    return f"{counted(state.files, 'file')}, {state.bytes / 1_000_000:.1f} MB"


def _describe_offer(offer: SiteOffer) -> str:
    if offer.site is None:
        return offer.problem
    version = "of unknown version" if offer.site.version == "latest" else offer.site.version
    other = "" if offer.site.is_exact else "not your version: "
    pages = "follows links" if offer.pages is None else counted(offer.pages, "page")
    state = "indexed" if offer.is_indexed else pages
    return f"{other}{version}, {state}, {offer.site.url}"


def _offer_shape(offer: SiteOffer) -> dict[str, Any]:
    if offer.site is None:
        return {"problem": offer.problem}
    return {
        "url": offer.site.url,
        "version": offer.site.version,
        "is_your_version": offer.site.is_exact,
        "pages": offer.pages,
        "is_indexed": offer.is_indexed,
    }
