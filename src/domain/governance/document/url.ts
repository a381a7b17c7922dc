// URLs in a document: absolute, http or https. Whether somebody answers there is not looked at.

/** @returns why the text is no such URL; never repeats it, it may hold credentials */
export const urlProblem = (text: string): string | undefined =>
  /^https?:\/\//i.test(text) && URL.canParse(text)
    ? undefined
    : "must be a complete URL that begins with https:// or http://";
