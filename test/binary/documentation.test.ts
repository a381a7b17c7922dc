// The README and the help topics, held true: every command block has a tag, `run` blocks work as printed with the compiled
// executable, and the others are validated. VERIFY.md is tested with the release it lies in (test/platform/release.test.ts).
import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Topic } from "../../cli/topic.ts";
import { TOPICS } from "../../cli/topics.ts";
import {
  blocksOfMarkdown,
  expectBlocksTrue,
  expectTags,
  FOLDERS_OF_DEBIAN,
  type Placeholder,
  type PrintedBlock,
  unknownWordsIn,
} from "../support/documentation.ts";
import { builtExecutable } from "../support/executable.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/world.ts";

const ROOT = join(import.meta.dir, "../..");
const EXAMPLE = join(ROOT, "src/domain/catalog/example");
const README = readFileSync(join(ROOT, "README.md"), "utf8");

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true });
});

/** @returns an empty directory, with one beside it that has the executable under its name */
function emptyPlace() {
  const parent = temporaryDirectory();
  directories.push(parent);
  const [directory, bin] = [join(parent, "work"), join(parent, "bin")];
  for (const folder of [directory, bin]) mkdirSync(folder);
  symlinkSync(builtExecutable(), join(bin, "quartermaster"));
  return { directory, bin };
}

/** The same with an installation in ./data that has a catalog whose archives are all local, and a backup. */
function installedPlace() {
  const place = emptyPlace();
  const remove = ["ticket-cli", "audit-hooks"].map((id) => `catalog remove ${id} --yes`);
  for (const words of ["setup", `catalog seed ${EXAMPLE}/catalog.yaml`, ...remove, "backup create"]) {
    const { exitCode, stderr } = Bun.spawnSync([builtExecutable(), ...words.split(" ")], {
      cwd: place.directory,
    });
    expect([exitCode, exitCode === 0 ? "" : stderr.toString()]).toEqual([0, ""]);
  }
  return place;
}

