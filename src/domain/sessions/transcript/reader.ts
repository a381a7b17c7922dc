// Reads transcripts in this process, for commands and tests. The service uses a thread instead, so that it can answer other
// requests.
import type { StoredAs } from "./bundle.ts";
import type { Place, TranscriptPage } from "./model.ts";
import { readPage } from "./page.ts";
import { type SecretScan, scanForSecrets } from "./secrets.ts";

type Stored = () => AsyncIterable<Uint8Array>;

export interface TranscriptReader {
  /** @throws DomainError `sessions.no_transcript`, `sessions.invalid`, `sessions.readers_busy`, `sessions.store_unavailable` */
  page(stored: Stored, storedAs: StoredAs, place: Place): Promise<TranscriptPage>;
  /** @throws like `page` */
  scan(stored: Stored, storedAs: StoredAs): Promise<SecretScan>;
}

/** Without a time limit. */
export const inlineTranscriptReader: TranscriptReader = {
  page: (stored, storedAs, place) => readPage(stored(), storedAs, place),
  scan: (stored, storedAs) => scanForSecrets(stored(), storedAs, () => false),
};
