// Sealed secrets: what can open them, what cannot, and where the keys come from.
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSealing, type Sealing } from "../../../src/platform/crypto/sealing.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { startChild } from "../../support/cli/child.ts";
import { temporaryDirectory } from "../../support/world.ts";

const newKey = (): string => Buffer.from(systemIds.bytes(32)).toString("base64");

interface Keys extends Disposable {
  readonly directory: string;
  open(provided?: string): Sealing;
  write(name: string, key: string, mode?: number): void;
  names(): string[];
}

function keys(): Keys {
  const folder = temporaryDirectory();
  const directory = join(folder, "keys");
  return {
    directory,
    open: (provided) =>
      openSealing({
        directory,
        ids: systemIds,
        provided: provided === undefined ? undefined : new Secret(provided),
      }),
    write: (name, key, mode = 0o600) => {
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, name), key);
      chmodSync(join(directory, name), mode);
    },
    names: () => readdirSync(directory),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

function reasonOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof DomainError) return error.reason;
    throw error;
  }
  return "no error";
}

test.each(["", "secret", "grüße 🔑", "x".repeat(10_000)])("a sealed value opens again (%#)", (secret) => {
  using here = keys();
  const sealing = here.open();
  expect(sealing.open(sealing.seal(secret, "signing-key:1"), "signing-key:1")).toBe(secret);
});

test("the same secret sealed twice looks different, and neither shows it", () => {
  using here = keys();
  const sealing = here.open();
  const [first, second] = [sealing.seal("correct horse", "a"), sealing.seal("correct horse", "a")];
  expect(first).not.toBe(second);
  expect(first).not.toContain("correct horse");
});

test("a sealed secret opens only in the context it was sealed for", () => {
  using here = keys();
  const sealing = here.open();
  const sealed = sealing.seal("secret", "signing-key:1");
  expect(reasonOf(() => sealing.open(sealed, "signing-key:2"))).toBe("sealing.damaged");
});

test("a sealed secret does not open if any character is changed or missing", () => {
  using here = keys();
  const sealing = here.open();
  const sealed = sealing.seal("secret", "a");
  const [id = "", body = ""] = sealed.split(".");
  const swapped = [...body].map(
    (letter, at) => `${id}.${body.slice(0, at)}${letter === "A" ? "B" : "A"}${body.slice(at + 1)}`,
  );
  const shortened = [...body].map((_, length) => `${id}.${body.slice(0, length)}`);
  // the last character has bits that base64url does not use: changing only those has no effect
  const bytes = (text: string) => Buffer.from(text.slice(id.length + 1), "base64url").toString("hex");
  const changed = [...swapped, ...shortened, `${id}.`].filter((text) => bytes(text) !== bytes(sealed));
  expect(changed.length).toBeGreaterThan(body.length);
  for (const text of changed) expect(reasonOf(() => sealing.open(text, "a"))).toBe("sealing.damaged");
});

test("a secret sealed under a key that is gone names that key", () => {
  using here = keys();
  using elsewhere = keys();
  const foreign = elsewhere.open().seal("secret", "a");
  const sealing = here.open();
  expect(reasonOf(() => sealing.open(foreign, "a"))).toBe("sealing.key_missing");
  expect(() => sealing.open(foreign, "a")).toThrow(foreign.slice(0, 12));
});

test("text that was never sealed does not open", () => {
  using here = keys();
  const sealing = here.open();
  for (const text of ["", ".", "plain", "..."]) {
    expect(reasonOf(() => sealing.open(text, "a"))).toBe("sealing.key_missing");
  }
});

test("the first start creates one key, readable by its owner only, and later starts use it", () => {
  using here = keys();
  const sealed = here.open().seal("secret", "a");
  const [name = "", ...others] = here.names();
  expect(others).toEqual([]);
  expect(statSync(join(here.directory, name)).mode & 0o777).toBe(0o600);
  expect(statSync(here.directory).mode & 0o777).toBe(0o700);
  expect(here.open().open(sealed, "a")).toBe("secret");
  expect(here.names()).toEqual([name]);
});

test("a key added later seals new secrets, and the earlier one still opens", () => {
  using here = keys();
  const old = here.open().seal("old", "a");
  here.write("0002.sealing-key", newKey());
  const both = here.open();
  expect(both.seal("new", "a").slice(0, 12)).not.toBe(old.slice(0, 12));
  expect(both.open(old, "a")).toBe("old");
});

test("a key that another process adds seals the next secret and opens those of that process", () => {
  using here = keys();
  const [sealing, other] = [here.open(), here.open()];
  const old = sealing.seal("old", "a");
  const { id, path } = other.addKey();
  expect(path).toBe(join(here.directory, "0002.sealing-key"));
  expect(statSync(path ?? "").mode & 0o777).toBe(0o600);
  expect(sealing.open(other.seal("theirs", "a"), "a")).toBe("theirs");
  expect(sealing.keyIdOf(sealing.seal("ours", "a"))).toBe(id);
  expect(sealing.activeKey()).toEqual({ id, path });
  expect(sealing.open(old, "a")).toBe("old");
  expect(other.open(old, "a")).toBe("old");
});

