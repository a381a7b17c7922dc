// Sends spans to a collector by OTLP over HTTP in its JSON form, through platform/outbound.

import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { SECOND_MS } from "../clock.ts";
import { DomainError, reasonForOperators } from "../errors.ts";
import { discardBody } from "../outbound/discard-body.ts";
import type { Outbound, PeerTls } from "../outbound/outbound.ts";
import type { Secret } from "../secret.ts";
import type { Delivered } from "./span-queue.ts";

export const SEND_TIMEOUT_MS = 10 * SECOND_MS;
/** Maximum size of a response, which only reports how many spans were rejected. */
export const RESPONSE_BYTES_MAX = 64 * 1024;
/** Another attempt may succeed (the protocol, "Retryable Response Codes"). */
const RETRYABLE = new Set([429, 502, 503, 504]);

export interface CollectorOptions {
  outbound: Pick<Outbound, "fetch">;
  /** name of the collector among the destinations of `outbound` */
  destination: string;
  /** path with a leading slash */
  path: string;
  authorization: Secret | undefined;
  /** read for each batch, so that a renewed certificate needs no restart */
  tls(): PeerTls;
}

/**
 * @returns a function that sends a batch and never rejects
 * @source OTLP specification 1.9, OTLP/HTTP
 */
export const collector =
  ({ outbound, destination, path, authorization, tls }: CollectorOptions) =>
  async (spans: readonly ReadableSpan[]): Promise<Delivered> => {
    try {
      const body = Buffer.from(JsonTraceSerializer.serializeRequest([...spans]) ?? []);
      const response = await outbound.fetch(destination, path, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(authorization && { authorization: authorization.reveal() }),
        },
        body,
        timeoutMs: SEND_TIMEOUT_MS,
        tls: tls(),
      });
      if (response.ok) return { taken: true, refused: Math.min(spans.length, await refusedIn(response)) };
      await discardBody(response);
      return {
        taken: false,
        isFinal: !RETRYABLE.has(response.status),
        error: `the collector answered ${response.status}`,
      };
    } catch (error) {
      if (error instanceof DomainError)
        return { taken: false, isFinal: false, error: reasonForOperators(error) };
      // No other error may stop the service. The batch is dropped, because it would fail again.
      return { taken: false, isFinal: true, error: error instanceof Error ? error.name : "unknown" };
    }
  };

/** @returns the number of rejected spans in a partial success; 0 if the response cannot be read */
async function refusedIn(response: Response): Promise<number> {
  if (Number(response.headers.get("content-length") ?? RESPONSE_BYTES_MAX + 1) > RESPONSE_BYTES_MAX) {
    await discardBody(response);
    return 0;
  }
  const bytes = await response.bytes().catch(() => new Uint8Array());
  if (bytes.length === 0) return 0;
  try {
    const { partialSuccess } = JsonTraceSerializer.deserializeResponse(bytes);
    return Math.max(0, Number(partialSuccess?.rejectedSpans ?? 0)) || 0;
  } catch {
    return 0;
  }
}
