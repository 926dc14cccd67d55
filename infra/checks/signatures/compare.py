"""Compares our verdicts and canonical forms with those of the other tools, and fails on unexplained differences. Usage:
compare.py FOLDER"""

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SERIALIZED = "its digest is that of its serializer's text (<x/> for an empty element), not of the canonical form"
NOT_INHERITED = "SignedInfo does not inherit xml: attributes of the root (Canonical XML 1.0, section 2.4)"

# Outputs that are themselves invalid: xmlsec1 rejects them as well.
WRONG = {
    ("dgii-ecf", "edge_empty"): SERIALIZED,
    ("dgii-ecf", "edge_only_space"): SERIALIZED,
    ("dgii-ecf", "root-empty-elements"): SERIALIZED,
    ("dgii-ecf", "text-only-blanks-reference"): SERIALIZED,
    ("dgii-ecf", "root-used"): "attributes are not in canonical form when it digests them",
    ("dgii-ecf", "text-instruction"): "processing instructions are not in canonical form when it digests them",
    ("dgii-ecf", "root-inherited-xml"): NOT_INHERITED,
    ("signxml", "root-inherited-xml.0"): NOT_INHERITED,
    ("signxml", "root-inherited-xml.1"): NOT_INHERITED,
}


def xmlsec1_accepts(path: Path) -> bool:
    return subprocess.run(["xmlsec1", "--verify", "--insecure", path], capture_output=True).returncode == 0


def libxml2(option: str, path: Path) -> bytes:
    return subprocess.run(["xmllint", "--nonet", option, path], check=True, capture_output=True).stdout


def main(folder: Path) -> int:
    problems: list[str] = []
    counts: Counter[str] = Counter()
    verdicts = [line.split("\t") for line in (folder / "verdicts.tsv").read_text().splitlines()]
    with ThreadPoolExecutor() as pool:
        theirs = list(pool.map(xmlsec1_accepts, [Path(path) for _, path in verdicts]))
    for (ours, name), accepted in zip(verdicts, theirs, strict=True):
        path = Path(name)
        signer = path.parent.name
        if ours == "ok" and accepted:
            counts[f"{signer}: both accept"] += 1
        elif ours != "ok" and not accepted and (signer, path.stem) in WRONG:
            counts[f"{signer}: wrong outputs, both refuse"] += 1
            print(f"named: {signer} {path.stem}: {WRONG[signer, path.stem]}")
        else:
            problems.append(f"{signer} {path.name}: we say {ours}, xmlsec1 {'accepts' if accepted else 'refuses'}")
    for method, option in (("inclusive", "--c14n"), ("exclusive", "--exc-c14n")):
        for document in sorted((folder / "documents").glob("*.xml")):
            # xmllint keeps comments and has no option to drop them.
            bare = folder / "without-comments.xml"
            bare.write_bytes(document.read_bytes().replace(b"<!-- c -->", b""))
            if (folder / f"c14n-{method}" / document.name).read_bytes() == libxml2(option, bare):
                counts[f"{method} canonical form: same as libxml2"] += 1
            else:
                problems.append(f"{document.name}: another {method} canonical form than libxml2")
    for what, count in sorted(counts.items()):
        print(f"{count:5} {what}")
    for problem in problems:
        print(f"!! {problem}")
    return 1 if problems or not counts["ours: both accept"] else 0


sys.exit(main(Path(sys.argv[1])))
