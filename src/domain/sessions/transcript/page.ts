// Reads one page of a transcript from the stored bytes. Runs in a thread, because unpacking and parsing take a lot of processor
// time.
import { type StoredAs, transcriptBytes } from "./bundle.ts";
import { claudeEntries } from "./formats/claude.ts";
import { codexEntries } from "./formats/codex.ts";
import { kimiEntries } from "./formats/kimi.ts";
import { opencodeEntries } from "./formats/opencode.ts";
import {
  PAGE_CHARACTERS_MAX,
  PAGE_ENTRIES_MAX,
  PAGE_RECORD_BYTES_MAX,
  RECORD_BYTES_MAX,
  RECORD_DEPTH_MAX,
} from "./limits.ts";
import { noTranscript, type Place, type TranscriptEntry, type TranscriptPage, wrongCursor } from "./model.ts";
import { isWithinDepth, lines, messages, type OmittedRecords, type RawRecord } from "./records.ts";
import { entryOf } from "./values.ts";

type Bytes = AsyncIterable<Uint8Array>;

interface Format {
  records(file: Bytes, from: number): AsyncGenerator<RawRecord | OmittedRecords>;
  entries(record: unknown): Generator<TranscriptEntry>;
}

const FORMATS: Readonly<Record<string, Format>> = {
  codex: { records: lines, entries: codexEntries },
  claude: { records: lines, entries: claudeEntries },
  kimi: { records: lines, entries: kimiEntries },
  opencode: { records: messages, entries: opencodeEntries },
};

/**
 * @throws DomainError `sessions.no_transcript`; `sessions.invalid` for a cursor that does not fit this transcript; errors of the
 *   stream
 */
export async function readPage(stored: Bytes, storedAs: StoredAs, place: Place): Promise<TranscriptPage> {
  const format = FORMATS[storedAs.harness];
  const file = transcriptBytes(stored, storedAs);
  if (!format) throw noTranscript(`transcripts of ${storedAs.harness} are not known here`);
  const page = new Page(place);
  let isFirst = true;
  for await (const record of format.records(file, place.offset)) {
    if (record === "rest") return page.end({ isCut: true });
    if (isFirst && record.offset !== place.offset && place.offset > 0) throw wrongCursor();
    isFirst = false;
    if (!page.canHold(record)) return page.endBefore(record);
    page.add(record, entriesOf(record, format));
    if (page.next) return page.end({});
  }
  if (isFirst && place.offset > 0) throw wrongCursor();
  if (page.hasOnlyNotes && place.before === 0)
    throw noTranscript(`nothing in it has a known form of ${storedAs.harness}`);
  return page.end({});
}

/** @returns the entries, with a note in place of a record that cannot be shown */
function* entriesOf({ bytes, sizeBytes }: RawRecord, { entries }: Format): Generator<TranscriptEntry> {
  if (!bytes)
    return yield note(`An entry of ${sizeBytes} bytes is left out; at most ${RECORD_BYTES_MAX} are read.`);
  if (!isWithinDepth(bytes, RECORD_DEPTH_MAX))
    return yield note("An entry is left out, because it is nested too deeply.");
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return yield note("An entry is left out, because it is not JSON.");
  }
  yield* entries(value);
}

const note = (text: string): TranscriptEntry => entryOf({ kind: "note", text });

/** Collects entries until one of the limits of a page is reached. */
class Page {
  readonly #entries: TranscriptEntry[] = [];
  #characters = 0;
  #recordBytes = 0;
  /** a transcript of an unknown format has only notes */
  hasOnlyNotes = true;
  next: Place | undefined;

  constructor(private readonly place: Place) {}

  /** @returns false if the page has no space for another record; the first record always fits */
  canHold({ sizeBytes }: RawRecord): boolean {
    return (
      this.#recordBytes === 0 ||
      this.#recordBytes + Math.min(sizeBytes, RECORD_BYTES_MAX) <= PAGE_RECORD_BYTES_MAX
    );
  }

  add({ offset, sizeBytes }: RawRecord, entries: Iterable<TranscriptEntry>): void {
    this.#recordBytes += Math.min(sizeBytes, RECORD_BYTES_MAX);
    const skipped = offset === this.place.offset ? this.place.skipped : 0;
    let index = 0;
    for (const entry of entries) {
      if (index >= skipped) {
        if (this.#isFull(entry)) {
          this.next = { offset, skipped: index, before: this.place.before + this.#entries.length };
          return;
        }
        this.#entries.push(entry);
        this.#characters += entry.text.length;
        if (entry.kind !== "note") this.hasOnlyNotes = false;
      }
      index += 1;
    }
  }

  endBefore({ offset }: RawRecord): TranscriptPage {
    this.next = { offset, skipped: 0, before: this.place.before + this.#entries.length };
    return this.end({});
  }

  end({ isCut = false }: { isCut?: boolean }): TranscriptPage {
    return { entries: this.#entries, before: this.place.before, next: this.next ?? null, isCut };
  }

  #isFull({ text }: TranscriptEntry): boolean {
    const length = this.#entries.length;
    return length >= PAGE_ENTRIES_MAX || (length > 0 && this.#characters + text.length > PAGE_CHARACTERS_MAX);
  }
}
