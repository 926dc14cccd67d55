"""The template of a stage with a canary."""

import hashlib
import json
import sys

from stage import root, template

ALIAS = "live"
# Nobody calls the operator's alias, so no share of calls could show that a new version works.
NOT_GRADUAL = ["Operator"]


def with_canary(base, digest, canary):
    """The template with an alias for each function; `canary` is CodeDeploy's name for the steps, or `None` for one.

    An alias takes a new version only if its code or its variables change in the template. A changed parameter changes
    neither, so `digest`, a text that changes with each of them, is one of the variables.
    """
    shared = base["Globals"]["Function"]
    shared["AutoPublishAlias"] = ALIAS
    shared["Environment"]["Variables"]["DEPLOYMENT"] = digest
    resources = base["Resources"]
    functions = [name for name, one in resources.items() if one["Type"] == "AWS::Serverless::Function"]
    gradual = [name for name in functions if name not in NOT_GRADUAL]
    watched = template(root / "infra/canary.yaml")
    parameters = {"TopicArn": {"Fn::GetAtt": ["Alarms", "Outputs.TopicArn"]}, "RunbookUrl": {"Ref": "RunbookUrl"}}
    for name in gradual:
        parameters |= {f"{name}FunctionName": {"Ref": name}, f"{name}Version": {"Fn::GetAtt": [f"{name}.Version", "Version"]}}
    if parameters.keys() != watched["Parameters"].keys():
        sys.exit(f"infra/canary.yaml and the functions disagree: {', '.join(sorted(parameters.keys() ^ watched['Parameters'].keys()))}")
    if canary:
        alarms = [{"Fn::GetAtt": ["Canary", f"Outputs.{name}"]} for name in watched["Outputs"]]
        alarms.append({"Fn::GetAtt": ["Alarms", "Outputs.ApiFails"]})
        resources["Canary"] = {
            "Type": "AWS::CloudFormation::Stack",
            "DeletionPolicy": "Delete",
            "UpdateReplacePolicy": "Delete",
            "Properties": {"TemplateURL": str(root / "infra/canary.yaml"), "Parameters": parameters},
        }
        for name in gradual:
            resources[name]["Properties"]["DeploymentPreference"] = {"Type": canary, "Alarms": alarms}
    return base


def digest_of(stage, base):
    """Changes with the values and with every template."""
    texts = [json.dumps(stage.values, sort_keys=True), json.dumps(base, sort_keys=True)]
    texts += [file.read_text() for file in sorted((root / "infra").glob("*.yaml"))]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
