// A small S3 server on this machine: buckets in memory, every request checked for signature, expiry, length and digest. Its error
// documents name bucket, host and key id like those of real stores. Tests can make it respond wrongly.
import { createHash } from "node:crypto";
import { type KnownKeys, signatureFault } from "./signature-check.ts";

export interface KeptObject {
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  modifiedAtMs: number;
  /** base64; undefined in a store that stores none */
  checksum: string | undefined;
}

export interface S3ServerOptions {
  keys?: KnownKeys;
  region?: string;
  /** names of the buckets; `sessions` by default */
  buckets?: readonly string[];
  tls?: { cert: string; key: string };
  /** `ignored`: neither compared nor stored, as in old stores; `unkept`: compared only */
  digests?: "checked" | "unkept" | "ignored";
  /** UTC milliseconds */
  nowMs?: () => number;
}

export interface S3Server extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, or `https://localhost:<port>` */
  origin: string;
  port: number;
  /** objects of each bucket by key */
  buckets: Map<string, Map<string, KeptObject>>;
  /** `METHOD /path` of every request, oldest first */
  seen: string[];
  /** replaced to rotate credentials */
  keys: KnownKeys;
  /** serves objects of these buckets without a signature */
  publicBuckets: Set<string>;
  /** responds instead of the server while it is set; undefined leaves the request to the server */
  instead: ((request: Request) => Response | undefined | Promise<Response | undefined>) | undefined;
}

export const TEST_KEYS: KnownKeys = {
  accessKeyId: "AKIA0123456789",
  secretAccessKey: "store/secret+key",
};

export function createS3Server(options: S3ServerOptions = {}): S3Server {
  const { keys = TEST_KEYS, buckets = ["sessions"], tls } = options;
  const listener = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...(tls && { tls }),
    maxRequestBodySize: 256 * 1024 * 1024,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      server.seen.push(`${request.method} ${pathname}`);
      const response = (await server.instead?.(request)) ?? (await answer(server, options, request));
      const { nowMs = Date.now } = options;
      response.headers.set("date", new Date(nowMs()).toUTCString());
      return response;
    },
  });
  const port = Number(listener.port);
  const server: S3Server = {
    origin: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    port,
    keys,
    buckets: new Map(buckets.map((name) => [name, new Map()])),
    seen: [],
    publicBuckets: new Set(),
    instead: undefined,
    [Symbol.asyncDispose]: () => listener.stop(true),
  };
  return server;
}

interface Target {
  bucket: string;
  key: string;
  objects: Map<string, KeptObject>;
}

async function answer(server: S3Server, options: S3ServerOptions, request: Request): Promise<Response> {
  const { region = "us-east-1", nowMs = Date.now } = options;
  const target = targetOf(server, request);
  const reads = request.method === "GET" || request.method === "HEAD";
  const isOpen = reads && target && target.key !== "" && server.publicBuckets.has(target.bucket);
  const isUnsigned = !new URL(request.url).search.includes("X-Amz-Signature");
  if (!(isOpen && isUnsigned)) {
    const fault = await signatureFault(request, { keys: server.keys, region, nowMs: nowMs() });
    if (fault) return refusal(server, request, { status: 403, code: fault });
  }
  if (!target) return refusal(server, request, { status: 404, code: "NoSuchBucket" });
  if (target.key === "") return answerBucket(target.objects, request);
  if (request.method === "PUT") return await store(server, target, { options, request });
  if (request.method === "DELETE") {
    target.objects.delete(target.key);
    return new Response(null, { status: 204 });
  }
  const kept = target.objects.get(target.key);
  return kept ? served(kept, request) : refusal(server, request, { status: 404, code: "NoSuchKey" });
}

/** Path style, or host style for a host whose first label is a bucket. */
function targetOf({ buckets }: S3Server, request: Request): Target | undefined {
  const { pathname, hostname } = new URL(request.url);
  const path = decodeURIComponent(pathname.slice(1));
  const [label = ""] = hostname.split(".");
  const ofHost = hostname.startsWith("127.") ? undefined : buckets.get(label);
  if (ofHost) return { bucket: label, key: path, objects: ofHost };
  const [bucket = "", ...parts] = path.split("/");
  const objects = buckets.get(bucket);
  return objects && { bucket, key: parts.join("/"), objects };
}

