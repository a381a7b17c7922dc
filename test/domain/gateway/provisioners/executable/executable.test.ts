// What applies to executables only, with the example of test/provisioner and with scripts that are really run.
// test/contracts/provisioner-suite.ts tests every provisioner.
import { describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  checkExecutable,
  createExecutableProvisioner,
} from "../../../../../src/domain/gateway/provisioners/executable/executable.ts";
import {
  ProvisionerError,
  type ProvisionRequest,
} from "../../../../../src/domain/gateway/provisioners/provisioner.ts";
import { PinnedExecutable } from "../../../../../src/platform/programs/pinned-executable.ts";
import {
  createExampleProvisioner,
  executableSettings,
  installExample,
} from "../../../../support/gateway/example-provisioner.ts";
import { temporaryDirectory } from "../../../../support/world.ts";

const IDENTITY = {
  id: "0190f3a0-0000-7000-8000-000000000001",
  email: "ada@example.com",
  organizationId: "0190f3a0-0000-7000-8000-00000000000f",
  groups: ["Developers"],
};
const FIRST: ProvisionRequest = { identity: IDENTITY, reason: "missing", previous: null };
const never = new AbortController().signal;

async function start(environment: Readonly<Record<string, string>> = {}) {
  const example = await createExampleProvisioner(environment);
  await example.upstream.addAccount(IDENTITY.email);
  return example;
}

