// Actions on many gateway keys, selected by a list of users or by a filter. Each key is changed by the operation for one key,
// with its checks and its audit entry; the whole operation has one more entry. A refusal of one key does not affect the others.
import { DomainError, type Problem } from "../../../platform/errors.ts";
import type { User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import { BULK_ROWS_MAX, type BulkRow, type BulkSlice, readBulkIds } from "../../shared/bulk.ts";
import { refuseProblems } from "../../shared/page.ts";
import type { GatewayDependencies } from "../dependencies.ts";
import type { GatewayKeys } from "../keys/keys.ts";
import { ProvisionerError } from "../provisioners/provisioner.ts";
import type { KeyAdministration } from "./administration.ts";
import type { KeyDirectory, KeyedKeyQuery } from "./key-directory.ts";
import { readKeyQuery, type SentKeyQuery } from "./key-document.ts";

export const BULK_KEY_ACTIONS = ["ensure", "rotate", "revoke"] as const;
export type BulkKeyAction = (typeof BULK_KEY_ACTIONS)[number];

/** Number of keys to change concurrently; the gateway has its own limit on concurrent calls. */
const KEYS_AT_ONCE = 20;

/** Selects keys: at most BULK_ROWS_MAX ids of users, or a filter with its text for the audit log. */
export type KeySelection =
  | { ids: readonly string[]; filter?: undefined }
  | { ids?: undefined; filter: Omit<SentKeyQuery, "cursor" | "limit">; text: string };

export interface BulkKeyChange {
  act: BulkKeyAction;
  selection: KeySelection;
  /** number of keys in the whole operation, which its first slice records; undefined for a later slice */
  whole?: number | undefined;
  /** size of this slice; at most BULK_ROWS_MAX, which is the default */
  rowsMax?: number | undefined;
  /** `next` of the previous slice; undefined for the first one */
  cursor?: string | undefined;
  /** reports what would happen without changing anything */
  isDryRun?: boolean | undefined;
}

/** The service carries out revocations in the background, as soon as the gateway can be reached. */
const STILL_OPEN = "the revocation at the gateway is pending";

type Outcome = Pick<BulkRow, "result" | "why">;

export class BulkKeyChanges {
  constructor(
    private readonly dependencies: GatewayDependencies,
    private readonly parts: {
      keys: GatewayKeys;
      directory: KeyDirectory;
      administration: KeyAdministration;
    },
  ) {}

  /**
   * @returns the current number of keys in the selection
   * @throws DomainError `gateway_key.invalid`
   */
  async count(organizationId: string, { ids, filter }: KeySelection): Promise<number> {
    if (ids) return idsIn(ids).length;
    return await this.parts.directory.count(organizationId, readKeyQuery(filter));
  }

  /**
   * Changes one slice of the selection, ordered by address.
   * @throws DomainError `gateway.off`, `gateway_key.invalid`, `access.confirmation_needed`
   */
  async slice(actor: Actor, change: BulkKeyChange): Promise<BulkSlice> {
    const { ids, next } = await this.#listed(actor.organizationId, change);
    if (change.whole !== undefined && !change.isDryRun) await this.#recordWhole(actor, change);
    const rows: BulkRow[] = [];
    for (let at = 0; at < ids.length; at += KEYS_AT_ONCE) {
      const some = ids.slice(at, at + KEYS_AT_ONCE);
      rows.push(...(await Promise.all(some.map((id) => this.#row(actor, id, change)))));
    }
    return { rows, next };
  }

  async #listed(
    organizationId: string,
    { selection, rowsMax = BULK_ROWS_MAX, cursor }: BulkKeyChange,
  ): Promise<{ ids: string[]; next: string | null }> {
    if (selection.ids) return { ids: idsIn(selection.ids), next: null };
    const query: KeyedKeyQuery = { ...readKeyQuery({ ...selection.filter, cursor }), limit: rowsMax };
    const { items, next } = await this.parts.directory.listByKey(organizationId, query);
    return { ids: items.map(({ userId }) => userId), next };
  }

  async #row(actor: Actor, id: string, change: BulkKeyChange): Promise<BulkRow> {
    const { db, identity } = this.dependencies;
    const user = identity.findUserById(db.read, id);
    if (user?.organizationId !== actor.organizationId)
      return { id, name: undefined, result: "refused", why: "there is no such user" };
    try {
      return { id, name: user.email, ...(await this.#outcome(actor, user, change)) };
    } catch (error) {
      if (error instanceof ProvisionerError) return refused(id, user, error.diagnosis);
      if (!(error instanceof DomainError) || error.kind !== "conflict") throw error;
      return refused(id, user, error.message);
    }
  }

  async #outcome(actor: Actor, user: User, { act, isDryRun }: BulkKeyChange): Promise<Outcome> {
    const { keys, administration } = this.parts;
    const version = keys.versionOf(user);
    if (act === "revoke") {
      const isThere = version !== undefined && (isDryRun || (await keys.revoke({ actor, user })));
      if (!isThere) return { result: "unchanged", why: "there is no key to revoke" };
      const isOpen = !isDryRun && this.parts.directory.revocationsOf(user) > 0;
      return { result: "done", ...(isOpen && { why: STILL_OPEN }) };
    }
    administration.assertMayHaveKey(user);
    if (isDryRun) return { result: "done" };
    const target = { actor, user };
    const { status } = await (act === "rotate"
      ? keys.rotate(target)
      : keys.ensure({ ...target, manual: true }));
    if (status.status !== "ready")
      return {
        result: "refused",
        why: status.error ?? "the gateway has not answered yet; the attempt continues",
      };
    if (keys.versionOf(user) !== version) return { result: "done" };
    return act === "ensure"
      ? { result: "unchanged", why: "the key works and was kept" }
      : { result: "refused", why: status.error ?? "another process is working on this key" };
  }

  #recordWhole(actor: Actor, { act, selection, whole = 0 }: BulkKeyChange): Promise<void> {
    const { db, audit } = this.dependencies;
    const after = { act, keys: whole, filter: selection.ids ? null : selection.text };
    const event = { actor, action: "gateway_keys.change", target: actor.organizationId, after };
    return db.write((tx) => audit.record(tx, event), "gateway");
  }
}

const refused = (id: string, { email: name }: User, why: string): BulkRow => ({
  id,
  name,
  result: "refused",
  why,
});

function idsIn(ids: readonly string[]): string[] {
  const problems: Problem[] = [];
  const different = readBulkIds(ids, problems);
  refuseProblems("gateway_key.invalid", problems);
  return different;
}
