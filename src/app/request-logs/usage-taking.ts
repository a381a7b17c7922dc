// Takes over the sums of usage that this, an earlier or a second process wrote to the file of the request log: at
// the start, every few seconds, and once more at the end.
import { existsSync } from "node:fs";
import type { RunningLog } from "../../domain/inference/log/writing/running-log.ts";
import type { UsageIntake } from "../../domain/inference/usage/usage-intake.ts";
import { COUNT_EVERY_MS } from "../../domain/inference/usage/usage-sums.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Log } from "../../platform/observe/log.ts";
import { usageFailure } from "./usage-failure.ts";

export interface UsageTakingOptions {
  /** file of the request log */
  file: string;
  requestLog: Pick<RunningLog, "takeUsage" | "removeUsage">;
  intake: UsageIntake;
  ids: Ids;
  log: Pick<Log, "error">;
}

export class UsageTaking {
  #timer: Timer | undefined;
  #taking: Promise<void> = Promise.resolve();

  constructor(private readonly options: UsageTakingOptions) {}

  async start(): Promise<void> {
    await this.take();
    this.#timer = setInterval(() => void this.take(), COUNT_EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.take();
  }

  /** Counts all waiting sums. Sums that cannot be counted now stay in the file. Never rejects. */
  take(): Promise<void> {
    this.#taking = this.#taking.then(() => this.#takeAll());
    return this.#taking;
  }

  async #takeAll(): Promise<void> {
    const { file, requestLog, intake, ids, log } = this.options;
    if (!existsSync(file)) return;
    try {
      for (;;) {
        const batch = await requestLog.takeUsage(ids.uuid());
        if (!batch) return;
        await intake.take(batch);
        await requestLog.removeUsage(batch.batch);
      }
    } catch (error) {
      log.error("usage.not_taken", usageFailure(error));
    }
  }
}
