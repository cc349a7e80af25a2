"""The gate's table: every change is caught by a stage that it chooses, and only whole passes are recorded."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from faults._list import read_faults
from tools.gate.passed import Passes, changed_since, tree_of
from tools.gate.runner import Runner
from tools.gate.schedule import due
from tools.gate.stages import Stage, Table, choose, matches, read_table
from tools.gate.times import table_of_times

ROOT = Path(__file__).resolve().parents[2]
TABLE = read_table()
FAULTS = {fault.name: fault for fault in read_faults()}


def names(choices):
    return [choice.stage.name for choice in choices]


# --------------------------------------------------------------------------------------------------------- the table


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught_by_a_stage_that_its_file_chooses(name):
    fault = FAULTS[name]
    holding = {TABLE.stage_of(test) for test in fault.tests}
    assert holding & set(names(choose(TABLE, [fault.file])))


def test_every_test_is_held_by_a_stage():
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        stage = TABLE.stage_of(str(path.relative_to(ROOT)))
        assert TABLE.stages[stage].tests


def test_the_stage_of_all_tests_leaves_out_what_others_hold():
    script = (ROOT / ".ci" / "tests").read_text(encoding="utf-8")
    held = {test for stage in TABLE.stages.values() if stage.name != "tests" for test in stage.tests}
    assert set(re.findall(r"--ignore=(\S+)", script)) == held


def test_modules_that_ask_for_a_pass_are_of_the_group():
    """Whatever imports the engines decides what workers do."""
    passes = TABLE.stages["clusters"].depends
    asking = [path for path in (ROOT / "src").rglob("*.py") if "from glasswood.engines" in path.read_text("utf-8")]
    assert [str(path.relative_to(ROOT)) for path in asking if not matches(str(path.relative_to(ROOT)), passes)] == []


def test_patterns_name_files_that_exist():
    patterns = [*TABLE.everything, *TABLE.covered]
    for stage in [*TABLE.stages.values(), *TABLE.parts.values()]:
        patterns += [*stage.depends, *stage.tests]
    missing = [one for one in patterns if "*" not in one and one != "always" and not (ROOT / one).exists()]
    sdist = not (ROOT / ".git").exists()  # which lacks .github and some dotfiles
    assert [one for one in missing if not (sdist and one.startswith("."))] == []


def test_scripts_that_stages_run_exist():
    for stage in [*TABLE.stages.values(), *TABLE.parts.values()]:
        for script in re.findall(r"\.ci/[\w-]+", stage.command):
            assert (ROOT / script).is_file() or not (ROOT / ".ci").is_dir()


@pytest.mark.parametrize(
    ("file", "chosen"),
    [
        ("src/glasswood/models/readers/_xgboost.py", {"lint", "tests", "clusters", "oldest"}),
        ("src/core/lists.cpp", {"lint", "tests", "core", "clusters", "sanitizers"}),
        ("src/glasswood/plots/plotly/_bars.py", {"lint", "tests", "site"}),
        ("src/glasswood/report/page/report.js", {"lint", "tests", "page", "browser", "site"}),
        ("src/glasswood/questions/shapes/_answer_certificate.py", {"lint", "tests"}),
        ("docs/guide/clusters.md", {"lint", "tests", "clusters", "site"}),
        (".github/workflows/ci.yml", {"lint", "tests", "workflows"}),
        ("tests/questions/ale/test_ale.py", {"lint", "tests"}),
        (".ci/run", set(TABLE.stages)),
        ("tests/zoo/cases.py", set(TABLE.stages)),
        ("a/new/folder/file.py", set(TABLE.stages)),
    ],
)
def test_what_a_change_chooses(file, chosen):
    found = choose(TABLE, [file])
    assert set(names(found)) == chosen
    assert all(choice.reason for choice in found)


def test_an_unknown_past_chooses_everything_and_no_change_only_what_is_always_run():
    assert names(choose(TABLE, None)) == list(TABLE.stages)
    assert names(choose(TABLE, [])) == ["lint", "tests"]


def test_a_test_that_no_stage_holds_is_an_error():
    with pytest.raises(ValueError, match=r"no stage of stages\.toml holds elsewhere/test_a\.py"):
        TABLE.stage_of("elsewhere/test_a.py::test_b")


# -------------------------------------------------------------------------------------------------------- the record


@pytest.fixture
def checkout(tmp_path):
    """A repository with one file."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet")
    commit(folder, "one.txt", "1")
    return folder


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder, name, content):
    (folder / name).write_text(content)
    git(folder, "add", name)
    git(folder, "commit", "--quiet", "-m", "a change")


def test_the_newest_tree_that_passed_here_is_known(checkout, tmp_path):
    passes = Passes(tmp_path / "passed", "abc")
    assert passes.last(checkout) is None
    first = tree_of(checkout)
    passes.add(first, 10)
    commit(checkout, "two.txt", "2")
    passes.add(tree_of(checkout), 11)
    assert passes.last(checkout) == tree_of(checkout)
    assert Passes(tmp_path / "passed", "another environment").last(checkout) is None
    passes.add("0" * 40, 12)  # a tree of another repository
    assert passes.last(checkout) == tree_of(checkout)
    assert changed_since(checkout, first) == ["two.txt"]


