// Reads a 401 of the upstream. If it is about the user's key, the key is reported and replaced. Any other 401 is passed on
// unchanged.

import type { RejectionReason, ReplaceKey, UsableKey } from "../../../domain/gateway/service.ts";
import type { ForwardingMetrics } from "./forwarding-metrics.ts";
import type { OpenCall } from "./open-call.ts";
import type { ResponseReader } from "./pump.ts";

/** A longer response is not about the key. */
export const REFUSAL_BYTES_MAX = 64 * 1024;

export interface RefusedKeyOptions {
  replaceKey: ReplaceKey;
  /** @returns why the gateway rejected the key; undefined if the body is not about the key */
  classify(body: string): RejectionReason | undefined;
  figures: Pick<ForwardingMetrics, "rejected" | "replayed">;
}

/** Either a new key, if one arrives in time, or a reader of the whole response, if it neither concerns nor contains the key. */
export type RefusedKey =
  | { readonly replacement: UsableKey | undefined }
  | { readonly reader: ResponseReader }
  | { readonly tellsKey: true };

/** @throws CallStopped; the runtime's error if the upstream ends the response */
export async function readRefusedKey(
  open: OpenCall,
  response: Response,
  { replaceKey, classify, figures, key }: RefusedKeyOptions & { key: UsableKey },
): Promise<RefusedKey> {
  const { pieces, rest } = await readUpTo(open, response);
  const body = Buffer.concat(pieces);
  const reason = rest ? undefined : classify(body.toString("utf8"));
  // Some gateways repeat the refused credential, and the key must not reach the workstation.
  if (!reason)
    return tellsKey(response.headers, body, key) ? { tellsKey: true } : { reader: replay(pieces, rest) };
  figures.rejected(reason);
  const { admitted } = open.call;
  const { credentialVersion } = key;
  const { userId, organizationId, gatewaySessionId } = admitted;
  const used = { userId, organizationId, gatewaySessionId, credentialVersion };
  return { replacement: await open.orStopped(replaceKey(used, reason)) };
}

function tellsKey(headers: Headers, body: Buffer, { credential }: UsableKey): boolean {
  const secret = credential.reveal();
  return body.includes(secret) || [...headers.values()].some((value) => value.includes(secret));
}

interface Read {
  pieces: Uint8Array<ArrayBuffer>[];
  /** undefined at the end of the response */
  rest: ResponseReader | undefined;
}

async function readUpTo(open: OpenCall, { body }: Response): Promise<Read> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader: ResponseReader | undefined = body?.getReader();
  for (let bytes = 0; reader && bytes <= REFUSAL_BYTES_MAX; ) {
    const { done, value } = await open.orStopped(reader.read());
    if (done || !value) return { pieces, rest: undefined };
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
