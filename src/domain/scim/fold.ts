// How text is compared where case does not count (scim.md SCIM-29): the same fold for stored keys and for filter literals.

/** @returns the text in compatibility form (NFKC) and lower case, whatever the machine's locale */
export const fold = (text: string): string => text.normalize("NFKC").toLowerCase();
