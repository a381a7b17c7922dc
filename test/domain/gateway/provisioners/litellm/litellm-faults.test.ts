// How the built-in provisioner reports a gateway that refuses, breaks, or sends too much: one code for each, and a diagnosis that
// helps the operator without revealing a secret.
import { describe, expect, test } from "bun:test";
import { DIAGNOSIS_CHARS_MAX } from "../../../../../src/domain/gateway/provisioners/diagnosis.ts";
import { RESPONSE_BYTES_MAX } from "../../../../../src/domain/gateway/provisioners/litellm/litellm-request.ts";
import { LISTING_BYTES_MAX } from "../../../../../src/domain/gateway/provisioners/model-listing.ts";
import type { ProvisionerCode } from "../../../../../src/domain/gateway/provisioners/provisioner.ts";
import { createBuiltinProvisioner } from "../../../../support/gateway/builtin-provisioner.ts";
import { ADMIN_KEY, type Fault } from "../../../../support/gateway/litellm-gateway.ts";
import { failureOf, keepKey, makeKey, revokeKey } from "./litellm-requests.ts";

async function start(options: { adminKey?: string } = {}) {
  const subject = await createBuiltinProvisioner(options);
  subject.gateway.addUser("ada@example.com");
  return subject;
}

const MAKING = ["GET /user/list", "GET /key/list", "POST /key/generate"];
const KEEPING = ["GET /user/list", "GET /key/list", "GET /key/info", "POST /key/update"];

const FAULTS: [Fault["kind"], number | undefined, ProvisionerCode][] = [
  ["status", 500, "unavailable"],
  ["status", 502, "unavailable"],
  ["status", 503, "unavailable"],
  ["status", 408, "unavailable"],
  ["status", 429, "unavailable"],
  ["status", 401, "invalid_config"],
  ["status", 403, "invalid_config"],
  ["status", 304, "rejected"],
  ["status", 400, "rejected"],
  ["status", 422, "rejected"],
  ["redirect", undefined, "unavailable"],
  ["hang-up", undefined, "unavailable"],
  ["half", undefined, "unavailable"],
  ["garbage", undefined, "rejected"],
  ["huge", undefined, "rejected"],
];

describe.each(FAULTS)("a gateway that responds with %s %p", (kind, status, code) => {
  const fault: Fault = { kind, ...(status !== undefined && { status }) };

  test.each(MAKING)(`is ${code} to a user who wants a key, at %s`, async (operation) => {
    await using subject = await start();
    subject.gateway.fail(operation, fault);
    const failure = await failureOf(makeKey(subject.provisioner));
    expect(failure.code).toBe(code);
    expect(failure.diagnosis).not.toBe("");
    subject.gateway.heal();
    expect((await makeKey(subject.provisioner)).credential).toBeDefined();
  });

  test.each(KEEPING)(`is ${code} to a user who has a key, at %s`, async (operation) => {
    await using subject = await start();
    const key = await makeKey(subject.provisioner);
    subject.gateway.fail(operation, fault);
    const provisioner = subject.configured({ policy: { maxBudget: 1 } });
    expect((await failureOf(keepKey(provisioner, key))).code).toBe(code);
    expect(subject.gateway.keys).toHaveLength(1);
  });

  test("has not revoked a key", async () => {
    await using subject = await start();
    const key = await makeKey(subject.provisioner);
    subject.gateway.fail("POST /key/delete", fault);
    expect((await failureOf(revokeKey(subject.provisioner, key.externalId))).code).toBe(code);
    expect((await failureOf(revokeKey(subject.provisioner, null))).code).toBe(code);
  });
});

describe("a gateway whose response does not end", () => {
  test.each(["never", "stall"] as const)("is aborted when the time of the call is over: %s", async (kind) => {
    await using subject = await start();
    const deadline = new AbortController();
    subject.gateway.fail("GET /key/list", { kind, onHit: () => deadline.abort() });
    expect(await failureOf(makeKey(subject.provisioner, "missing", deadline.signal))).toEqual({
      code: "unavailable",
      diagnosis: "GET /key/list: there was no response within the time limit of one call",
    });
    expect(subject.gateway.keys).toEqual([]);
  });
});

test("a gateway that does not exist is unavailable, and the diagnosis has the reason", async () => {
  const subject = await start();
  await subject.gateway.stop();
  const failure = await failureOf(makeKey(subject.provisioner));
  expect(failure.code).toBe("unavailable");
  expect(failure.diagnosis).toStartWith("GET /user/list: gateway did not answer (");
});

test("a wrong admin key is reported as such, never as a missing account or a dead key", async () => {
  await using subject = await start();
  const key = await makeKey(subject.provisioner);
  const provisioner = subject.configured({ adminKey: "sk-wrong-0123456789" });
  for (const call of [
    makeKey(provisioner),
    keepKey(provisioner, key),
    revokeKey(provisioner, key.externalId),
    revokeKey(provisioner, null),
  ]) {
    const { code, diagnosis } = await failureOf(call);
    expect(code).toBe("invalid_config");
    expect(diagnosis).toStartWith("the admin key is refused: ");
    expect(diagnosis).not.toContain("wrong");
  }
  expect(subject.gateway.keys).toHaveLength(1);
});

