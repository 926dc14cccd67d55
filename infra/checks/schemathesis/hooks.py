"""Departures of the contract from Schemathesis's assumptions that a status code cannot express, and bounds of the
coverage phase. All other settings are in schemathesis.toml."""

import copy
import re

import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.generation.meta import CoveragePhaseData
from schemathesis.specs.openapi import checks

enforces = checks._enforces_auth
rejects = checks.negative_data_rejection
# Texts that FastAPI accepts as a boolean, and the service therefore too.
SPOKEN = {"true", "false", "1", "0", "yes", "no", "on", "off", "t", "f", "y", "n"}
BOOLEANS = set()
# Inside a payload, in the coverage phase's descriptions, and the changes made there. A description names the element,
# not the receipt's type or the value.
INSIDE = re.compile("payload -> |'payload' value: ")
DONE = set()


def names_the_key(response):
    """The published client distinguishes a missing key (422, like any missing field) from a wrong one (401)."""
    if response.status_code != 422:
        return False
    detail = response.json()["detail"]
    return isinstance(detail, list) and ["header", "X-API-Key"] in [error["loc"] for error in detail]


def enforces_auth(response, authenticated):
    return names_the_key(response) or enforces(response, authenticated)


def booleans(schema):
    """The names of all boolean members."""
    if isinstance(schema, list):
        return set().union(*map(booleans, schema))
    if not isinstance(schema, dict):
        return set()
    here = {name for name, member in schema.get("properties", {}).items() if "boolean" in member.get("type", [])}
    return here.union(*map(booleans, schema.values()))


@schemathesis.hook
def after_load_schema(context, schema):
    """Computed once: searching the whole document for each request would take longer than the request."""
    BOOLEANS.update(booleans(schema.raw_schema["components"]["schemas"]))


def speaks_a_boolean(body):
    if isinstance(body, list):
        return any(speaks_a_boolean(one) for one in body)
    if not isinstance(body, dict):
        return False
    return any(speaks_a_boolean(member) or (name in BOOLEANS and not isinstance(member, bool) and str(member).lower() in SPOKEN)
               for name, member in body.items())


def names_null(case):
    """In an issue request a null member counts as absent, as the contract says. Its schema says otherwise, for the sake
    of client generators."""
    if case.operation.definition.raw.get("operationId") not in {"issue", "batch"} or not isinstance(case.body, dict):
        return False
    items = case.body.get("items", [case.body])
    return isinstance(items, list) and any(None in item.values() for item in items if isinstance(item, dict))


def statuses_inside(case, response):
    """A batch returns a separate status for each of its receipts."""
    if case.operation.definition.raw.get("operationId") != "batch" or response.status_code != 200:
        return []
    return [item["status_code"] for item in response.json()["items"]]


@schemathesis.check
def no_server_error_inside(ctx, response, case):
    assert all(status < 500 for status in statuses_inside(case, response)), "a receipt of the batch was answered with a server error"


def negative_data_rejection(ctx, response, case):
    if 422 in statuses_inside(case, response):
        return None
    if speaks_a_boolean(case.body) or names_null(case):
        return None
    return rejects(ctx, response, case)


@schemathesis.hook("filter_case").apply_to(operation_id="issue")
def once_per_element(context, case):
    """The coverage phase changes every element of all ten payloads in every way: tens of thousands of requests. This
    hook keeps each change to an element once, and skips it in the payload of the next type or with the next of 60
    units. The request around the payload, and the other phases, are unaffected."""
    done = case.meta.phase.data
    if not isinstance(done, CoveragePhaseData) or not INSIDE.search(done.description):
        return True
    thing = (case.meta.generation.mode, done.description)
    new = thing not in DONE
    DONE.add(thing)
    return new


@schemathesis.hook("before_init_operation").apply_to(operation_id="batch")
def examples_for_payloads(context, operation):
    """A batch takes the payloads of `issue`, whose elements are covered there. For a batch, the coverage phase uses the
    document's examples and varies only what is around them. The other phases use another schema and are unaffected."""
    issue = operation.schema.raw_schema["paths"]["/api/v1/ecf"]["post"]["requestBody"]["content"]["application/json"]
    for body in operation.body:
        body._unoptimized_schema = schema = copy.deepcopy(body.unoptimized_schema)
        for part in schema["x-bundled"].values():
            properties = part.get("properties", {})
            if "payload" in properties:
                [ecf_type] = properties["ecf_type"]["enum"]
                properties["payload"] = {"enum": [issue["examples"][ecf_type]["value"]["payload"]]}


checks._enforces_auth = enforces_auth
CHECKS.unregister("negative_data_rejection")
CHECKS.register(negative_data_rejection)
