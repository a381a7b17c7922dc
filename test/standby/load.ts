// Continuous reports of workstations, with a ledger of acknowledgments and their times.
import { Database } from "bun:sqlite";
import { SECOND_MS } from "../../src/platform/clock.ts";
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

export const WORKSTATIONS = 100;
/** of each workstation: together they send 200 reports a second, whether a response takes 1 or 400 ms */
const EVERY_MS = 500;
export const REPORTS_PER_SECOND = WORKSTATIONS / (EVERY_MS / SECOND_MS);
const ANSWER_MS = 2_000;

export class Load implements AsyncDisposable {
  readonly #ledgers: Ledger[];
  readonly #done: Promise<void>[];
  #isStopping = false;
  /** responses that refused a change because the lease was missing */
  refused = 0;
  /** number of reports by response status since the last call of `outcomes` */
  #outcomes = new Map<number | undefined, number>();

  constructor(private readonly site: Site) {
    this.#ledgers = site.workstations.map(({ at }) => ({
      instanceId: reportOf(at).instance_id,
      sent: 0,
      acknowledged: [],
      lastStatus: undefined,
    }));
    this.#done = site.workstations.map((workstation, at) => this.#report(workstation, this.#ledgers[at]));
  }

  /** @returns when the first report after a time was acknowledged; undefined if none was */
  firstAfter(atMs: number): number | undefined {
    const times = this.#ledgers.flatMap(({ acknowledged }) => acknowledged.map((one) => one.atMs));
    const later = times.filter((time) => time > atMs);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  /** @returns when the last report before a time was acknowledged; undefined if none was */
  lastBefore(atMs: number): number | undefined {
    const times = this.#ledgers.flatMap(({ acknowledged }) => acknowledged.map((one) => one.atMs));
    const earlier = times.filter((time) => time < atMs);
    return earlier.length === 0 ? undefined : Math.max(...earlier);
  }

  /** @returns reports a second that were acknowledged from one time to another and are not settled yet */
  rateBetween(fromMs: number, untilMs: number): number {
    const times = this.#ledgers.flatMap(({ acknowledged }) => acknowledged.map((one) => one.atMs));
    const counted = times.filter((time) => time > fromMs && time <= untilMs).length;
    return counted / ((untilMs - fromMs) / SECOND_MS);
  }

  /** @returns how the reports since the last call ended, in words */
  outcomes(): string {
    const counts = [...this.#outcomes].map(([status, count]) => `${status ?? "no response"} ${count}`);
    this.#outcomes = new Map();
    return counts.join(", ");
  }

  /**
   * Compares the acknowledgments before a time with the database, and forgets them. @returns `losers`: workstations
   * with at least one lost report
   */
  settle(
    file: string,
    beforeMs: number,
  ): { acknowledged: number; lost: number; losers: number; oldestLostMs: number | undefined } {
    using database = new Database(file, { readonly: true });
    const query = database.query<{ hostname: string }, [string]>(
      "SELECT hostname FROM client_reports WHERE instance_id = ?",
    );
    let acknowledged = 0;
    const lost: number[] = [];
    let losers = 0;
    for (const ledger of this.#ledgers) {
      const due = ledger.acknowledged.filter(({ atMs }) => atMs <= beforeMs);
      ledger.acknowledged = ledger.acknowledged.filter(({ atMs }) => atMs > beforeMs);
      acknowledged += due.length;
      const stored = Number(/\d+$/.exec(query.get(ledger.instanceId)?.hostname ?? "0")?.[0] ?? 0);
      const missing = due.filter(({ number }) => number > stored);
      losers += missing.length > 0 ? 1 : 0;
      lost.push(...missing.map(({ atMs }) => atMs));
    }
    return {
      acknowledged,
      lost: lost.length,
      losers,
      oldestLostMs: lost.length === 0 ? undefined : Math.min(...lost),
    };
  }

  async #report({ at, accessToken }: Workstation, ledger: Ledger | undefined): Promise<void> {
    if (!ledger) return;
    for (let nextMs = performance.now() + Math.random() * EVERY_MS; !this.#isStopping; nextMs += EVERY_MS) {
      await Bun.sleep(Math.max(0, nextMs - performance.now()));
      nextMs = Math.max(nextMs, performance.now() - EVERY_MS); // does not catch up on reports that it missed while nobody answered
      const number = ++ledger.sent;
      ledger.lastStatus = await this.#send({ ...reportOf(at), hostname: `lab-${number}` }, accessToken);
      this.#outcomes.set(ledger.lastStatus, (this.#outcomes.get(ledger.lastStatus) ?? 0) + 1);
      if (ledger.lastStatus === 204) ledger.acknowledged.push({ number, atMs: Date.now() });
      if (ledger.lastStatus === 503) this.refused += 1;
    }
  }

  async #send(body: object, token: string): Promise<number | undefined> {
    try {
      const response = await fetch(`${this.site.baseUrl}/client-status`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      await response.arrayBuffer();
      return response.status;
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
