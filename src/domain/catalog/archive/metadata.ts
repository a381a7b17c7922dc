// The two records that describe the next entry in more detail than its header: the GNU long name and the PAX extended header
// (POSIX.1-2017, pax, "pax Extended Header"). Their length is checked before they are read.
import { refusal } from "./limits.ts";

/** A record's description of the next entry. */
export interface Naming {
  path?: Uint8Array;
  sizeBytes?: number;
}

interface Pax extends Naming {
  comment?: string;
}

/** @returns the long name without the NUL that ends it */
export const readLongName = (body: Uint8Array): Naming => ({
  path: body.at(-1) === 0 ? body.subarray(0, -1) : body,
});

/** @throws DomainError `archive.corrupt`, or `archive.special` for a sparse file */
export function readPax(body: Uint8Array): Pax {
  const naming: Pax = {};
  for (const [key, value] of paxRecords(body)) {
    if (key === "path") naming.path = value;
    if (key === "size") naming.sizeBytes = decimalOf(value);
    if (key === "comment") naming.comment = Buffer.from(value).toString();
    if (key.startsWith("GNU.sparse."))
      throw refusal("special", "the archive contains a sparse file", "pack it without -S");
  }
  return naming;
}

/** A global header may contain comments, which `git archive` writes, but nothing that changes an entry. */
export function readGlobalPax(body: Uint8Array): Pick<Pax, "comment"> {
  const { path, sizeBytes, ...more } = readPax(body);
  if (path === undefined && sizeBytes === undefined) return more;
  throw refusal("metadata", "a global PAX header sets a path or a size for several entries at once");
}

/** Each record is `<length> <key>=<value>\n`; the length counts the whole record in bytes. */
function* paxRecords(body: Uint8Array): Generator<[key: string, value: Uint8Array]> {
  for (let start = 0; start < body.byteLength; ) {
    const space = body.indexOf(0x20, start);
    const length = space === -1 ? Number.NaN : decimalOf(body.subarray(start, space));
    const record = body.subarray(space + 1, start + length);
    const equals = record.indexOf(0x3d);
    const isWhole = start + length <= body.byteLength && record.at(-1) === 0x0a && equals > 0;
    if (!isWhole) throw damaged();
    yield [Buffer.from(record.subarray(0, equals)).toString(), record.subarray(equals + 1, -1)];
    start += length;
  }
}

function decimalOf(digits: Uint8Array): number {
  const text = Buffer.from(digits).toString("latin1");
  if (!/^\d{1,15}$/.test(text)) throw damaged();
  return Number(text);
}

const damaged = () => refusal("corrupt", "a PAX extended header is damaged", "pack it again");
