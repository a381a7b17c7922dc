// A simulated workstation: signs in, applies the policy of its user, reports, and follows new revisions until the demo ends or its
// login is revoked.

import { setTimeout as sleep } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { ClientStatusReport } from "../../domain/clients/model.ts";
import {
  CAPABILITIES_HEADER,
  CONTRACT_GENERATION,
  CONTRACT_VERSION_HEADER,
  POLICY_CAPABILITIES,
} from "../../domain/governance/wire.ts";
import { type Clock, SECOND_MS } from "../../platform/clock.ts";
import { sha256Hex } from "../../platform/ids.ts";
import { discardBody } from "../../platform/outbound/discard-body.ts";
import type { DemoUser } from "./demo-user.ts";
import { DeviceLogin, LoginEnded } from "./device-login.ts";
import type { ReportDemoEvent, WorkstationEvent } from "./events.ts";
import { type DemoHttp, type DemoRequest, expectSuccess, jsonOf } from "./http.ts";
import type { Profile } from "./profiles.ts";

const CLIENT_VERSION = "1.4.2";
/** An event stream is opened again after this time, and the workstation reports. */
const STREAM_MS = 60 * SECOND_MS;
/** Delay before the next event stream, so that streams that end immediately cause no busy loop. */
const RECONNECT_MS = SECOND_MS;
/** Delay after a failed request. */
const RETRY_MS = 5 * SECOND_MS;

const Package = Type.Object({
  id: Type.String(),
  version: Type.String(),
  sha256: Type.String(),
  artifact_id: Type.Optional(Type.String()),
  adapters: Type.Record(Type.String(), Type.Unknown()),
});
const Policy = Type.Object({
  revision: Type.String(),
  allowed_harnesses: Type.Array(Type.String()),
  packages: Type.Array(Package),
});
const Download = Type.Object({ url: Type.String() });

export interface WorkstationParts {
  http: DemoHttp;
  clock: Clock;
  signal: AbortSignal;
  user: DemoUser;
  report: ReportDemoEvent<WorkstationEvent>;
  /** delay until the workstation applies an announced revision */
  catchUpMs: number;
  /** called for each announced revision, before the workstation applies it */
  onRevision(): void;
}

/** `silent` until the first report */
export type WorkstationState = "silent" | "reporting" | "signed_out";

const Announcement = Type.Object({ revision: Type.String() });
const DATA = /^data: (.*)$/m;

/**
 * Reads the event stream of policy revisions: `event: revision` with the id as JSON, and comments that keep the connection
 * open.
 * @returns the ids of the revisions as they are announced; ends with the stream, or at the time limit of the request
 * @throws an error of TypeBox for another event
 */
export async function* revisionsIn(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  const decoder = new TextDecoder();
  let waiting = "";
  try {
    for await (const chunk of response.body) {
      const events = `${waiting}${decoder.decode(chunk, { stream: true })}`.split("\n\n");
      waiting = events.pop() ?? "";
      for (const event of events) {
        const data = DATA.exec(event)?.[1];
        if (data === undefined) continue; // a comment
        const announcement: unknown = JSON.parse(data);
        Value.Assert(Announcement, announcement);
        yield announcement.revision;
      }
    }
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "TimeoutError")) throw error;
  }
}

export class Workstation {
  #state: WorkstationState = "silent";
  #login: DeviceLogin | undefined;
  #applied: { policy: Static<typeof Policy>; etag: string } | undefined;
  /** message of the last failure; repetitions are not reported */
  #failure: string | undefined;
  /** digests of the archives that were fetched */
  readonly #archives = new Set<string>();

  constructor(
    private readonly profile: Profile,
    private readonly parts: WorkstationParts,
  ) {}

  get state(): WorkstationState {
    return this.#state;
  }

  /** Resolves when the demo or the login ends; for a sleeping workstation, after its first report. */
  async run(): Promise<void> {
    const { signal, report } = this.parts;
    const { hostname: workstation, user, isAsleep } = this.profile;
    while (!signal.aborted && !(isAsleep && this.#state === "reporting")) {
      try {
        await this.#advance();
        this.#failure = undefined;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof LoginEnded) {
          this.#state = "signed_out";
          return report({ event: "signed_out", workstation, user });
        }
        const message = error instanceof Error ? error.message : String(error);
        if (message !== this.#failure) report({ event: "request_failed", workstation, message });
        this.#failure = message;
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {}); // the loop ends with the signal
      }
    }
  }

