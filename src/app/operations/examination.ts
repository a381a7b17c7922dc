// The examination of everything, with the deep checks of doctor, that administrators ask for while the service runs. A request waits
// for a limited time; the examination continues after it, and ends with the service.
import type { Examination } from "../../domain/system/operations.ts";
import { type Clock, SECOND_MS, within } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Finding } from "../doctor/finding.ts";

/** How long a request waits for the examination that it started. */
const WAIT_MS = 5 * SECOND_MS;

/** @returns the findings of every check; rejected when the signal is aborted */
export type Examine = (signal: AbortSignal) => Promise<Finding[]>;

export class ExaminationWork {
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #last: Examination["last"];
  #problem: string | null = null;

  constructor(
    private readonly examine: Examine,
    private readonly parts: { clock: Clock; log: Pick<Log, "info" | "error"> },
  ) {}

  state(): Examination {
    return { isRunning: this.#running !== undefined, last: this.#last, problem: this.#problem };
  }

  async start(): Promise<Examination> {
    this.#running ??= this.#run();
    await within(WAIT_MS, this.#running);
    return this.state();
  }

  stop(): void {
    this.#stop.abort(stopping());
  }

  async #run(): Promise<void> {
    const { clock, log } = this.parts;
    try {
      const findings = await this.examine(this.#stop.signal);
      this.#last = { atMs: clock.nowMs(), findings };
      this.#problem = null;
      const failed = findings.filter(({ result }) => result === "failed").length;
      log.info("doctor.examined", { checks: findings.length, failed });
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      log.error("doctor.examination_failed", { error: this.#problem });
    } finally {
      this.#running = undefined;
    }
  }
}

const stopping = (): DomainError =>
  new DomainError("unavailable", "service.stopping", "the service stopped before the examination ended");