async function store(
  server: S3Server,
  { objects, key }: Target,
  { options, request }: { options: S3ServerOptions; request: Request },
): Promise<Response> {
  const { digests = "checked", nowMs = Date.now } = options;
  if (!request.headers.has("content-length"))
    return refusal(server, request, { status: 411, code: "MissingContentLength" });
  const bytes = new Uint8Array(await request.arrayBuffer());
  const condition = conditionFault(objects.get(key), request);
  if (condition) return refusal(server, request, condition);
  const announced = request.headers.get("x-amz-checksum-sha256");
  const checksum = createHash("sha256").update(bytes).digest("base64");
  if (digests !== "ignored" && announced !== null && announced !== checksum)
    return refusal(server, request, { status: 400, code: "BadDigest" });
  objects.set(key, {
    bytes,
    contentType: request.headers.get("content-type") ?? "binary/octet-stream",
    modifiedAtMs: nowMs(),
    checksum: digests === "checked" ? checksum : undefined,
  });
  return new Response(null, { status: 200, headers: { etag: etagOf(bytes) } });
}

const etagOf = (bytes: Uint8Array): string => `"${Bun.hash(bytes)}"`;

/** Like conditional writes of Amazon S3. */
function conditionFault(kept: KeptObject | undefined, { headers }: Request) {
  const expected = headers.get("if-match");
  if (headers.get("if-none-match") === "*" && kept) return { status: 412, code: "PreconditionFailed" };
  if (expected === null) return undefined;
  if (!kept) return { status: 404, code: "NoSuchKey" };
  return etagOf(kept.bytes) === expected ? undefined : { status: 412, code: "PreconditionFailed" };
}

function served({ bytes, contentType, checksum }: KeptObject, request: Request): Response {
  const { searchParams } = new URL(request.url);
  const headers = new Headers({
    "content-type": searchParams.get("response-content-type") ?? contentType,
    "content-length": String(bytes.length),
    etag: etagOf(bytes),
  });
  const disposition = searchParams.get("response-content-disposition");
  if (disposition) headers.set("content-disposition", disposition);
  if (checksum && request.headers.get("x-amz-checksum-mode") === "ENABLED")
    headers.set("x-amz-checksum-sha256", checksum);
  return new Response(request.method === "HEAD" ? null : bytes, { headers });
}

function answerBucket(objects: Map<string, KeptObject>, request: Request): Response {
  if (request.method === "HEAD") return new Response(null);
  const { searchParams } = new URL(request.url);
  const [prefix, after] = [searchParams.get("prefix") ?? "", searchParams.get("start-after") ?? ""];
  const max = Number(searchParams.get("max-keys") ?? "1000");
  const found = [...objects].filter(([key]) => key.startsWith(prefix) && key > after).sort(byKey);
  const entries = found
    .slice(0, max)
    .map(
      ([key, { bytes, modifiedAtMs }]) =>
        `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>${new Date(modifiedAtMs).toISOString()}</LastModified><ETag>&quot;0&quot;</ETag><Size>${bytes.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
    );
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix/><MaxKeys>${max}</MaxKeys><EncodingType>url</EncodingType><IsTruncated>${found.length > max}</IsTruncated>${entries.join("")}</ListBucketResult>`,
    { headers: { "content-type": "application/xml" } },
  );
}

const byKey = ([one]: [string, unknown], [other]: [string, unknown]): number => (one < other ? -1 : 1);

/** Contains details that callers of the service must not see. */
function refusal(
  { keys, origin }: S3Server,
  request: Request,
  { status, code }: { status: number; code: string },
): Response {
  const { pathname } = new URL(request.url);
  const text = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>Refused ${pathname} at ${origin}</Message><AWSAccessKeyId>${keys.accessKeyId}</AWSAccessKeyId><HostId>${origin}</HostId></Error>`;
  return new Response(request.method === "HEAD" ? null : text, {
    status,
    headers: { "content-type": "application/xml" },
  });
}