  async #advance(): Promise<void> {
    this.#login ??= await this.#signIn();
    const { signal, catchUpMs, onRevision } = this.parts;
    const hasChange = this.#applied && (await this.#readEvents(this.#login, this.#applied.policy.revision));
    if (hasChange) {
      onRevision();
      await sleep(catchUpMs, undefined, { signal });
    }
    await this.#synchronize(this.#login);
    if (!hasChange) await sleep(RECONNECT_MS, undefined, { signal });
  }

  async #signIn(): Promise<DeviceLogin> {
    const { http, clock, signal, user, report } = this.parts;
    const who = { workstation: this.profile.hostname, user: user.email };
    const login = await DeviceLogin.begin({
      http,
      clock,
      signal,
      showCode: async ({ userCode, link }) => {
        report({ event: "user_code_shown", ...who, user_code: userCode });
        await user.approve(link);
      },
    });
    report({ event: "signed_in", ...who });
    return login;
  }

  /** @returns true as soon as a new revision is announced; false when the event stream ends */
  async #readEvents(login: DeviceLogin, applied: string): Promise<boolean> {
    const stream = await this.#ask(login, "/governance-config/events", { timeoutMs: STREAM_MS });
    for await (const revision of revisionsIn(await expectSuccess(stream))) {
      if (revision !== applied) return true;
    }
    return false;
  }

  async #synchronize(login: DeviceLogin): Promise<void> {
    const response = await this.#ask(login, "/governance-config", {
      headers: {
        [CONTRACT_VERSION_HEADER]: String(CONTRACT_GENERATION),
        [CAPABILITIES_HEADER]: POLICY_CAPABILITIES.join(", "),
        ...(this.#applied && { "if-none-match": this.#applied.etag }),
      },
    });
    if (response.status !== 304) {
      const policy = await jsonOf(response, Policy);
      for (const entry of policy.packages) await this.#fetchPackage(login, entry);
      this.#applied = { policy, etag: response.headers.get("etag") ?? "" };
    }
    if (this.#applied) await this.#report(login, this.#applied.policy);
  }

  /** Fetches the archive of a package that the service stores, and compares its digest. */
  async #fetchPackage(
    login: DeviceLogin,
    { id, artifact_id: artifact, sha256 }: Static<typeof Package>,
  ): Promise<void> {
    if (artifact === undefined || this.#archives.has(sha256)) return;
    const offer = await this.#ask(login, `/package-artifacts/${artifact}/download`, { method: "POST" });
    const { url } = await jsonOf(offer, Download);
    const archive = await expectSuccess(await this.parts.http.send(url));
    const bytes = new Uint8Array(await archive.arrayBuffer());
    if (sha256Hex(bytes) !== sha256) throw new Error(`the archive of ${id} has another digest`);
    this.#archives.add(sha256);
    const workstation = this.profile.hostname;
    this.parts.report({ event: "package_fetched", workstation, package: id, size_bytes: bytes.length });
  }

  async #report(login: DeviceLogin, policy: Static<typeof Policy>): Promise<void> {
    const body = JSON.stringify(reportOf(this.profile, policy));
    const headers = { "content-type": "application/json" };
    await expectSuccess(await this.#ask(login, "/client-status", { method: "POST", headers, body }));
    const { hostname: workstation } = this.profile;
    this.#state = "reporting";
    this.parts.report({ event: "reported", workstation, revision: policy.revision });
  }

  /** @throws LoginEnded if the service refuses the login */
  async #ask(login: DeviceLogin, path: string, request: DemoRequest): Promise<Response> {
    const send = async () => {
      const authorization = `Bearer ${await login.accessToken()}`;
      return await this.parts.http.send(path, { ...request, headers: { ...request.headers, authorization } });
    };
    const response = await send();
    if (response.status !== 401) return response;
    await discardBody(response);
    await login.renew();
    return await send();
  }
}

/** @returns the body of POST /client-status */
function reportOf(profile: Profile, policy: Static<typeof Policy>): ClientStatusReport {
  const installed = Object.entries(profile.harnesses);
  const governed = installed.map(([name]) => name).filter((name) => policy.allowed_harnesses.includes(name));
  return {
    instance_id: profile.instanceId,
    hostname: profile.hostname,
    client_version: CLIENT_VERSION,
    platform: profile.platform,
    architecture: profile.architecture,
    config_revision: policy.revision,
    applied: true,
    files_ok: !profile.hasChangedFiles,
    harnesses: installed.map(([name, version]) => ({
      name,
      version,
      raw_version: version,
      api_allowed: governed.includes(name),
      client_supported: true,
      installed: true,
      path: `/usr/local/bin/${name}`,
      reconciled: governed.includes(name),
    })),
    packages: governed.flatMap((harness) =>
      policy.packages
        .filter(({ adapters }) => adapters[harness] !== undefined)
        .map(({ id, version, sha256 }) => ({ id, version, sha256, harness, state: "applied", error: null })),
    ),
  };
}
