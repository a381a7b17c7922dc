// SES-16, SES-34: the signatures themselves.
import { expect, test } from "bun:test";
import { encodePath, signUrl } from "../../../src/platform/object-store/signature.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { signatureFault } from "../../support/object-store/signature-check.ts";

/** The keys of Amazon's published examples. */
const EXAMPLE = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const credentials = {
  accessKeyId: new Secret(EXAMPLE.accessKeyId),
  secretAccessKey: new Secret(EXAMPLE.secretAccessKey),
};
const signer = {
  credentials,
  region: "us-east-1",
  atMs: Date.parse("2013-05-24T00:00:00Z"),
  lifetimeSeconds: 86_400,
};
const rules = { keys: EXAMPLE, region: "us-east-1", nowMs: signer.atMs };
/** Amazon S3 API Reference, "Authenticating Requests: Using Query Parameters". */
const PUBLISHED =
  "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";

test("SES-34: signs Amazon's published example as published", () => {
  const url = new URL("https://examplebucket.s3.amazonaws.com/test.txt");
  expect(signUrl({ method: "GET", url }, signer)).toBe(PUBLISHED);
});

test("the test server's check accepts the published example, but no similar request", async () => {
  const request = new Request(PUBLISHED, { headers: { host: "examplebucket.s3.amazonaws.com" } });
  expect(await signatureFault(request, rules)).toBeUndefined();
  const altered = PUBLISHED.replace("test.txt", "test.txu");
  expect(
    await signatureFault(
      new Request(altered, { headers: { host: "examplebucket.s3.amazonaws.com" } }),
      rules,
    ),
  ).toBe("SignatureDoesNotMatch");
});

test("signs names and values that need encoding, and any headers, as the store reads them", async () => {
  const url = new URL(`http://store.example:9000/${encodePath("bucket/a b/ü!'()*~.tgz")}`);
  const headers = { "x-amz-meta-note": "  two  spaces ", "content-type": "text/plain; charset=utf-8" };
  const query = { "response-content-disposition": 'attachment; filename="a+b&c=d.tgz"', prefix: "é/" };
  const signed = signUrl({ method: "PUT", url, query, headers }, signer);
  const sent = { ...headers, "x-amz-meta-note": "two spaces", host: "store.example:9000" };
  expect(await signatureFault(new Request(signed, { method: "PUT", headers: sent }), rules)).toBeUndefined();
  expect(new URL(signed).searchParams.get("response-content-disposition")).toBe(
    query["response-content-disposition"],
  );
});

test("signs the token of temporary credentials", async () => {
  const sessionToken = "token/with+signs=";
  const url = new URL("http://store.example/bucket/key");
  const signed = signUrl(
    { method: "GET", url },
    { ...signer, credentials: { ...credentials, sessionToken: new Secret(sessionToken) } },
  );
  const request = new Request(signed, { headers: { host: "store.example" } });
  expect(await signatureFault(request, { ...rules, keys: { ...EXAMPLE, sessionToken } })).toBeUndefined();
  expect(await signatureFault(request, rules)).toBe("InvalidToken");
});

test.each([
  ["method", (url: string) => new Request(url, { method: "PUT", headers: { host: "store.example" } })],
  ["path", (url: string) => new Request(url.replace("/key", "/kez"), { headers: { host: "store.example" } })],
  ["host", (url: string) => new Request(url, { headers: { host: "other.example" } })],
  [
    "expiry",
    (url: string) => new Request(url.replace("=86400", "=86401"), { headers: { host: "store.example" } }),
  ],
])("the signature covers the %s", async (_, altered) => {
  const signed = signUrl({ method: "GET", url: new URL("http://store.example/bucket/key") }, signer);
  expect(await signatureFault(altered(signed), rules)).toBe("SignatureDoesNotMatch");
});
