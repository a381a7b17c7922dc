// Metrics, log events and audit actions, read from the source text that creates them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { POLICY_EVENTS } from "../../../src/app/files/governance-file.ts";
import { AUDIT_ACTIONS } from "../../../src/domain/audit/actions.ts";
import { code, table } from "./prose.ts";

const ROOT = join(import.meta.dir, "../../..");
const METRIC =
  /(?:\b(counter|gauge|histogram)\(\s*)?\{\s*name: "(quartermaster_[a-z_]+)",\s*help:\s*"([^"]+)"/gi;
const EVENT = /\blog\.(info|warning|error)\(\s*"([a-z_]+\.[a-z_]+)"/g;

/** Logged by the response recorder, as a warning. */
const WARNING_OF_REQUEST = /\.warning = "([a-z_]+\.[a-z_]+)"/g;

const sources = [...new Bun.Glob("{src,cli}/**/*.ts").scanSync(ROOT)]
  .toSorted()
  .map((path) => readFileSync(join(ROOT, path), "utf8"));
const found = (pattern: RegExp): (string | undefined)[][] =>
  sources.flatMap((text) => [...text.matchAll(pattern)].map((match) => match.slice(1)));

/** @param named the kinds of metrics that the constructor names; metrics with our own constructors have a conventional suffix instead */
const kindOf = (named: string | undefined, name: string): string =>
  named?.toLowerCase() ?? (name.endsWith("_total") ? "counter" : "histogram");

export const metricsMarkdown = (): string =>
  table(
    ["Metric", "Kind", "Meaning"],
    found(METRIC)
      .map(([kind, name = "", help = ""]) => [code(name), kindOf(kind, name), help.replace(/\.$/, "")])
      .toSorted(),
  );

const events = (): (readonly [level: string, name: string])[] => [
  ...found(EVENT).map(([level = "", name = ""]) => [level, name] as const),
  ...found(WARNING_OF_REQUEST).map(([name = ""]) => ["warning", name] as const),
  ...Object.values(POLICY_EVENTS).map((name) => ["info", name] as const),
];

export const eventsMarkdown = (): string =>
  ["error", "warning", "info"]
    .map((level) => {
      const names = new Set(events().flatMap(([given, name]) => (given === level ? [name] : [])));
      return `- **${level}**: ${[...names].toSorted().map(code).join(", ")}`;
    })
    .join("\n");

export const auditActionsMarkdown = (): string => `${AUDIT_ACTIONS.map(code).join(", ")}.`;
