// Processes of one workstation share a session file without a lock. A command rereads the file each time; a watcher caches what it
// read first. No sequence of refreshes may sign the workstation out.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import { createLoginWorld, type LoginWorld, logIn, refresh, revokedReasonOf } from "../login-world.ts";

/** A client refreshes when its access token expires within this many seconds. */
const EARLY_SECONDS = 30;
/** Interval at which a watcher without a stream checks its session. */
const WATCH_SECONDS = 60;
/** Seconds within which a watcher reconnects to a stream that ended. */
const RECONNECT_SECONDS_MAX = 10;
/** Longest interval between commands of the user. */
const IDLE_SECONDS_MAX = 1_800;
/** A request and its response each take less than this; then the response is in the file. */
const TRAVEL_MS_MAX = 400;
/** With tokens of 15 minutes: ten hours. */
const HOURS = 10;
const SCHEDULES = 10;

interface Session {
  refreshToken: string;
  /** Unix seconds */
  expiresAt: number;
}

interface Process {
  session(): Session;
  keep(session: Session): void;
  /** seconds until its next check of the session */
  pause(): number;
}

/** @returns a number from 0 to `max`, inclusive */
type Draw = (max: number) => number;

/** Moves the clock from event to event. */
class Workstation {
  readonly #events: { atMs: number; happen: () => unknown }[] = [];
  readonly #given = new Set<string | undefined>();
  repeated = 0;

  constructor(
    private readonly world: LoginWorld,
    private file: Session,
    private readonly draw: Draw,
  ) {}

  get #nowMs(): number {
    return this.world.clock.nowMs();
  }

  command(): Process {
    return {
      session: () => this.file,
      keep: () => {},
      pause: () => this.draw(IDLE_SECONDS_MAX),
    };
  }

  watcher(mode: "polls" | "streams"): Process {
    let memory = this.file;
    const untilStreamEnds = () => Math.max(0, memory.expiresAt - Math.floor(this.#nowMs / SECOND_MS));
    return {
      session: () => memory,
      keep: (session) => {
        memory = session;
      },
      pause: () => (mode === "polls" ? WATCH_SECONDS : untilStreamEnds() + this.draw(RECONNECT_SECONDS_MAX)),
    };
  }

  async run(processes: readonly Process[]): Promise<void> {
    const endMs = this.#nowMs + HOURS * 3_600 * SECOND_MS;
    for (const process of processes) this.#afterPause(process);
    while (this.#nowMs < endMs) {
      this.#events.sort((one, other) => one.atMs - other.atMs);
      const next = this.#events.shift();
      if (!next) throw new Error("every process looks again");
      this.world.clock.set(next.atMs);
      await next.happen();
    }
  }

  #after(ms: number, happen: () => unknown): void {
    this.#events.push({ atMs: this.#nowMs + ms, happen });
  }

  #afterPause(process: Process): void {
    this.#after(process.pause() * SECOND_MS, () => this.#look(process));
  }

  #look(process: Process): void {
    const { refreshToken, expiresAt } = process.session();
    const isDue = expiresAt * SECOND_MS <= this.#nowMs + EARLY_SECONDS * SECOND_MS;
    if (isDue) this.#after(this.draw(TRAVEL_MS_MAX), () => this.#refresh(process, refreshToken));
    else this.#afterPause(process);
  }

  async #refresh(process: Process, refreshToken: string): Promise<void> {
    const response = await refresh(this.world, refreshToken);
    if (this.#given.has(response.refresh_token)) this.repeated += 1;
    this.#given.add(response.refresh_token);
    const session = { refreshToken: response.refresh_token ?? "", expiresAt: response.expires_at };
    this.#after(this.draw(TRAVEL_MS_MAX), () => {
      process.keep(session);
      this.file = session;
      this.#afterPause(process);
    });
  }
}

/** @returns random numbers determined by the seed */
function drawsOf(seed: number): Draw {
  const numbers = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), { seed, numRuns: 10_000 });
  let drawn = 0;
  return (max) => Math.round((numbers[drawn++ % numbers.length] ?? 0) * max);
}

test.each([
  ["a command and a watcher that polls", ["polls"]],
  ["a command and a watcher with a stream", ["streams"]],
  ["a command and three watchers", ["polls", "streams", "streams"]],
] as const)("%s are never signed out", async (_name, modes) => {
  await using world = await createLoginWorld();
  let repeated = 0;
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const { refreshToken, grantId, expires_at: expiresAt } = await logIn(world);
    const workstation = new Workstation(world, { refreshToken, expiresAt }, drawsOf(seed));
    const watchers = modes.map((mode) => workstation.watcher(mode));
    await workstation.run([workstation.command(), ...watchers]);
    expect(revokedReasonOf(world, grantId)).toBeNull();
    repeated += workstation.repeated;
  }
  expect(repeated).toBeGreaterThan(SCHEDULES);
});
