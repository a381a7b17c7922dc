// Groups for identity providers: turns a body into a response; each change is one transaction, including the read. read-resource.ts
// and patch parse bodies, group-changes.ts applies changes, group-views.ts renders responses.
import type { Connection, Sync, Topic, Tx } from "../../../platform/database/database.ts";
import { runInTurns, runSynchronously, type Steps } from "../../../platform/steps.ts";
import type { Actor } from "../../shared/actor.ts";
import type { ScimDependencies } from "../dependencies.ts";
import { locationOf, namesVersion } from "../messages/messages.ts";
import { readGroup } from "../messages/read-resource.ts";
import { readView, type View } from "../messages/view.ts";
import type {
  ChangeParameters,
  GroupRow,
  ScimCaller,
  ScimResources,
  ScimResponse,
  ViewParameters,
} from "../model.ts";
import { readGroupPatch } from "../patch/patch-group.ts";
import type { Roles } from "../roles/roles.ts";
import { GroupChanges, type GroupUpdate, knownGroup } from "./group-changes.ts";
import type { GroupStreams } from "./group-streams.ts";
import { areLarge, groupPieces, renderGroups } from "./group-views.ts";
import { findGroup } from "./groups-store.ts";
import { groupIntake, type MemberIntake, patchIntake } from "./member-intake.ts";
import { STEP_MEMBERS, STEP_ROLES } from "./member-slices.ts";
import { countOf } from "./members.ts";
import { removeFromAllGroups } from "./members-store.ts";

export interface GroupDependencies extends ScimDependencies {
  roles: Roles;
  streams: GroupStreams;
}

/** The operations on groups; created once, when the area is assembled. */
export class ScimGroups implements ScimResources {
  readonly #changes: GroupChanges;

  constructor(private readonly dependencies: GroupDependencies) {
    this.#changes = new GroupChanges(dependencies);
  }

  get(
    { actor: { organizationId } }: ScimCaller,
    id: string,
    { ifNoneMatch, ...parameters }: ViewParameters & { ifNoneMatch?: string | undefined },
  ): ScimResponse {
    const view = readView("Group", parameters);
    const { read } = this.dependencies.db;
    const row = knownGroup(read, { organizationId, id });
    const isKnown = ifNoneMatch !== undefined && namesVersion(ifNoneMatch, row.version);
    return isKnown ? this.#bare(row) : this.#answer(read, row, { organizationId, view });
  }

  /**
   * @param method in upper case
   * @returns the intake for long member lists of a body with that method
   */
  intake({ actor: { organizationId } }: ScimCaller, method: string): MemberIntake {
    const users = { db: this.dependencies.db, organizationId };
    return method === "PATCH" ? patchIntake(users) : groupIntake(users);
  }

  async create({ actor }: ScimCaller, body: unknown, parameters: ViewParameters): Promise<ScimResponse> {
    const view = readView("Group", parameters);
    const group = await runInTurns(readGroup(body));
    return await this.#write(countOf(group.members ?? []), {
      change: (tx) => this.#changes.insert(tx, actor, group),
      answer: (tx, row) => this.#answer(tx, row, { organizationId: actor.organizationId, view }),
    });
  }

  async replace(
    { actor }: ScimCaller,
    id: string,
    { body, ifMatch, ...parameters }: ChangeParameters & { body: unknown },
  ): Promise<ScimResponse> {
    const view = readView("Group", parameters);
    const { displayName, externalId = null, members = [] } = await runInTurns(readGroup(body));
    const update = {
      displayName,
      externalId,
      members: { base: "emptied", add: members, remove: [] },
    } as const;
    return await this.#write(this.#reachOf(actor, id, update), {
      change: (tx) => this.#changes.update(tx, actor, { id, ifMatch, update }),
      answer: (tx, row) => this.#answer(tx, row, { organizationId: actor.organizationId, view }),
    });
  }

  /** Shows the group only if some of its attributes are requested (SCIM-81). */
  async patch(
    { actor, profile }: ScimCaller,
    id: string,
    { body, ifMatch, ...parameters }: ChangeParameters & { body: unknown },
  ): Promise<ScimResponse> {
    const view = readView("Group", parameters);
    const update = await runInTurns(readGroupPatch(body, { id, profile }));
    const { organizationId } = actor;
    return await this.#write(this.#reachOf(actor, id, update), {
      change: (tx) => this.#changes.update(tx, actor, { id, ifMatch, update }),
      answer: (tx, row) =>
        view.isDefault ? this.#bare(row) : this.#answer(tx, row, { organizationId, view }),
    });
  }

  async remove(
    { actor }: ScimCaller,
    id: string,
    { ifMatch }: { ifMatch?: string | undefined },
  ): Promise<void> {
    await this.#write(this.#sizeOf(actor, id), {
      change: (tx) => this.#changes.remove(tx, actor, { id, ifMatch }),
      answer: () => undefined,
    });
  }

  /** Removes a deleted user from every group; each gets a new version (SCIM-26). */
  leaveAll(tx: Tx, userId: string): void {
    removeFromAllGroups(tx, { userId, nowMs: this.dependencies.clock.nowMs() });
  }

  /** @returns the response that shows the group */
  #answer(
    connection: Connection,
    row: GroupRow,
    { organizationId, view }: { organizationId: string; view: View },
  ): ScimResponse {
    const shown = { view, baseUrl: this.dependencies.settings.baseUrl() };
    const json = areLarge([row], view)
      ? this.dependencies.streams.open((snapshot, give) =>
          groupPieces(snapshot, knownGroup(snapshot, { organizationId, id: row.id }), { ...shown, give }),
        )
      : runSynchronously(renderGroups(connection, [row], shown)).join("");
    return { ...this.#bare(row), json };
  }

  /** @returns the response with the group's id and version, without content */
  #bare({ id, version }: GroupRow): ScimResponse {
    const location = locationOf("Group", id, this.dependencies.settings.baseUrl());
    return { type: "Group", id, version, location, json: undefined };
  }

  /**
   * Composes the response inside the transaction, so that it shows this request's result.
   * @param reach users that the change may concern, as far as known in advance; many need several steps
   */
  #write<T, Answer>(
    reach: number,
    { change, answer }: { change: (tx: Tx) => Steps<T>; answer: (tx: Tx, outcome: T) => Sync<Answer> },
  ): Promise<Answer> {
    const { db, roles } = this.dependencies;
    function* steps(tx: Tx): Steps<Sync<Answer>> {
      return answer(tx, yield* change(tx));
    }
    if (reach > (roles.areMapped() ? STEP_ROLES : STEP_MEMBERS)) return db.writeInSteps(steps, this.#topic);
    return db.write((tx) => runSynchronously(steps(tx)), this.#topic);
  }

  #reachOf(actor: Actor, id: string, { displayName, externalId, members }: GroupUpdate): number {
    const { base, add, remove } = members;
    const isAboutAll = base === "emptied" || displayName !== undefined || externalId !== undefined;
    return countOf(add) + remove.length + (isAboutAll ? this.#sizeOf(actor, id) : 0);
  }

  #sizeOf({ organizationId }: Actor, id: string): number {
    return findGroup(this.dependencies.db.read, { organizationId, id })?.memberCount ?? 0;
  }

  /** checked for every change, because without a mapping no group affects an account */
  get #topic(): Topic {
    return this.dependencies.roles.areMapped() ? "access" : "provisioning";
  }
}
