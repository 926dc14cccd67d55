#!/bin/sh
# usage: ECF_API=… ECF_KEY=… issue.sh < invoice.json
curl -sS "$ECF_API/api/v1/ecf" -H "X-API-Key: $ECF_KEY" -H 'Content-Type: application/json' --data-binary @-
