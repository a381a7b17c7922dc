// Replaces what an audit entry says of one person by a pseudonym. Pure: which entries are looked at, and how the chain goes on
// holding, is redactions.ts's.
import { type Person, replaceAddresses } from "../shared/personal-data.ts";
import type { AuditRow } from "./chain.ts";

/** Members of `before` and `after` that are about the person where the entry is. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  "alias",
  "email",
  "external_id",
  "hostname",
  "instance_id",
  "requested_from",
  "user_name",
]);
/** Those that are about whoever acts: the address of the workstation that a login was approved for. */
const ACTOR_MEMBERS: ReadonlySet<string> = new Set(["requested_from"]);
const NONE: ReadonlySet<string> = new Set();

/** What an entry says of its target, as text of a JSON object. */
type SummaryName = "before" | "after";

export class Redactor {
  readonly #withoutAddresses: (text: string) => string;

  constructor(private readonly person: Person) {
    this.#withoutAddresses = replaceAddresses(person);
  }

  /** @returns the entry without the person; undefined where it says nothing of them */
  redact(entry: AuditRow): AuditRow | undefined {
    const isActor = this.#isActor(entry);
    const members = this.#isAbout(entry) ? OWN_MEMBERS : isActor ? ACTOR_MEMBERS : NONE;
    const redacted: AuditRow = {
      ...entry,
      actorId: entry.actorId && this.#text(entry.actorId),
      actorLabel: isActor ? this.person.pseudonym : this.#text(entry.actorLabel),
      address: isActor ? null : entry.address,
      target: this.#text(entry.target),
      before: this.#summary(entry, "before", members),
      after: this.#summary(entry, "after", members),
    };
    const isChanged = (Object.keys(entry) as (keyof AuditRow)[]).some(
      (name) => redacted[name] !== entry[name],
    );
    return isChanged ? redacted : undefined;
  }

  /** Whoever accepts an invitation acts under an address, and has no id yet. */
  #isActor({ actorKind, actorId, actorLabel }: AuditRow): boolean {
    if (actorKind !== "user") return false;
    return actorId === null
      ? this.person.addresses.includes(actorLabel.toLowerCase())
      : actorId === this.person.userId;
  }

  #isAbout({ target, before, after }: AuditRow): boolean {
    const { userId } = this.person;
    if (userId === undefined) return false;
    const own = `"user_id":${JSON.stringify(userId)}`;
    return target === userId || before?.includes(own) === true || after?.includes(own) === true;
  }

  /** Text that has nothing to replace stays as it is, to the last blank. */
  #summary(entry: AuditRow, name: SummaryName, members: ReadonlySet<string>): string | null {
    const text = entry[name];
    if (text === null) return null;
    let isChanged = false;
    const replace = (member: string, found: unknown): unknown => {
      if (typeof found !== "string") return found;
      const replaced = members.has(member) ? this.person.pseudonym : this.#text(found);
      isChanged ||= replaced !== found;
      return replaced;
    };
    try {
      const value = JSON.parse(text, replace);
      return isChanged ? JSON.stringify(value) : text;
    } catch {
      return this.#text(text); // somebody edited it: verifying says so
    }
  }

  #text(text: string): string {
    const { userId, pseudonym } = this.person;
    return this.#withoutAddresses(userId === undefined ? text : text.replaceAll(userId, pseudonym));
  }
}
