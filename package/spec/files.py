"""Reads the files that other people's machines read: the workflows of public forges and
the compose file. They must be YAML, and their commands the shell's; what they ask of
make must be there.

    files.py        prints what is wrong; the exit code says whether anything is
"""

import re
import subprocess
import sys

import yaml

FILES = [".github/workflows/ci.yml", ".github/workflows/release.yml",
         "package/compose/compose.yaml"]


def scripts(node):
    """The commands in a file: each `run`."""
    if isinstance(node, list):
        for value in node:
            yield from scripts(value)
    elif isinstance(node, dict):
        for name, value in node.items():
            yield from [value] if name == "run" else scripts(value)


def problems(text):
    """What is wrong with the commands of a text."""
    yield subprocess.run(["bash", "-n"], input=text, text=True,
                         capture_output=True, check=False).stderr
    with open("Makefile", encoding="utf-8") as file:
        goals = set(re.findall(r"^([a-z-]+):.*##", file.read(), re.MULTILINE))
    for goal in re.findall(r"\bmake (?:-s )?([a-z-]+)", text):
        if goal not in goals:
            yield f"make has no goal {goal}"
    for purposes in re.findall(r"(?:FOR='?|\.ci/install )([a-z ]+)", text):
        ran = subprocess.run(["sh", ".ci/install", "--check", *purposes.split()],
                             capture_output=True, text=True, check=False)
        if "There is no purpose" in ran.stderr:
            yield ran.stderr


wrong = []
for name in FILES:
    with open(name, encoding="utf-8") as opened:
        for script in scripts(yaml.safe_load(opened)):
            wrong += [f"{name}: {problem}" for problem in problems(script) if problem]
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
