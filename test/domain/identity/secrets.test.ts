import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "../../../src/platform/secret.ts";
import { createIdentityWorld, PASSWORD } from "../../support/identity-world.ts";

test("no password and no link is found in the bytes of the database", async () => {
  await using world = await createIdentityWorld();
  const { users, invitations } = world.identity;
  const ann = await world.addUser("ann@example.com");
  const reset = await users.resetPassword(world.operator, ann.id);
  const first = await invitations.create(world.operator, { email: "bob@example.com", role: "member" });
  const second = await invitations.regenerate(world.operator, first.invitation.id);
  const chosen = new Secret("chosen by the invited person");
  await invitations.accept({ token: second.token, password: chosen });
  const files = readdirSync(world.directory).filter((name) => name.startsWith("quartermaster.db"));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(world.directory, name))));
  expect(bytes.includes("bob@example.com")).toBe(true); // the scan can find what is there
  for (const secret of [PASSWORD, reset.generatedPassword, first.token, second.token, chosen]) {
    expect(bytes.includes(secret?.reveal() ?? "bob@example.com")).toBe(false);
  }
});
