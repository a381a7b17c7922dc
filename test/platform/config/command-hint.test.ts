// Commands in messages find the settings and the data of the program that prints them.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandWith } from "../../../src/platform/config/command-hint.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { temporaryDirectory } from "../../support/world.ts";

const folder = temporaryDirectory();
const file = join(folder, "it's.yaml");
writeFileSync(file, "data_dir: /srv/in-file\n");
const quoted = `'${folder}/it'\\''s.yaml'`;

test.each([
  ["nothing given", { flags: {}, env: {} }, "quartermaster takeover"],
  ["a file", { flags: { config: file }, env: {} }, `quartermaster takeover --config ${quoted}`],
  [
    "a file and a directory",
    { flags: { config: file, dataDir: "/srv/data" }, env: {} },
    `quartermaster takeover --config ${quoted} --data-dir /srv/data`,
  ],
  [
    "variables",
    { flags: {}, env: { QUARTERMASTER_CONFIG: file, QUARTERMASTER_DATA_DIR: "/srv/data" } },
    `quartermaster takeover --config ${quoted} --data-dir /srv/data`,
  ],
])("a command with %s can be copied", (_, inputs, command) => {
  expect(commandWith(loadConfig({ ...inputs, cwd: folder }), "takeover")).toBe(command);
});
