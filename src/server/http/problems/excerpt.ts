// How much of a caller's input an error repeats.

/** Characters of the input in one error at most. */
export const EXCERPT_CHARACTERS_MAX = 200;

/** @returns the text, cut with an ellipsis where it is longer than an error may repeat */
export const excerpt = (text: string, charactersMax: number = EXCERPT_CHARACTERS_MAX): string =>
  text.length > charactersMax ? `${text.slice(0, charactersMax - 1).toWellFormed()}…` : text;
