// The settings of the audit log's receiver, each alone and in combination.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { receiverDestinations, receiverTlsOf } from "../../../src/app/audit-forwarding/receiver.ts";
import { probeExternalServices } from "../../../src/app/installation/outside-services.ts";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { problemsOf } from "../../platform/config/problems.ts";
import { createWorkspace } from "../../support/in-process.ts";
import { certify } from "../../support/network/private-ca.ts";

const HEADER = "QUARTERMASTER_AUDIT_FORWARD_AUTHORIZATION";
const load = (flags: Record<string, string>, env: Record<string, string> = {}): Config =>
  loadConfig({ flags, env, cwd: "/" });

test.each([
  ["https://logs.example.org/ingest/", "https://logs.example.org/ingest", "https://logs.example.org"],
  ["http://127.0.0.1:9/", "http://127.0.0.1:9", "http://127.0.0.1:9"],
  ["SYSLOG+TLS://logs.example.org", "syslog+tls://logs.example.org:6514", "tls://logs.example.org:6514"],
  ["syslog+tls://[::1]:7000/", "syslog+tls://[::1]:7000", "tls://[::1]:7000"],
])("%s is the receiver %s at %s", (given, value, origin) => {
  const config = load({ auditForwardUrl: given });
  expect(config.get("audit.forward.url")).toBe(value);
  expect(receiverDestinations(config)).toMatchObject([{ name: "audit-receiver", origin }]);
});

test.each([
  "http://logs.example.org",
  "https://logs.example.org/?token=1",
  "syslog://logs.example.org",
  "syslog+tls://logs.example.org:0",
  "syslog+tls://logs.example.org:65536",
  "syslog+tls://logs.example.org/path",
  "syslog+tls://a:b@logs.example.org",
])("%s is refused", (given) => {
  expect(problemsOf(() => load({ auditForwardUrl: given }))).toEqual([
    expect.stringContaining("must be an https URL without query"),
  ]);
});

test("a client certificate comes with its key, and a header is one line", () => {
  const url = { auditForwardUrl: "https://logs.example.org" };
  expect(problemsOf(() => load({ ...url, auditForwardClientCert: "a.pem" }))).toEqual([
    "audit.forward.client_key: missing; audit.forward.client_cert and audit.forward.client_key are given together or not at all",
  ]);
  for (const wrong of ["Bearer a\nX: b", "Bearer ä", " Bearer a"])
    expect(problemsOf(() => load(url, { [HEADER]: wrong }))).toEqual([
      "audit.forward.authorization: must be one line of printable ASCII, without spaces at its ends",
    ]);
  expect(problemsOf(() => load(url, { [HEADER]: "Bearer a" }))).toEqual([]);
});

test("settings without effect cause a warning", () => {
  const warnings = (flags: Record<string, string>) =>
    load(flags, { [HEADER]: "Bearer a" }).warnings.filter((text) => text.startsWith("audit.forward"));
  expect(warnings({})).toContain(
    "audit.forward.url is not set, so these do nothing: audit.forward.authorization",
  );
  expect(warnings({ auditForwardUrl: "syslog+tls://h" })).toContain(
    "audit.forward.authorization does nothing, because syslog has no such header",
  );
  expect(warnings({ auditForwardUrl: "https://h" })).not.toContainEqual(
    expect.stringMatching(/does nothing|do nothing/),
  );
});

test("a file that cannot be read prevents a start, and is a finding of doctor", async () => {
  const config = load({ auditForwardUrl: "https://h", auditForwardCaFile: "/nowhere.pem" });
  expect(problemsOf(() => receiverTlsOf(config))).toEqual(["audit.forward.ca_file: cannot be read"]);
  expect(() => receiverTlsOf(config)).toThrow(
    expect.objectContaining({ hint: expect.stringContaining("config check") }),
  );
  expect(await probeExternalServices(config)).toMatchObject([
    { name: "audit-receiver", state: "unreachable", reason: "audit.forward.ca_file: cannot be read" },
  ]);
});

test("files without certificates, or with a key of another one, prevent a start", async () => {
  using workspace = createWorkspace();
  const [one, other] = await Promise.all([certify(), certify()]);
  const file = (name: string, text: string): string => {
    writeFileSync(join(workspace.folder, name), text);
    return join(workspace.folder, name);
  };
  const problemsWith = (ca: string, key: string) =>
    problemsOf(() =>
      receiverTlsOf(
        load({
          auditForwardUrl: "https://h",
          auditForwardCaFile: file("ca.pem", ca),
          auditForwardClientCert: file("client.pem", one.cert),
          auditForwardClientKey: file("client.key", key),
        }),
      ),
    );
  expect(problemsWith("text", one.key)).toEqual(["audit.forward.ca_file: does not contain PEM certificates"]);
  expect(problemsWith(one.ca, other.key)).toEqual([
    "audit.forward.client_cert: must be a PEM certificate, and audit.forward.client_key its private key without a passphrase",
  ]);
  expect(problemsWith(one.ca, one.key)).toEqual([]);
});
