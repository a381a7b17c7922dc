// One attempt to give a user a working key: begin, call the provisioner, settle. The call runs detached from whoever asked
// for it and is shared by all who ask meanwhile. What beginning and settling do to the row is in attempt-steps.ts.
// Source: gateway-keys.md sections 2 and 7, with the gaps 8, 14 and 15 of section 11 mended.
import pLimit from "p-limit";
import { SECOND_MS } from "../../../platform/clock.ts";
import type { Sync, Tx } from "../../../platform/database/database.ts";
import type { GatewayDependencies, GatewayMode, ProvisionerCall } from "../dependencies.ts";
import { ProvisionerError, type RevokeRequest } from "../provisioners/provisioner.ts";
import { type AttemptOptions, AttemptSteps, type Outcome } from "./attempt-steps.ts";

/** Attempts in hand for each call that may be under way: others are begun or settled meanwhile, which may take as long. */
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

  /** How many attempts are in hand at most; more wait. */
  get width(): number {
    return this.#hands.concurrency;
  }

  /** Never rejects for what a provisioner did; an attempt that runs already is joined. @throws DomainError `storage.*` */
  run(userId: string, wish: AttemptOptions): Promise<Outcome> {
    const running = this.#running.get(userId);
    if (running) return running;
    const attempt = this.#hands(() => this.#perform(userId, wish)).finally(() =>
      this.#running.delete(userId),
    );
    this.#running.set(userId, attempt);
    return attempt;
  }

  /** @returns whether an attempt for this user runs or waits in this process */
  isRunning(userId: string): boolean {
    return this.#running.has(userId);
  }

  /** Takes a key away upstream. @throws ProvisionerError */
  async revoke(request: RevokeRequest): Promise<void> {
    const { id: userId } = request.identity;
    await this.#call("revoke", { userId }, (signal) => this.mode.provisioner.revoke(request, signal));
  }

  /** Waits for the attempts that run now, whatever becomes of them. */
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

  /** One call with its deadline, as soon as fewer than allowed are under way, told to whoever watches. */
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

/** A provisioner that breaks is an outage for its users, and a bug for whoever reads the log. */
export const asProvisionerError = (thrown: unknown): ProvisionerError =>
  thrown instanceof ProvisionerError
    ? thrown
    : new ProvisionerError("unavailable", `the provisioner broke: ${String(thrown)}`, { cause: thrown });
