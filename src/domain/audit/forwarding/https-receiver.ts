// A receiver of JSON lines over HTTPS: one POST per batch, which any 2xx status confirms. Collectors such as Vector, Fluent
// Bit, Logstash and the raw endpoint of Splunk accept this format.

import { SECOND_MS } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import { discardBody } from "../../../platform/outbound/discard-body.ts";
import type { Outbound, PeerTls } from "../../../platform/outbound/outbound.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { AuditRow } from "../chain.ts";
import { entryDocument } from "../reading/entry-document.ts";
import type { Receiver } from "./receiver.ts";

export const RECEIVER_DESTINATION = "audit-receiver";
export const RECEIVER_TIMEOUT_MS = 30 * SECOND_MS;

export interface HttpsReceiverOptions {
  outbound: Pick<Outbound, "fetch">;
  /** path with a leading slash */
  path: string;
  authorization: Secret | undefined;
  /** read for each batch, so that a renewed certificate needs no restart */
  tls(): PeerTls;
}

export const httpsReceiver = ({ outbound, path, authorization, tls }: HttpsReceiverOptions): Receiver => ({
  async send(entries, signal) {
    const response = await outbound.fetch(RECEIVER_DESTINATION, path, {
      method: "POST",
      headers: {
        "content-type": "application/x-ndjson",
        ...(authorization && { authorization: authorization.reveal() }),
      },
      body: linesOf(entries),
      timeoutMs: RECEIVER_TIMEOUT_MS,
      signal,
      tls: tls(),
    });
    await discardBody(response);
    if (!response.ok) throw refused(response.status);
  },
});

const linesOf = (entries: readonly AuditRow[]): string =>
  entries.map((entry) => `${JSON.stringify(entryDocument(entry))}\n`).join("");

const refused = (status: number): DomainError =>
  new DomainError("unavailable", "audit.receiver_refused", `${RECEIVER_DESTINATION} answered ${status}`);
