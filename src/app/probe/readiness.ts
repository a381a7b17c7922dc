// Asks the probed server whether it is ready, as a load balancer does.

import { isJsonObject } from "../../platform/json/json-object.ts";
import type { NamedServer } from "../../platform/outbound/named-server.ts";
import type { Check, Finding } from "../doctor/finding.ts";
import { shortened } from "./json-response.ts";

const PATH = "/ready";
const OK = 200;

/** @throws DomainError of NamedServer if there is no response */
export async function checkReadiness(check: Check, server: NamedServer): Promise<Finding> {
  const { status, body } = await server.ask(PATH);
  if (status === OK && body === "ready") return check.ok("the service is ready");
  return check.failed(
    `${PATH} answered ${status}: ${shortened(detailIn(body))}`,
    "quartermaster doctor explains each of the names; if the answer is from another server, check the address",
  );
}

function detailIn(body: string): string {
  try {
    const document: unknown = JSON.parse(body);
    if (isJsonObject(document) && typeof document.detail === "string") return document.detail;
  } catch {
    // not from the service
  }
  return body;
}
