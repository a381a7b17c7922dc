// Tests the README and the handbook: every code block has a tag, `run` blocks work as printed with the compiled executable, and the
// others are validated. VERIFY.md is tested with the release that contains it (test/app/release/release.test.ts).
import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FILES } from "../../cli/commands/help/topics.ts";
import { migrations } from "../../migrations/index.ts";
import { CHAPTERS } from "../../src/handbook/contents.ts";
import {
  blocksOfMarkdown,
  expectBlocksTrue,
  expectTags,
  FOLDERS_OF_DEBIAN,
  type Placeholder,
  unknownWordsIn,
  type Workplace,
} from "../support/cli/documentation.ts";
import { builtExecutable } from "../support/cli/executable.ts";
import { chapterFile } from "../support/content/chapter-files.ts";
import { runHere } from "../support/in-process.ts";
import { prepareInstallation } from "../support/installed/prepared-installation.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/world.ts";

const ROOT = join(import.meta.dir, "../..");
const EXAMPLE = join(ROOT, "src/domain/catalog/example");
const README = readFileSync(join(ROOT, "README.md"), "utf8");

const directories: string[] = [];
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true });
});

/** @returns an empty directory; a directory next to it has the executable under its name */
function emptyPlace() {
  const parent = temporaryDirectory();
  directories.push(parent);
  const [directory, bin] = [join(parent, "work"), join(parent, "bin")];
  for (const folder of [directory, bin]) mkdirSync(folder);
  symlinkSync(builtExecutable(), join(bin, "quartermaster"));
  return { directory, bin };
}

/** Created once: an installation in ./data with a catalog of local archives, a policy, a backup, and the example's files. */
const installed = lazily(async () => {
  const { directory } = emptyPlace();
  cpSync(EXAMPLE, directory, { recursive: true });
  await prepareInstallation(join(directory, "data"));
  await using service = await startService({ args: ["--data-dir", "data"], cwd: directory }); // publishes a policy
  service.signal("SIGTERM");
  await service.ended();
  const remove = ["ticket-cli", "audit-hooks"].map((id) => `catalog remove ${id} --yes`);
  for (const words of ["catalog seed catalog.yaml", ...remove, "backup create"]) {
    const { exitCode, stderr } = await runHere([...words.split(" "), "--data-dir", "data"], {
      cwd: directory,
    });
    expect([exitCode, exitCode === 0 ? "" : stderr]).toEqual([0, ""]);
  }
  return directory;
});

async function installedPlace() {
  const place = emptyPlace();
  cpSync(await installed(), place.directory, { recursive: true });
  return place;
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

describe("README", () => {
  const blocks = blocksOfMarkdown(README);

  test("has a tag on every block", () => {
    expect(blocks).toHaveLength(README.match(/^ *```\S/gm)?.length ?? 0);
    expectTags(blocks);
  });

  test("shows the message of the first start, and working commands and settings", async () => {
    const { directory, bin } = emptyPlace();
    cpSync(EXAMPLE, directory, { recursive: true });
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
    ];
    await expectBlocksTrue(blocks, { directory, bin, placeholders });
  });
});

/**
 * The message, with the values of this machine and release replaced by those of the README; everything else must be equal. Most
 * releases have their own schema number.
 */
const startMessageOf = (service: RunningService, directory: string): string =>
  service
    .stdout()
    .replace(service.password(), "mX2c…")
    .replace(`(schema ${migrations.length})`, "(schema …)")
    .replaceAll(service.baseUrl, "http://127.0.0.1:8080")
    .replaceAll(directory, "/home/you/quartermaster");

const chapterOf = (name: string): string => readFileSync(chapterFile(name), "utf8");

/** Preparation of each chapter, in addition to an installation. */
const PREPARATIONS: Readonly<Record<string, () => Workplace | Promise<Workplace>>> = {
  "first-hour": async () => {
    const place = await installedPlace();
    const yaml = blocksOfMarkdown(chapterOf("first-hour")).find(({ language }) => language === "yaml");
    writeFileSync(join(place.directory, "policy.yaml"), yaml?.text ?? "");
    const placeholders: Placeholder[] = [
      ["status --data-dir ./data", "status --data-dir ./data --offline-ok", "no service runs"],
      ["ana@example.org --role", "ana@example.org --server-listen 127.0.0.1:8080 --role", "no service runs"],
    ];
    return { ...place, placeholders };
  },
  "identity-provider": async () => ({
    ...(await installedPlace()),
    placeholders: [["ana@example.org", "admin@example.com", "no provider created a user"]],
  }),
  backups: async () => {
    const place = await installedPlace();
    const [backup = ""] = readdirSync(join(place.directory, "data/backups")).filter((name) =>
      name.endsWith(".qmb"),
    );
    const placeholders: Placeholder[] = [
      ["restore FILE\n", "restore FILE --confirm data\n", "no terminal asks for the name"],
      ["FILE", join("data/backups", backup), "the name has the time"],
    ];
    return { ...place, placeholders };
  },
  "harness-file": async () => {
    const place = await installedPlace();
    const example = blocksOfMarkdown(chapterOf("harness-file")).find(({ language }) => language === "yaml");
    writeFileSync(join(place.directory, "agents.yaml"), example?.text ?? "");
    return { ...place, placeholders: [] };
  },
  standby: async () => {
    const place = await installedPlace();
    const credentials = join(place.directory, "credentials");
    mkdirSync(credentials);
    for (const name of ["s3-access-key-id", "s3-secret-access-key"])
      writeFileSync(join(credentials, name), "a key of the store\n", { mode: 0o600 });
    return {
      ...place,
      placeholders: [["/etc/quartermaster/credentials", credentials, "belongs to the machine"]],
    };
  },
  install: () => {
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
    return { directory, bin: join(root, "usr/local/bin"), placeholders };
  },
};

describe("handbook", () => {
  test.each(CHAPTERS)("$name: every block has a tag, and its statements hold", async ({ name }) => {
    const markdown = chapterOf(name);
    const blocks = blocksOfMarkdown(markdown);
    expect(blocks).toHaveLength(markdown.match(/^ *```\S/gm)?.length ?? 0);
    expectTags(blocks);
    if (blocks.every(({ tag }) => tag.startsWith("manual"))) return;
    const place = (await PREPARATIONS[name]?.()) ?? { ...(await installedPlace()), placeholders: [] };
    await expectBlocksTrue(blocks, place);
    if (name === "install") expectInstalled(join(dirname(place.directory), "root"));
  });
});

function expectInstalled(root: string): void {
  const read = (file: string) => readFileSync(join(root, "etc", file), "utf8");
  expect(read("sysusers.d/quartermaster.conf")).toContain("u quartermaster ");
  expect(read("systemd/system/quartermaster.service")).toContain("\n[Service]\n");
}

/** Other tests parse these files as Prometheus, Grafana and fail2ban do. */
test.each([...FILES])("%s: commands in its comments exist", async (_, make) => {
  const commented = [...(await make()).matchAll(/^# {3}(quartermaster .*)$/gm)].map(([, line = ""]) => line);
  expect(commented.flatMap(unknownWordsIn)).toEqual([]);
});
