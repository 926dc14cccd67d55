"""Where the contract departs from what Schemathesis assumes, and a status alone cannot say it; and what bounds the coverage phase. All else
stands in schemathesis.toml."""

import copy
import re

import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.generation.meta import CoveragePhaseData
from schemathesis.specs.openapi import checks

enforces = checks._enforces_auth
rejects = checks.negative_data_rejection
# What FastAPI takes for a boolean, and the service so takes too.
SPOKEN = {"true", "false", "1", "0", "yes", "no", "on", "off", "t", "f", "y", "n"}
BOOLEANS = set()
# Inside a payload, as the coverage phase describes it; and what it has done there. It names the element, not the receipt's type or the value.
INSIDE = re.compile("payload -> |'payload' value: ")
DONE = set()


def names_the_key(response):
    """The published client tells a missing key (422, like any missing field) from a wrong one (401)."""
    if response.status_code != 422:
        return False
    detail = response.json()["detail"]
    return isinstance(detail, list) and ["header", "X-API-Key"] in [error["loc"] for error in detail]


def enforces_auth(response, authenticated):
    return names_the_key(response) or enforces(response, authenticated)


def booleans(schema):
    """The names of all members that are booleans."""
    if isinstance(schema, list):
        return set().union(*map(booleans, schema))
    if not isinstance(schema, dict):
        return set()
    here = {name for name, member in schema.get("properties", {}).items() if "boolean" in member.get("type", [])}
    return here.union(*map(booleans, schema.values()))


@schemathesis.hook
def after_load_schema(context, schema):
    """Once: to look through the whole document for each request takes longer than the request."""
    BOOLEANS.update(booleans(schema.raw_schema["components"]["schemas"]))


def speaks_a_boolean(body):
    if isinstance(body, list):
        return any(speaks_a_boolean(one) for one in body)
    if not isinstance(body, dict):
        return False
    return any(speaks_a_boolean(member) or (name in BOOLEANS and not isinstance(member, bool) and str(member).lower() in SPOKEN)
               for name, member in body.items())


def names_null(case):
    """A member of a request to issue that is null counts as absent, as the contract says; its schema does not, for the sake of generators."""
    if case.operation.definition.raw.get("operationId") not in {"issue", "batch"} or not isinstance(case.body, dict):
        return False
    items = case.body.get("items", [case.body])
    return isinstance(items, list) and any(None in item.values() for item in items if isinstance(item, dict))


def statuses_inside(case, response):
    """A batch answers each of its receipts by itself."""
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
    """The coverage phase does everything to every element of all ten payloads, in tens of thousands of requests. So each thing is done to an
    element once, and not again in the payload of the next type or with the next of 60 units. What is around the payload, and the other phases,
    lose nothing."""
    done = case.meta.phase.data
    if not isinstance(done, CoveragePhaseData) or not INSIDE.search(done.description):
        return True
    thing = (case.meta.generation.mode, done.description)
    new = thing not in DONE
    DONE.add(thing)
    return new


@schemathesis.hook("before_init_operation").apply_to(operation_id="batch")
def examples_for_payloads(context, operation):
    """A batch takes the payloads of `issue`, whose elements have their turn there: here the coverage phase takes the document's examples for them,
    and varies what is around. The other phases read another schema, and lose nothing."""
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
