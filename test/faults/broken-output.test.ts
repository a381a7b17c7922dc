// Output whose reader is gone: the service does not depend on its log, and a command whose errors cannot be printed still exits
// with their code. test/cli/terminal.test.ts tests results that cannot be printed.
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { runCli } from "../support/cli/cli.ts";
import { productCommand, SHORT_LIVED } from "../support/cli/executable.ts";
import { temporaryDirectory } from "../support/world.ts";

test("a service whose log has no reader continues and stops cleanly", async () => {
  const directory = temporaryDirectory();
  const socket = join(directory, "socket");
  const flags = ["--data-dir", join(directory, "data"), "--server-listen", `unix:${socket}`];
  const command = [...productCommand(), "serve", ...flags, "--server-public-url", "http://localhost"];
  const logging = ["--log-format", "json", "--log-level", "debug"];
  await using child = Bun.spawn([...command, ...logging], {
    env: SHORT_LIVED,
    stdout: "pipe",
    stderr: "pipe",
  });
  for await (const chunk of child.stdout) if (Buffer.from(chunk).includes("service.started")) break;
  await child.stderr.cancel();
  const ask = async () => (await fetch("http://localhost/ready", { unix: socket })).status;
  for (let question = 0; question < 5; question++) expect(await ask()).toBe(200);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  rmSync(directory, { recursive: true });
});

test("a command that cannot print its error exits with its code", async () => {
  const shell = ["sh", "-c", 'exec "$@" 2>/dev/full', "sh", ...productCommand()];
  expect(await runCli(["nonsense"], { command: shell })).toMatchObject({ exitCode: 2 });
});
