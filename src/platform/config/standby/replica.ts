// The setting type for the location of a replica.
import { type SettingType, scalarText } from "../types.ts";

export type ReplicaPlace =
  /** absolute */
  | { readonly kind: "file"; readonly path: string }
  /** `prefix` ends with a slash, or is empty */
  | { readonly kind: "s3"; readonly bucket: string; readonly prefix: string }
  | { readonly kind: "sftp"; readonly user: string; readonly host: string; readonly path: string };

const S3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w.-]+)*)\/?$/;
const SFTP = /^sftp:\/\/([\w.-]+)@([\w.-]+(?::\d{1,5})?)((?:\/[\w.-]+)+)\/?$/;
const FILE = /^file:\/\/((?:\/[^/?#\0]+)+)\/?$/;

/** The path must hold nothing else, because the service looks for replicas below it. */
export const replicaUrl: SettingType<string> = {
  placeholder: "url",
  read: (raw) => {
    const given = scalarText(raw) ?? "";
    const value = given.replace(/\/$/, "");
    return placeIn(given) && !/(?:^|\/)\.\.?(?:\/|$)/.test(given.replace(/^\w+:\/\//, ""))
      ? { value, text: value }
      : { wrong: "must be file:///path, s3://bucket/path or sftp://user@host/path" };
  },
};

/** @param url as in the setting */
export function placeOf(url: string): ReplicaPlace {
  const place = placeIn(url);
  if (!place) throw new Error("the setting type accepts only valid places");
  return place;
}

function placeIn(url: string): ReplicaPlace | undefined {
  const [, path] = FILE.exec(url) ?? [];
  if (path !== undefined) return { kind: "file", path };
  const [, bucket, keys = ""] = S3.exec(url) ?? [];
  if (bucket !== undefined) return { kind: "s3", bucket, prefix: keys === "" ? "" : `${keys.slice(1)}/` };
  const [, user, host = "", folder = ""] = SFTP.exec(url) ?? [];
  return user === undefined ? undefined : { kind: "sftp", user, host, path: folder };
}