def test_changes_that_are_not_committed_count(checkout):
    tree = tree_of(checkout)
    (checkout / "one.txt").write_text("other")
    (checkout / "three.txt").write_text("new")
    assert changed_since(checkout, tree) == ["one.txt", "three.txt"]
    assert tree_of(checkout) is None  # such files are no tree that could be recorded
    assert changed_since(checkout, "0" * 40) is None


def test_renamed_and_deleted_files_have_changed(checkout):
    tree = tree_of(checkout)
    git(checkout, "mv", "one.txt", "other.txt")
    assert changed_since(checkout, tree) == ["one.txt", "other.txt"]


def test_a_part_is_due_until_it_passes_and_when_what_it_depends_on_changes(checkout, tmp_path):
    parts = {name: Stage(name, "true", (f"{name}.txt",)) for name in ("one", "two")}
    table = Table({"all": Stage("all", "true", ("*.txt",))}, parts, (), ())

    def passes_of(part):
        return Passes(tmp_path / part.name, "abc")

    def names_of_due():
        return [part.name for part, _ in due(table, passes_of, checkout)]

    assert names_of_due() == ["one", "two"]
    passes_of(parts["one"]).add(tree_of(checkout), 1)
    assert names_of_due() == ["two"]
    passes_of(parts["two"]).add(tree_of(checkout), 1)
    commit(checkout, "one.txt", "11")
    assert names_of_due() == ["one"]


# -------------------------------------------------------------------------------------------------------- the runner


def stage(name, command, lane="beside", tests=()):
    return Stage(name, command, ("always",), tests, lane)


def test_two_stages_run_at_once_and_those_of_a_lane_in_order(tmp_path):
    runner = Runner(ROOT, tmp_path)
    wait = "for i in $(seq 100); do test -e {0}/b && exit 0; sleep 0.1; done; exit 1"
    first = [stage("a", wait.format(tmp_path)), stage("c", f"echo '3 passed in 0.10s' > {tmp_path}/c")]
    assert runner.run([*first, stage("b", f"touch {tmp_path}/b; echo '= 2 passed in 1.00s ='", "tests")])
    assert [outcome.summary for outcome in runner.outcomes if outcome.stage.name == "b"] == [("2 passed in 1.00s",)]
    assert (tmp_path / "c").exists()


def test_a_stage_that_fails_does_not_hide_the_others(tmp_path, capfd):
    runner = Runner(ROOT, tmp_path)
    assert not runner.run([stage("a", "echo bad; exit 3"), stage("b", "true")])
    assert {outcome.stage.name: outcome.code for outcome in runner.outcomes} == {"a": 3, "b": 0}
    assert "a FAILED with exit code 3" in capfd.readouterr().out
    assert (tmp_path / "a.log").read_text() == "bad\n"


def test_linters_that_fail_stop_everything(tmp_path):
    runner, began = Runner(ROOT, tmp_path), time.monotonic()
    lanes = [stage("lint", "exit 1", "tests"), stage("tests", "true", "tests", ("tests",)), stage("a", "sleep 60")]
    assert not runner.run(lanes)
    assert time.monotonic() - began < 30
    assert "tests" not in [outcome.stage.name for outcome in runner.outcomes]


def test_a_stage_leaves_no_processes_behind(tmp_path):
    began = time.monotonic()
    assert Runner(ROOT, tmp_path).run([stage("a", f"(sleep 600 >/dev/null & echo $! >{tmp_path}/pid); true")])
    assert time.monotonic() - began < 60
    pid = int((tmp_path / "pid").read_text())
    state = Path(f"/proc/{pid}/stat")
    for _ in range(50):
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail(f"process {pid} is still there")


def test_a_stage_that_is_stopped_can_clean_up(tmp_path):
    runner = Runner(ROOT, tmp_path, patience=20)
    script = f"trap 'touch {tmp_path}/clean; exit 1' INT; touch {tmp_path}/ready; while true; do sleep 0.1; done"
    thread = threading.Thread(target=runner.run, args=([stage("a", script)],))
    thread.start()
    for _ in range(200):
        if (tmp_path / "ready").exists():
            break
        time.sleep(0.1)
    runner.stop()
    thread.join(timeout=30)
    assert not thread.is_alive()
    assert (tmp_path / "clean").exists()


def test_minutes_by_file(tmp_path):
    case = '<testcase file="tests/{0}.py" name="t" time="{1}"/>'
    text = "".join(case.format(name, seconds) for name, seconds in [("a", 1.5), ("b", 3), ("a", 0.5)])
    (tmp_path / "tests.xml").write_text(f"<testsuites><testsuite>{text}</testsuite></testsuites>")
    lines = table_of_times(tmp_path).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["3.0", "1", "tests", "tests/b.py"],
        ["2.0", "2", "tests", "tests/a.py"],
        ["5.0", "3", "all"],
    ]


def test_the_command_says_what_it_would_run():
    if not (ROOT / ".git").exists():
        pytest.skip("only a clone has a past")
    command = [sys.executable, "-m", "tools.gate", "choose", "--since", "HEAD"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "gate: lint " in said
    assert "gate: left out: " in said


def test_workflow_of_the_night_has_a_job_for_every_part():
    path = ROOT / ".github" / "workflows" / "nightly.yml"
    if not path.is_file():
        pytest.skip("an sdist has no workflows")
    listed = re.search(r"part:\n((?: +- [\w-]+\n)+)", path.read_text(encoding="utf-8"))[1]
    assert re.findall(r"- ([\w-]+)", listed) == list(TABLE.parts)
