// Distinguishes JSON objects from other parsed values. Callers check the members.

export type JsonObject = Readonly<Record<string, unknown>>;

/** @returns whether the value is an object, not null or a list */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