test("keys are listed oldest first, without their bytes", () => {
  using here = keys();
  const sealing = here.open();
  const first = sealing.activeKey();
  const second = sealing.addKey();
  expect(sealing.keys()).toEqual([first, second]);
  expect(Object.keys(first)).toEqual(["id", "path"]);
});

test.each([
  ["empty", "", 0o600],
  ["half written", "c2hvcnQ=", 0o600],
  ["still readable by others", newKey(), 0o644],
])(
  "the known key stays in use while an added file is %s, and then the new key takes over",
  (_, text, mode) => {
    using here = keys();
    const sealing = here.open();
    const before = sealing.activeKey();
    here.write("0002.sealing-key", text, mode);
    expect(sealing.keyIdOf(sealing.seal("x", "a"))).toBe(before.id);
    here.write("0002.sealing-key", newKey());
    const after = sealing.activeKey();
    expect(after.path).toEndWith("0002.sealing-key");
    expect(sealing.keyIdOf(sealing.seal("x", "a"))).toBe(after.id);
  },
);

test("a removed key file seals no more", () => {
  using here = keys();
  const sealing = here.open();
  const first = sealing.activeKey();
  const { path = "" } = sealing.addKey();
  rmSync(path);
  expect(sealing.activeKey()).toEqual(first);
});

test("a configured key is not replaced by a file, and the error says what to do", () => {
  using here = keys();
  const sealing = here.open(newKey());
  expect(reasonOf(() => sealing.addKey())).toBe("sealing.key_provided");
  expect(sealing.keys()).toEqual([{ ...sealing.activeKey(), path: undefined }]);
  expect(() => here.names()).toThrow("ENOENT");
});

test("a configured key that is also in a file is one key", () => {
  using here = keys();
  const key = newKey();
  here.write("0001.sealing-key", key);
  expect(here.open(key).keys()).toHaveLength(1);
});

test("the last usable number is one below the maximum", () => {
  using here = keys();
  here.write("9998.sealing-key", newKey());
  expect(here.open().addKey().path).toBe(join(here.directory, "9999.sealing-key"));
});

test.each(["9999", "2026-key"])("creates no key after a foreign file named %s", (name) => {
  using here = keys();
  here.write(`${name}.sealing-key`, newKey());
  expect(reasonOf(() => here.open().addKey())).toBe("sealing.names_foreign");
});

test("a key given by the operator is used, and nothing is written", () => {
  using here = keys();
  const key = newKey();
  const sealed = here.open(key).seal("secret", "a");
  expect(() => here.names()).toThrow("ENOENT");
  expect(here.open(` ${key}\n`).open(sealed, "a")).toBe("secret");
});

test("a key given by the operator seals new secrets while key files still open old ones", () => {
  using here = keys();
  const old = here.open().seal("old", "a");
  const sealing = here.open(newKey());
  expect(sealing.open(old, "a")).toBe("old");
  expect(reasonOf(() => here.open().open(sealing.seal("new", "a"), "a"))).toBe("sealing.key_missing");
});

test.each([31, 33])("a key of %d bytes is refused, in a file and in the configuration", (length) => {
  using here = keys();
  const wrong = Buffer.from(systemIds.bytes(length)).toString("base64");
  expect(reasonOf(() => here.open(wrong))).toBe("sealing.key_invalid");
  here.write("0001.sealing-key", wrong);
  expect(reasonOf(() => here.open())).toBe("sealing.key_invalid");
});

test("the error about an invalid key does not show it", () => {
  using here = keys();
  expect(() => here.open("hunter2-hunter2")).toThrow(
    /^the sealing key in keys\.sealing_key is not 32 bytes in base64$/,
  );
});

test.each([0o640, 0o604, 0o644])("a key file with mode %o, which others can read, is refused", (mode) => {
  using here = keys();
  here.write("0001.sealing-key", newKey(), mode);
  expect(reasonOf(() => here.open())).toBe("sealing.key_invalid");
});

test("ignores other files in the keys directory", () => {
  using here = keys();
  here.write("README", "not a key", 0o644);
  here.open();
  expect(here.names().sort()).toEqual(["0001.sealing-key", "README"]);
  expect(readFileSync(join(here.directory, "README"), "utf8")).toBe("not a key");
});

test.each([1, 2, 3])("processes that create the first key concurrently agree on one (%d)", async () => {
  using here = keys();
  const children = [1, 2, 3].map(() => startChild("seal", [here.directory]));
  for (const child of children) expect(await child.line()).toBe("ready");
  for (const child of children) child.goOn();
  const outcomes = await Promise.all(children.map((child) => child.ended()));
  const sealing = here.open();
  const opened = outcomes.map(({ lines: [sealed = ""] }) => sealing.open(sealed, "test"));
  expect(opened).toEqual(Array(3).fill("from a child"));
  expect(here.names()).toHaveLength(1);
});
