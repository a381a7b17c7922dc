// AWS Signature Version 4 in the query of a URL, for S3 and stores that speak it. The runtime's own client signs only the host,
// which would let the uploader choose the length, type and digest of an upload.
import { createHash, createHmac } from "node:crypto";
import type { Secret } from "../secret.ts";

export interface Credentials {
  accessKeyId: Secret;
  secretAccessKey: Secret;
  /** session token of temporary credentials */
  sessionToken?: Secret | undefined;
}

export interface SignedRequest {
  method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** path encoded by `encodePath`, without a query */
  url: URL;
  /** parameters of the operation, not encoded */
  query?: Readonly<Record<string, string>>;
  /** headers that the request must have with these exact values, in addition to `host`; names in lower case */
  headers?: Readonly<Record<string, string>>;
}

export interface Signer {
  credentials: Credentials;
  region: string;
  /** UTC milliseconds */
  atMs: number;
  /** lifetime of the URL; at most a week */
  lifetimeSeconds: number;
}

const ALGORITHM = "AWS4-HMAC-SHA256";
/** the body is not part of the signature; the store compares it with the signed header x-amz-checksum-sha256 */
const BODY = "UNSIGNED-PAYLOAD";

/**
 * @returns the URL with the signature in its query
 * @source Amazon S3 API Reference, "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)"
 */
export function signUrl(
  { method, url, query = {}, headers = {} }: SignedRequest,
  { credentials, region, atMs, lifetimeSeconds }: Signer,
): string {
  const time = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, "");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const signed = Object.entries({ ...headers, host: url.host }).toSorted(byName);
  const names = signed.map(([name]) => name).join(";");
  const parameters = Object.entries({
    ...query,
    "X-Amz-Algorithm": ALGORITHM,
    "X-Amz-Credential": `${credentials.accessKeyId.reveal()}/${scope}`,
    "X-Amz-Date": time,
    "X-Amz-Expires": String(lifetimeSeconds),
    ...(credentials.sessionToken && { "X-Amz-Security-Token": credentials.sessionToken.reveal() }),
    "X-Amz-SignedHeaders": names,
  })
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const lines = signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, " ")}\n`).join("");
  const request = [method, url.pathname, parameters, lines, names, BODY].join("\n");
  const text = [ALGORITHM, time, scope, createHash("sha256").update(request).digest("hex")].join("\n");
  const key = signingKey(credentials.secretAccessKey, scope);
  const signature = createHmac("sha256", key).update(text).digest("hex");
  return `${url.origin}${url.pathname}?${parameters}&X-Amz-Signature=${signature}`;
}

/** @returns the path of an object, with every character but letters, digits and `-._~/` as %XX */
export const encodePath = (path: string): string => path.split("/").map(encode).join("/");

const encode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const signingKey = (secret: Secret, scope: string): Buffer =>
  scope
    .split("/")
    .reduce(
      (key, part) => createHmac("sha256", key).update(part).digest(),
      Buffer.from(`AWS4${secret.reveal()}`),
    );

const byName = ([one]: readonly [string, string], [other]: readonly [string, string]): number =>
  one < other ? -1 : Number(one > other);
