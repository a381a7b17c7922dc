// Tells JSON objects from everything else that a parsed text may hold. What an object has to contain is for its readers.

export type JsonObject = Readonly<Record<string, unknown>>;

/** @returns whether the value is an object: neither null nor a list */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
