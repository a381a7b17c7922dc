// Instants in filter literals. platform/clock.ts writes instants in responses.

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.(\d{1,9})\d*)?(Z|([+-])([01]\d|2[0-3]):([0-5]\d))?$/i;
const MINUTE_MS = 60_000;

/**
 * @param text RFC 3339; UTC without an offset; digits below a millisecond are dropped
 * @returns UTC milliseconds; undefined for anything else, such as a day that does not exist
 * @source SCIM-57
 */
export function instantOf(text: string): number | undefined {
  const [, day, time, fraction = "", , sign, hours = "0", minutes = "0"] = INSTANT.exec(text) ?? [];
  if (day === undefined || time === undefined) return undefined;
  const local = Date.parse(`${day}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(`${day}T${time}`)) return undefined;
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  return sign === "-" ? local + offsetMs : local - offsetMs;
}
