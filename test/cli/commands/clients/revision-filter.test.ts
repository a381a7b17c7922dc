// `clients list --revision`: a number or id selects a revision, and an unknown one is an error.
import { expect, test } from "bun:test";
import { createInstallation } from "../../../support/in-process.ts";
import { publishOn, reportOn } from "../../../support/installed/installed-clients.ts";

test("lists the workstations of a revision by its number or id, and refuses other words", async () => {
  using workspace = await createInstallation();
  const config_revision = await publishOn(workspace);
  await reportOn(workspace, [{ instance_id: "i-1", hostname: "lab-1", config_revision }]);
  const { items } = await workspace.json("policy history");
  const numbers = (items as { revision: string; number: number }[]).map(({ revision, number }) => [
    revision,
    number,
  ]);
  for (const [id, sequence] of numbers)
    for (const name of [id, sequence, `r${sequence}`]) {
      const { total } = await workspace.json(`clients list --revision ${name}`);
      expect(total).toBe(id === config_revision ? 1 : 0);
    }
  const { exitCode, stderr } = await workspace.run("clients list --revision nonsense");
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining("nonsense")]);
});
