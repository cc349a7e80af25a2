"""What a run has found, added up over its cases, and how it is printed."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from fuzz.shrink import signature

__all__ = ["Statistics"]


@dataclass
class Statistics:
    """Sums over the cases of a run."""

    cases: int = 0
    models: Counter = field(default_factory=Counter)
    compared: Counter = field(default_factory=Counter)
    refusals: Counter = field(default_factory=Counter)
    refused_by: dict[str, int] = field(default_factory=dict)  # a seed for each refusal
    library: Counter = field(default_factory=Counter)
    remarks: Counter = field(default_factory=Counter)
    findings: dict[tuple[str, str, str], list[dict]] = field(default_factory=lambda: defaultdict(list))
    seconds: float = 0.0

    def add(self, case: dict, outcome: dict) -> list[dict]:
        """Add the outcome of a case; return its findings that are new."""
        self.cases += 1
        self.seconds += outcome["seconds"]
        if outcome["kind"]:
            self.models[outcome["kind"]] += 1
        for name in ("compared", "refusals", "library", "remarks"):
            getattr(self, name).update(outcome.get(name, {}))
        for message in outcome.get("refusals", {}):
            self.refused_by.setdefault(message, case["seed"])
        new = []
        for finding in outcome["findings"]:
            known = self.findings[signature(finding)]
            if not known:
                new.append(finding)
            known.append({"seed": case["seed"]})
        return new

    def text(self) -> str:
        """Return everything as text."""
        libraries: Counter = Counter()
        for kind, number in self.models.items():
            libraries[kind.partition(" ")[0]] += number
        lines = [
            f"{self.cases} cases, {sum(self.models.values())} models, {sum(self.compared.values()):,} answers "
            f"compared, {sum(map(len, self.findings.values()))} findings of {len(self.findings)} kinds, "
            f"{self.seconds:.0f} s",
            "",
            "models: " + _listed(libraries),
            "        " + _listed(self.models),
            "answers: " + _listed(self.compared),
            "",
            "refused by Glasswood:",
            *(f"  {n:6d}  {message}  (seed {self.refused_by[message]})" for message, n in self.refusals.most_common()),
            "refused by the model's library:",
            *(f"  {n:6d}  {message}" for message, n in self.library.most_common(20)),
            "warnings of others:",
            *(f"  {n:6d}  {message}" for message, n in self.remarks.most_common(20)),
            "findings:",
        ]
        for kind, found in sorted(self.findings.items(), key=lambda item: -len(item[1])):
            seeds = [entry["seed"] for entry in found[:5]]
            lines.append(f"  {len(found):6d}  {' / '.join(kind)}  (seeds {seeds})")
        return "\n".join(lines)

    def as_json(self) -> str:
        """Return the sums as JSON, to be added up over runs."""
        return json.dumps(
            {
                "cases": self.cases,
                "seconds": self.seconds,
                "models": dict(self.models),
                "compared": dict(self.compared),
                "refusals": dict(self.refusals),
                "findings": {" / ".join(kind): len(found) for kind, found in self.findings.items()},
            }
        )


def _listed(counts: Counter) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in counts.most_common())
