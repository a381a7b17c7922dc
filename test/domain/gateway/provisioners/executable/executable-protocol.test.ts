// The two documents of protocol version 1, without a process: the exact request, and which responses are valid.
import { describe, expect, test } from "bun:test";
import { DIAGNOSIS_CHARS_MAX } from "../../../../../src/domain/gateway/provisioners/diagnosis.ts";
import {
  ALIAS_CHARS_MAX,
  CREDENTIAL_CHARS_MAX,
  checkRevoked,
  EXTERNAL_ID_CHARS_MAX,
  ensureMessage,
  METADATA_BYTES_MAX,
  PROBLEM_PLACES_MAX,
  readResult,
  revokeMessage,
  toProvisionedKey,
} from "../../../../../src/domain/gateway/provisioners/executable/executable-protocol.ts";
import {
  PROVISIONER_CODES,
  ProvisionerError,
} from "../../../../../src/domain/gateway/provisioners/provisioner.ts";

const identity = {
  id: "0190f3a0-0000-7000-8000-000000000001",
  email: "ada@example.com",
  organizationId: "0190f3a0-0000-7000-8000-00000000000f",
  groups: ["Developers"],
};
const RESULT = {
  credential: "sk-1",
  external_id: "key-1",
  alias: "quartermaster:ada@example.com",
  metadata: { team: "a" },
  expires_at: "2026-12-01T00:00:00Z",
};
const success = { protocol_version: 1, status: "success", result: RESULT };
const failure = { protocol_version: 1, status: "error", error: { code: "conflict", message: "two of them" } };

const read = (response: unknown, exitCode: number | null = 0) =>
  readResult({
    exitCode,
    output: typeof response === "string" ? Buffer.from(response) : Buffer.from(JSON.stringify(response)),
    errorBytes: 17,
  });

function failureOf(call: () => unknown): ProvisionerError {
  try {
    call();
  } catch (error) {
    if (error instanceof ProvisionerError) return error;
    throw error;
  }
  throw new Error("it succeeded");
}

const diagnosisOf = (call: () => unknown): string => {
  const { code, diagnosis } = failureOf(call);
  expect(code).toBe("unavailable");
  return diagnosis;
};

describe("a request", () => {
  test("names the user and the reason in a request for a first key", () => {
    expect(JSON.parse(ensureMessage({ identity, reason: "missing", previous: null }))).toEqual({
      protocol_version: 1,
      operation: "ensure",
      request: {
        identity: {
          id: identity.id,
          email: "ada@example.com",
          organization_id: identity.organizationId,
          groups: ["Developers"],
        },
        reason: "missing",
        previous: null,
      },
    });
  });

  test("sends the last response about a key in a request for its check", () => {
    const previous = { externalId: "key-1", alias: "a", metadata: null };
    const message = ensureMessage({ identity, reason: "reconciliation_due", previous });
    expect(JSON.parse(message).request.previous).toEqual({
      external_id: "key-1",
      alias: "a",
      metadata: null,
    });
  });

  test("names the user in a request to revoke a key", () => {
    const { operation, request } = JSON.parse(revokeMessage(identity, "key-1"));
    expect(operation).toBe("revoke");
    expect(request.external_id).toBe("key-1");
    expect(request.identity).toMatchObject({ id: identity.id, email: "ada@example.com" });
  });
});

