// Checks the effects of proxies between this machine and the service: the address that the service sees, buffered event
// streams, and latency.
import { isIP } from "node:net";
import { SECOND_MS } from "../../platform/clock.ts";
import type { NamedServer, Reply, StreamPiece } from "../../platform/outbound/named-server.ts";
import { isPublicAddress } from "../../platform/outbound/public-hosts.ts";
import { EVENT_PAUSE_MS } from "../../server/routes/connection.ts";
import type { Check, Finding } from "../doctor/finding.ts";
import { documentIn, textIn } from "./json-response.ts";
import { isLoopbackName } from "./reach.ts";

export const CONNECTION_PATH = "/connection";
const STREAM_PATH = "/connection/events";
/** Number of requests on one persistent connection. */
const LATENCY_SAMPLES = 7;
/** Median latency above which to warn. */
const LATENCY_WARNING_MS = 500;

const OLDER =
  "the service does not support this check: it is older than this program, or the proxy blocks the path";
const PROXY_HELP = "quartermaster help install";

/** Findings by the value of `forwarding`; a map, because a foreign server may send any text. */
const FORWARDING_FAULTS = new Map([
  [
    "untrusted",
    {
      detail:
        "the service does not trust the proxy, so all workstations behind it share the limits of one address",
      remedy: `name the proxy in server.trusted_proxies and restart the service: ${PROXY_HELP}`,
    },
  ],
  [
    "socket",
    {
      detail: "the service does not know the addresses of workstations, so all of them share the same limits",
      remedy: `set a proxy in server.trusted_proxies, so that the Unix socket is trusted: ${PROXY_HELP}`,
    },
  ],
  [
    "missing",
    {
      detail:
        "the proxy is trusted but forwards no address, so all workstations behind it share the limits of one address",
      remedy: `configure the proxy to send the header that server.forwarded_header names: ${PROXY_HELP}`,
    },
  ],
]);

/** @param localAddress of this machine on the connection to the service */
export function checkAddress(check: Check, reply: Reply, localAddress: string): Finding {
  if (reply.status !== 200) return check.skipped(OLDER);
  const document = documentIn(reply, CONNECTION_PATH);
  const forwarding = textIn(document, "forwarding") ?? "";
  const fault = FORWARDING_FAULTS.get(forwarding);
  if (fault) return check.warning(fault.detail, fault.remedy);
  const seen = textIn(document, "address") ?? "";
  if (isIP(seen) === 0)
    return check.failed(
      `${CONNECTION_PATH} names no address`,
      "check the address: another program or another version answers there",
    );
  if (seen === localAddress) return check.ok(`the service sees ${seen}, the address of this machine`);
  if (forwarding === "trusted" || isTranslated(seen, localAddress))
    return check.ok(`the service sees ${seen}; this machine has ${localAddress}`);
  return check.warning(
    `the service sees ${seen} instead of ${localAddress}: address translation, or a proxy that forwards no address`,
    `if ${seen} is your proxy, configure it to forward the address, and name it in server.trusted_proxies: ${PROXY_HELP}`,
  );
}

/** A private network reaches a public service through address translation. A loopback address can only be a local proxy. */
const isTranslated = (seen: string, localAddress: string): boolean =>
  isPublicAddress(seen) && !isPublicAddress(localAddress) && !isLoopbackName(localAddress);

export async function checkEventStream(check: Check, server: NamedServer): Promise<Finding> {
  const startMs = performance.now();
  const { status, pieces } = await server.stream(STREAM_PATH);
  if (status === 404) return check.skipped(OLDER);
  if (status !== 200) return check.skipped(`it answered ${status}; try again in a moment`);
  const [first, second] = [arrivalOf(pieces, 1), arrivalOf(pieces, 2)];
  if (first === undefined || second === undefined)
    return check.failed(
      "the stream ended before its second event",
      `${UNBUFFERED_REMEDY}, and give it an idle timeout above 15 s`,
    );
  const firstText = `the first event came after ${Math.round(first - startMs)} ms`;
  if (second - first >= EVENT_PAUSE_MS / 2) return check.ok(`the stream is not buffered: ${firstText}`);
  return check.failed(
    `a proxy buffers the stream: ${firstText}, together with one that was sent ${EVENT_PAUSE_MS / SECOND_MS} s later; workstations receive new policies late`,
    UNBUFFERED_REMEDY,
  );
}

const UNBUFFERED_REMEDY = `configure the proxy to pass events on immediately, as in the examples of ${PROXY_HELP}`;

/** @returns the arrival time of the event, on the clock of performance.now() */
function arrivalOf(pieces: readonly StreamPiece[], part: number): number | undefined {
  let text = "";
  for (const piece of pieces) {
    text += piece.text;
    if (text.includes(`data: {"part":${part}}\n\n`)) return piece.atMs;
  }
  return undefined;
}

export async function checkLatency(check: Check, server: NamedServer): Promise<Finding> {
  const samples: number[] = [];
  while (samples.length < LATENCY_SAMPLES) samples.push((await server.ask(CONNECTION_PATH)).durationMs);
  const ordered = samples.toSorted((a, b) => a - b).map((sample) => Math.round(sample));
  const median = ordered[Math.floor(ordered.length / 2)] ?? 0;
  const detail = `median ${median} ms, maximum ${ordered.at(-1)} ms, of ${samples.length} requests`;
  return median > LATENCY_WARNING_MS
    ? check.warning(detail, "look for a slow network, or a proxy that opens a connection for each request")
    : check.ok(detail);
}
