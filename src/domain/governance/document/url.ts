// Checks URLs in a document: absolute, http or https. Reachability is not checked.

/** @returns why the text is not such a URL, without repeating the text, which may contain credentials */
export const urlProblem = (text: string): string | undefined =>
  /^https?:\/\//i.test(text) && URL.canParse(text)
    ? undefined
    : "must be a complete URL that begins with https:// or http://";
