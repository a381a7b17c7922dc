// Five thousand workstations that wait for the next revision: all receive it, all are disconnected when their login is revoked, and
// the memory and processor time of the service. Both changes come from another process than the one with the streams.
import { atMost, type Figure } from "./figures.ts";
import { processorMs, type Running, residentMb } from "./processes.ts";

export const STREAMS = 5_000;
const OPENED_AT_ONCE = 100;
const PATIENCE_MS = 15_000;
const LATEST_MS = 1_000;

export interface StreamChanges {
  /** one for each stream, each of its own grant */
  authorizations: readonly string[];
  /** @returns the id of the new revision */
  publish(): Promise<string>;
  /** Ends the logins of all the streams. */
  revoke(): Promise<unknown>;
}

interface Workstation {
  /** ids of the revisions that it received */
  told: string[];
  hasEnded: boolean;
}

/** Measures open streams. Required: 5,000 streams, and a revision or revocation delivered within a second. */
export async function measureStreams(
  { pid, port }: Running,
  { authorizations, publish, revoke }: StreamChanges,
): Promise<Figure[]> {
  const beforeMb = await residentMb(pid);
  const workstations = await openStreams(port, authorizations);
  const greeted = await waitFor(workstations, ({ told }) => told.length > 0);
  const memoryMb = (await residentMb(pid)) - beforeMb;

  const usedMs = await processorMs(pid);
  const revision = await publish();
  const told = await waitFor(workstations, (workstation) => workstation.told.includes(revision));
  const tellingMs = (await processorMs(pid)) - usedMs;
  await revoke();
  const ended = await waitFor(workstations, ({ hasEnded }) => hasEnded);
  return [
    all("streams open at once", greeted.count),
    all("of them told of a new revision", told.count),
    soon("from publishing until the last one was told", told.ms),
    { what: "processor time that telling them took", unit: "ms", ours: tellingMs },
    all("of them ended by a revocation", ended.count),
    soon("from revoking until the last one ended", ended.ms),
    { what: "memory for each of them", unit: "KB", ours: (memoryMb * 1_024) / STREAMS },
  ];
}

const all = (what: string, ours: number): Figure => ({
  what,
  unit: "streams",
  ours,
  verdict: { wanted: String(STREAMS), isMet: ours === STREAMS },
});

const soon = (what: string, ours: number): Figure => ({
  what,
  unit: "ms",
  ours,
  verdict: atMost(LATEST_MS, ours),
});

async function openStreams(port: number, authorizations: readonly string[]): Promise<Workstation[]> {
  const one = async (authorization: string): Promise<Workstation> => {
    const head = `GET /governance-config/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n\r\n`;
    const workstation: Workstation = { told: [], hasEnded: false };
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        data(_, bytes) {
          const text = bytes.toString();
          for (const [, id = ""] of text.matchAll(/^id: (\S+)/gm)) workstation.told.push(id);
          if (text.endsWith("0\r\n\r\n")) workstation.hasEnded = true; // the last chunk (RFC 9112 section 7.1)
        },
      },
    });
    socket.write(head);
    return workstation;
  };
  const workstations: Workstation[] = [];
  while (workstations.length < authorizations.length) {
    const next = authorizations.slice(workstations.length, workstations.length + OPENED_AT_ONCE);
    workstations.push(...(await Promise.all(next.map(one))));
  }
  return workstations;
}

/** @returns how many streams meet the condition, and after how long: when all do, or at the time limit */
async function waitFor(
  workstations: readonly Workstation[],
  isAsWanted: (workstation: Workstation) => boolean,
): Promise<{ count: number; ms: number }> {
  const begin = performance.now();
  for (;;) {
    const count = workstations.filter(isAsWanted).length;
    const ms = performance.now() - begin;
    if (count === workstations.length || ms > PATIENCE_MS) return { count, ms };
    await Bun.sleep(5);
  }
}