test("a redirect is not followed", async () => {
  await using subject = await start();
  subject.gateway.fail("GET /user/list", { kind: "redirect" });
  const { diagnosis } = await failureOf(makeKey(subject.provisioner));
  expect(diagnosis).toBe("GET /user/list: gateway answered with a redirect, which is not followed");
  expect(subject.gateway.calls).toEqual(["GET /user/list"]);
});

test.each([
  ["GET /user/list", "/users", { users: "none" }],
  ["GET /user/list", "/users/0/user_id", { users: [{ user_email: "ada@example.com" }] }],
  ["GET /user/list", "shape", []],
  ["GET /key/list", "/keys/0", { keys: ["3f9c"] }],
  ["POST /key/generate", "/key", { token: "3f9c" }],
  ["POST /key/generate", "/key", { key: "" }],
])("a response to %s with a wrong %s is rejected", async (operation, where, body) => {
  await using subject = await start();
  subject.gateway.fail(operation, { kind: "status", status: 200, body });
  expect(await failureOf(makeKey(subject.provisioner))).toEqual({
    code: "rejected",
    diagnosis: `${operation} answered HTTP 200 with a wrong ${where}`,
  });
});

test.each([
  [-1, undefined],
  [0, undefined],
  [1, "rejected"],
])("a response of the maximum size and %p more is %p", async (more, code) => {
  await using subject = await start();
  const list = JSON.stringify({ keys: [], total_pages: 0 });
  const body = list.padEnd(RESPONSE_BYTES_MAX + more, " ");
  subject.gateway.fail("GET /key/list", { kind: "status", status: 200, body });
  const outcome = await makeKey(subject.provisioner).then(
    () => undefined,
    (error) => error.code,
  );
  expect(outcome).toBe(code);
});

test.each([-1, 0, 1])("a list of models is read up to its maximum size, and %p more is not", async (more) => {
  await using subject = await start();
  const body = JSON.stringify({ data: [{ id: "model-a" }] }).padEnd(LISTING_BYTES_MAX + more);
  subject.gateway.fail("GET /v1/models", { kind: "status", status: 200, body });
  const outcome = await subject.provisioner.listModels(AbortSignal.timeout(60_000)).then(
    ({ models }) => models.map(({ id }) => id),
    (error) => error.code,
  );
  expect(outcome).toEqual(more > 0 ? "discovery_response" : ["model-a"]);
});

describe("a diagnosis", () => {
  const said = async (body: unknown, adminKey = ADMIN_KEY) => {
    await using subject = await start({ adminKey });
    subject.gateway.fail("*", { kind: "status", status: 400, body });
    return (await failureOf(makeKey(subject.provisioner))).diagnosis;
  };
  const prefix = "GET /user/list answered HTTP 400";

  test.each([
    ["a sentence", { detail: "No such thing" }],
    ["an object with one", { detail: { error: "No such thing" } }],
    ["the first error of a list", { detail: [{ loc: ["query"], msg: "No such thing" }] }],
    ["the gateway's own error", { error: { message: "No such thing", code: "400" } }],
    ["an error within its message", { error: { message: { error: "No such thing" } } }],
    ["a plain error", { error: "No such thing" }],
    ["a plain message", { message: "No such thing" }],
    ["a bare sentence", '"No such thing"'],
  ])("repeats %s", async (_, body) => {
    expect(await said(body)).toBe(`${prefix}: No such thing`);
  });

  test.each([
    ["text that is not JSON", "not JSON"],
    ["an empty object", {}],
    ["nothing", null],
    ["members without content", { detail: { a: { b: 1 } } }],
  ])("works without a message in %s", async (_, body) => {
    expect(await said(body)).toBe(prefix);
  });

  test("contains no secret", async () => {
    const adminKey = "an admin key of another form";
    const body = { detail: `got ${adminKey}, Bearer eyJhbGciOi.x.y and sk-abc_DEF-123 for task-force` };
    expect(await said(body, adminKey)).toBe(`${prefix}: got [secret], [secret] and [secret] for task-force`);
  });

  test("shortens a long message", async () => {
    for (const more of [-1, 0, 1]) {
      const length = DIAGNOSIS_CHARS_MAX - `${prefix}: `.length + more;
      expect(await said({ detail: "x".repeat(length) })).toHaveLength(
        DIAGNOSIS_CHARS_MAX + Math.min(more, 0),
      );
    }
  });

  test("omits the half of a secret that shortening would leave", async () => {
    const detail = `${"x ".repeat(DIAGNOSIS_CHARS_MAX / 2 - prefix.length / 2 - 5)}sk-abcdefghijklmnop`;
    expect(await said({ detail })).not.toContain("abc");
  });
});
