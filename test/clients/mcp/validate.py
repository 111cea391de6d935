"""Validates values as the official client does. Reads the cases from the file, and prints each rejected one as JSON."""

import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    cases = json.load(file)
for case in cases:
    try:
        jsonschema.validate(json.loads(case["value"]), json.loads(case["schema"]))
    except Exception as error:
        print(json.dumps({"rejected": case, "error": str(error)[:200]}))
print(json.dumps({"validated": len(cases)}))
