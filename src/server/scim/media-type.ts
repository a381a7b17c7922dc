// The media types of the protocol: its own, and plain JSON for who asks for that alone (RFC 7644 section 3.1).

export const SCIM_MEDIA_TYPE = "application/scim+json";
export const JSON_MEDIA_TYPE = "application/json";

/** Ranges of an Accept header that our own media type fits. */
const FITTING = new Set([SCIM_MEDIA_TYPE, "application/*", "*/*"]);

/** @returns the media type to answer with; never a reason to refuse (scim.md SCIM-35) */
export function answerMediaType(request: Request): string {
  const accept = request.headers.get("accept");
  if (accept === null || accept === "*/*" || accept === SCIM_MEDIA_TYPE) return SCIM_MEDIA_TYPE;
  const ranges = accept.split(",").map((range) => range.split(";", 1)[0]?.trim().toLowerCase() ?? "");
  const wantsJson = ranges.includes(JSON_MEDIA_TYPE) && !ranges.some((range) => FITTING.has(range));
  return wantsJson ? JSON_MEDIA_TYPE : SCIM_MEDIA_TYPE;
}
