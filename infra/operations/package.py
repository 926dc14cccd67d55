"""Makes a release: programs as Lambda packages, the templates that take them, checksums and the bill of materials. The
same programs give the same bytes."""

import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

from stage import root

FILES = [
    "samconfig.toml",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/deploy.md",
    "infra/deploy",
    "infra/preflight",
    "infra/teardown",
    "infra/operations/canary.py",
    "infra/operations/preflight.py",
    "infra/operations/stage.py",
    "infra/checks/smoke/run",
]
# ZIP archives have no earlier moment.
BEGINNING = (1980, 1, 1, 0, 0, 0)


def programs_of(text):
    """The names of the programs in a template."""
    return re.findall(r"^ +Binary: (\S+)$", text, re.M)


def for_packages(text, architecture):
    """The template with a package for each function instead of sources."""
    text, removed = re.subn(r"^ +# The whole workspace: .*\n +CodeUri: \.\n", "", text, flags=re.M)
    text, placed = re.subn(r"^( +)Binary: (\S+)\n    Properties:\n", r"\1Binary: \2\n    Properties:\n      CodeUri: programs/\2.zip\n", text, flags=re.M)
    text, chosen = re.subn(r"(?<=  Architecture:\n    Type: String\n)    Default: \S+\n    AllowedValues: .+\n", f"    Default: {architecture}\n    AllowedValues: [{architecture}]\n", text)
    if (removed, placed, chosen) != (1, len(programs_of(text)), 1):
        raise RuntimeError(f"template.yaml has changed its form: {removed} CodeUri, {placed} programs, {chosen} Architecture")
    return text


def zipped(program, archive, fast=False):
    """One program as a Lambda package."""
    entry = zipfile.ZipInfo("bootstrap", BEGINNING)
    entry.external_attr, entry.compress_type = 0o100755 << 16, zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(entry, program.read_bytes(), compresslevel=1 if fast else 9)


def package(folder, program_of, version, architecture, fast=False):
    """Writes a release into an empty folder; `program_of` finds the built program of a name."""
    text = (root / "template.yaml").read_text()
    (folder / "programs").mkdir(parents=True)
    for name in programs_of(text):
        zipped(program_of(name), folder / "programs" / f"{name}.zip", fast)
    (folder / "template.yaml").write_text(for_packages(text, architecture))
    nested = [str(file.relative_to(root)) for file in sorted((root / "infra").glob("*.yaml")) if file.name != "checkov.yaml"]
    for name in [*FILES, *nested]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, folder / name)
    with open(folder / "sbom.json", "w") as bill:
        subprocess.run([root / "infra/checks/supply-chain/sbom"], cwd=root, stdout=bill, check=True)
    release = {"version": version, "commit": output("git", "rev-parse", "HEAD"), "architecture": architecture, "rustc": output("rustc", "--version")}
    (folder / "release.json").write_text(json.dumps(release, indent=1) + "\n")
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder)}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(sums))


def archived(folder, archive):
    """The folder as one ZIP archive, with its own name as the folder inside."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            entry = zipfile.ZipInfo(str(Path(folder.name) / file.relative_to(folder)), BEGINNING)
            executable = file.stat().st_mode & 0o111
            entry.external_attr, entry.compress_type = (0o100755 if executable else 0o100644) << 16, zipfile.ZIP_DEFLATED
            out.writestr(entry, file.read_bytes())


def output(*command):
    return subprocess.run(command, cwd=root, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
