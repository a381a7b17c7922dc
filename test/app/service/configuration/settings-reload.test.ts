// Log lines of a reload of unreadable settings.
import { afterAll, expect, test } from "bun:test";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runDocumentTask } from "../../../../src/app/documents/document-tasks.ts";
import { reloadSettings } from "../../../../src/app/service/configuration/settings-reload.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";

const folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-reload-"));
afterAll(() => folder[Symbol.dispose]());

test.each([
  ["log:\n  level: debug\n", ["config.reloaded"]],
  ["log:\n  level: loud\n", ["config.rejected", "config.problem"]],
  ["- a\n", ["config.rejected", "config.problem"]],
])("a reload is reported as successful only if the settings are valid: %j", async (text, events) => {
  const file = join(folder.path, "quartermaster.yaml");
  writeFileSync(file, "log:\n  level: info\n");
  const config = loadConfig({ flags: { config: file }, env: {}, cwd: folder.path });
  writeFileSync(file, text);
  const lines: string[] = [];
  const clock = { nowMs: Date.now };
  const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(line), clock });
  const reading = config.readFileAgain(async (name, request) => runDocumentTask(name, request));
  await reloadSettings({ config, log, reading, listeners: [], buckets: { useCredentials() {} } });
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(events);
});
