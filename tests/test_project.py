"""What the project's own pages and settings promise."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import otel_trace

PROJECT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/design.md")


def list_code(page: str) -> list[str]:
    """List a page's blocks of Python."""
    return re.findall(r"^```python\n(.*?)^```", (PROJECT / page).read_text(), re.DOTALL | re.MULTILINE)


def test_the_code_in_the_readme_runs() -> None:
    """The README's blocks run one after the other, and the last one sees the run of the first."""
    outputs = [
        subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
        for code in list_code("README.md")
    ]
    assert [""] * len(outputs) == [output.stderr for output in outputs]
    assert outputs[-1].returncode == 0
    for name in ("step", "data", "forward", "load"):
        assert name in outputs[-1].stdout


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    """A relative link names a file or folder of the project."""
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", (PROJECT / page).read_text())
    assert [] == [link for link in links if not ((PROJECT / page).parent / link).exists()]


@pytest.mark.parametrize("page", PAGES)
def test_targets_named_in_pages_are_in_the_makefile(page: str) -> None:
    """`make X` in a page is a target."""
    targets = set(re.findall(r"^([a-z0-9-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^ {4})make ([a-z0-9-]+)", (PROJECT / page).read_text(), re.MULTILINE))
    assert set() == named - targets


def test_the_installed_version_is_the_package_s() -> None:
    """What pip shows is what the code says."""
    assert metadata.version("otel-trace") == otel_trace.__version__


def test_the_package_says_that_it_is_typed() -> None:
    """Type checkers read the annotations of an installed package only beside py.typed."""
    assert (PROJECT / "otel_trace" / "py.typed").is_file()


def test_each_rule_that_is_off_has_its_reason() -> None:
    """A line of an ignore list of ruff holds one rule and a comment."""
    lines = (PROJECT / "pyproject.toml").read_text().splitlines()
    rule = re.compile(r'^ {4}"[A-Z]+[0-9]*", *(# .+)?$')
    bare = [line for line in lines if (match := rule.match(line)) and not match[1]]
    assert [] == bare
    settings = tomllib.loads("\n".join(lines))["tool"]["ruff"]["lint"]
    assert ["ALL"] == settings["select"]
