// URLs in a document: absolute, http or https. Whether somebody answers there is not looked at.

/** @returns why it is none; never repeats it, it may hold credentials */
export const urlFault = (text: string): string | undefined => {
  const url = URL.parse(text);
  const isWeb =
    url !== null && (url.protocol === "https:" || url.protocol === "http:") && /^https?:\/\//i.test(text);
  return isWeb ? undefined : "must be a complete URL that begins with https:// or http://";
};
