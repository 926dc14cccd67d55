"""The questions of `infra/preflight` to an account."""

from stage import client

# Lambda refuses a reservation that leaves less for all other functions.
LEAST_UNRESERVED = 100
ROLES = 22
RESERVATIONS = ["ReceptionConcurrency", "IssuingReserved", "SubmissionReserved", "WebhooksConcurrency"]
# Chosen at the first deployment.
FIXED = ["ObjectLock", "DataKeyOrigin"]


class Report:
    def __init__(self):
        self.failed = 0

    def good(self, text):
        print(f"   {text}")

    def advise(self, text):
        print(f" ? {text}")

    def fail(self, text):
        self.failed += 1
        print(f"!! {text}")


def preflight(stage, endpoint=None):
    from botocore.exceptions import BotoCoreError, ClientError

    report = Report()
    try:
        account = client("sts", stage, endpoint).get_caller_identity()["Account"]
    except (BotoCoreError, ClientError) as error:
        report.fail(f"AWS does not answer with these credentials: {error}")
        return report
    report.good(f"stack {stage.stack}, account {account}, {stage.region}")
    current = stack(stage, endpoint)
    for check in (state, concurrency, gateway, roles, data_key, trust, domain, people):
        try:
            check(stage, endpoint, current, report)
        except (BotoCoreError, ClientError) as error:
            report.advise(f"{check.__doc__.rstrip('.')}: not known, {error}")
    return report


def stack(stage, endpoint):
    """The stack as it is, or `None`."""
    from botocore.exceptions import ClientError

    try:
        return client("cloudformation", stage, endpoint).describe_stacks(StackName=stage.stack)["Stacks"][0]
    except ClientError:
        return None


def parameters_of(current):
    return {one["ParameterKey"]: one["ParameterValue"] for one in (current or {}).get("Parameters", [])}


def state(stage, endpoint, current, report):
    """The state of the stack."""
    if not current:
        return report.good("the stack does not exist yet")
    status = current["StackStatus"]
    if status in ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED", "REVIEW_IN_PROGRESS"):
        report.fail(f"the stack is {status}: its first deployment failed. Delete it first, infra/teardown {stage.name} --delete")
    elif status.endswith("_IN_PROGRESS"):
        report.fail(f"the stack is {status}: wait until that has ended")
    elif status == "UPDATE_ROLLBACK_FAILED":
        report.fail(f"the stack is {status}: aws cloudformation continue-update-rollback --stack-name {stage.stack}")
    else:
        report.good(f"the stack is {status}")
    before = parameters_of(current)
    for name in FIXED:
        if before.get(name, stage.values[name]) != stage.values[name]:
            report.fail(f"{name} was {before[name]} at the first deployment and cannot become {stage.values[name]}")


def concurrency(stage, endpoint, current, report):
    """The concurrency of Lambda."""
    limit = client("lambda", stage, endpoint).get_account_settings()["AccountLimit"]
    total, free = limit["ConcurrentExecutions"], limit["UnreservedConcurrentExecutions"]
    before = parameters_of(current)
    reserved = sum(stage.number(name) for name in RESERVATIONS)
    # What this stack has reserved already is free for it.
    free += sum(int(before.get(name, 0)) for name in RESERVATIONS)
    queues = {"IssuingConcurrency": 1, "SubmissionConcurrency": 3, "WebhookConcurrency": 1, "WebhookSlowConcurrency": 1, "ExchangeConcurrency": 1}
    workers = sum(stage.number(name) * times for name, times in queues.items())
    # A request takes a tenth of a second.
    requests = stage.number("ThrottlingRate") // 10
    wanted = total - free + reserved + max(LEAST_UNRESERVED, workers + requests)
    ask = (
        f"ask for {-(-wanted // 100) * 100}: aws service-quotas request-service-quota-increase --region {stage.region} "
        f"--service-code lambda --quota-code L-B99A9384 --desired-value {-(-wanted // 100) * 100}"
    )
    if reserved and free - reserved < LEAST_UNRESERVED:
        names = ", ".join(f"{name}={stage.values[name]}" for name in RESERVATIONS if stage.number(name))
        report.fail(f"{names} leaves {max(free - reserved, 0)} of {total} executions to all other functions, and Lambda demands {LEAST_UNRESERVED}; {ask}")
    elif wanted > total:
        report.advise(f"the account runs {total} functions at a time; workers ({workers}), requests ({requests}) and reservations ({reserved}) may take {wanted}; {ask}")
    else:
        report.good(f"{total} functions at a time, of which this stage may take {wanted}")


