// The number of requests that this process may send at the same time. The runtime silently queues further ones, and reads the
// number from an environment variable once.

/** The runtime reads it at startup. */
export const SLOTS_VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** The runtime's default. Reserved for everything except inference: provisioning, catalogs, the identity provider. */
export const OTHER_SLOTS = 256;

/** @returns the slots for a process that forwards this many inference requests at the same time */
export const slotsNeeded = (maxInFlight: number): number => maxInFlight + OTHER_SLOTS;

/** @returns the slots of a process with this environment */
export function slotsIn(env: Readonly<Record<string, string | undefined>>): number {
  const given = env[SLOTS_VARIABLE] ?? "";
  return /^\d{1,9}$/.test(given) ? Number(given) : OTHER_SLOTS;
}
