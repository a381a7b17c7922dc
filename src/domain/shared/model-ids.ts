// The ids of models, which gateways list and policies assign. They are compared byte by byte and never changed.

/** Maximum UTF-16 units of an id. */
export const MODEL_ID_CHARACTERS_MAX = 512;

const CONTROL_CHARACTER = /\p{Cc}/u;

/** @returns why the text cannot be the id of a model; undefined if it can */
export function modelIdProblem(id: string): string | undefined {
  if (id.trim() === "") return "must not be empty";
  if (id.length > MODEL_ID_CHARACTERS_MAX)
    return `has ${id.length} characters; the limit is ${MODEL_ID_CHARACTERS_MAX}`;
  if (id !== id.trim()) return "must not begin or end with white space";
  return CONTROL_CHARACTER.test(id) || !id.isWellFormed()
    ? "must be one line without control characters"
    : undefined;
}
