// The header `traceparent`, which carries the trace of a request between services (W3C Trace Context section 3.2).

/** The identity of a span in its trace. */
export interface TraceContext {
  /** 32 hex digits */
  traceId: string;
  /** 16 hex digits */
  spanId: string;
  isSampled: boolean;
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-|$)/;
const SAMPLED = 1;

/** @returns undefined if the header is missing or invalid */
export function traceContextIn(headers: Headers): TraceContext | undefined {
  const header = headers.get("traceparent");
  const [, traceId, spanId, flags] = (header !== null && TRACEPARENT.exec(header)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** @returns the value of the header */
export const traceparentOf = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
