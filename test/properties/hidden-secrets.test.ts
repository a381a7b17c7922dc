// Random policies with secrets in variables, arguments and settings: a text with hidden values keeps its lines, still
// shows which values differ, and hides the values that an export replaces. A form that does not show the values changes
// none.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { safeDefault } from "../../src/domain/governance/document/safe-default.ts";
import { documentYaml } from "../../src/domain/governance/document/yaml.ts";
import { diffDocuments } from "../../src/domain/governance/publishing/diff.ts";
import { exportedBytes } from "../../src/domain/governance/reading/export.ts";
import {
  HIDDEN,
  withHiddenSecrets,
  withHiddenSides,
} from "../../src/domain/governance/shown/hidden-secrets.ts";
import { textDifference } from "../../src/domain/governance/shown/text-difference.ts";
import { entryIn, entryOf, serverOf, withKeptValues } from "../../src/server/console/mcp/entry.ts";

/** A letter that occurs nowhere else in the text around a value. */
const piece = fc.constantFrom(
  "Q",
  "QQ QQ",
  "\n",
  "\n\n",
  "  ",
  "\t",
  "\r\n",
  '"',
  ": ",
  "#",
  "- ",
  "Q".repeat(50),
  "\u2028",
);
const secret = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
const env = fc.dictionary(fc.constantFrom("A", "b c", "__proto__", "é\n", "1"), secret, {
  maxKeys: 4,
  noNullPrototype: true,
});
const args = fc
  .array(
    fc.oneof(
      fc.constant(["-v"]),
      secret.map((value) => ["--token", value]),
      secret.map((value) => [`--password=${value}`]),
    ),
    { maxLength: 3 },
  )
  .map((parts) => parts.flat());
const settings = fc.record(
  {
    api_key: secret,
    model: fc.constant("large"),
    nested: fc.record({ password: secret }, { noNullPrototype: true }),
    tokens: fc.array(secret, { maxLength: 3 }),
    command: args,
  },
  { noNullPrototype: true, requiredKeys: [] },
);
const members = {
  name: fc.constantFrom("one", "two"),
  command: fc.constant("run"),
  env,
  disabled: fc.boolean(),
};
/** without arguments, which the form shows */
const server = fc.record(members, { noNullPrototype: true });
const servers = fc.uniqueArray(fc.record({ ...members, args }, { noNullPrototype: true }), {
  selector: ({ name }) => name,
  maxLength: 2,
});
const document = fc.tuple(servers, settings, settings).map(([mcp, managed, own]) => ({
  ...safeDefault(),
  harnesses: {
    codex: {
      managed_config: { ...managed, env: { A: "shown" } },
      mcp,
      package_overrides: { tool: { settings: own } },
    },
  },
}));

test("CON-144 a text without values has the lines of the whole text", () => {
  const check = (whole: ReturnType<typeof safeDefault>) => {
    const [text, hidden] = [whole, withHiddenSecrets(whole)].map((one) => documentYaml(one).split("\n"));
    expect(hidden).toHaveLength(text?.length ?? 0);
    for (const [at, line] of (hidden ?? []).entries()) {
      expect(line).not.toContain("Q");
      if (!line.includes(HIDDEN) && !line.endsWith("|")) expect(line).toBe(text?.[at] ?? "");
    }
  };
  fc.assert(fc.property(document, check));
});

test("CON-144 every value that an export replaces is hidden, and nothing else", () => {
  fc.assert(
    fc.property(document, (whole) => {
      const text = JSON.stringify(whole);
      const exported = exportedBytes({ document: text, configuration: undefined, sources: {} });
      const { redactions } = JSON.parse(Buffer.from(exported).toString());
      const values: string[] = [];
      JSON.stringify(withHiddenSecrets(whole), (_, value) => {
        if (typeof value === "string" && value.includes(HIDDEN)) values.push(value);
        return value;
      });
      expect(values).toHaveLength(redactions.length);
    }),
  );
});

test("CON-144 every value that differs is still a change, as place and as text", () => {
  fc.assert(
    fc.property(document, document, (before, after) => {
      const changes = diffDocuments(before, after);
      const hidden = changes.map((change) => withHiddenSides(change, ["before", "after"]));
      for (const { before: from, after: to } of hidden)
        expect(JSON.stringify(from)).not.toBe(JSON.stringify(to));
      expect(JSON.stringify(hidden)).not.toContain("Q");
      const texts = [withHiddenSecrets(before), withHiddenSecrets(after, { former: before })];
      const [from = "", to = ""] = texts.map((text) => JSON.stringify(text));
      if (changes.length > 0) expect(textDifference({ before: from, after: to })).not.toEqual([]);
    }),
  );
});

test("CON-144 a form that shows no value keeps all of them", () => {
  fc.assert(
    fc.property(server, (stored) => {
      const entry = entryOf({ server: stored, harnesses: ["codex"] });
      expect(JSON.stringify(entry)).not.toContain("Q");
      const rows = entry.variables.flatMap(({ name, value, kept }, at): [string, string | undefined][] => [
        [`env_name${at}`, name],
        [`env_value${at}`, value === "" ? undefined : value],
        [`env_kept${at}`, kept],
      ]);
      const { name, command } = entry;
      const sent = entryIn({
        ...Object.fromEntries(rows),
        name,
        command,
        variables: String(rows.length / 3),
        enabled: stored.disabled ? undefined : "yes",
      });
      const { whole, problems } = withKeptValues(sent, stored);
      const { env: saved = {} } = serverOf(whole);
      expect(problems).toEqual([]);
      expect(Object.values(saved)).toEqual(Object.values(stored.env));
    }),
  );
});
