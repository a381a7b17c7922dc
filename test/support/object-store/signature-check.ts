// The store's side of AWS Signature Version 4 in a query, written for tests from Amazon's description and with another library than
// the service's signer, so that a mistake there is not repeated here.
export interface KnownKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

export interface SignatureRules {
  keys: KnownKeys;
  region: string;
  /** UTC milliseconds by the store's clock */
  nowMs: number;
}

const WEEK_SECONDS = 604_800;
const SKEW_MS = 15 * 60 * 1_000;

/** @returns the code of the refusal; undefined if the request is signed, in time, and has the signed headers */
export async function signatureFault(
  request: Request,
  { keys, region, nowMs }: SignatureRules,
): Promise<string | undefined> {
  const url = new URL(request.url);
  const value = (name: string) => url.searchParams.get(`X-Amz-${name}`) ?? "";
  if (!url.searchParams.has("X-Amz-Signature")) return "AccessDenied";
  if (value("Algorithm") !== "AWS4-HMAC-SHA256") return "AuthorizationQueryParametersError";
  const [keyId, date, signedRegion, service, end] = value("Credential").split("/");
  if (keyId !== keys.accessKeyId) return "InvalidAccessKeyId";
  if (`${date}/${signedRegion}/${service}/${end}` !== `${date}/${region}/s3/aws4_request`)
    return "AuthorizationQueryParametersError";
  if ((keys.sessionToken ?? "") !== value("Security-Token")) return "InvalidToken";
  const lifetime = Number(value("Expires"));
  const signedAtMs = Date.parse(
    value("Date").replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  if (!(lifetime >= 1 && lifetime <= WEEK_SECONDS) || !value("Date").startsWith(date ?? "-"))
    return "AuthorizationQueryParametersError";
  if (signedAtMs > nowMs + SKEW_MS) return "RequestTimeTooSkewed";
  if (nowMs > signedAtMs + lifetime * 1_000) return "AccessDenied";
  const names = value("SignedHeaders").split(";");
  if (!names.includes("host")) return "SignatureDoesNotMatch";
  const unsigned = [...request.headers.keys()].find(
    (name) => name.startsWith("x-amz-") && !names.includes(name),
  );
  if (unsigned) return "AccessDenied";
  const text = await textToSign(request, {
    names,
    date: value("Date"),
    scope: `${date}/${region}/s3/aws4_request`,
  });
  let key: ArrayBuffer | Uint8Array<ArrayBuffer> = bytes(`AWS4${keys.secretAccessKey}`);
  for (const part of [date ?? "", region, "s3", "aws4_request"]) key = await mac(key, part);
  return hex(await mac(key, text)) === value("Signature") ? undefined : "SignatureDoesNotMatch";
}

async function textToSign(
  request: Request,
  { names, date, scope }: { names: string[]; date: string; scope: string },
): Promise<string> {
  const [, path = "/", query = ""] = /^https?:\/\/[^/]*([^?]*)\??(.*)$/.exec(request.url) ?? [];
  const parameters = query.split("&").filter((pair) => !pair.startsWith("X-Amz-Signature="));
  const headers = names.map((name) => `${name}:${request.headers.get(name)?.trim() ?? ""}`);
  const canonical = `${request.method}\n${path}\n${parameters.sort().join("&")}\n${headers.join("\n")}\n\n${names.join(";")}\nUNSIGNED-PAYLOAD`;
  return `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hex(await crypto.subtle.digest("SHA-256", bytes(canonical)))}`;
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const hex = (buffer: ArrayBuffer): string => Buffer.from(buffer).toString("hex");

async function mac(key: ArrayBuffer | Uint8Array<ArrayBuffer>, text: string): Promise<ArrayBuffer> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  return await crypto.subtle.sign("HMAC", imported, bytes(text));
}
