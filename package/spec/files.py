"""Looks at the files that other people's machines read: the workflows of public
forges, the compose file, its Dockerfile. They must be what they are meant to be,
and name nothing that is not there.

    files.py        prints what is wrong; the exit code says whether anything is
"""

import os
import re
import shlex
import subprocess
import sys

import yaml

WORKFLOWS = [".github/workflows/ci.yml", ".github/workflows/release.yml"]
COMPOSE = "package/compose/compose.yaml"
DOCKERFILE = "package/compose/Dockerfile"

# Of Debian, of the shell, or of the forge's machine.
KNOWN = {"apt-get", "git", "test", "rm", "gh", "lintian"}

wrong = []


def complain(where, what):
    wrong.append(f"{where}: {what}")


def need(condition, where, what):
    if not condition:
        complain(where, what)


def make_targets():
    with open("Makefile", encoding="utf-8") as file:
        return set(re.findall(r"^([a-z-]+):.*##", file.read(), re.MULTILINE))


def commands(text):
    """The simple commands in a shell's text, as lists of words."""
    text = text.replace("\\\n", " ")
    for line in re.split(r"\n|&&|;", text):
        words = shlex.split(line, comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words = words[1:]
        if words:
            yield words


def check_make(where, arguments):
    for word in arguments:
        if word.startswith("FOR="):
            ran = subprocess.run(["sh", ".ci/install", "--check", *word[4:].split()],
                                 capture_output=True, text=True, check=False)
            need("There is no purpose" not in ran.stderr, where, ran.stderr)
        if "=" not in word and not word.startswith("-"):
            need(word in make_targets(), where, f"make has no target {word}")


def check_command(where, words):
    if words[0] == "make":
        check_make(where, words[1:])
    elif words[0] in ("sh", "bash"):
        need(os.path.exists(words[1]), where, f"there is no {words[1]}")
    else:
        need(words[0] in KNOWN, where, f"what is {words[0]}?")
    # A command in the arguments of another one.
    for inner in re.findall(r"\$\((make [^)]*)\)", " ".join(words)):
        check_make(where, shlex.split(inner)[1:])


def check_script(where, text):
    outcome = subprocess.run(["bash", "-n"], input=text, text=True,
                             capture_output=True, check=False)
    need(outcome.returncode == 0, where, outcome.stderr)
    for words in commands(text):
        check_command(where, words)


def load(name):
    with open(name, encoding="utf-8") as file:
        return yaml.safe_load(file)


def check_rights(name, job):
    """What builds and tests reads the repository; only what publishes writes."""
    rights = job.get("permissions", {})
    runs_ours = any("checkout" in step.get("uses", "") for step in job["steps"])
    need(rights == {"contents": "read" if runs_ours else "write"}, name,
         f"the rights of a job are {rights}")


def check_action(name, step):
    """A tag can be moved, a commit cannot; a comment says which tag it had."""
    with open(name, encoding="utf-8") as file:
        line = re.search(re.escape(step["uses"]) + ".*", file.read()).group()
    need(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line),
         name, line)
    if "checkout" in step["uses"]:
        need(step.get("with", {}).get("persist-credentials") is False, name,
             "the token stays where what is built and tested can read it")


def check_workflow(name):
    workflow = load(name)
    # YAML 1.1 reads the key `on` as true.
    need({"name", True, "jobs"} <= set(workflow), name, "a key is missing")
    need(workflow["permissions"] == {}, name, "all jobs have rights")
    ran = 0
    for job in workflow["jobs"].values():
        need("runs-on" in job and job["steps"], name, "a job without steps")
        check_rights(name, job)
        for other in [job["needs"]] if "needs" in job else []:
            need(other in workflow["jobs"], name, f"there is no job {other}")
        for step in job["steps"]:
            need(("run" in step) != ("uses" in step), name, f"{step}")
            if "uses" in step:
                check_action(name, step)
            else:
                check_script(name, step["run"])
                ran += 1
    need(ran > 0, name, "nothing is run")


def check_gitlab(name):
    pipeline = load(name)
    jobs = {key: job for key, job in pipeline.items()
            if isinstance(job, dict) and "script" in job}
    need(len(jobs) == 2, name, f"its jobs are {sorted(jobs)}")
    for job in jobs.values():
        need(job["stage"] in pipeline["stages"], name, job["stage"])
        check_script(name, "\n".join(pipeline["before_script"] + job["script"]))


def check_servers(services):
    """Each knows itself and all of them."""
    servers = {key: one for key, one in services.items()
               if one.get("image") == "zookeeper:3.8"}
    need(len(servers) == 3, COMPOSE, f"its servers are {sorted(servers)}")
    for name, one in servers.items():
        settings = one["environment"]
        members = dict(re.findall(r"server\.(\d)=(\w+):2888:3888;2181",
                                  settings["ZOO_SERVERS"]))
        need(sorted(members.values()) == sorted(servers), COMPOSE, str(members))
        need(members[str(settings["ZOO_MY_ID"])] == name == one["hostname"],
             COMPOSE, f"{name} is not itself")
    return servers


def check_compose():
    compose = load(COMPOSE)
    services = compose["services"]
    servers = check_servers(services)
    nginx = services["nginx"]
    hosts = nginx["environment"]["ZKLOCK_HOSTS"].split("/")[0].split(",")
    need(sorted(hosts) == sorted(f"{name}:2181" for name in servers), COMPOSE,
         str(hosts))
    context = os.path.join(os.path.dirname(COMPOSE), nginx["build"]["context"])
    need(os.path.samefile(context, "."), COMPOSE, "its context is not the top")
    need(nginx["build"]["dockerfile"] == DOCKERFILE, COMPOSE, "its Dockerfile")
    for service in services.values():
        for port in service.get("ports", []):
            need(port.startswith("127.0.0.1:"), COMPOSE, f"{port} is open to all")
        for volume in service.get("volumes", []):
            need(volume.split(":")[0] in compose["volumes"], COMPOSE, volume)


def instructions():
    with open(DOCKERFILE, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    for line in "".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            yield line.split(None, 1)


def check_dockerfile():
    known = {"FROM", "WORKDIR", "COPY", "RUN", "EXPOSE", "CMD"}
    for word, rest in instructions():
        need(word in known, DOCKERFILE, f"what is {word}?")
        if word == "FROM":
            need(rest.startswith("debian:bookworm"), DOCKERFILE, rest)
        elif word == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                need(os.path.exists(source), DOCKERFILE, f"there is no {source}")
        elif word == "RUN":
            check_script(DOCKERFILE, rest)
    with open(DOCKERFILE + ".dockerignore", encoding="utf-8") as file:
        need(".git" in file.read().split(), DOCKERFILE, ".git is copied")


def main():
    for name in WORKFLOWS:
        check_workflow(name)
    check_gitlab(".gitlab-ci.yml")
    check_compose()
    check_dockerfile()
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
