// Signatures and members of files that are transferred, compared with those of other programs: openssl and tar.
import { afterAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  fileSigner,
  readTrustedKeys,
  TRUSTED_KEYS_MAX,
} from "../../../src/platform/crypto/file-signatures.ts";
import { findOwnSigner, makeOwnKey } from "../../../src/platform/crypto/own-signing-key.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { tarEnd, tarHeader, tarPadding } from "../../../src/platform/files/tar.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { temporaryDirectory } from "../../support/world.ts";

const folder = temporaryDirectory();
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...command: string[]): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString();
};

const rsaPair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });

function reasonOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error.reason;
    throw error;
  }
  return "accepted";
}

describe("a signature", () => {
  const programs = ["openssl"].filter((program) => Bun.which(program) !== null);

  test.each(programs)("is the one that %s makes and checks, under the digest that it gives the key", () => {
    run("openssl", "genpkey", "-algorithm", "ed25519", "-out", "key.pem");
    run("openssl", "pkey", "-in", "key.pem", "-pubout", "-out", "key.pub");
    writeFileSync(join(folder, "text"), "what is signed");
    const signer = fileSigner(new Secret(readFileSync(join(folder, "key.pem"), "utf8")), "key.pem");
    writeFileSync(join(folder, "text.sig"), signer.sign(Buffer.from("what is signed")));
    run(
      "openssl",
      "pkeyutl",
      "-verify",
      "-pubin",
      "-inkey",
      "key.pub",
      "-rawin",
      "-in",
      "text",
      "-sigfile",
      "text.sig",
    );
    expect(signer.publicKey).toBe(readFileSync(join(folder, "key.pub"), "utf8"));
    const digest = run("sh", "-c", "openssl pkey -pubin -in key.pub -outform DER | sha256sum");
    expect(digest.split(" ")[0]).toBe(signer.keyId);
  });

  test("is valid only for the bytes and the key it was made with", () => {
    const [one = "", other = ""] = [1, 2].map(() =>
      generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    );
    const signer = fileSigner(new Secret(one), "one");
    const keys = readTrustedKeys(fileSigner(new Secret(other), "other").publicKey + signer.publicKey, "both");
    const bytes = Buffer.from("bytes");
    expect(keys.map((key) => key.isSigned(bytes, signer.sign(bytes)))).toEqual([false, true]);
    expect(keys.map((key) => key.isSigned(Buffer.from("Bytes"), signer.sign(bytes)))).toEqual([false, false]);
    expect(keys.map((key) => key.isSigned(bytes, new Uint8Array(64)))).toEqual([false, false]);
  });
});

describe("keys", () => {
  test("rejects invalid key files without echoing their content", () => {
    const rsa = rsaPair();
    const privateKey = rsa.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const publicKey = rsa.publicKey.export({ type: "spki", format: "pem" }).toString();
    for (const text of [privateKey, "", "hunter2"])
      expect(reasonOf(() => fileSigner(new Secret(text), "key.pem"))).toBe("signing.not_ed25519");
    for (const text of [publicKey, "", "hunter2", "-----BEGIN PUBLIC KEY-----\nAA\n-----END PUBLIC KEY-----"])
      expect(reasonOf(() => readTrustedKeys(text, "key.pub"))).toBe("signing.not_ed25519");
  });

  test("limits the number of trusted keys in one file", () => {
    const pem = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }).toString();
    const count = (keys: number) => readTrustedKeys(pem.repeat(keys), "keys").length;
    expect(count(TRUSTED_KEYS_MAX - 1)).toBe(TRUSTED_KEYS_MAX - 1);
    expect(count(TRUSTED_KEYS_MAX)).toBe(TRUSTED_KEYS_MAX);
    expect(reasonOf(() => count(TRUSTED_KEYS_MAX + 1))).toBe("signing.not_ed25519");
  });

  test("creates the installation's key once, readable by the owner only", () => {
    const keys = join(folder, "keys");
    expect(findOwnSigner(keys)).toBeUndefined();
    makeOwnKey(keys, systemIds);
    const first = findOwnSigner(keys)?.keyId;
    makeOwnKey(keys, systemIds);
    expect(findOwnSigner(keys)?.keyId).toBe(first ?? "");
    expect(statSync(join(keys, "bundle-signing-key.pem")).mode & 0o777).toBe(0o600);
    expect([...new Bun.Glob("*").scanSync(keys)]).toEqual(["bundle-signing-key.pem"]);
  });
});

describe("a tar member", () => {
  test("is readable by tar, with name, mode, time and bytes", () => {
    const sizes = [0, 1, 511, 512, 513];
    const members = sizes.flatMap((sizeBytes) => [
      tarHeader({ name: `folder/${sizeBytes}`, sizeBytes, mode: 0o755, modifiedAtSeconds: 1_767_225_600 }),
      Buffer.alloc(sizeBytes, "x"),
      tarPadding(sizeBytes),
    ]);
    writeFileSync(join(folder, "a.tar"), Buffer.concat([...members, tarEnd()]));
    const listed = run("env", "TZ=UTC", "tar", "--full-time", "-tvf", "a.tar").trim().split("\n");
    expect(listed.map((line) => line.split(/\s+/))).toEqual(
      sizes.map((size) => ["-rwxr-xr-x", "0/0", String(size), "2026-01-01", "00:00:00", `folder/${size}`]),
    );
    expect(run("tar", "-xOf", "a.tar", "folder/513")).toBe("x".repeat(513));
  });

  test("throws for values that a header cannot express", () => {
    expect(tarHeader({ name: "a".repeat(100), sizeBytes: 8 ** 11 - 1 })).toHaveLength(512);
    expect(() => tarHeader({ name: "a".repeat(101), sizeBytes: 0 })).toThrow("invariant");
  });
});