describe("README", () => {
  const blocks = blocksOfMarkdown(README);

  test("has a tag on every block", () => {
    expect(blocks).toHaveLength(README.match(/^ *```\S/gm)?.length ?? 0);
    expectTags(blocks);
  });

  test("shows the start message as the first start prints it, and commands and settings that work", async () => {
    const { directory, bin } = emptyPlace();
    cpSync(EXAMPLE, directory, { recursive: true });
    writeFileSync(join(directory, "gateway-admin-key"), "sk-admin-key-of-the-gateway", { mode: 0o600 });
    await using service = await startService({
      command: [process.execPath, join(ROOT, "src/main.ts")],
      args: ["--data-dir", "./data", "--catalog", join(EXAMPLE, "catalog.yaml")],
      cwd: directory,
    });
    expect(startMessageOf(service, directory)).toBe(
      blocks.find(({ language }) => language === "text")?.text ?? "",
    );
    const placeholders: Placeholder[] = [
      ["http://127.0.0.1:8080", service.baseUrl, "the port may be taken"],
      ["THE PASSWORD", service.password(), "is made by the first start"],
      ["/var/lib/quartermaster", join(directory, "data"), "belongs to the machine"],
      ["/etc/quartermaster", directory, "belongs to the machine"],
    ];
    await expectBlocksTrue(blocks, { directory, bin, placeholders });
  });
});

/** The message with the one machine's values replaced by those of the README; all else must be equal. */
const startMessageOf = (service: RunningService, directory: string): string =>
  service
    .stdout()
    .replace(service.password(), "mX2c…")
    .replaceAll(service.baseUrl, "http://127.0.0.1:8080")
    .replaceAll(directory, "/home/you/quartermaster");

const topicsWithBlocks: { name: string; topic: Topic }[] = [];
const textTopics: { name: string; text: string }[] = [];
for (const [name, make] of Object.entries(TOPICS)) {
  const topic = await make();
  if (typeof topic === "string") textTopics.push({ name, text: topic });
  else topicsWithBlocks.push({ name, topic });
}

const printedBlocksOf = ({ blocks }: Topic): PrintedBlock[] =>
  blocks.map(({ tag, language, lines }) => ({ tag, language, text: `${lines.join("\n")}\n` }));

/** Lines with an indentation of two are commands or settings; the continuation of a definition is deeper. */
const copiedLinesIn = (text: string): string[] => text.match(/^ {2}\S.*$/gm) ?? [];

describe("help topics", () => {
  test.each(topicsWithBlocks)("$name: every indented command is in a tagged block", ({ topic }) => {
    const lines = topic.blocks.flatMap(({ lines }) => lines.map((line) => `  ${line}`));
    expect(copiedLinesIn(topic.text).filter((line) => !lines.includes(line))).toEqual([]);
    expectTags(printedBlocksOf(topic));
  });

  test.each(textTopics)(
    "$name: has no indented commands, or is a file whose commented commands exist",
    ({ name, text }) => {
      if (!FILES.includes(name)) expect(copiedLinesIn(text)).toEqual([]);
      const commented = [...text.matchAll(/^# {3}(quartermaster .*)$/gm)].map(([, line = ""]) => line);
      expect(commented.flatMap(unknownWordsIn)).toEqual([]);
    },
  );

  test("backups: its commands and settings work", async () => {
    const place = installedPlace();
    const [backup = ""] = readdirSync(join(place.directory, "data/backups")).filter((name) =>
      name.endsWith(".qmb"),
    );
    const placeholders: Placeholder[] = [
      ["restore FILE            #", "restore FILE --confirm data #", "no terminal asks for the name"],
      ["FILE", join("data/backups", backup), "the name has the time"],
    ];
    await expectBlocksTrue(blocksOf("backups"), { ...place, placeholders });
  });

  test("harnesses: its commands sign and check its example", async () => {
    const place = installedPlace();
    const [example, ...blocks] = blocksOf("harnesses");
    writeFileSync(join(place.directory, "agents.yaml"), example?.text ?? "");
    await expectBlocksTrue(blocks, { ...place, placeholders: [] });
  });

  test("bundles: its commands work", async () => {
    await expectBlocksTrue(blocksOf("bundles"), { ...installedPlace(), placeholders: [] });
  });

  test("service: its commands install into a system that has only the folders of Debian 12", async () => {
    const { directory } = emptyPlace();
    const root = join(dirname(directory), "root");
    for (const folder of FOLDERS_OF_DEBIAN) mkdirSync(join(root, folder), { recursive: true });
    symlinkSync(builtExecutable(), join(directory, "quartermaster"));
    const placeholders: Placeholder[] = [
      ["/usr/local/", join(root, "usr/local/"), "needs root"],
      ["/etc/", join(root, "etc/"), "needs root"],
      ["systemd-sysusers", "true", "needs root"],
      ["systemctl", "true", "needs systemd"],
    ];
    const bin = join(root, "usr/local/bin");
    await expectBlocksTrue(blocksOf("service"), { directory, bin, placeholders });
    expect(readFileSync(join(root, "etc/sysusers.d/quartermaster.conf"), "utf8")).toContain(
      "u quartermaster ",
    );
    expect(readFileSync(join(root, "etc/systemd/system/quartermaster.service"), "utf8")).toContain(
      "\n[Service]\n",
    );
  });

  test("every topic with blocks is tested here", () => {
    const names = topicsWithBlocks.map(({ name }) => name).sort();
    expect(names).toEqual(["backups", "bundles", "harnesses", "service"]);
  });
});

/** Topics that are a file as a whole; tests of their own read them as Prometheus, Grafana and fail2ban do. */
const FILES = ["alert-rules", "dashboard", "fail2ban"];

function blocksOf(name: string): PrintedBlock[] {
  const found = topicsWithBlocks.find((candidate) => candidate.name === name);
  return found === undefined ? [] : printedBlocksOf(found.topic);
}
