// A syslog receiver over TLS: messages of RFC 5424 in the framing of RFC 5425. Syslog has no responses, so each batch uses its
// own connection, and is confirmed once the receiver has read all of it (platform/outbound/tls-delivery.ts).
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Outbound, PeerTls } from "../../../platform/outbound/outbound.ts";
import type { AuditRow } from "../chain.ts";
import { entryDocument } from "../reading/entry-document.ts";
import { RECEIVER_DESTINATION, RECEIVER_TIMEOUT_MS } from "./https-receiver.ts";
import type { Receiver } from "./receiver.ts";

/** Facility 13, log audit, and severity 5, notice (RFC 5424 section 6.2.1). */
const PRIORITY = 13 * 8 + 5;
const APP_NAME = "quartermaster";
/** Maximum lengths (RFC 5424 section 6). */
const HOSTNAME_LENGTH_MAX = 255;
const MESSAGE_ID_LENGTH_MAX = 32;
/** Largest `sequenceId`; numbering then restarts at 1 (RFC 5424 section 7.3.1). */
const SEQUENCE_MAX = 2_147_483_647;
const NIL = "-";

export interface SyslogReceiverOptions {
  outbound: Pick<Outbound, "deliver">;
  /** identifies this machine to the receiver */
  hostname: string;
  tls(): PeerTls;
}

export const syslogReceiver = ({ outbound, hostname, tls }: SyslogReceiverOptions): Receiver => ({
  send: (entries, signal) => {
    const bytes = Buffer.concat(entries.map((entry) => frame(messageOf(entry, hostname))));
    return outbound.deliver(RECEIVER_DESTINATION, bytes, {
      timeoutMs: RECEIVER_TIMEOUT_MS,
      signal,
      tls: tls(),
    });
  },
});

/** @returns the message of an entry: its time, its action as the message id, and its JSON document as the text */
export function messageOf(entry: AuditRow, hostname: string): string {
  const host = printable(hostname, HOSTNAME_LENGTH_MAX);
  const action = printable(entry.action, MESSAGE_ID_LENGTH_MAX);
  const sequence = ((entry.id - 1) % SEQUENCE_MAX) + 1;
  const header = `<${PRIORITY}>1 ${toRfc3339(entry.atMs)} ${host} ${APP_NAME} ${NIL} ${action}`;
  return `${header} [meta sequenceId="${sequence}"] ${JSON.stringify(entryDocument(entry))}`;
}

/** @returns the text reduced to the characters that a header field may have; `-` for none */
const printable = (text: string, lengthMax: number): string =>
  text.replaceAll(/[^\x21-\x7e]/g, "").slice(0, lengthMax) || NIL;

/** RFC 5425 section 4.3: the length in octets, a space, the message. */
function frame(message: string): Buffer {
  const bytes = Buffer.from(message);
  return Buffer.concat([Buffer.from(`${bytes.length} `), bytes]);
}
