// Caches who holds a grant: a row of 64 bytes for all tokens of the grant. An entry is valid for one revision of the database;
// authenticate.ts queries it again.
import { readUuid, UUID_WORDS, writeUuid } from "../../../platform/uuid-words.ts";
import type { Role } from "../../identity/service.ts";
import { HEAD_WORDS } from "./compact-segment.ts";
import { CompactTable, OWN_BITS_SHIFT } from "./compact-table.ts";

export interface GrantHolder {
  readonly grantId: string;
  readonly userId: string;
  readonly organizationId: string;
  readonly role: Role;
  /** login session that approved the grant */
  readonly loginSessionId: string;
  /** hash of the user's subject: `subjectMark` */
  readonly subject: number;
}

/** Offsets of the row's own words. The first packs role and organization, above the table's bit. */
const PACKED = 0;
const REVISION = 1;
const SUBJECT = 2;
const USER = 3;
const SESSION = USER + UUID_WORDS;
const OWN_WORDS = SESSION + UUID_WORDS;

const ROLES: readonly Role[] = ["member", "admin"];
const ORGANIZATION_SHIFT = OWN_BITS_SHIFT + 1;
/** Grants of further organizations are not cached. */
export const ORGANIZATIONS_MAX = 256;

/** Converts ids to text only when they are read, because most requests read at most one. */
class CachedHolder implements GrantHolder {
  readonly organizationId: string;
  readonly role: Role;

  /** @param words a copy of the row, which begins with its key */
  constructor(
    private readonly words: Uint32Array,
    { organizationId, role }: Pick<GrantHolder, "organizationId" | "role">,
  ) {
    this.organizationId = organizationId;
    this.role = role;
  }

  get grantId(): string {
    return readUuid(this.words);
  }

  get userId(): string {
    return readUuid(this.words, HEAD_WORDS + USER);
  }

  get loginSessionId(): string {
    return readUuid(this.words, HEAD_WORDS + SESSION);
  }

  get subject(): number {
    return this.words[HEAD_WORDS + SUBJECT] ?? 0;
  }
}

export class GrantHolders {
  readonly #row = new Uint32Array(OWN_WORDS);
  readonly #grant = new Uint32Array(UUID_WORDS);
  readonly #organizations: string[] = [];
  readonly #table: CompactTable;

  /** @param bytesMax limit for all rows */
  constructor(bytesMax: number) {
    this.#table = new CompactTable({ ownWords: OWN_WORDS, bytesMax });
  }

  /** @returns the bytes in use */
  get bytes(): number {
    return this.#table.bytes;
  }

  /**
   * @param grant its UUID
   * @returns the holder at that revision; undefined if the cache has none or another revision
   */
  find(grant: Uint32Array, revision: number): GrantHolder | undefined {
    const row = this.#table.find(grant);
    if (!row) return undefined;
    const { words, at } = row;
    if (words[at + REVISION] !== revision >>> 0) return undefined;
    const packed = words[at + PACKED] ?? 0;
    return new CachedHolder(words.slice(at - HEAD_WORDS, at + OWN_WORDS), {
      organizationId: this.#organizations[packed >>> ORGANIZATION_SHIFT] ?? "",
      role: ROLES[(packed >>> OWN_BITS_SHIFT) & 1] ?? "member",
    });
  }

  /** @param until seconds; when the entry expires */
  put(holder: GrantHolder, { revision, until, now }: { revision: number; until: number; now: number }): void {
    const organization = this.#organizationOf(holder.organizationId);
    if (organization === undefined) return;
    if (!writeUuid(holder.grantId, this.#grant)) return;
    if (!writeUuid(holder.userId, this.#row, USER)) return;
    if (!writeUuid(holder.loginSessionId, this.#row, SESSION)) return;
    this.#row[PACKED] = (organization << ORGANIZATION_SHIFT) | (ROLES.indexOf(holder.role) << OWN_BITS_SHIFT);
    this.#row[REVISION] = revision;
    this.#row[SUBJECT] = holder.subject;
    this.#table.put(this.#grant, this.#row, { expiry: until, now });
  }

  #organizationOf(id: string): number | undefined {
    const known = this.#organizations.indexOf(id);
    if (known >= 0) return known;
    return this.#organizations.length < ORGANIZATIONS_MAX ? this.#organizations.push(id) - 1 : undefined;
  }
}
