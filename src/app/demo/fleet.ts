// All simulated workstations of a demo.
import { setTimeout as sleep } from "node:timers/promises";
import { SECOND_MS } from "../../platform/clock.ts";
import type { Secret } from "../../platform/secret.ts";
import { DemoUser } from "./demo-user.ts";
import { type Profile, USERS } from "./profiles.ts";
import { Workstation, type WorkstationParts, type WorkstationState } from "./workstation.ts";

/** Delay between the first sign-ins of two workstations. */
const STAGGER_MS = 50;
/** Workstations apply a new revision one after the other, so that a person can watch. */
const CATCH_UP_STEP_MS = SECOND_MS / 2;
const CATCH_UP_MAX_MS = 15 * SECOND_MS;

export interface FleetParts extends Omit<WorkstationParts, "user" | "catchUpMs"> {
  profiles: readonly Profile[];
  /** of every user */
  password: Secret;
}

export interface Fleet {
  /** counted now; `silent` are those that have not reported yet */
  state(): { workstations: number; silent: number; signed_out: number };
  /** Resolves when the signal has aborted and all workstations have stopped. */
  ended: Promise<void>;
}

/** Starts the workstations. They end with the signal. */
export function startFleet({ profiles, password, ...parts }: FleetParts): Fleet {
  const users = new Map(USERS.map((email) => [email, new DemoUser(email, { http: parts.http, password })]));
  const stepMs = Math.min(CATCH_UP_STEP_MS, CATCH_UP_MAX_MS / profiles.length);
  const workstations = profiles.flatMap((profile, at) => {
    const user = users.get(profile.user);
    return user ? new Workstation(profile, { ...parts, user, catchUpMs: (at + 1) * stepMs }) : [];
  });
  const runs = workstations.map(async (workstation, at) => {
    // The loop of the workstation ends with the signal.
    await sleep(at * STAGGER_MS, undefined, { signal: parts.signal }).catch(() => {});
    await workstation.run();
  });
  const count = (state: WorkstationState) =>
    workstations.filter((workstation) => workstation.state === state).length;
  return {
    state: () => ({
      workstations: workstations.length,
      silent: count("silent"),
      signed_out: count("signed_out"),
    }),
    ended: Promise.all(runs).then(() => {}),
  };
}
