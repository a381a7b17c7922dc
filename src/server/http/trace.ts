// The trace that a caller says a request belongs to, for the log. Traces of our own are not made.

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/**
 * @returns 32 hex digits; undefined without a header, or with one that says nothing
 * @source W3C Trace Context section 3.2; operator-experience.md OBS-4
 */
export const traceIdOf = ({ headers }: Request): string | undefined =>
  TRACEPARENT.exec(headers.get("traceparent") ?? "")?.[1];
