// The product's command line with the additional noun `tests`, whose verbs ask, fail, wait and stream on demand.
import type { CliCommand } from "../../../cli/command.ts";
import type { Context } from "../../../cli/context.ts";
import { SomeFailed, withFileContext } from "../../../cli/exit.ts";
import {
  addConfirmOptions,
  addSevereConfirmOptions,
  isConfirmed,
  isNameConfirmed,
} from "../../../cli/input/prompt.ts";
import { addSecretOptions, readSecret } from "../../../cli/input/secret-input.ts";
import { outputFor } from "../../../cli/output/output.ts";
import { startProgress } from "../../../cli/output/progress.ts";
import { programFor } from "../../../cli/program.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { Secret } from "../../../src/platform/secret.ts";

const plan = { action: "remove 1 client", details: ["lab-14 (ana@example.org)"] };

const NOUN = "tests";

/** @returns the program with the verbs, which print through `context` */
export function programWithTests(context: Context): CliCommand {
  const program = programFor(context, [NOUN]); // building the verbs of all other nouns takes most of the time
  const tests = program.command(NOUN).description("Does what tests need.");
  const verb: AddVerb = (name, action) =>
    tests
      .command(name)
      .description("Does what a test needs.")
      .printsTable()
      .action(async (_options: unknown, command: CliCommand) => {
        await action(command);
      });
  addQuestions(context, verb);
  addResults(context, verb);
  addFailures(context, verb);
  addWork(context, verb);
  return program;
}

type AddVerb = (name: string, action: (command: CliCommand) => unknown) => CliCommand;

function addQuestions(context: Context, verb: AddVerb): void {
  addConfirmOptions(
    verb("remove", async (command) => {
      if (await isConfirmed(context, command, plan)) outputFor(context, command).result({}, "removed");
    }),
  );
  addSevereConfirmOptions(
    verb("purge", async (command) => {
      const confirmed = await isNameConfirmed(context, command, { ...plan, name: "lab-14" });
      if (confirmed) outputFor(context, command).result({}, "purged");
    }),
  );
  addSecretOptions(
    verb("password", async (command) => {
      const secret = await readSecret(context, command, "password");
      outputFor(context, command).result({}, `${secret} of ${secret.reveal().length} characters`);
    }),
    "password",
  );
}

function addResults(context: Context, verb: AddVerb): void {
  verb("token", (command) => {
    const warning = "this token is shown once";
    outputFor(context, command).secret(new Secret("qm_abc"), { name: "token", warning });
  });
  verb("list", (command) => {
    const rows = [
      {
        id: "4b1f8a52-6d0c-4a6e-8b5e-90c1d7e0aa11",
        host: "lab-14\u001b[31m",
        seen: new Date(0),
        policy: null,
      },
      { id: "c07d21b9-5c3e-4f6a-9d2b-1f6e5b9d3344", host: "建物-02", seen: new Date(60_000), policy: 43 },
    ];
    outputFor({ ...context, clock: { nowMs: () => 3_660_000 } }, command).list(rows, {
      columns: [
        { header: "ID", value: ({ id }) => id },
        { header: "HOST", value: ({ host }) => host },
        { header: "POLICY", value: ({ policy }) => policy },
        { header: "SEEN", value: ({ seen }) => seen },
        { header: "LAST", value: () => "x", isWide: true },
      ],
      json: ({ id, seen }) => ({ id, seen_at: seen.toISOString() }),
      empty: "no workstations",
    });
  });
  verb("none", (command) =>
    outputFor(context, command).list([], { columns: [], json: () => ({}), empty: "no workstations" }),
  );
  verb("stream", (command) => {
    const rows = Array.from({ length: 20_000 }, (_, index) => index);
    const line = { json: (index: number) => ({ index }), text: (index: number) => `row ${index}` };
    return outputFor(context, command).stream(rows, line);
  });
  verb("large", (command) => {
    outputFor(context, command).result({}, "x".repeat(1_000_000));
    process.stderr.write("written\n");
  });
}

function addFailures(context: Context, verb: AddVerb): void {
  verb("bug", () => {
    throw new TypeError("x is not a function");
  });
  verb("problems", () =>
    withFileContext("policy.json", () => {
      throw new DomainError("invalid", "policy.invalid", "the policy has 2 problems", {
        hint: "correct them",
        problems: [
          { pointer: "/revision", detail: "must be text", line: 3 },
          { pointer: "/users/0", detail: "no such user" },
        ],
      });
    }),
  );
  verb("partial", () => {
    throw new SomeFailed("2 of 90 keys failed");
  });
  verb("warn", (command) => outputFor(context, command).warning("careful"));
}

function addWork(context: Context, verb: AddVerb): void {
  verb("work", () => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs };
    using progress = startProgress({ ...context, clock }, { label: "copying", unit: "bytes", total: 40_960 });
    for (let second = 0; second < 20; second++) {
      nowMs += 1000;
      progress.advance(2048);
    }
  });
  verb("wait", async () => {
    const signal = context.stopSignal();
    process.stdout.write("waiting\n");
    await new Promise<never>((_, reject) => {
      const timer = setInterval(() => {}, 1000);
      signal.addEventListener("abort", () => {
        clearInterval(timer);
        process.stdout.write("cleaned up\n");
        reject(signal.reason);
      });
    });
  });
  verb("hang", () => {
    context.stopSignal();
    process.stdout.write("waiting\n");
    return new Promise(() => setInterval(() => {}, 1000));
  });
}
