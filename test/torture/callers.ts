// Callers that change something over HTTP and keep a ledger of sent and acknowledged changes. A change whose connection
// broke may be stored or not; an acknowledged one must be.
import type { Database } from "bun:sqlite";
import { sha256Hex } from "../../src/platform/ids.ts";
import { clientReport } from "../bench/clients/client-report.ts";
import { EMAIL, PASSWORD, SCIM_TOKEN, type Site, type Workstation } from "./site.ts";

type Address = Pick<Site, "baseUrl">;

export interface Caller {
  readonly name: string;
  /** how many changes were acknowledged */
  readonly acknowledged: number;
  /** Sends one change; never rejects because the service is down. @throws for a response that is not allowed */
  change(): Promise<void>;
  /**
   * @returns ledger entries since the last call that the database lacks, and stored entries that were never sent
   */
  faults(database: Database): string[];
}

interface Call {
  method: string;
  path: string;
  token?: string;
  type?: string;
  body: unknown;
}

/** @returns the response and its JSON, or undefined if the connection broke */
async function call(site: Address, { method, path, token, type = "application/json", body }: Call) {
  const headers: Record<string, string> = { "content-type": type };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  try {
    const sent = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${site.baseUrl}${path}`, { method, headers, body: sent });
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
  } catch {
    return undefined; // killed before or during the response
  }
}

const refused = (what: string, response: object) =>
  new Error(`${what} was refused: ${JSON.stringify(response)}`);

/** Ledger of things that exist once they are acknowledged. */
class Made {
  acknowledged = 0;
  #unproven: string[] = [];

  add(key: string): void {
    this.acknowledged += 1;
    this.#unproven.push(key);
  }

  /** @returns the missing entries; found ones are not searched again */
  missing(isThere: (key: string) => boolean): string[] {
    const missing = this.#unproven.filter((key) => !isThere(key));
    this.#unproven = [];
    return missing;
  }
}

/** Ledger of one value that only grows: the stored value is between the last acknowledged and the last sent. */
class Counter {
  sent = 0;
  acknowledged = 0;

  isPossible = (stored: number): boolean => stored >= this.acknowledged && stored <= this.sent;
}

const numberIn = (text: unknown): number => Number(/\d+/.exec(String(text))?.[0] ?? 0);

/** Signs in with the administrator's password. */
export function signIns(site: Address): Caller {
  const made = new Made();
  return {
    name: "sign-ins",
    get acknowledged() {
      return made.acknowledged;
    },
    async change() {
      const body = { email: EMAIL, password: PASSWORD };
      const response = await call(site, { method: "POST", path: "/api/auth/sign-in/email", body });
      if (response?.status === 200) made.add(sha256Hex(response.body.token));
      else if (response) throw refused("a sign-in", response);
    },
    faults: (database) =>
      made
        .missing(
          (hash) => database.query("SELECT 1 FROM login_sessions WHERE token_hash = ?").get(hash) !== null,
        )
        .map((hash) => `the sign-in ${hash} is gone`),
  };
}

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const scim = { token: SCIM_TOKEN, type: "application/scim+json" };

/** Provisions users, each with its entry in the audit log. */
export function provisionedUsers(site: Address): Caller {
  const made = new Made();
  return {
    name: "provisioned users",
    get acknowledged() {
      return made.acknowledged;
    },
    async change() {
      const body = { schemas: [USER], userName: `user-${crypto.randomUUID()}@example.com` };
      const response = await call(site, { ...scim, method: "POST", path: "/scim/v2/Users", body });
      if (response?.status === 201) made.add(response.body.id);
      else if (response) throw refused("a new user", response);
    },
    faults: (database) =>
      made
        .missing(
          (id) =>
            database.query("SELECT 1 FROM scim_users WHERE account_id = ?").get(id) !== null &&
            database.query("SELECT 1 FROM audit_entries WHERE target = ?").get(id) !== null,
        )
        .map((id) => `the provisioned user ${id}, or its audit entry, is gone`),
  };
}

/** Changes the display name of one provisioned user to increasing numbers. */
export function provisionedName(site: Address): Caller {
  const counter = new Counter();
  let id: string | undefined;
  const create = async () => {
    const body = { schemas: [USER], userName: `renamed-${crypto.randomUUID()}@example.com` };
    const response = await call(site, { ...scim, method: "POST", path: "/scim/v2/Users", body });
    if (response && response.status !== 201) throw refused("a new user", response);
    id = response?.body.id;
  };
  return {
    name: "changes of a provisioned user",
    get acknowledged() {
      return counter.acknowledged;
    },
    async change() {
      if (id === undefined) return await create();
      const number = ++counter.sent;
      const Operations = [{ op: "replace", path: "displayName", value: `Name ${number}` }];
      const body = { schemas: [PATCH], Operations };
      const response = await call(site, { ...scim, method: "PATCH", path: `/scim/v2/Users/${id}`, body });
      if (response?.status === 200) counter.acknowledged = number;
      else if (response) throw refused("a changed user", response);
    },
    faults(database) {
      if (id === undefined) return [];
      const row = database.query<{ doc: string }, [string]>(
        "SELECT doc FROM scim_users WHERE account_id = ?",
      );
      const stored = numberIn(JSON.parse(row.get(id)?.doc ?? "{}").displayName);
      return counter.isPossible(stored) ? [] : [`display name ${stored} is not ${JSON.stringify(counter)}`];
    },
  };
}

/** Reports of one workstation, each with another host name. */
export function reports(site: Address, workstation: Workstation): Caller {
  const counter = new Counter();
  const report = clientReport(workstation.at, { revision: "unknown", packages: [] });
  return {
    name: "reports",
    get acknowledged() {
      return counter.acknowledged;
    },
    async change() {
      const number = ++counter.sent;
      const { accessToken: token } = workstation; // the current one, which a refresh replaces
      const body = { ...report, hostname: `lab-${number}` };
      const response = await call(site, { method: "POST", path: "/client-status", token, body });
      if (response?.status === 204) counter.acknowledged = number;
      else if (response) throw refused("a report", response);
    },
    faults(database) {
      const row = database.query<{ hostname: string }, [string]>(
        "SELECT hostname FROM client_reports WHERE instance_id = ?",
      );
      const stored = numberIn(row.get(report.instance_id)?.hostname);
      return counter.isPossible(stored) ? [] : [`report ${stored} is not ${JSON.stringify(counter)}`];
    },
  };
}

/** Replaces one workstation's tokens; the last ones that it received must always be accepted. */
export function refreshes(site: Address, workstation: Workstation): Caller {
  let acknowledged = 0;
  return {
    name: "refreshed tokens",
    get acknowledged() {
      return acknowledged;
    },
    async change() {
      const fields = {
        client_id: "blue-cli",
        grant_type: "refresh_token",
        refresh_token: workstation.refreshToken,
      };
      const response = await call(site, {
        method: "POST",
        path: "/api/auth/oauth2/token",
        type: "application/x-www-form-urlencoded",
        body: new URLSearchParams(fields).toString(),
      });
      if (response && response.status !== 200) throw refused("a refresh", response);
      if (!response) return;
      workstation.refreshToken = response.body.refresh_token;
      workstation.accessToken = response.body.access_token;
      acknowledged += 1;
    },
    faults: (database) =>
      database
        .query("SELECT 1 FROM refresh_tokens WHERE token_hash = ?")
        .get(sha256Hex(workstation.refreshToken)) === null
        ? ["a refresh token is gone"]
        : [],
  };
}

/** packages of the policy, if there are any, support this version and later ones */
const FIRST_PATCH = 12;

/** Publishes revisions of the policy, each on top of the one in force. */
export function publications(site: Address, workstation: Workstation): Caller {
  const made = new Made();
  const path = "/admin/harnesses/claude/managed-config";
  let base: string | undefined;
  let patch = FIRST_PATCH;
  const readBase = async () => {
    const headers = { authorization: `Bearer ${workstation.accessToken}` };
    const response = await fetch(`${site.baseUrl}${path}`, { headers }).catch(() => undefined);
    base = (await response?.json().catch(() => undefined))?.revision;
  };
  return {
    name: "published policies",
    get acknowledged() {
      return made.acknowledged;
    },
    async change() {
      if (base === undefined) return await readBase();
      const { accessToken: token } = workstation;
      const version_requirement = `>=2.0.${++patch}`;
      const body = { base_revision: base, managed_config_yaml: "", version_requirement };
      const response = await call(site, { method: "PUT", path, token, body });
      base = response?.status === 200 ? response.body.revision : undefined;
      if (base !== undefined) made.add(base);
      else if (response && response.status !== 409) throw refused("a publication", response);
    },
    faults: (database) =>
      made
        .missing((id) => database.query("SELECT 1 FROM governance_revisions WHERE id = ?").get(id) !== null)
        .map((id) => `revision ${id} is gone`),
  };
}
