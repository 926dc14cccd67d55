"""Where the contract departs from what Schemathesis assumes, and a status alone cannot say it. All else stands in schemathesis.toml."""

from schemathesis.checks import CHECKS
from schemathesis.specs.openapi import checks

enforces = checks._enforces_auth
rejects = checks.negative_data_rejection
# What FastAPI takes for a boolean, and the service so takes too.
SPOKEN = {"true", "false", "1", "0", "yes", "no", "on", "off", "t", "f", "y", "n"}


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


def speaks_a_boolean(body, names):
    if isinstance(body, list):
        return any(speaks_a_boolean(one, names) for one in body)
    if not isinstance(body, dict):
        return False
    return any(speaks_a_boolean(member, names) or (name in names and not isinstance(member, bool) and str(member).lower() in SPOKEN)
               for name, member in body.items())


def refused_inside(case, response):
    """A batch answers each of its receipts by itself."""
    if case.operation.definition.raw.get("operationId") != "batch" or response.status_code != 200:
        return False
    return any(item["status_code"] == 422 for item in response.json()["items"])


def negative_data_rejection(ctx, response, case):
    # An empty parameter is an absent one: forms and spreadsheets send `?status=&limit=`.
    if "" in (case.query or {}).values() or refused_inside(case, response):
        return None
    if speaks_a_boolean(case.body, booleans(case.operation.schema.raw_schema["components"]["schemas"])):
        return None
    return rejects(ctx, response, case)


checks._enforces_auth = enforces_auth
CHECKS.unregister("negative_data_rejection")
CHECKS.register(negative_data_rejection)
