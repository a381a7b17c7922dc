import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "../../../src/platform/secret.ts";
import { createIdentityWorld, PASSWORD } from "../../support/identity-world.ts";

test("stores no passwords or links in the bytes of the database", async () => {
  await using world = await createIdentityWorld();
  const { users, invitations, passwordLinks } = world.identity;
  const ann = await world.addUser("ann@example.com");
  const reset = await users.resetPassword(world.operator, ann.id);
  const first = await invitations.create(world.operator, { email: "bob@example.com", role: "member" });
  const second = await invitations.regenerate(world.operator, first.invitation.id);
  const chosen = new Secret("chosen by the invited person");
  const bob = await invitations.accept({ token: second.token, password: chosen });
  const link = await passwordLinks.create(world.operator, ann.id);
  const used = await passwordLinks.create(world.operator, bob.id);
  const another = new Secret("chosen at a password link");
  await passwordLinks.setPassword({ token: used.token, password: another });
  const files = readdirSync(world.directory).filter((name) => name.startsWith("quartermaster.db"));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(world.directory, name))));
  expect(bytes.includes("bob@example.com")).toBe(true); // proves that the scan finds a secret
  const links = [first, second, link, used].map(({ token }) => token);
  for (const secret of [PASSWORD, reset.generatedPassword, ...links, chosen, another]) {
    expect(bytes.includes(secret?.reveal() ?? "bob@example.com")).toBe(false);
  }
});
