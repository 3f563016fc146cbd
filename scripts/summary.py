"""Print `N passed, N failed, N skipped` for each stage's JUnit file named, and for all of them."""

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET


def count(report: Path) -> Counter[str]:
    """Count the tests of one report by outcome; a report that was not written is one failure."""
    if not report.is_file():
        return Counter(failed=1)
    suites = ET.parse(report).getroot().iter("testsuite")
    totals: Counter[str] = Counter()
    for suite in suites:
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        totals["failed"] += failed
        totals["skipped"] += skipped
        totals["passed"] += int(suite.get("tests", 0)) - failed - skipped
    return totals


def phrase(totals: Counter[str]) -> str:
    """Say the counts the way test runners do."""
    return f"{totals['passed']} passed, {totals['failed']} failed, {totals['skipped']} skipped"


if __name__ == "__main__":
    counts = {Path(name).stem: count(Path(name)) for name in sys.argv[1:]}
    for stage, totals in counts.items():
        print(f"{stage}: {phrase(totals)}")
    print(phrase(sum(counts.values(), Counter())))
