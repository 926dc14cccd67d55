#!/usr/bin/env python3
"""Copies a deployment's records, documents and secrets, or those of one company, to a folder, and a folder to a
deployment.

    deployment.py save FOLDER [COMPANY]     deployment.py load FOLDER

The variables TABLE_NAME, BUCKET_NAME, SECRET_PREFIX and SECRETS_KMS_KEY (the key of new secrets), and AWS's own
variables, select the deployment. COMPANY is a company's id. Loading replaces entries with the same name and changes
no others. It rejects a company whose RNC belongs to another company in the target.

Use it for small deployments, for one company, and for a trial migration; AWS copies large deployments itself
(docs/backup.md). Queues are not copied: housekeeping enqueues their jobs again from the records. Needs boto3.
"""

import base64
import json
import os
import sys
from pathlib import Path

import boto3

TABLE, BUCKET, PREFIX = (os.environ[name] for name in ("TABLE_NAME", "BUCKET_NAME", "SECRET_PREFIX"))
KEY = {"KmsKeyId": os.environ["SECRETS_KMS_KEY"]} if os.environ.get("SECRETS_KMS_KEY") else {}


def plain(value):
    """Converts DynamoDB's typed value to JSON; bytes become Base64."""
    (kind, held), = value.items()
    if kind == "B":
        return {kind: base64.b64encode(held).decode()}
    if kind == "BS":
        return {kind: [base64.b64encode(one).decode() for one in held]}
    if kind == "M":
        return {kind: {name: plain(one) for name, one in held.items()}}
    if kind == "L":
        return {kind: [plain(one) for one in held]}
    return value


def typed(value):
    (kind, held), = value.items()
    if kind == "B":
        return {kind: base64.b64decode(held)}
    if kind == "BS":
        return {kind: [base64.b64decode(one) for one in held]}
    if kind == "M":
        return {kind: {name: typed(one) for name, one in held.items()}}
    if kind == "L":
        return {kind: [typed(one) for one in held]}
    return value


def is_of(item, company):
    """Whether a record names the company: in its key, or as the owner of an RNC or an API key."""
    return any(company in held for value in item.values() for held in value.values() if isinstance(held, str))


def save(folder, company=""):
    counts = {"records": 0, "documents": 0, "secrets": 0}
    (folder / "company").write_text(company)
    with open(folder / "records.jsonl", "w") as out:
        for page in boto3.client("dynamodb").get_paginator("scan").paginate(TableName=TABLE, ConsistentRead=True):
            for item in filter(lambda item: is_of(item, company), page["Items"]):
                out.write(json.dumps({name: plain(value) for name, value in item.items()}) + "\n")
                counts["records"] += 1
    s3 = boto3.client("s3")
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
        for entry in page.get("Contents", []):
            if company not in entry["Key"]:
                continue
            place = folder / "documents" / entry["Key"]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(s3.get_object(Bucket=BUCKET, Key=entry["Key"])["Body"].read())
            counts["documents"] += 1
    vault, secrets = boto3.client("secretsmanager"), {}
    for page in vault.get_paginator("list_secrets").paginate():
        for entry in page["SecretList"]:
            # Other applications may share the account.
            if entry["Name"].startswith(PREFIX + "/") and company in entry["Name"]:
                secrets[entry["Name"].removeprefix(PREFIX)] = vault.get_secret_value(SecretId=entry["Name"])["SecretString"]
    file = os.open(folder / "secrets.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(file, "w") as out:
        json.dump(secrets, out)
    return counts | {"secrets": len(secrets)}


def refuse_a_second(folder, company):
    """An RNC has one company: a load must not take it from another."""
    for line in open(folder / "records.jsonl"):
        item = {name: typed(value) for name, value in json.loads(line).items()}
        if item["pk"]["S"].startswith("rnc#"):
            there = boto3.client("dynamodb").get_item(TableName=TABLE, Key={"pk": item["pk"], "sk": item["sk"]}, ConsistentRead=True).get("Item")
            if there and not is_of(there, company):
                sys.exit(f"{item['pk']['S']} belongs to another company here; nothing was loaded")


def load(folder):
    counts = {"records": 0, "documents": 0, "secrets": 0}
    if company := (folder / "company").read_text():
        refuse_a_second(folder, company)
    vault = boto3.client("secretsmanager")
    # Secrets first: they decrypt the rest.
    for name, text in json.loads((folder / "secrets.json").read_text()).items():
        try:
            vault.create_secret(Name=PREFIX + name, SecretString=text, **KEY)
        except vault.exceptions.ResourceExistsException:
            vault.put_secret_value(SecretId=PREFIX + name, SecretString=text)
        counts["secrets"] += 1
    s3 = boto3.client("s3")
    for place in sorted((folder / "documents").rglob("*")):
        if place.is_file():
            s3.put_object(Bucket=BUCKET, Key=str(place.relative_to(folder / "documents")), Body=place.read_bytes())
            counts["documents"] += 1
    # Records last: housekeeping acts on them from the first one on.
    table = boto3.client("dynamodb")
    for line in open(folder / "records.jsonl"):
        item = {name: typed(value) for name, value in json.loads(line).items()}
        table.put_item(TableName=TABLE, Item=item)
        counts["records"] += 1
    return counts


if __name__ == "__main__":
    action, folder = {"save": save, "load": load}[sys.argv[1]], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    print(", ".join(f"{count} {what}" for what, count in action(folder, *sys.argv[3:]).items()))
