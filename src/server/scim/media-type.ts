// Media types of SCIM: its own, and plain JSON for callers that accept only that (RFC 7644 section 3.1).

export const SCIM_MEDIA_TYPE = "application/scim+json";
export const JSON_MEDIA_TYPE = "application/json";

/** Accept ranges that match the SCIM media type. */
const FITTING = new Set([SCIM_MEDIA_TYPE, "application/*", "*/*"]);

/** @returns the media type of the response; an Accept header never causes a refusal */
export function responseMediaType(request: Request): string {
  const accept = request.headers.get("accept");
  if (accept === null || accept === "*/*" || accept === SCIM_MEDIA_TYPE) return SCIM_MEDIA_TYPE;
  const ranges = accept.split(",").map((range) => range.split(";", 1)[0]?.trim().toLowerCase() ?? "");
  const wantsJson = ranges.includes(JSON_MEDIA_TYPE) && !ranges.some((range) => FITTING.has(range));
  return wantsJson ? JSON_MEDIA_TYPE : SCIM_MEDIA_TYPE;
}
