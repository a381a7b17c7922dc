// Sends requests with bodies of any size, or reads the responses, in a separate process: prints the time of all of them.

/** Read from standard input, as JSON. */
export interface TransferPlan {
  requests: readonly {
    url: string;
    method: string;
    headers?: Readonly<Record<string, string>>;
    body?: string;
  }[];
  /** of the body of a PUT */
  sizeBytes: number;
  atOnce: number;
}

export interface TransferResult {
  ms: number;
  statuses: Record<string, number>;
}

/** The bytes that every upload sends. */
export const bytesOf = (sizeBytes: number): Uint8Array<ArrayBuffer> => new Uint8Array(sizeBytes).fill(0x61);

async function transfer({ requests, sizeBytes, atOnce }: TransferPlan): Promise<TransferResult> {
  const bytes = bytesOf(sizeBytes);
  const statuses: Record<string, number> = {};
  const waiting = [...requests];
  const begin = performance.now();
  const caller = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { url, method, headers = {}, body } = next;
      const answer = await fetch(url, { method, headers, body: method === "PUT" ? bytes : (body ?? null) });
      for await (const _ of answer.body ?? []);
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return { ms: performance.now() - begin, statuses };
}

if (import.meta.main) console.log(JSON.stringify(await transfer(await Bun.stdin.json())));
