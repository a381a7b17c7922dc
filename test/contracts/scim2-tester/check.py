"""Runs scim2-tester against SCIM_BASE_URL with the token SCIM_TOKEN, prints every result, and exits with 1 when it
reports an error that is not explained below, or no longer reports one that is. run.ts starts the service and this."""

import os
import sys

from httpx import Client
from scim2_client.engines.httpx import SyncSCIMClient
from scim2_tester import CheckResult, Status, check_server

FAILED = (Status.ERROR, Status.CRITICAL)

# Errors by check, resource type and attribute, with the value that is answered and the reason why it stays.
EXPLAINED = {
    ("check_remove_attribute", "Group", "members"): (
        [],
        "scim.md section 2.1 wants the list also when it is empty, because some providers add nobody to a list that "
        "is not there; RFC 7643 section 2.5 calls both the same",
    ),
}


def main() -> int:
    headers = {"Authorization": f"Bearer {os.environ['SCIM_TOKEN']}"}
    client = SyncSCIMClient(Client(base_url=os.environ["SCIM_BASE_URL"], headers=headers))
    client.discover()
    results = check_server(client)
    for result in results:
        print(line_of(result))
    failed = [result for result in results if result.status in FAILED]
    unexplained = [result for result in failed if explanation_of(result) is None]
    unused = set(EXPLAINED) - {key_of(result) for result in failed}
    for key in sorted(unused):
        print("explained, but no error any more:", *key)
    explained = len(failed) - len(unexplained)
    print(f"{len(results)} results: {len(unexplained)} errors, {explained} explained")
    return 1 if unexplained or unused or not results else 0


def line_of(result: CheckResult) -> str:
    explanation = explanation_of(result) if result.status in FAILED else None
    status = "EXPLAINED" if explanation else result.status.name
    subject = f" [{result.resource_type}]" if result.resource_type else ""
    return f"{status} {result.title}{subject}: {result.reason or ''}" + (f" ({explanation})" if explanation else "")


def explanation_of(result: CheckResult) -> str | None:
    value, explanation = EXPLAINED.get(key_of(result), (None, None))
    return explanation if explanation and result.data.get("actual_value") == value else None


def key_of(result: CheckResult) -> tuple[str, str, str]:
    urn = result.data.get("urn", "") if isinstance(result.data, dict) else ""
    return (result.title or "", result.resource_type or "", urn)


if __name__ == "__main__":
    sys.exit(main())
