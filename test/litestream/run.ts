// `bun run test:litestream`: runs the example of `quartermaster help backups` as printed, with Litestream itself: replicate, lose
// the database, restore it. Only its paths are replaced. Needs `litestream` 0.3.13 or 0.5 on PATH, or at $LITESTREAM, which is why
// `bun run test` leaves it out.
import { mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../src/app/release/build.ts";
import { prove, requireProgram } from "../support/proof.ts";
import { startService } from "../support/running-service.ts";

const PATIENCE_MS = 30_000;

async function main(): Promise<void> {
  const litestream = requireProgram("litestream", "install 0.3.13 or 0.5");
  process.stdout.write(`litestream ${output([litestream, "version"])}`);
  using folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-litestream-"));
  const bin = join(folder.path, "bin");
  build({ directory: bin });
  const quartermaster = join(bin, "quartermaster");
  const data = join(folder.path, "quartermaster");
  const example = exampleIn(output([quartermaster, "help", "backups"]), folder.path);
  writeFileSync(join(folder.path, "quartermaster.yaml"), example.settings);
  writeFileSync(join(folder.path, "litestream.yml"), example.replication);
  mkdirSync(data, { mode: 0o700 });
  const settings = ["--config", join(folder.path, "quartermaster.yaml"), "--data-dir", data];

  await replicate({ litestream, quartermaster, settings, config: join(folder.path, "litestream.yml") });
  for (const end of ["", "-wal", "-shm"]) rmSync(join(data, `quartermaster.db${end}`), { force: true });
  for (const command of example.commands)
    output(["sh", "-euc", `PATH="${bin}:$PATH"; litestream() { "${litestream}" "$@"; }; ${command}`]);

  const users = output([quartermaster, "users", "list", "--data-dir", data]);
  if (!users.includes("replicated@example.org"))
    throw new Error(`the replica does not have the last write:\n${users}`);
  output([quartermaster, "audit", "verify", "--data-dir", data]);
  process.stdout.write("the printed example replicates, and its restore has the last write\n");
}

/** Runs the service and Litestream until the log has been copied, with a write that must be in the replica. */
async function replicate(own: {
  litestream: string;
  quartermaster: string;
  settings: string[];
  config: string;
}): Promise<void> {
  const { litestream, quartermaster, settings, config } = own;
  await using service = await startService({ command: [quartermaster], args: settings });
  await using replication = Bun.spawn([litestream, "replicate", "-config", config], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  await until(() => /last progress/.test(output([quartermaster, "status", ...settings])));
  output([quartermaster, "users", "create", "replicated@example.org", "--role", "member", ...settings]);
  service.signal("SIGTERM");
  await service.ended();
  await until(() => isUpToDate(output([quartermaster, "doctor", "--json", ...settings], [0, 6, 7])));
  replication.kill("SIGINT"); // Litestream copies the rest before it exits
  await replication.exited;
}

function isUpToDate(document: string): boolean {
  const { checks }: { checks: { check: string; result: string }[] } = JSON.parse(document);
  return checks.some(({ check, result }) => check === "replication" && result === "ok");
}

/** The three parts of the example, with paths below the folder. */
function exampleIn(
  text: string,
  folder: string,
): { settings: string; replication: string; commands: string[] } {
  const own = text
    .replaceAll("/var/lib/quartermaster", join(folder, "quartermaster"))
    .replaceAll("/mnt/replica", join(folder, "replica"))
    .replaceAll("/tmp/replica.db", join(folder, "replica.db"));
  const blocks = [...own.matchAll(/\n\n((?: {2}.*\n)+)/g)].map(([, block = ""]) =>
    block.replace(/^ {2}/gm, ""),
  );
  const settings = blocks.find((block) => block.startsWith("database:"));
  const replication = blocks.find((block) => block.startsWith("dbs:"));
  const commands = blocks
    .find((block) => block.startsWith("litestream restore"))
    ?.trim()
    .split("\n");
  if (!settings || !replication || !commands) throw new Error("help backups has no example of Litestream");
  return { settings, replication, commands };
}

/** @returns the output of the command on stdout */
function output(command: string[], exitCodes: readonly number[] = [0]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCodes.includes(exitCode)) return stdout.toString();
  throw new Error(`exit code ${exitCode}: ${command.join(" ")}\n${stderr}`);
}

async function until(isDone: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!isDone()) {
    if (performance.now() > deadline) throw new Error("Litestream made no progress");
    await Bun.sleep(500);
  }
}

await prove(main);
