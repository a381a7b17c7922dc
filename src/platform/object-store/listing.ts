// Reads two XML documents of S3: a list of objects, and the code of an error. Their elements are flat and fixed by the
// protocol, so no XML library is needed; anything unexpected is refused.
import { invalid } from "./failures.ts";

interface ListedObject {
  key: string;
  sizeBytes: number;
  /** UTC milliseconds */
  modifiedAtMs: number;
}

export interface ListedPage {
  objects: readonly ListedObject[];
  /** whether more keys follow */
  isTruncated: boolean;
}

/**
 * @param xml ListBucketResult with keys in URL encoding
 * @throws DomainError `object_store.invalid`
 */
export function parseListing(xml: string): ListedPage {
  const [, inner] = /<ListBucketResult[^>]*>(.*)<\/ListBucketResult>\s*$/s.exec(xml) ?? [];
  if (inner === undefined) throw invalid("the list is not a ListBucketResult");
  const objects = Array.from(inner.matchAll(/<Contents>(.*?)<\/Contents>/gs), ([, entry = ""]) =>
    objectIn(entry),
  );
  const isTruncated = elementIn(inner.replace(/<Contents>.*<\/Contents>/s, ""), "IsTruncated") === "true";
  if (isTruncated && objects.length === 0) throw invalid("the list continues after an empty page");
  return { objects, isTruncated };
}

/** @returns the code of an error document; undefined if there is no code in the usual form */
export const errorCodeIn = (xml: string): string | undefined =>
  /<Code>([A-Za-z]{1,64})<\/Code>/.exec(xml)?.[1];

function objectIn(entry: string): ListedObject {
  const key = decoded(elementIn(entry, "Key") ?? "");
  const sizeBytes = Number(elementIn(entry, "Size") || "-1");
  const modifiedAtMs = Date.parse(elementIn(entry, "LastModified") ?? "");
  if (key !== "" && Number.isSafeInteger(sizeBytes) && sizeBytes >= 0 && Number.isFinite(modifiedAtMs))
    return { key, sizeBytes, modifiedAtMs };
  throw invalid("an entry of the list lacks key, size or time");
}

const elementIn = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    return key; // from a store that does not encode; our keys have the same form either way
  }
}
