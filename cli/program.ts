// Builds the command tree from an explicit list of nouns, runs a command line, and turns errors into text and exit codes.
// The commands are in cli/commands/; their code is loaded when they run.
import { VERSION } from "../src/platform/version.ts";
import { CliCommand, HELP_WIDTH, isAnswered } from "./command.ts";
import * as artifacts from "./commands/artifacts/artifacts.ts";
import * as audit from "./commands/audit/audit.ts";
import * as backup from "./commands/backup/backup.ts";
import * as branding from "./commands/branding/branding.ts";
import * as catalog from "./commands/catalog/catalog.ts";
import * as clients from "./commands/clients/clients.ts";
import * as completion from "./commands/completion/completion.ts";
import * as config from "./commands/config/config.ts";
import * as connections from "./commands/connections/connections.ts";
import * as demo from "./commands/demo/demo.ts";
import * as doctor from "./commands/doctor/doctor.ts";
import * as gateway from "./commands/gateway/gateway.ts";
import * as groups from "./commands/groups/groups.ts";
import * as harnesses from "./commands/harnesses/harnesses.ts";
import * as help from "./commands/help/help.ts";
import * as identities from "./commands/identities/identities.ts";
import * as invitations from "./commands/invitations.ts";
import * as jobs from "./commands/jobs/jobs.ts";
import * as keys from "./commands/keys/keys.ts";
import * as logins from "./commands/logins/logins.ts";
import * as manual from "./commands/manual/manual.ts";
import * as migrate from "./commands/migrate/migrate.ts";
import * as organization from "./commands/organization/organization.ts";
import * as packages from "./commands/packages/packages.ts";
import * as policy from "./commands/policy/policy.ts";
import * as probe from "./commands/probe/probe.ts";
import * as replica from "./commands/replica/replica.ts";
import * as scim from "./commands/scim/scim.ts";
import * as sealingKeys from "./commands/sealing-keys/sealing-keys.ts";
import * as serve from "./commands/serve/serve.ts";
import * as sessions from "./commands/sessions/sessions.ts";
import * as setup from "./commands/setup.ts";
import * as signingKeys from "./commands/signing-keys/signing-keys.ts";
import * as sso from "./commands/sso/sso.ts";
import * as status from "./commands/status/status.ts";
import * as takeover from "./commands/takeover/takeover.ts";
import * as unit from "./commands/unit/unit.ts";
import * as users from "./commands/users/users.ts";
import * as version from "./commands/version.ts";
import * as views from "./commands/views/views.ts";
import type { Context } from "./context.ts";
import { Declined, EXIT, failureOf, failureText } from "./exit.ts";
import { exitOnBrokenPipe, flushOutput } from "./output/broken-output.ts";
import { hasColor } from "./output/color.ts";
import { withPriority } from "./output/journal.ts";

interface Noun {
  /**
   * @param wholeTree builds the tree with the verbs and options of every noun
   * @returns the noun if addVerbs or addOptions has to complete it
   */
  register(program: CliCommand, context: Context, wholeTree: () => CliCommand): unknown;
  addVerbs?(noun: CliCommand, context: Context): void;
  addOptions?(noun: CliCommand): unknown;
}

/** In the order of the help of the root. */
const NOUNS: Readonly<Record<string, readonly Noun[]>> = {
  "Service:": [serve, setup, demo, status, doctor, probe, config],
  "Users and logins:": [
    organization,
    branding,
    users,
    groups,
    invitations,
    logins,
    identities,
    scim,
    sso,
    views,
  ],
  "Policy and workstations:": [
    catalog,
    connections,
    artifacts,
    packages,
    policy,
    harnesses,
    clients,
    sessions,
  ],
  "Gateway and keys:": [gateway, keys, signingKeys, sealingKeys],
  "Data and operation:": [jobs, backup, migrate, audit, takeover, replica],
  "Help and shell:": [completion, manual, unit, version, help],
};

/**
 * @param args the command line; nouns that it does not mention get no verbs and options, which would double the startup time
 * @returns the tree; all of it if `args` is undefined
 */
export function programFor(context: Context, args?: readonly string[]): CliCommand {
  const { stdout } = context;
  const program = new CliCommand("quartermaster")
    .description("Control service for an organization's coding agents.")
    .examples(
      "quartermaster serve --data-dir /var/lib/quartermaster",
      "quartermaster config check --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster help exit-codes",
    )
    .version(`quartermaster ${VERSION}`, "--version", "print the version")
    .helpOption("-h, --help", "show this help")
    .option("--no-color", "print without color")
    .option("--debug", "add stack traces to errors")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      getOutHelpWidth: () => Math.min((stdout.isTTY && stdout.columns) || HELP_WIDTH, HELP_WIDTH),
      getOutHasColors: () => false,
    });
  for (const [group, nouns] of Object.entries(NOUNS)) {
    program.commandsGroup(group);
    for (const { register, addVerbs, addOptions } of nouns) {
      const noun = register(program, context, () => programFor(context));
      const isNamed = noun instanceof CliCommand && (args === undefined || args.includes(noun.name()));
      if (!isNamed) continue;
      addVerbs?.(noun, context);
      addOptions?.(noun);
    }
  }
  return program;
}

/**
 * Runs one command line.
 * @param args without the program name
 * @param program the tree; tests add their own commands to it
 * @returns the exit code, after all output has been passed to the operating system
 */
export async function run(
  args: readonly string[],
  context: Context,
  program = programFor(context, args),
): Promise<number> {
  const { stdout, stderr } = context;
  exitOnBrokenPipe(context);
  try {
    await program.parseAsync(args, { from: "user" });
    return EXIT.done;
  } catch (error) {
    return isAnswered(error) ? EXIT.done : fail(error, args, context);
  } finally {
    await flushOutput(stdout); // before stderr, which reports a failure of this
    await flushOutput(stderr);
  }
}

/** Looks for `--json`, `--debug` and `--no-color` in the raw arguments, because parsing them may be what failed. */
function fail(error: unknown, args: readonly string[], context: Context): number {
  const { stderr, env, runId } = context;
  const options = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const json = options.includes("--json");
  const debug = options.includes("--debug");
  const color = hasColor(stderr, env, !options.includes("--no-color"));
  if (error instanceof Declined && !json) {
    stderr.write("No changes made.\n");
    return error.exitCode;
  }
  const text = failureText(error, runId, { json, debug, color });
  stderr.write(withPriority(context, text, { level: "error" }));
  return failureOf(error, runId).exit_code;
}