describe("a response", () => {
  test("accepts a success with exit status 0 and trailing white space", () => {
    expect(read(success)).toEqual(RESULT);
    expect(read(`${JSON.stringify(success)} \n\n`)).toEqual(RESULT);
  });

  test.each([...PROVISIONER_CODES])("reports a failure with the code %s", (code) => {
    const error = failureOf(() => read({ ...failure, error: { code, message: "so it is" } }, 1));
    expect(error.code).toBe(code);
    expect(error.diagnosis).toBe(`${code}: so it is`);
  });

  test.each(["unsupported", "discovery_auth", "discovery_response", "constructor", ""])(
    "treats the code %p, which this operation does not have, as an outage",
    (code) => {
      const error = failureOf(() => read({ ...failure, error: { code, message: "m" } }, 1));
      expect([error.code, error.kind]).toEqual(["unavailable", "upstream"]);
    },
  );

  test.each([
    ["a success", success, 1],
    ["a success", success, 255],
    ["an error", failure, 0],
  ])("refuses %s that contradicts the exit status: %j, %i", (_, response, exitCode) => {
    expect(diagnosisOf(() => read(response, exitCode))).toContain("contradicts");
  });

  test("refuses the response of a program that a signal ended", () => {
    expect(diagnosisOf(() => read(success, null))).toContain("killed by a signal");
  });

  test.each([
    ["nothing", ""],
    ["text", "here is your key"],
    ["half a document", '{"protocol_version":1'],
    ["two documents", JSON.stringify(success).repeat(2)],
  ])("refuses %s as a response", (_, response) => {
    expect(diagnosisOf(() => read(response))).toContain("no JSON (exit status 0, 17 bytes");
  });

  test("refuses a response that is not UTF-8", () => {
    const output = Buffer.concat([
      Buffer.from('{"protocol_version":1,"x":"'),
      Buffer.from([0xff, 0x22, 0x7d]),
    ]);
    expect(diagnosisOf(() => readResult({ exitCode: 0, output, errorBytes: 0 }))).toContain("no JSON");
  });

  test.each([
    ["another version", { ...success, protocol_version: 2 }, 0, "/protocol_version"],
    ["a version in text", { ...success, protocol_version: "1" }, 0, "/protocol_version"],
    ["no version", { status: "success", result: {} }, 0, "/protocol_version"],
    ["an unknown status", { ...success, status: "ok" }, 0, "/status"],
    ["an unknown key", { ...success, extra: 1 }, 0, "/extra"],
    ["an unknown key in its error", { ...failure, error: { ...failure.error, hint: "x" } }, 1, "/error/hint"],
    ["an error without a message", { ...failure, error: { code: "conflict" } }, 1, "/error/message"],
    ["both a result and an error", { ...success, error: failure.error }, 0, "/error"],
    ["a list for an envelope", [success], 0, "/"],
    ["null for an envelope", null, 0, "/"],
  ])("refuses a response with %s and names the place", (_, response, exitCode, place) => {
    expect(diagnosisOf(() => read(response, exitCode))).toContain(place);
  });

  test.each([-1, 0, 1])("names %i places more than the limit only up to it", (step) => {
    const unknown = Array.from({ length: PROBLEM_PLACES_MAX + step }, (_, at) => `m${at}`);
    const diagnosis = diagnosisOf(() =>
      read({ ...success, ...Object.fromEntries(unknown.map((name) => [name, 1])) }),
    );
    const named = unknown.slice(0, PROBLEM_PLACES_MAX).map((name) => `/${name}`);
    expect(diagnosis).toEndWith(`returned an invalid response at ${named.join(", ")}`);
  });

  test("never appears in a diagnosis at the place of a problem", () => {
    const wrong = { ...success, status: "sk-in-the-wrong-place" };
    expect(diagnosisOf(() => read(wrong))).not.toContain("sk-in");
    expect(failureOf(() => toProvisionedKey({ ...RESULT, alias: ["sk-secret"] })).diagnosis).not.toContain(
      "sk-secret",
    );
  });

  test("removes secrets from the message of a failure and puts it on one line", () => {
    const message = "401\r\nfor Bearer abc.def with sk-live_123-x";
    const { diagnosis } = failureOf(() => read({ ...failure, error: { code: "rejected", message } }, 1));
    expect(diagnosis).toBe("rejected: 401 for [secret] with [secret]");
  });

  test.each([
    [DIAGNOSIS_CHARS_MAX - 1, DIAGNOSIS_CHARS_MAX - 1],
    [DIAGNOSIS_CHARS_MAX, DIAGNOSIS_CHARS_MAX],
    [DIAGNOSIS_CHARS_MAX + 1, DIAGNOSIS_CHARS_MAX],
  ])("shortens a message of %i characters to %i", (said, told) => {
    const message = "m".repeat(said - "rejected: ".length);
    const { diagnosis } = failureOf(() => read({ ...failure, error: { code: "rejected", message } }, 1));
    expect(diagnosis).toHaveLength(told);
  });
});

