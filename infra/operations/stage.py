"""A stage of `samconfig.toml` with its values, and the template, for `infra/preflight`, `infra/deploy`,
`infra/teardown` and `infra/release`."""

import os
import shutil
import sys
import tomllib
from pathlib import Path

root = Path(__file__).resolve().parents[2]


def with_packages_of_sam():
    """These scripts need boto3 and PyYAML. SAM has both, so without them the script starts again in SAM's
    environment."""
    try:
        import boto3
        import yaml
    except ImportError:
        sam = shutil.which("sam")
        python = sam and Path(sam).resolve().with_name("python")
        if not python or not python.exists() or Path(sys.executable) == python:
            sys.exit("sam is not in the PATH: docs/deploy.md says how to install it (or install boto3 and PyYAML)")
        os.execv(python, [python, *sys.argv])


class Stage:
    def __init__(self, name, given=()):
        stages = tomllib.loads((root / "samconfig.toml").read_text())
        if "deploy" not in stages.get(name, {}):
            known = ", ".join(one for one, settings in stages.items() if isinstance(settings, dict) and "deploy" in settings)
            sys.exit(f"there is no stage {name} in samconfig.toml, only {known}")
        settings = stages[name]["deploy"]["parameters"]
        self.name, self.stack, self.region = name, settings["stack_name"], settings["region"]
        # Later values replace earlier ones, so values of the command line win.
        self.given = dict(pair.split("=", 1) for pair in [*settings["parameter_overrides"], *given])
        self.canary = stages[name].get("canary", {}).get("type")
        defaults = {one: str(parameter["Default"]) for one, parameter in template()["Parameters"].items()}
        unknown = self.given.keys() - defaults.keys()
        if unknown:
            sys.exit(f"template.yaml has no parameter {', '.join(sorted(unknown))}")
        self.values = defaults | self.given

    def number(self, name):
        return int(self.values[name])


def template(path=root / "template.yaml"):
    """A template with CloudFormation's functions in their long form, so that it can be written as JSON."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    def function(loader, suffix, node):
        read = {yaml.ScalarNode: loader.construct_scalar, yaml.SequenceNode: loader.construct_sequence, yaml.MappingNode: loader.construct_mapping}
        value = read[type(node)](node, *([] if isinstance(node, yaml.ScalarNode) else [True]))
        if suffix == "GetAtt" and isinstance(value, str):
            value = value.split(".", 1)
        return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}

    Loader.add_multi_constructor("!", function)
    # A date in a template is text.
    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"] for first, resolvers in Loader.yaml_implicit_resolvers.items()
    }
    return yaml.load(Path(path).read_text(), Loader)


def client(service, stage, endpoint=None):
    import boto3

    return boto3.client(service, region_name=stage.region, endpoint_url=endpoint)
