// One attempt to give a user a working key: begin, call the provisioner, settle. The call runs detached from whoever asked
// for it and is shared by all who ask meanwhile. What beginning and settling do to the row is in attempt-steps.ts.
// Source: gateway-keys.md sections 2 and 7, with the gaps 8, 14 and 15 of section 11 mended.
import pLimit from "p-limit";
import { SECOND_MS } from "../../platform/clock.ts";
import type { Actor } from "../actor.ts";
import { AttemptSteps, type Begun } from "./attempt-steps.ts";
import type { GatewayDependencies, GatewayMode } from "./dependencies.ts";
import type { KeyRow } from "./model.ts";
import { type ProvisionedKey, ProvisionerError } from "./provisioner.ts";

/** What somebody wants of a key. */
export interface Wish {
  actor: Actor;
  /** a person asked for it: waits do not count */
  manual: boolean;
  /** ask the gateway even when nothing is due */
  force: boolean;
  /** whether a key that turns out to be disowned is replaced at once */
  replace: boolean;
  /** a new key in place of a healthy one, which stays until the new one is stored */
  rotate?: true;
}

export interface Outcome {
  row: KeyRow | undefined;
  /** why there is no key, or why the stored one could not be looked after */
  failure?: ProvisionerError;
}

export class Attempts {
  readonly #running = new Map<string, Promise<Outcome>>();
  readonly #permits;
  readonly #steps;

  constructor(
    private readonly dependencies: GatewayDependencies,
    private readonly mode: GatewayMode,
  ) {
    this.#permits = pLimit(mode.settings.provisioner.maxConcurrency);
    this.#steps = new AttemptSteps(dependencies, mode);
  }

  /** Never rejects for what a provisioner did; an attempt that runs already is joined. @throws DomainError `storage.*` */
  run(userId: string, wish: Wish): Promise<Outcome> {
    const running = this.#running.get(userId);
    if (running) return running;
    const attempt = this.inTurn(() => this.#perform(userId, wish)).finally(() =>
      this.#running.delete(userId),
    );
    this.#running.set(userId, attempt);
    return attempt;
  }

  /** @returns whether an attempt for this user runs or waits in this process */
  isRunning(userId: string): boolean {
    return this.#running.has(userId);
  }

  /** Runs work that calls the provisioner, as soon as fewer calls than allowed are under way. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#permits(work);
  }

  /** Waits for the attempts that run now, whatever becomes of them. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  async #perform(userId: string, wish: Wish): Promise<Outcome> {
    const outcome = await this.#once(userId, wish);
    const isDisowned = outcome.failure?.code === "credential_invalid" && outcome.row?.state === "invalid";
    if (!isDisowned || !wish.replace) return isDisowned ? { row: outcome.row } : outcome;
    return await this.#once(userId, { ...wish, force: false });
  }

  async #once(userId: string, wish: Wish): Promise<Outcome> {
    const { db } = this.dependencies;
    const begun = await db.write((tx) => this.#steps.begin(tx, userId, wish), "gateway");
    if (!("request" in begun)) return begun;
    try {
      const key = await this.#call(begun);
      return await db.write((tx) => this.#steps.succeed(tx, begun, { key, actor: wish.actor }), "gateway");
    } catch (error) {
      if (!(error instanceof ProvisionerError)) throw error;
      return await db.write((tx) => this.#steps.fail(tx, begun, { error, actor: wish.actor }), "gateway");
    }
  }

  async #call({ request }: Begun): Promise<ProvisionedKey> {
    const { provisioner, settings } = this.mode;
    const startedMs = performance.now();
    const told = { operation: "provision", userId: request.identity.id } as const;
    const observe = (outcome: Parameters<GatewayDependencies["observe"]>[0]["outcome"], diagnosis?: string) =>
      this.dependencies.observe({
        ...told,
        outcome,
        durationMs: performance.now() - startedMs,
        ...(diagnosis !== undefined && { diagnosis }),
      });
    try {
      const signal = AbortSignal.timeout(settings.provisioner.timeoutSeconds * SECOND_MS);
      const key = await provisioner.provision(request, signal);
      observe("succeeded");
      return key;
    } catch (thrown) {
      const error = asProvisionerError(thrown);
      observe(error.code, error.diagnosis);
      throw error;
    }
  }
}

/** A provisioner that breaks is an outage for its users, and a bug for whoever reads the log. */
export const asProvisionerError = (thrown: unknown): ProvisionerError =>
  thrown instanceof ProvisionerError
    ? thrown
    : new ProvisionerError("unavailable", `the provisioner broke: ${String(thrown)}`, { cause: thrown });