describe("the result of a success", () => {
  test("may be a key with every member", () => {
    const key = toProvisionedKey(RESULT);
    expect(key).toMatchObject({
      externalId: "key-1",
      alias: "quartermaster:ada@example.com",
      metadata: { team: "a" },
      expiresAtMs: Date.UTC(2026, 11, 1),
    });
    expect(key.credential?.reveal()).toBe("sk-1");
  });

  test.each([
    ["absent", {}],
    ["null", { credential: null, metadata: null, expires_at: null }],
  ])("may omit what is %s: the stored secret stays", (_, rest) => {
    expect(toProvisionedKey({ external_id: "key-1", alias: "a", ...rest })).toEqual({
      externalId: "key-1",
      alias: "a",
      metadata: null,
      expiresAtMs: null,
    });
  });

  test("may have unknown members", () => {
    expect(toProvisionedKey({ ...RESULT, credit: 100 })).not.toHaveProperty("credit");
  });

  test.each(["credential", "external_id", "alias"])("needs a %s that is not blank", (member) => {
    for (const blank of ["", " ", "\t\n"]) {
      expect(diagnosisOf(() => toProvisionedKey({ ...RESULT, [member]: blank }))).toContain(`/${member}`);
    }
  });

  test.each(["external_id", "alias"])("needs a %s at all", (member) => {
    expect(diagnosisOf(() => toProvisionedKey({ ...RESULT, [member]: undefined }))).toContain(`/${member}`);
    expect(diagnosisOf(() => toProvisionedKey({ ...RESULT, [member]: null }))).toContain(`/${member}`);
  });

  test("needs a credential that fits into a header", () => {
    for (const credential of ["sk-1\n", "sk 1", "sk-ä", "sk-\u0000"]) {
      expect(diagnosisOf(() => toProvisionedKey({ ...RESULT, credential }))).toContain("/credential");
    }
  });

  test.each([
    ["external_id", EXTERNAL_ID_CHARS_MAX],
    ["alias", ALIAS_CHARS_MAX],
    ["credential", CREDENTIAL_CHARS_MAX],
  ])("has a %s of at most %i characters", (member, max) => {
    const withLength = (length: number) => toProvisionedKey({ ...RESULT, [member]: "x".repeat(length) });
    expect(() => withLength(max - 1)).not.toThrow();
    expect(() => withLength(max)).not.toThrow();
    expect(diagnosisOf(() => withLength(max + 1))).toContain(`/${member}`);
  });

  test("has metadata of a limited size", () => {
    const frame = JSON.stringify({ a: "" }).length;
    const withBytes = (bytes: number) =>
      toProvisionedKey({ ...RESULT, metadata: { a: "x".repeat(bytes - frame) } });
    expect(() => withBytes(METADATA_BYTES_MAX - 1)).not.toThrow();
    expect(() => withBytes(METADATA_BYTES_MAX)).not.toThrow();
    expect(diagnosisOf(() => withBytes(METADATA_BYTES_MAX + 1))).toContain("metadata");
  });

  test.each(["text", 1, ["list"]])("has no metadata such as %j", (metadata) => {
    expect(diagnosisOf(() => toProvisionedKey({ ...RESULT, metadata }))).toContain("/metadata");
  });

  test.each([
    ["2026-12-01T00:00:00Z", Date.UTC(2026, 11, 1)],
    ["2026-12-01t02:30:00.123456z", Date.UTC(2026, 11, 1, 2, 30, 0, 123)],
    ["2026-12-01T02:30:00+05:30", Date.UTC(2026, 10, 30, 21)],
    ["2028-02-29T23:59:59-00:00", Date.UTC(2028, 1, 29, 23, 59, 59)],
  ])("parses the expiry %s", (expires_at, ms) => {
    expect(toProvisionedKey({ ...RESULT, expires_at }).expiresAtMs).toBe(ms);
  });

  test.each([
    "2026-12-01T00:00:00", // no offset
    "2026-12-01",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-12-01T24:00:00Z",
    "2026-12-01T00:00:00+24:00",
    "2026-12-01 00:00:00Z",
    "Tue, 01 Dec 2026 00:00:00 GMT",
    "1796083200",
    "",
    " 2026-12-01T00:00:00Z",
  ])("rejects %p as an expiry", (expires_at) => {
    expect(diagnosisOf(() => toProvisionedKey({ ...RESULT, expires_at }))).toContain("RFC 3339");
  });

  test("has no expiry in seconds", () => {
    expect(diagnosisOf(() => toProvisionedKey({ ...RESULT, expires_at: 1796083200 }))).toContain(
      "/expires_at",
    );
  });

  test("confirms a revocation or denies it", () => {
    expect(() => checkRevoked({ revoked: true, at: "now" })).not.toThrow();
    for (const result of [{}, { revoked: false }, { revoked: "true" }, null, RESULT]) {
      expect(diagnosisOf(() => checkRevoked(result))).toContain("/");
    }
  });
});
