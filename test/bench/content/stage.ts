// Shared by the benchmarks of this folder: a service whose turns are recorded, requests of its administrator, and their result.
import { join } from "node:path";
import { type RunningService, startService } from "../../support/running-service.ts";
import { type Turns, watchTurns } from "../../support/turns.ts";
import { atMost, type Figure } from "../figures.ts";

/** The longest accepted turn of the event loop. */
const TURN_MS_WANTED = 20;
export const ROUNDS = 3;

/** @returns the result for the longest turn */
export const turnFigure = (what: string, turnMs: number): Figure => ({
  what: `longest turn, ${what}`,
  unit: "ms",
  ours: turnMs,
  verdict: atMost(TURN_MS_WANTED, turnMs),
});

interface Watched extends AsyncDisposable {
  service: RunningService;
  turns: Turns;
  ask: Ask;
}

/** Starts the executable in a directory, and signs in. @param args for `serve` in addition to the data directory */
export async function startWatched(directory: string, args: readonly string[] = []): Promise<Watched> {
  const turns = watchTurns(directory);
  const service = await startService({
    args: ["--data-dir", join(directory, "data"), ...args],
    env: turns.env,
  });
  const ask = await signedIn(service);
  return { service, turns, ask, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

/** Sends a request. @returns the text of the response @throws if it is not a success */
export type Ask = (method: string, path: string, body?: object) => Promise<string>;

async function signedIn({ baseUrl, password }: RunningService): Promise<Ask> {
  const answer = await fetch(`${baseUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: "admin@example.com", password: password() }),
  });
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  return async (method, path, body) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { cookie, origin: baseUrl, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${text.slice(0, 500)}`);
    return text;
  };
}
