// `quartermaster unit`: prints the systemd unit that runs this executable. text.ts generates it.
import { resolve } from "node:path";
import type { Part } from "../../../src/app/service/divided/division.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { choiceOption, PART_CHOICES } from "../../input/choices.ts";
import { outputFor } from "../../output/output.ts";

/** Adds the command to the command tree. */
export function register(program: CliCommand, context: Context): void {
  program
    .command("unit")
    .description(
      "Prints a hardened systemd unit for the service or one part of it, or the user that it runs as.",
    )
    .examples(
      "quartermaster unit --sysusers | install -D -m 644 /dev/stdin /etc/sysusers.d/quartermaster.conf",
      "quartermaster unit > /etc/systemd/system/quartermaster.service",
      "quartermaster unit --only proxy > /etc/systemd/system/quartermaster-proxy.service",
    )
    .option("--executable <path>", "executable that the unit starts (default: this one)")
    .addOption(
      choiceOption(
        "--only <part>",
        "unit of one part of a service that is divided between two processes",
        PART_CHOICES,
      ),
    )
    .option("--sysusers", "print the sysusers.d line that creates the user instead")
    .printsJson()
    .action((options: Options, command: CliCommand) => print(context, command, options));
}

interface Options {
  only?: Part;
  executable?: string;
  sysusers?: boolean;
}

/** Default path of the executable when running from source. */
const USUAL_PLACE = "/usr/local/bin/quartermaster";
/** Folders that the unit hides from the service. */
const HIDDEN = /^\/(?:home|root|run\/user|tmp|var\/tmp)\//;

async function print(context: Context, command: CliCommand, options: Options): Promise<void> {
  const { SYSUSERS_TEXT, unitName, unitText } = await import("./text.ts");
  const output = outputFor(context, command);
  if (options.sysusers) {
    output.result({ name: "quartermaster.conf", content: `${SYSUSERS_TEXT}\n` }, SYSUSERS_TEXT);
    return;
  }
  const own = Bun.isStandaloneExecutable ? process.execPath : USUAL_PLACE;
  const executable = options.executable === undefined ? own : resolve(context.cwd, options.executable);
  if (HIDDEN.test(executable)) {
    output.warning(
      `the unit hides ${executable} from the service; install it elsewhere, such as ${USUAL_PLACE}`,
    );
  }
  const text = unitText(executable, options.only);
  output.result({ name: unitName(options.only), content: `${text}\n` }, text);
}
