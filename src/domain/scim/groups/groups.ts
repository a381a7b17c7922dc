// Groups as an identity provider works with them: body in, answer out, each change one transaction that also holds the
// read. What bodies mean is in read.ts and patch, what a change does in group-changes.ts, answers are in group-views.ts.
import type { Connection, Sync, Topic, Tx } from "../../../platform/database.ts";
import type { OpenSnapshot } from "../../../platform/snapshot.ts";
import type { ScimDependencies } from "../dependencies.ts";
import type { AskedChange, AskedView, GroupRow, ScimAnswer, ScimCaller, ScimResources } from "../model.ts";
import { readGroupPatch } from "../patch/group.ts";
import { namesVersion } from "../preconditions.ts";
import { readGroup } from "../read.ts";
import { readView, type View } from "../view.ts";
import { GroupChanges, knownGroup } from "./group-changes.ts";
import { GroupStreams } from "./group-streams.ts";
import { GroupViews } from "./group-views.ts";
import { leaveAll } from "./members-store.ts";
import type { Roles } from "./roles.ts";

export interface GroupDependencies extends ScimDependencies {
  roles: Roles;
  openSnapshot: OpenSnapshot;
}

/** @returns the operations on groups; made once, when the area is joined */
export const createScimGroups = (dependencies: GroupDependencies): ScimGroups => new ScimGroups(dependencies);

export class ScimGroups implements ScimResources {
  readonly #changes: GroupChanges;
  readonly #views: GroupViews;
  constructor(private readonly own: GroupDependencies) {
    const { openSnapshot, settings } = own;
    this.#changes = new GroupChanges(own);
    this.#views = new GroupViews(settings, new GroupStreams(openSnapshot, settings.baseUrl));
  }

  get(
    { actor: { organizationId } }: ScimCaller,
    id: string,
    { ifNoneMatch, ...asked }: AskedView & { ifNoneMatch?: string | undefined },
  ): ScimAnswer {
    const view = readView("Group", asked);
    const { read } = this.own.db;
    const row = knownGroup(read, { organizationId, id });
    const isKnown = ifNoneMatch !== undefined && namesVersion(ifNoneMatch, row.version);
    return isKnown ? this.#views.bare(row) : this.#views.answer(read, row, { organizationId, view });
  }

  async create({ actor }: ScimCaller, body: unknown, asked: AskedView): Promise<ScimAnswer> {
    const view = readView("Group", asked);
    const group = readGroup(body);
    return await this.#write((tx) => {
      const row = this.#changes.insert(tx, actor, group);
      return this.#views.answer(tx, row, { organizationId: actor.organizationId, view });
    });
  }

  async replace(
    { actor }: ScimCaller,
    id: string,
    { body, ifMatch, ...asked }: AskedChange & { body: unknown },
  ): Promise<ScimAnswer> {
    const view = readView("Group", asked);
    const { displayName, externalId = null, members = [] } = readGroup(body);
    const wish = { displayName, externalId, members: { base: "emptied", add: members, remove: [] } } as const;
    return await this.#write((tx) => {
      const row = this.#changes.update(tx, actor, { id, ifMatch, wish });
      return this.#views.answer(tx, row, { organizationId: actor.organizationId, view });
    });
  }

  /** Shows the group only to those who ask for some of its attributes (scim.md SCIM-81). */
  async patch(
    { actor, profile }: ScimCaller,
    id: string,
    { body, ifMatch, ...asked }: AskedChange & { body: unknown },
  ): Promise<ScimAnswer> {
    const view = readView("Group", asked);
    const wish = readGroupPatch(body, { id, profile });
    const { organizationId } = actor;
    return await this.#write((tx) => {
      const row = this.#changes.update(tx, actor, { id, ifMatch, wish });
      return view.isDefault ? this.#views.bare(row) : this.#views.answer(tx, row, { organizationId, view });
    });
  }

  remove({ actor }: ScimCaller, id: string, { ifMatch }: { ifMatch?: string | undefined }): Promise<void> {
    return this.#write((tx) => this.#changes.remove(tx, actor, { id, ifMatch }));
  }

  /** @returns JSON texts of the groups, in their order, each in one piece */
  renderGroups(connection: Connection, rows: readonly GroupRow[], view: View): string[] {
    return this.#views.render(connection, rows, view);
  }

  /** Takes a user who goes out of every group; each gets a new version (scim.md SCIM-26). */
  leaveAll(tx: Tx, userId: string): void {
    leaveAll(tx, { userId, nowMs: this.own.clock.nowMs() });
  }

  /** An answer is composed inside the transaction: it shows the group as this request left it. */
  #write<T>(change: (tx: Tx) => Sync<T>): Promise<T> {
    return this.own.db.write(change, this.#topic);
  }

  /** of every change: without a mapping no group touches an account */
  get #topic(): Topic {
    return this.own.roles.areMapped() ? "access" : "provisioning";
  }
}