/** @returns a provisioner that is a shell script; `$ROOM` is its own folder */
function shell(body: string) {
  const directory = temporaryDirectory();
  const path = join(directory, "tool.sh");
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  const settings = executableSettings(path, { ROOM: directory });
  const pin = { path, sha256: settings.executable?.sha256 ?? "" };
  const executable = new PinnedExecutable(pin, join(directory, "private"));
  return {
    provisioner: createExecutableProvisioner({
      settings,
      run: (invocation, signal) => executable.run(invocation, signal),
    }),
    read: (name: string) => readFileSync(join(directory, name), "utf8"),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function failureOf(call: Promise<unknown>): Promise<ProvisionerError> {
  const outcome = await call.then(
    () => "it succeeded",
    (error: unknown) => error,
  );
  if (outcome instanceof ProvisionerError) return outcome;
  throw new Error(`expected a ProvisionerError, got: ${String(outcome)}`);
}

const ANSWER = (result: string) => `echo '{"protocol_version":1,"status":"success","result":${result}}'`;

describe("an executable that fails", () => {
  test.each([
    ["before:fail:conflict", "conflict"],
    ["before:fail:invalid_config", "invalid_config"],
    ["before:fail:discovery_auth", "unavailable"],
    ["before:die", "unavailable"],
    ["after:die", "unavailable"],
    ["before:exit:3", "unavailable"],
    ["before:garbage", "unavailable"],
    ["before:flood", "unavailable"],
    ["after:member:external_id", "unavailable"],
    ["after:member:alias", "unavailable"],
    ["after:member:credential", "unavailable"],
    ["after:member:expires_at", "unavailable"],
  ])("reports an executable that fails by %s as %s", async (trouble, code) => {
    await using example = await start({ PROVISIONER_TROUBLE: trouble });
    const failure = await failureOf(example.provisioner.provision(FIRST, never));
    expect<string>(failure.code).toBe(code);
    expect(failure.diagnosis).not.toContain("sk-");
  });

  test("is reported as an outage that clients recognize by its words", async () => {
    await using example = await start({ PROVISIONER_TROUBLE: "before:die" });
    const failure = await failureOf(example.provisioner.provision(FIRST, never));
    expect([failure.kind, failure.message]).toEqual([
      "upstream",
      expect.stringContaining("gateway is unavailable"),
    ]);
    expect(failure.diagnosis).toContain("killed by a signal");
  });

  test("reports an executable that is not the pinned one as an outage, with the reason for the operator", async () => {
    await using example = await start();
    const path = example.settings.executable?.path ?? "";
    writeFileSync(path, "#!/bin/sh\n");
    const failure = await failureOf(example.provisioner.provision(FIRST, never));
    expect(failure.code).toBe("unavailable");
    expect(failure.diagnosis).toContain("has the digest");
    expect(await example.upstream.keys()).toEqual([]);
  });

  test("ends an executable that hangs at the deadline", async () => {
    await using example = await start({ PROVISIONER_TROUBLE: "before:hang" });
    const failure = await failureOf(example.provisioner.provision(FIRST, AbortSignal.timeout(50)));
    expect([failure.code, failure.diagnosis]).toEqual([
      "unavailable",
      expect.stringContaining("exceeded the time limit"),
    ]);
  });
});

describe("an executable with unusual behavior", () => {
  test.each(["after:child", "after:daemon", "after:noise", "after:slow:1"])(
    "accepts the result of an executable with %s",
    async (trouble) => {
      await using example = await start({ PROVISIONER_TROUBLE: trouble });
      const key = await example.provisioner.provision(FIRST, never);
      expect(await example.upstream.keys()).toMatchObject([{ externalId: key.externalId }]);
    },
  );

  test("gives its key an expiry", async () => {
    await using example = await start({ PROVISIONER_LIFETIME_SECONDS: "3600" });
    const key = await example.provisioner.provision(FIRST, never);
    expect(key.expiresAtMs).toBeGreaterThan(0);
  });
});

describe("a key that was created and not stored", () => {
  test("supersedes a key of an interrupted call with the next", async () => {
    await using example = await start();
    example.upstream.trouble("after:die");
    await failureOf(example.provisioner.provision(FIRST, never));
    expect(await example.upstream.keys()).toHaveLength(1);
    example.upstream.trouble(undefined);
    const key = await example.provisioner.provision(FIRST, never);
    expect(await example.upstream.keys()).toMatchObject([{ externalId: key.externalId }]);
  });

  test("revokes a key of an interrupted call if it is no longer needed", async () => {
    await using example = await start();
    example.upstream.trouble("after:hang");
    const deadline = new AbortController();
    const call = failureOf(example.provisioner.provision(FIRST, deadline.signal));
    while ((await example.upstream.keys()).length === 0) await Bun.sleep(1);
    deadline.abort();
    await call;
    example.upstream.trouble(undefined);
    await example.provisioner.revoke({ identity: { ...IDENTITY, groups: [] }, externalId: null }, never);
    expect(await example.upstream.keys()).toEqual([]);
  });

  test.each(["alias", "credential", "expires_at"])(
    "immediately revokes a key because its %s is wrong",
    async (member) => {
      await using example = await start();
      example.upstream.trouble(`after:member:${member}`);
      await failureOf(example.provisioner.provision(FIRST, never));
      expect(await example.upstream.keys()).toEqual([]);
    },
  );

  test("is never the previous one, which stays if a response about it is invalid", async () => {
    await using example = await start();
    const key = await example.provisioner.provision(FIRST, never);
    example.upstream.trouble("after:member:expires_at");
    const { externalId, alias, metadata } = key;
    const request: ProvisionRequest = {
      identity: IDENTITY,
      reason: "reconciliation_due",
      previous: { externalId, alias, metadata },
    };
    await failureOf(example.provisioner.provision(request, never));
    expect(await example.upstream.keys()).toMatchObject([{ externalId }]);
  });
});

describe("an executable", () => {
  test("reads the request, and gets neither arguments nor the service's environment", async () => {
    using tool = shell(
      `cat > "$ROOM/request"; env > "$ROOM/environment"; echo $# > "$ROOM/arguments"; ${ANSWER('{"external_id":"a","alias":"b","credential":"c"}')}`,
    );
    await tool.provisioner.provision(FIRST, never);
    expect(JSON.parse(tool.read("request")).request.identity.email).toBe(IDENTITY.email);
    expect(tool.read("arguments")).toBe("0\n");
    const names = tool.read("environment").trim().split("\n");
    expect(names.map((line) => line.split("=")[0]).toSorted()).toEqual(["LANG", "PATH", "PWD", "ROOM"]);
  });

  test("gets the user of the key with a revocation", async () => {
    using tool = shell(`cat > "$ROOM/request"; ${ANSWER('{"revoked":true}')}`);
    await tool.provisioner.revoke({ identity: IDENTITY, externalId: "key-1" }, never);
    expect(JSON.parse(tool.read("request"))).toEqual({
      protocol_version: 1,
      operation: "revoke",
      request: {
        identity: {
          id: IDENTITY.id,
          email: IDENTITY.email,
          organization_id: IDENTITY.organizationId,
          groups: IDENTITY.groups,
        },
        external_id: "key-1",
      },
    });
  });

  test("revokes nothing if the executable reports the key as unknown", async () => {
    await using example = await start({ PROVISIONER_TROUBLE: "before:fail:credential_invalid" });
    await example.provisioner.revoke({ identity: IDENTITY, externalId: "key-1" }, never);
  });

  test.each(["account_missing", "rejected", "unavailable"])(
    "reports a failed revocation if the executable responds %s",
    async (code) => {
      await using example = await start({ PROVISIONER_TROUBLE: `before:fail:${code}` });
      const call = example.provisioner.revoke({ identity: IDENTITY, externalId: "key-1" }, never);
      expect((await failureOf(call)).code).toBe(code);
    },
  );

  test("reports a failed revocation if the executable does not confirm it", async () => {
    using tool = shell(ANSWER('{"revoked":false}'));
    const call = tool.provisioner.revoke({ identity: IDENTITY, externalId: "key-1" }, never);
    expect((await failureOf(call)).code).toBe("unavailable");
  });

  test("reports a failed revocation if the executable cannot look for remaining keys", async () => {
    await using example = await start({ PROVISIONER_TROUBLE: "before:fail:conflict" });
    const call = example.provisioner.revoke({ identity: IDENTITY, externalId: null }, never);
    expect((await failureOf(call)).code).toBe("conflict");
  });

  test("has one deadline for search and revocation", async () => {
    using tool = shell(
      `touch "$ROOM/$(grep -o revoke || echo ensure)"; [ -e "$ROOM/revoke" ] && sleep 600; ${ANSWER('{"external_id":"a","alias":"b"}')}`,
    );
    const deadline = new AbortController();
    const call = failureOf(
      tool.provisioner.revoke({ identity: IDENTITY, externalId: null }, deadline.signal),
    );
    for (let up = false; !up; await Bun.sleep(1)) up = hasFile(tool, "revoke");
    deadline.abort();
    expect((await call).diagnosis).toContain("exceeded the time limit");
  });
});

describe("INF-49 a list of models", () => {
  const refusal = (code: string) =>
    `echo '{"protocol_version":1,"status":"error","error":{"code":"${code}","message":"no"}}'; exit 1`;

  test.each([
    ["of an executable that does not know the operation", refusal("unsupported"), "unsupported"],
    ["that the gateway refuses", refusal("discovery_auth"), "discovery_auth"],
    ["that is none", ANSWER('{"revoked":true}'), "discovery_response"],
    ["that is too long", "head -c 2000000 /dev/zero", "discovery_response"],
    ["that is not JSON", "echo models", "unavailable"],
    ["of an executable that dies", "kill -9 $$", "unavailable"],
    ["that its exit status contradicts", `${ANSWER('{"models":[]}')}; exit 1`, "unavailable"],
  ])("%s", async (_name, body, code) => {
    using tool = shell(body);
    const failure = await tool.provisioner.listModels(never).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code });
  });

  test("ends with its deadline", async () => {
    using tool = shell('touch "$ROOM/begun"; sleep 600');
    const deadline = new AbortController();
    const call = tool.provisioner.listModels(deadline.signal).catch((error: unknown) => error);
    for (let up = false; !up; await Bun.sleep(1)) up = hasFile(tool, "begun");
    deadline.abort();
    expect(await call).toMatchObject({ code: "unavailable" });
  });

  test("is requested with the document of the protocol", async () => {
    using tool = shell(`cat > "$ROOM/request"; ${ANSWER('{"models":[{"id":"a"}],"source_revision":"7"}')}`);
    const listing = await tool.provisioner.listModels(never);
    expect(listing).toMatchObject({ models: [{ id: "a", displayName: null }], sourceRevision: "7" });
    const request = { protocol_version: 1, operation: "list_models", request: {} };
    expect(JSON.parse(tool.read("request"))).toEqual(request);
  });
});

