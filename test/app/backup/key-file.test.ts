// Limits of the file with the keys of an installation. Restoring with one is tested in restore.test.ts.
import { expect, test } from "bun:test";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readKeyFile } from "../../../src/app/backup/backup-keys.ts";
import {
  COST_MAX,
  decryptKeys,
  encryptKeys,
  KEY_FILE_BYTES_MAX,
} from "../../../src/platform/crypto/key-file.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { reasonOf } from "../../support/identity-world.ts";

const passphrase = new Secret("correct horse battery");
const CHEAP = { n: 2, r: 1, p: 1 };

test.each(["n", "r", "p"] as const)("a file is read up to the limit of the cost %s", async (name) => {
  const rest = { salt: "", nonce: "", sealed: "" };
  // scrypt refuses an n this large with an r this small before it starts.
  const reasons = [-1, 0, 1].map((step) => {
    const costs = { ...CHEAP, [name]: COST_MAX[name] + step };
    const file = JSON.stringify({ format: "quartermaster-keys-1", ...costs, ...rest });
    return reasonOf(() => decryptKeys(file, passphrase));
  });
  const readable = "keys.wrong_passphrase";
  expect(await Promise.all(reasons)).toEqual([readable, readable, "keys.unreadable"]);
});

test("a file is read up to its maximum size", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-test-"));
  const kept = { sealing: [], bundleSigning: null };
  const file = encryptKeys(kept, { passphrase, ids: systemIds, cost: CHEAP });
  const path = join(folder.path, "keys.qmk");
  const outcomes: unknown[] = [];
  for (const step of [-1, 0, 1]) {
    writeFileSync(path, file.padEnd(KEY_FILE_BYTES_MAX + step));
    outcomes.push(await reasonOf(() => readKeyFile({ path, passphrase })));
  }
  expect(outcomes).toEqual([kept, kept, "file.too_large"]);
});
