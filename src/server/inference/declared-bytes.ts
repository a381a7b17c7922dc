// Reads the declared length of a request, for both the limit and the body.

/**
 * The runtime refuses lengths that differ, but lets the same length pass twice, as `2, 2` (RFC 9110 section 8.6 permits both).
 * @returns undefined for a body of unknown length, or none
 */
export function declaredBytes(headers: Headers): number | undefined {
  const length = headers.get("content-length");
  return length === null ? undefined : Number.parseInt(length, 10);
}