def gateway(stage, endpoint, current, report):
    """The throttling and the log role of API Gateway."""
    account = client("apigateway", stage, endpoint).get_account()
    throttle = account.get("throttleSettings", {})
    for name, word, code in [("ThrottlingRate", "rateLimit", "L-8A5B8E43"), ("ThrottlingBurst", "burstLimit", "L-CDF5615A")]:
        if word in throttle and throttle[word] < stage.number(name):
            report.fail(f"{name}={stage.values[name]} is above the account's {throttle[word]:g}: lower it, or ask for a higher quota (apigateway, {code})")
    role = account.get("cloudwatchRoleArn")
    if role and stage.values["SetApiGatewayAccount"] == "true" and not current:
        report.advise(f"the gateway has a role for its logs already ({role}); SetApiGatewayAccount=false leaves it as it is")
    elif not role and stage.values["SetApiGatewayAccount"] == "false":
        report.fail("the gateway has no role for its logs in this region: leave SetApiGatewayAccount out")
    else:
        report.good("the gateway's throttling and role fit")


def roles(stage, endpoint, current, report):
    """The number of IAM roles."""
    if current:
        return
    found = client("iam", stage, endpoint).get_account_summary()["SummaryMap"]
    if found["Roles"] + ROLES > found["RolesQuota"]:
        report.fail(f"the account has {found['Roles']} of {found['RolesQuota']} roles, this stack makes {ROLES}: ask for a higher quota (iam, L-FE177D64)")
    else:
        report.good(f"{found['Roles']} of {found['RolesQuota']} roles")


def secret(stage, endpoint, name):
    """A secret of the stage, or `None`."""
    secrets = client("secretsmanager", stage, endpoint)
    try:
        return secrets.describe_secret(SecretId=f"ecf/{stage.stack}/{name}")
    except secrets.exceptions.ResourceNotFoundException:
        return None


def data_key(stage, endpoint, current, report):
    """The data key."""
    found, origin = secret(stage, endpoint, "data-key"), stage.values["DataKeyOrigin"]
    name = f"ecf/{stage.stack}/data-key"
    if found and found.get("DeletedDate"):
        report.fail(f"{name} is being deleted: aws secretsmanager restore-secret --secret-id {name}, and DataKeyOrigin=retained; or delete it at once, with --force-delete-without-recovery")
    elif found and not current and origin == "new":
        report.fail(f"{name} is left from an earlier stack of this name: add DataKeyOrigin=retained")
    elif not found and origin == "retained":
        report.fail(f"there is no {name} to retain: leave DataKeyOrigin out")
    else:
        report.good(f"{name} {'exists' if found else 'will be made'}")


def trust(stage, endpoint, current, report):
    """The secrets that you create."""
    if stage.values["CertificateTrust"] == "chain" and not secret(stage, endpoint, "certificate-authorities"):
        report.advise(f"ecf/{stage.stack}/certificate-authorities is missing: only the operator can verify companies")
    if stage.values["PortalUrl"] and not secret(stage, endpoint, "portal-secret"):
        report.advise(f"ecf/{stage.stack}/portal-secret is missing: the portal is notified unsigned")


def domain(stage, endpoint, current, report):
    """The certificate of the host name."""
    name, arn = stage.values["DomainName"], stage.values["DomainCertificateArn"]
    if not name:
        return
    if not arn:
        return report.fail(f"DomainName={name} needs DomainCertificateArn")
    found = client("acm", stage, endpoint).describe_certificate(CertificateArn=arn)["Certificate"]
    names = {found["DomainName"], *found.get("SubjectAlternativeNames", [])}
    if found["Status"] != "ISSUED":
        report.fail(f"the certificate of {name} is {found['Status']}")
    elif name not in names and "*." + name.partition(".")[2] not in names:
        report.fail(f"the certificate is for {', '.join(sorted(names))}, not for {name}")
    else:
        report.good(f"the certificate of {name} is issued")


def people(stage, endpoint, current, report):
    """Who is notified."""
    if not any(stage.values[name] for name in ("AlarmEmail", "AlarmEmail2", "AlarmEmail3", "AlarmUrl")):
        report.advise("nobody is told about alarms: set AlarmEmail")
