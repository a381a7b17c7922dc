// Continuous reports of workstations, with a ledger of what the service acknowledged and when.
import { Database } from "bun:sqlite";
import { clientReport } from "../bench/clients/client-report.ts";
import type { Site, Workstation } from "../torture/site.ts";

/** One workstation's reports: each has another host name, and the last one is stored. */
interface Ledger {
  instanceId: string;
  sent: number;
  /** number and time of each acknowledged report since the last settlement */
  acknowledged: { number: number; atMs: number }[];
  /** status of the last response; undefined if there was none */
  lastStatus: number | undefined;
}

/** 200 reports a second from 20 workstations. */
const PAUSE_MS = 100;
const ANSWER_MS = 2_000;

export class Load implements AsyncDisposable {
  readonly #ledgers: Ledger[];
  readonly #done: Promise<void>[];
  #isStopping = false;
  /** responses that refused a change because the lease was missing */
  refused = 0;

  constructor(private readonly site: Site) {
    this.#ledgers = site.workstations.map(({ at }) => ({
      instanceId: reportOf(at).instance_id,
      ...{ sent: 0, acknowledged: [], lastStatus: undefined },
    }));
    this.#done = site.workstations.map((workstation, at) => this.#report(workstation, this.#ledgers[at]));
  }

  get acknowledgedCount(): number {
    return this.#ledgers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
  }

  /** @returns when the first report after a time was acknowledged; undefined if none was */
  firstAfter(atMs: number): number | undefined {
    const times = this.#ledgers.flatMap(({ acknowledged }) => acknowledged.map((one) => one.atMs));
    const later = times.filter((time) => time > atMs);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  /** Compares what was acknowledged before a time with the database, and forgets it. */
  settle(
    file: string,
    beforeMs: number,
  ): { acknowledged: number; lost: number; oldestLostMs: number | undefined } {
    using database = new Database(file, { readonly: true });
    const query = database.query<{ hostname: string }, [string]>(
      "SELECT hostname FROM client_reports WHERE instance_id = ?",
    );
    let acknowledged = 0;
    const lost: number[] = [];
    for (const ledger of this.#ledgers) {
      const due = ledger.acknowledged.filter(({ atMs }) => atMs <= beforeMs);
      ledger.acknowledged = ledger.acknowledged.filter(({ atMs }) => atMs > beforeMs);
      acknowledged += due.length;
      const stored = Number(/\d+$/.exec(query.get(ledger.instanceId)?.hostname ?? "0")?.[0] ?? 0);
      lost.push(...due.filter(({ number }) => number > stored).map(({ atMs }) => atMs));
    }
    return {
      acknowledged,
      lost: lost.length,
      oldestLostMs: lost.length === 0 ? undefined : Math.min(...lost),
    };
  }

  async #report({ at, accessToken }: Workstation, ledger: Ledger | undefined): Promise<void> {
    if (!ledger) return;
    while (!this.#isStopping) {
      const startMs = performance.now();
      const number = ++ledger.sent;
      ledger.lastStatus = await this.#send({ ...reportOf(at), hostname: `lab-${number}` }, accessToken);
      if (ledger.lastStatus === 204) ledger.acknowledged.push({ number, atMs: Date.now() });
      if (ledger.lastStatus === 503) this.refused += 1;
      await Bun.sleep(Math.max(1, PAUSE_MS - (performance.now() - startMs)));
    }
  }

  async #send(body: object, token: string): Promise<number | undefined> {
    try {
      const answer = await fetch(`${this.site.baseUrl}/client-status`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return undefined; // killed before or during the response
    }
  }

  async [Symbol.asyncDispose]() {
    this.#isStopping = true;
    await Promise.all(this.#done);
  }
}

const reportOf = (at: number) => clientReport(at, { revision: "unknown", packages: [] });
