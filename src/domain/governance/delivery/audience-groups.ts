// The documents of one revision for the users of an organization. Users who see the same packages form one group, whose
// document is built once. audiences.ts decides who may see which package.
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { LRUCache } from "lru-cache";
import { invariant } from "../../../platform/errors.ts";
import { sha256Hex } from "../../../platform/ids.ts";
import type { UserGroups } from "../../shared/user-groups.ts";
import { withoutUndeliveredModels } from "../document/model-lists.ts";
import type { GovernanceConfig, Revision } from "../model.ts";
import { hiddenPackages, type Person, personOf, withoutPackages } from "./audiences.ts";

/** The part of a policy that most requests need: is the caller up to date, and may the caller receive the policy? */
export interface PolicyTag {
  /** 32 hex digits; equal exactly for users who get the same bytes */
  name: string;
  /** the members that all documents share: everything except packages and their overrides */
  common: GovernanceConfig;
}

/** The document of one group; its users share one object while it is cached. */
export interface PolicyView {
  /** equals the name of its PolicyTag */
  name: string;
  document: GovernanceConfig;
  /** the document as JSON */
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Maximum bytes of cached documents; the least recently used group is evicted. The responses built from them take about as much
 * again.
 */
const VIEW_BYTES_KEPT_MAX = 32 * 1024 * 1024;

const NAME_DIGITS = 32;

/** A document without these members comes from a damaged row. Clients would treat it as a policy without requirements. */
const Essentials = Type.Object({
  revision: Type.String({ minLength: 1 }),
  contract_version: Type.Integer({ minimum: 1 }),
  required: Type.Boolean(),
  allowed_harnesses: Type.Array(Type.String()),
  harnesses: Type.Object({}),
  packages: Type.Array(Type.Object({ id: Type.String() })),
});

export class AudienceGroups {
  /** by user: the restricted audiences that name the user; other users are absent */
  readonly #groupOf = new Map<string, string>();
  /** by group of the identity provider: the audiences that name it; membership is read each time */
  readonly #audiencesOfGroup = new Map<string, number[]>();
  /** by group; a short tag each, so that comparing needs no document */
  readonly #tags = new Map<string, PolicyTag>();
  /** the input of every document of the revision; undefined until the first tag is needed */
  #source: string | undefined;
  /** by group */
  readonly #views: LRUCache<string, PolicyView>;

  /** @throws if the revision is not a policy */
  constructor(
    readonly revision: Revision,
    private readonly userGroups: Pick<UserGroups, "of">,
    bytesMax = VIEW_BYTES_KEPT_MAX,
  ) {
    const sizeCalculation = ({ bytes }: PolicyView) => Math.min(bytes.byteLength, bytesMax); // the largest view fits
    this.#views = new LRUCache({ maxSize: bytesMax, sizeCalculation });
    const { document, audiences } = revision;
    invariant(isWhole(document) && document.revision === revision.id, `revision ${revision.id} is a policy`);
    for (const [at, { user_ids, group_ids = [] }] of Object.values(audiences).entries()) {
      for (const id of user_ids) this.#groupOf.set(id, `${this.#groupOf.get(id) ?? ""},${at}`);
      for (const id of group_ids) this.#audiencesOfGroup.set(id, [...this.#audiencesIn(id), at]);
    }
  }

  /** @returns the same object for users who get the same bytes */
  tagOf(userId: string): PolicyTag {
    return this.#tagOf(this.#groupWith(personOf(userId, this.userGroups)));
  }

  #tagOf(group: string): PolicyTag {
    const known = this.#tags.get(group);
    if (known) return known;
    this.#source ??= sha256Hex(JSON.stringify(this.revision.document));
    const name = sha256Hex(`${this.#source}${group}`).slice(0, NAME_DIGITS);
    const tag = { name, common: this.revision.document };
    this.#tags.set(group, tag);
    return tag;
  }

  viewOf(userId: string): PolicyView {
    const person = personOf(userId, this.userGroups);
    const group = this.#groupWith(person);
    const known = this.#views.get(group);
    if (known) return known;
    const delivered = withoutUndeliveredModels(this.revision.document);
    const document = withoutPackages(delivered, hiddenPackages(this.revision, person));
    const view = { name: this.#tagOf(group).name, document, bytes: Buffer.from(JSON.stringify(document)) };
    this.#views.set(group, view);
    return view;
  }

  /** @returns the user's restricted audiences, in their order */
  #groupWith(person: Person): string {
    const own = this.#groupOf.get(person.id) ?? "";
    if (this.#audiencesOfGroup.size === 0) return own;
    const named = own.split(",").slice(1).map(Number);
    const joined = person.groups().flatMap((id) => this.#audiencesIn(id));
    if (joined.length === 0) return own;
    const all = [...new Set([...named, ...joined])].sort((one, other) => one - other);
    return all.map((at) => `,${at}`).join("");
  }

  #audiencesIn(groupId: string): readonly number[] {
    return this.#audiencesOfGroup.get(groupId) ?? [];
  }
}

const isWhole = (document: unknown): document is Static<typeof Essentials> =>
  Value.Check(Essentials, document);
