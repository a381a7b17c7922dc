// The source of settings compared with a rule of four lines: a flag, else the environment, else the file, else the default, for
// each setting independently.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { loadConfig } from "../../src/platform/config/config.ts";
import { attributeOf, type SettingName, settingOf, variableOf } from "../../src/platform/config/table.ts";

/** Some values of settings of several types, as a person writes them; each is read as itself. */
const VALUES = {
  "log.level": ["debug", "info", "warning", "error"],
  "bootstrap.organization_name": ["Acme", "42", "null", "Ärzte"],
  "backup.keep": ["1", "7", "1000"],
  "database.replicated": ["true", "false"],
  "server.public_url": ["https://a.example.org", "https://b.example.org"],
} as const satisfies Partial<Record<SettingName, readonly string[]>>;
type Name = keyof typeof VALUES;
const NAMES: Name[] = [
  "log.level",
  "bootstrap.organization_name",
  "backup.keep",
  "database.replicated",
  "server.public_url",
];

const SOURCES = ["flag", "environment", "file"] as const;
type Given = Partial<Record<(typeof SOURCES)[number], string>>;

const givenOf = (name: Name): fc.Arbitrary<Given> => {
  const value = fc.constantFrom(...VALUES[name]);
  return fc.record({ flag: value, environment: value, file: value }, { requiredKeys: [] });
};
const given = fc.tuple(...NAMES.map(givenOf));

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
});
afterAll(() => rmSync(cwd, { recursive: true }));

/** @returns what that source gives, with the keys that `keyOf` makes from a setting's name */
function from(source: (typeof SOURCES)[number], all: readonly Given[], keyOf: (name: string) => string) {
  const entries = NAMES.map((name, at) => [keyOf(name), all[at]?.[source]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** @returns the default in its printed form, where `no` is false */
function defaultOf(name: Name): string {
  const text = settingOf(name).default ?? "unset";
  return text === "no" ? "false" : text;
}

test("each setting has the value of its first source and names that source", () => {
  fc.assert(
    fc.property(given, (all) => {
      const lines = Object.entries(from("file", all, String)).map(([name, value]) => {
        const [section, key] = name.split(".");
        const written = name === "bootstrap.organization_name" ? JSON.stringify(value) : value;
        return `${section}: { ${key}: ${written} }\n`;
      });
      writeFileSync(join(cwd, "q.yaml"), lines.join("") || "{}", { mode: 0o600 });
      const env = { QUARTERMASTER_CONFIG: "q.yaml", ...from("environment", all, variableOf) };
      const config = loadConfig({ flags: from("flag", all, attributeOf), env, cwd });
      for (const [at, name] of NAMES.entries()) {
        const source = SOURCES.find((candidate) => all[at]?.[candidate] !== undefined);
        const expected = source === undefined ? defaultOf(name) : all[at]?.[source];
        const { value, origin } = config.rowOf(name);
        expect([name, String(value ?? ""), origin.split(":")[0]]).toEqual([
          name,
          expected,
          source ?? "default",
        ]);
      }
    }),
    { numRuns: 150 },
  );
});
