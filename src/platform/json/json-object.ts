// Distinguishes JSON objects from other parsed values. Callers check the members.

export type JsonObject = Readonly<Record<string, unknown>>;

/** @returns whether the value is an object, not null or a list */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @returns the value with that name; undefined also for inherited names such as `constructor` */
export const ownMember = <Value>(
  members: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined => (Object.hasOwn(members, name) ? members[name] : undefined);
