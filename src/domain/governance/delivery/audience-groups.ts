// What the users of an organization get of one revision: users who may see the same packages are one group, whose document
// is put together once. Who may see what is audiences.ts's.
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { invariant } from "../../../platform/errors.ts";
import { sha256Hex } from "../../../platform/ids.ts";
import type { GovernanceConfig, Revision } from "../model.ts";
import { hiddenPackages, withoutPackages } from "./audiences.ts";

/** What one group gets; the same object for all of it, as long as it is kept. */
export interface PolicyView {
  document: GovernanceConfig;
  /** the document as JSON */
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Bytes of the documents that are kept; the group that was asked for longest ago is put together again. As much again lies in
 * the answers that are made of them.
 */
export const VIEW_BYTES_KEPT_MAX = 32 * 1024 * 1024;

const NAME_DIGITS = 32;

/** Without these a document is a damaged row, and clients would take it for a policy that demands nothing. */
const Essentials = Type.Object({
  revision: Type.String({ minLength: 1 }),
  contract_version: Type.Integer({ minimum: 1 }),
  required: Type.Boolean(),
  allowed_harnesses: Type.Array(Type.String()),
  harnesses: Type.Object({}),
  packages: Type.Array(Type.Object({ id: Type.String() })),
});

export class AudienceGroups {
  /** by user: which of the narrower audiences have them; who is in none is not here */
  readonly #groupOf = new Map<string, string>();
  /** by group; a few characters each, so that nobody's document is put together only to tell that it is the same */
  readonly #names = new Map<string, string>();
  /** what all documents of the revision are made of; undefined until somebody asks for a name */
  #source: string | undefined;
  /** by group, in the order of their last use */
  readonly #views = new Map<string, PolicyView>();
  #bytesKept = 0;
  /** asked for last: it lies behind all others, where most requests want it */
  #newest: string | undefined;

  /** @throws for a revision that is no policy */
  constructor(
    readonly revision: Revision,
    private readonly bytesMax = VIEW_BYTES_KEPT_MAX,
  ) {
    const { document, audiences } = revision;
    invariant(isWhole(document) && document.revision === revision.id, `revision ${revision.id} is a policy`);
    for (const [at, { user_ids }] of Object.values(audiences).entries()) {
      for (const id of user_ids) this.#groupOf.set(id, `${this.#groupOf.get(id) ?? ""},${at}`);
    }
  }

  /** @returns 32 hex digits that are the same for those who get the same bytes, and other ones for all others */
  nameOf(userId: string): string {
    const group = this.#groupOf.get(userId) ?? "";
    const known = this.#names.get(group);
    if (known !== undefined) return known;
    this.#source ??= sha256Hex(JSON.stringify(this.revision.document));
    const name = sha256Hex(`${this.#source}${group}`).slice(0, NAME_DIGITS);
    this.#names.set(group, name);
    return name;
  }

  viewOf(userId: string): PolicyView {
    const group = this.#groupOf.get(userId) ?? "";
    const known = this.#views.get(group);
    if (known && group === this.#newest) return known;
    this.#newest = group;
    if (known) {
      this.#views.delete(group);
      this.#views.set(group, known);
      return known;
    }
    const document = withoutPackages(this.revision.document, hiddenPackages(this.revision, userId));
    const view = { document, bytes: Buffer.from(JSON.stringify(document)) };
    this.#views.set(group, view);
    this.#bytesKept += view.bytes.byteLength;
    this.#makeRoom(group);
    return view;
  }

  /** The group asked for longest ago lies in front; the one asked for now stays, whatever its size. */
  #makeRoom(asked: string): void {
    for (const [group, { bytes }] of this.#views) {
      if (this.#bytesKept <= this.bytesMax || group === asked) return;
      this.#views.delete(group);
      this.#bytesKept -= bytes.byteLength;
    }
  }
}

const isWhole = (document: unknown): document is Static<typeof Essentials> =>
  Value.Check(Essentials, document);
