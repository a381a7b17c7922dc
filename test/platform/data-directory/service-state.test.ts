// The facts about the running service on a full disk: the start ends with the reason. A file size limit stands for the disk, so the
// write runs in a child process.
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/world.ts";

const SOURCES = join(import.meta.dir, "../../../src/platform/data-directory");

const writing = (folder: string): string => `
const { placesIn } = await import("${SOURCES}/data-directory.ts");
const { writeServiceState } = await import("${SOURCES}/service-state.ts");
const state = { process_id: 1, started_at: "", version: "", origin: "o", address: "", settings: {} };
try {
  writeServiceState(placesIn("${folder}"), state);
  console.log("written");
} catch (error) {
  console.log(error.reason);
}`;

test("a state that a full disk cannot take is reported with the reason", async () => {
  const folder = temporaryDirectory();
  try {
    for (const [limit, outcome] of [
      ["0", "storage.full"],
      ["unlimited", "written"],
    ] as const) {
      const shell = `trap '' XFSZ; ulimit -f ${limit}; exec "$@"`;
      const { stdout } = Bun.spawnSync(["sh", "-c", shell, "sh", process.execPath, "-e", writing(folder)]);
      expect(stdout.toString().trim()).toBe(outcome);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
