// The size of one stored response. Keys, repetitions and their number are tested in test/server/http/idempotency.test.ts.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Idempotency, RESPONSE_BYTES_MAX } from "../../../src/domain/idempotency/service.ts";
import { openSealing } from "../../../src/platform/crypto/sealing.ts";
import { createIdentityWorld } from "../../support/identity-world.ts";

test("a response above the limit is a bug, and nothing is created", async () => {
  await using world = await createIdentityWorld();
  const sealing = openSealing({ directory: join(world.directory, "other-keys"), ids: world.ids });
  const idempotency = new Idempotency({ ...world, sealing });
  const { id } = await world.addUser("ana@example.org");
  const actor = { ...world.system, kind: "user", id } as const;
  const form = { write: (response: string) => response, read: (text: string) => text };
  /** Two of the bytes are one character. */
  const bytesOf = async (bytes: number) => {
    const once = { key: `key-${bytes}`, request: [], form, create: () => "é".padEnd(bytes - 1) };
    const response = await world.db.write((tx) => idempotency.once(tx, actor, once), "unobserved");
    return Buffer.byteLength(response);
  };
  for (const bytes of [RESPONSE_BYTES_MAX - 1, RESPONSE_BYTES_MAX]) expect(await bytesOf(bytes)).toBe(bytes);
  await expect(bytesOf(RESPONSE_BYTES_MAX + 1)).rejects.toThrow("a stored response is small");
});
