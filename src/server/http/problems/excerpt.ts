// Limits how much of the caller's input an error repeats.

/** Limit on input characters in one error. */
export const EXCERPT_CHARACTERS_MAX = 200;

/** @returns the text, shortened with an ellipsis if it exceeds the limit */
export const excerpt = (text: string, charactersMax: number = EXCERPT_CHARACTERS_MAX): string =>
  text.length > charactersMax ? `${text.slice(0, charactersMax - 1).toWellFormed()}…` : text;
