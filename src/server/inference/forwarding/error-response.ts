// Reads an error of the upstream before it is passed on. Some gateways repeat the key in their errors, and it must not reach the
// workstation. A 401 about the user's key is reported, and the key is replaced. Any other error is passed on unchanged.

import type { RejectionReason, ReplaceKey, UsableKey } from "../../../domain/gateway/service.ts";
import type { ForwardingMetrics } from "./forwarding-metrics.ts";
import type { OpenCall } from "./open-call.ts";
import type { ResponseReader } from "./pump.ts";
import { isPlain, isPlainEventStream } from "./response-headers.ts";

/** A longer response is not about the key, and is searched for the key up to here only. */
export const ERROR_BYTES_MAX = 64 * 1024;

export interface ErrorResponseOptions {
  replaceKey: ReplaceKey;
  /** @returns why the gateway rejected the key; undefined if the body is not about the key */
  classify(body: string): RejectionReason | undefined;
  figures: Pick<ForwardingMetrics, "rejected" | "replayed">;
}

/** Either a new key, if one arrives in time, or a reader of the whole response, if it neither concerns nor contains the key. */
export type ErrorResponse =
  | { readonly replacement: UsableKey | undefined }
  | { readonly reader: ResponseReader }
  | { readonly tellsKey: true };

/**
 * A 401 is always read, because it may concern the key. Any other error is read only if it can be searched for the key, and an
 * event stream must not wait.
 * @returns whether the response is read before it is passed on
 */
export function isReadFirst({ status, headers }: Response): boolean {
  if (status < 400 || status > 599) return false;
  return status === 401 || (isPlain(headers) && !isPlainEventStream(headers));
}

/** @throws CallStopped; the runtime's error if the upstream ends the response */
export async function readErrorResponse(
  open: OpenCall,
  response: Response,
  { replaceKey, classify, figures, key }: ErrorResponseOptions & { key: UsableKey },
): Promise<ErrorResponse> {
  const { pieces, rest } = await readUpTo(open, response);
  const body = Buffer.concat(pieces);
  const reason = rest || response.status !== 401 ? undefined : classify(body.toString("utf8"));
  if (!reason)
    return body.includes(key.credential.reveal()) ? { tellsKey: true } : { reader: replay(pieces, rest) };
  figures.rejected(reason);
  const { admitted } = open.call;
  const { credentialVersion } = key;
  const { userId, organizationId, gatewaySessionId } = admitted;
  const used = { userId, organizationId, gatewaySessionId, credentialVersion };
  return { replacement: await open.orStopped(replaceKey(used, reason)) };
}

interface Read {
  pieces: Uint8Array<ArrayBuffer>[];
  /** undefined at the end of the response */
  rest: ResponseReader | undefined;
}

async function readUpTo(open: OpenCall, { body }: Response): Promise<Read> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader: ResponseReader | undefined = body?.getReader();
  for (let bytes = 0; reader && bytes <= ERROR_BYTES_MAX; ) {
    const { done, value } = await open.orStopped(reader.read());
    if (done || !value) return { pieces, rest: undefined };
    open.arrived();
    pieces.push(value);
    bytes += value.length;
  }
  return { pieces, rest: reader };
}

/** @returns a reader of the bytes read so far, and then of the rest */
function replay(pieces: Uint8Array<ArrayBuffer>[], rest: ResponseReader | undefined): ResponseReader {
  let at = 0;
  return {
    async read() {
      const value = pieces[at];
      at += 1;
      if (value) return { done: false, value };
      return rest ? await rest.read() : { done: true, value: undefined };
    },
  };
}
