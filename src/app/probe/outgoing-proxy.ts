// Reports a proxy that the environment names for the way out. The probe connects directly; a client may not.
import { checkOf, type Finding } from "../doctor/finding.ts";

/** @returns a warning if the environment names a proxy for this origin; otherwise nothing */
export function checkOutgoingProxy(
  { protocol, hostname }: URL,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const names = [`${protocol.slice(0, -1)}_proxy`, "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  const named = names.find((name) => env[name]);
  if (named === undefined || isExempt(hostname, env.no_proxy ?? env.NO_PROXY ?? "")) return [];
  return [
    checkOf("outgoing_proxy").warning(
      `${named} names a proxy; this probe connects directly, but workstations may use the proxy`,
      `if the service is in your own network, add ${hostname} to NO_PROXY`,
    ),
  ];
}

/** Names match themselves and the names below them. */
const isExempt = (host: string, exempt: string): boolean =>
  exempt
    .split(",")
    .map((entry) => entry.trim().replace(/^\*?\./, ""))
    .some((entry) => entry === "*" || (entry !== "" && (host === entry || host.endsWith(`.${entry}`))));
