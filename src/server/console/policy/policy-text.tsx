// The text of a policy with numbered lines, in parts that can be folded. Each part names the operation that changes it.
/** @jsxImportSource preact */
import type { ShownText } from "../../../domain/governance/shown/shown-text.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import { harnessText } from "../own/words.ts";
import { textHtml } from "../parts/values.tsx";

interface Part {
  title: string;
  /** the operation that changes it */
  owner: keyof typeof OWNERS;
  /** number of its first line */
  start: number;
  lines: string[];
}

const OWNERS = {
  policy: "Policy",
  harness: "Harness",
  extensions: "Extensions",
  deployment: "Settings of the installation",
} as const;

/** Members of a harness that the extensions operation owns: see ownership.ts of the domain. */
const EXTENSION_MEMBERS: readonly string[] = ["mcp", "package_overrides"];

/** A text with an anchor for each line: `#L12`. A part opens by itself where the address names one of its lines. */
export const PolicyText = ({ text: { lines, count } }: { text: ShownText }) => (
  <>
    {partsOf(lines).map((part) => (
      <OnePart key={part.start} {...part} />
    ))}
    {count > lines.length && <p>The text has {count} lines. The command below prints all of them.</p>}
  </>
);

const OnePart = ({ title, owner, start, lines }: Part) => (
  <details open class="text-part">
    <summary>
      {title} <small>{OWNERS[owner]}</small>
    </summary>
    <ol class="code" start={start} dangerouslySetInnerHTML={{ __html: linesHtml(lines, start) }} />
  </details>
);

/** The renderer takes ten times as long for thousands of lines. */
const linesHtml = (lines: readonly string[], start: number): string =>
  lines.map((line, at) => `<li id="L${start + at}"><code>${textHtml(line)}</code></li>`).join("");

/** @param lines of canonical YAML, in which members are indented by two spaces */
function partsOf(lines: readonly string[]): Part[] {
  const parts: Part[] = [];
  const path: string[] = [];
  for (const [at, line] of lines.entries()) {
    const [, indent = "", name] = /^( {0,4})([a-z_]+):/.exec(line) ?? [];
    if (name !== undefined) path.splice(indent.length / 2, path.length, name);
    const { title, owner } = partOf(path);
    const last = parts.at(-1);
    if (last?.title === title && last.owner === owner) last.lines.push(line);
    else parts.push({ title, owner, start: at + 1, lines: [line] });
  }
  return parts;
}

function partOf([first = "", second, third = ""]: readonly string[]): Pick<Part, "title" | "owner"> {
  if (first === "packages") return { title: "Packages", owner: "extensions" };
  if (first === "gateway") return { title: "Gateway", owner: "deployment" };
  const harness = first === "harnesses" ? HARNESS_KEYS.find((key) => key === second) : undefined;
  if (!harness) return { title: "General", owner: "policy" };
  const name = harnessText(harness);
  return EXTENSION_MEMBERS.includes(third)
    ? { title: `${name}: MCP servers and uses of packages`, owner: "extensions" }
    : { title: name, owner: "harness" };
}
