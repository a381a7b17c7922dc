// Reads the trace id of the caller for the log. The service creates no traces of its own.

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/**
 * @returns 32 hex digits; undefined if the header is missing or invalid
 * @source W3C Trace Context section 3.2
 */
export const traceIdOf = ({ headers }: Request): string | undefined =>
  TRACEPARENT.exec(headers.get("traceparent") ?? "")?.[1];
