// One attempt to give a user a working key: begin, call the provisioner, settle. The attempt does not end with the request that
// started it, and concurrent requests for the same user share it. attempt-steps.ts updates the row at the start and the end.
import pLimit from "p-limit";
import { SECOND_MS } from "../../../platform/clock.ts";
import type { Sync, Tx } from "../../../platform/database/database.ts";
import type { GatewayDependencies, GatewayMode, ProvisionerCall } from "../dependencies.ts";
import { ProvisionerError, type RevokeRequest } from "../provisioners/provisioner.ts";
import { type AttemptOptions, AttemptSteps, type Outcome } from "./attempt-steps.ts";

/** Attempts per allowed provisioner call: while some wait for the provisioner, others begin or settle, which can take as long. */
const ATTEMPTS_PER_PROVISIONER_CALL = 6;

export class Attempts {
  readonly #running = new Map<string, Promise<Outcome>>();
  readonly #calls;
  readonly #hands;
  readonly #steps;

  constructor(
    private readonly dependencies: GatewayDependencies,
    private readonly mode: GatewayMode,
  ) {
    const { maxConcurrency } = mode.settings.provisioner;
    this.#calls = pLimit(maxConcurrency);
    this.#hands = pLimit(maxConcurrency * ATTEMPTS_PER_PROVISIONER_CALL);
    this.#steps = new AttemptSteps(dependencies, mode);
  }

  /** Maximum number of concurrent attempts; further attempts wait. */
  get width(): number {
    return this.#hands.concurrency;
  }

  /** Joins a running attempt. A provisioner's failure is in the outcome, not a rejection. @throws DomainError `storage.*` */
  run(userId: string, wish: AttemptOptions): Promise<Outcome> {
    const running = this.#running.get(userId);
    if (running) return running;
    const attempt = this.#hands(() => this.#perform(userId, wish)).finally(() =>
      this.#running.delete(userId),
    );
    this.#running.set(userId, attempt);
    return attempt;
  }

  /** @returns whether this process has a running or waiting attempt for the user */
  isRunning(userId: string): boolean {
    return this.#running.has(userId);
  }

  /** Revokes a key upstream. @throws ProvisionerError */
  async revoke(request: RevokeRequest): Promise<void> {
    const { id: userId } = request.identity;
    await this.#call("revoke", { userId }, (signal) => this.mode.provisioner.revoke(request, signal));
  }

  /** Waits for the attempts that are running now, including those that fail. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  async #perform(userId: string, wish: AttemptOptions): Promise<Outcome> {
    const outcome = await this.#once(userId, wish);
    const isDisowned = outcome.failure?.code === "credential_invalid" && outcome.row?.state === "invalid";
    if (!isDisowned) return outcome;
    return wish.replace ? await this.#once(userId, { ...wish, force: false }) : { row: outcome.row };
  }

  async #once(userId: string, wish: AttemptOptions): Promise<Outcome> {
    const { db } = this.dependencies;
    const write = <T>(fn: (tx: Tx) => Sync<T>) =>
      wish.patient ? db.writeInBackground(fn, "gateway") : db.write(fn, "gateway");
    const begun = await write((tx) => this.#steps.begin(tx, userId, wish));
    if (!("request" in begun)) return begun;
    const { request } = begun;
    const { requestId } = wish.actor;
    try {
      const key = await this.#call("provision", { userId, requestId }, (signal) =>
        this.mode.provisioner.provision(request, signal),
      );
      return await write((tx) => this.#steps.succeed(tx, begun, { key, actor: wish.actor }));
    } catch (error) {
      if (!(error instanceof ProvisionerError)) throw error;
      return await write((tx) => this.#steps.fail(tx, begun, { error, actor: wish.actor }));
    }
  }

  /** Makes one call with its deadline once the concurrency limit allows it, and reports the call to the observer. */
  async #call<T>(
    operation: ProvisionerCall["operation"],
    whose: Pick<ProvisionerCall, "userId" | "requestId">,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return await this.#calls(async () => {
      const startedMs = performance.now();
      const told = () => ({ operation, ...whose, durationMs: performance.now() - startedMs });
      try {
        const answer = await call(
          AbortSignal.timeout(this.mode.settings.provisioner.timeoutSeconds * SECOND_MS),
        );
        this.dependencies.observe({ ...told(), outcome: "succeeded" });
        return answer;
      } catch (thrown) {
        const error = asProvisionerError(thrown);
        this.dependencies.observe({ ...told(), outcome: error.code, diagnosis: error.diagnosis });
        throw error;
      }
    });
  }
}

/** Turns an unexpected exception of a provisioner into an outage for the user; the log shows it as a bug. */
export const asProvisionerError = (thrown: unknown): ProvisionerError =>
  thrown instanceof ProvisionerError
    ? thrown
    : new ProvisionerError("unavailable", `the provisioner broke: ${String(thrown)}`, { cause: thrown });
