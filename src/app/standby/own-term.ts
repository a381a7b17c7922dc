// The term of this data directory, in the file standby.json: the folder of the replica that is ours, and our name in the lease.
import { existsSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../platform/errors.ts";
import { readOwnFile, writeWholeFile } from "../../platform/files/data-files.ts";

const OwnTermSchema = Type.Object({
  term: Type.String({ pattern: "^t\\d{8}-[0-9a-f]{6}$" }),
  /** names this data directory in the lease */
  holder: Type.String({ minLength: 1, maxLength: 100 }),
  /** RFC 3339 time of the first start after a kill, or of a failed test restore; absent once a test restore has succeeded */
  doubtful_since: Type.Optional(Type.String({ maxLength: 40 })),
});

export type OwnTerm = Static<typeof OwnTermSchema>;

/**
 * @returns undefined if this data directory has no term yet
 * @throws DomainError `standby.term_unreadable`
 */
export function findOwnTerm({ standby }: Pick<DataDirectory, "standby">): OwnTerm | undefined {
  if (!existsSync(standby)) return undefined;
  try {
    const found: unknown = JSON.parse(readOwnFile(standby).text);
    if (Value.Check(OwnTermSchema, found)) return found;
  } catch {
    // reported below
  }
  throw new DomainError(
    "conflict",
    "standby.term_unreadable",
    `${standby} does not name a term of the replica`,
    {
      hint: "take over again; see: quartermaster help standby",
    },
  );
}

/** Durably stores the term. */
export const writeOwnTerm = ({ standby }: Pick<DataDirectory, "standby">, term: OwnTerm): void =>
  writeWholeFile(standby, `${JSON.stringify(term)}\n`);

/** Records that the replica may be damaged, unless that is recorded. @param since RFC 3339 */
export function doubtReplica(directory: Pick<DataDirectory, "standby">, own: OwnTerm, since: string): void {
  if (own.doubtful_since === undefined) writeOwnTerm(directory, { ...own, doubtful_since: since });
}

/** Ends the doubt of that time; a later one remains, because the replica was examined before it. */
export function trustReplica(directory: Pick<DataDirectory, "standby">, since: string): void {
  const own = findOwnTerm(directory);
  if (own?.doubtful_since !== since) return;
  writeOwnTerm(directory, { term: own.term, holder: own.holder });
}
