// The error about an unknown name proposes the most similar name.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { NEAR_LENGTH_MAX, nearestName } from "../../../src/app/installation/known-names.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createInstallation } from "../../support/in-process.ts";

const hintOf = (stderr: string): string | undefined => /^hint: +(.*)$/m.exec(stderr)?.[1];

test.each([
  ["anna@example.org", "did you mean ana@example.org?"],
  ["bob@example.com", "did you mean bob@example.org?"],
  ["zoe@example.org", "see `quartermaster users list --data-dir DATA`"],
  ["ana@examlpe.org", "did you mean ana@example.org?"],
  ["ANNA@example.org", "did you mean ana@example.org?"],
  ["obb@example.org", "did you mean bob@example.org?"],
  ["dun@example.org", "see `quartermaster users list --data-dir DATA`"], // dan or den
])("CLI-14 the error about %s has the hint: %s", async (address, hint) => {
  using workspace = await createInstallation();
  for (const name of ["ana", "bob", "dan", "den"])
    await workspace.json(`users create ${name}@example.org --role member`);
  const { stderr, exitCode } = await workspace.run(`users show ${address}`);
  const shown = hintOf(stderr)?.replace(workspace.data, "DATA");
  expect([stderr.split("\n")[0], shown, exitCode]).toEqual([`error: no user "${address}"`, hint, 3]);
});

test("CLI-14 other kinds of names are proposed as well, but no removed user", async () => {
  using workspace = await createInstallation();
  await workspace.json("scim tokens create okta");
  expect(hintOf((await workspace.run("scim tokens revoke entra --yes")).stderr)).toBe(
    `see \`quartermaster scim tokens list --data-dir ${workspace.data}\``,
  );
  expect(hintOf((await workspace.run("scim tokens revoke okt --yes")).stderr)).toBe("did you mean okta?");
  await workspace.json("scim tokens create lab-14");
  await workspace.json("users create a$HOME@example.org --role member");
  // A different number is never proposed, nor is a name that a shell would expand.
  for (const line of ["scim tokens revoke lab-13 --yes", "users show b$HOME@example.org"])
    expect(hintOf((await workspace.run(line)).stderr)).toStartWith("see ");
  await workspace.json("users create eve@example.org --role member");
  await workspace.json("users remove eve@example.org --yes");
  expect(hintOf((await workspace.run("users show evee@example.org")).stderr)).toBe(
    `see \`quartermaster users list --data-dir ${workspace.data}\``,
  );
});

test("CLI-14 a command in a hint has the configuration file and the data directory of the command that failed", async () => {
  using workspace = await createInstallation();
  const file = join(workspace.folder, "own settings.yaml");
  writeFileSync(file, "log: {level: info}\n");
  const run = async (line: string) =>
    hintOf((await workspace.run(line, { env: { QUARTERMASTER_CONFIG: file } })).stderr);
  const settings = `--config '${file}' --data-dir ${workspace.data}`;
  expect(await run("users show zoe@example.org")).toBe(`see \`quartermaster users list ${settings}\``);
  expect(await run("scim tokens revoke entra --yes")).toBe(
    `see \`quartermaster scim tokens list ${settings}\``,
  );
});

test("a name is compared up to NEAR_LENGTH_MAX characters, and in the given time", async () => {
  using workspace = await createInstallation();
  const label = "o".repeat(60);
  await workspace.json(`scim tokens create ${label}`);
  const wanted = { kind: "token", clock: systemClock, deadlineMs: systemClock.nowMs() + 60_000 } as const;
  expect(nearestName(workspace.data, { ...wanted, name: `${label}o` })).toBe(label);
  expect(nearestName(workspace.data, { ...wanted, name: `${label}o`, deadlineMs: 0 })).toBeUndefined();
  const domain = `@${Array(3).fill("d".repeat(60)).join(".")}.example`;
  const address = (length: number) => domain.padStart(length, "a");
  await workspace.json(`users create ${address(NEAR_LENGTH_MAX)} --role member`);
  const isFound = (length: number) =>
    nearestName(workspace.data, { ...wanted, kind: "user", name: address(length) }) !== undefined;
  expect([NEAR_LENGTH_MAX - 1, NEAR_LENGTH_MAX, NEAR_LENGTH_MAX + 1].map(isFound)).toEqual([
    true,
    true,
    false,
  ]);
});
