// Counts strings in a captured session that look like known kinds of keys, to warn the owner before sharing. No string is kept.
import { KEY_FORMS, keyFormsIn } from "../../../platform/crypto/key-forms.ts";
import { type StoredAs, unpackedBytes } from "./bundle.ts";
import { SECRETS_MAX } from "./limits.ts";

const FORMS = keyFormsIn("g");

/** longer than any key; the search of a piece begins with this much of the previous piece, to find keys across two pieces */
const OVERLAP = 8_192;

export interface SecretScan {
  /** number of different strings of each kind, most frequent kind first */
  kinds: readonly { label: string; count: number }[];
  /** number of different strings; SECRETS_MAX means that or more */
  total: number;
  /** whether the whole session was read */
  isWhole: boolean;
}

/**
 * @param isOver ends the scan early
 * @throws DomainError `sessions.no_transcript` for bytes that cannot be unpacked; errors of the stream
 */
export async function scanForSecrets(
  stored: AsyncIterable<Uint8Array>,
  storedAs: Pick<StoredAs, "format">,
  isOver: () => boolean,
): Promise<SecretScan> {
  const found = new Map<string, number>();
  let carried = "";
  let isWhole = true;
  for await (const piece of unpackedBytes(stored, storedAs)) {
    const text = carried + Buffer.from(piece).toString("latin1");
    for (const match of text.matchAll(FORMS))
      if (found.size < SECRETS_MAX) found.set(match[0], kindOf(match));
    if (isOver() || found.size >= SECRETS_MAX) {
      isWhole = false;
      break;
    }
    carried = text.slice(-OVERLAP);
  }
  return { ...counted(found), isWhole };
}

/** @returns the index of the kind whose group matched */
const kindOf = (match: RegExpMatchArray): number => match.slice(1).findIndex((group) => group !== undefined);

function counted(found: ReadonlyMap<string, number>): Pick<SecretScan, "kinds" | "total"> {
  const counts = KEY_FORMS.map(({ label }, kind) => ({
    label,
    count: [...found.values()].filter((each) => each === kind).length,
  }));
  const kinds = counts.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count);
  return { kinds, total: found.size };
}
