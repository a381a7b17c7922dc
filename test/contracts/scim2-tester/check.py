"""Runs scim2-tester against SCIM_BASE_URL with the token SCIM_TOKEN, prints every result, and exits with 1 when it
reports an error. run.ts starts the service and this."""

import os
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import CheckResult, Status, check_server

FAILED = (Status.ERROR, Status.CRITICAL)

def main() -> int:
    headers = {"Authorization": f"Bearer {os.environ['SCIM_TOKEN']}"}
    client = SyncSCIMClient(Client(base_url=os.environ["SCIM_BASE_URL"], headers=headers))
    client.discover()
    results = check_server(client)
    for result in results:
        print(line_of(result))
    failed = [result for result in results if result.status in FAILED]
    print(f"{len(results)} results: {len(failed)} errors")
    return 1 if failed or not results else 0


def line_of(result: CheckResult) -> str:
    subject = f" [{result.resource_type}]" if result.resource_type else ""
    return f"{result.status.name} {result.title}{subject}: {result.reason or ''}"


if __name__ == "__main__":
    sys.exit(main())
