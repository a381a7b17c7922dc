// Reports an outgoing proxy that the environment names. The probe connects directly; a client may not.
import { type Environment, proxyFor } from "../../platform/outbound/proxy.ts";
import { checkOf, type Finding } from "../doctor/finding.ts";

/** @returns a warning if the environment names a proxy for this origin; otherwise nothing */
export function checkOutgoingProxy(origin: URL, environment: Environment): Finding[] {
  const named = proxyFor(origin, environment);
  if (!named) return [];
  return [
    checkOf("outgoing_proxy").warning(
      `${named.variable} names a proxy; this probe connects directly, but workstations may use the proxy`,
      `if the service is in your own network, add ${origin.hostname} to NO_PROXY`,
    ),
  ];
}