function hasFile({ read }: { read(name: string): string }, name: string): boolean {
  try {
    read(name);
    return true;
  } catch {
    return false;
  }
}

describe("before the service starts", () => {
  test("a correct executable has no problems, and the built-in provisioner needs none", () => {
    const { directory, settings } = installExample();
    expect(checkExecutable(settings)).toEqual([]);
    expect(checkExecutable({ ...settings, executable: undefined, policyRevision: undefined })).toEqual([]);
    rmSync(directory, { recursive: true });
  });

  test("all problems are reported together, with the place to fix them", () => {
    const { directory, path, settings } = installExample();
    chmodSync(path, 0o666);
    writeFileSync(path, "something else");
    const problems = checkExecutable({ ...settings, policyRevision: " ", timeoutSeconds: 0 });
    expect(problems.map(({ pointer }) => pointer).toSorted()).toEqual([
      "/gateway/provisioner/executable_path",
      "/gateway/provisioner/executable_path",
      "/gateway/provisioner/executable_sha256",
      "/gateway/provisioner/policy_revision",
      "/gateway/provisioner/timeout_seconds",
    ]);
    rmSync(directory, { recursive: true });
    expect(checkExecutable(settings)).toMatchObject([{ detail: expect.stringContaining("ENOENT") }]);
  });
});
