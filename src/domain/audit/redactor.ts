// Replaces one person with a pseudonym in the content of an audit entry. Pure functions; redactions.ts selects the entries and
// keeps the chain valid.
import { type Person, replaceAddresses } from "../shared/personal-data.ts";
import type { AuditRow } from "./chain.ts";

/** Members of `before` and `after` that describe the person, in entries about the person. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  "alias",
  "email",
  "external_id",
  "hostname",
  "instance_id",
  "requested_from",
  "user_name",
]);
/** Members that describe the actor: the address of the workstation whose login was approved. */
const ACTOR_MEMBERS: ReadonlySet<string> = new Set(["requested_from"]);
const NONE: ReadonlySet<string> = new Set();

/** The columns that describe the target; each is the text of a JSON object. */
type SummaryName = "before" | "after";

export class Redactor {
  readonly #withoutAddresses: (text: string) => string;

  constructor(private readonly person: Person) {
    this.#withoutAddresses = replaceAddresses(person);
  }

  /** @returns the entry with the pseudonym; undefined if it does not mention the person */
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

  /** A user who accepts an invitation has no id yet and is identified by the address. */
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

  /** Returns text without a replacement byte for byte. */
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
      return this.#text(text); // The entry was edited, and verification reports it.
    }
  }

  #text(text: string): string {
    const { userId, pseudonym } = this.person;
    return this.#withoutAddresses(userId === undefined ? text : text.replaceAll(userId, pseudonym));
  }
}
