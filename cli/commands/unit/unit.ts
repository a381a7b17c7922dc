// `quartermaster unit`: prints the systemd unit that runs this executable. text.ts generates it.
import { resolve } from "node:path";
import type { Part } from "../../../src/app/service/divided/division.ts";
import { placeOf } from "../../../src/platform/config/standby/replica.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { choiceOption, PART_CHOICES } from "../../input/choices.ts";
import { addOptionsOf, loadSettings } from "../../input/setting-options.ts";
import { outputFor } from "../../output/output.ts";

export const register = (program: CliCommand, context: Context): CliCommand =>
  program
    .command("unit")
    .description(
      "Prints a hardened systemd unit for the service or one part of it, or the line that creates its user.",
    )
    .examples(
      "quartermaster unit --sysusers | install -D -m 644 /dev/stdin /etc/sysusers.d/quartermaster.conf",
      "quartermaster unit > /etc/systemd/system/quartermaster.service",
      "quartermaster unit --litestream --config /etc/quartermaster/quartermaster.yaml > /etc/systemd/system/quartermaster-litestream.service",
    )
    .option("--executable <path>", "executable that the unit starts (default: this one)")
    .addOption(
      choiceOption("--only <part>", "unit of one part of a service that uses two processes", PART_CHOICES),
    )
    .option("--litestream", "unit of Litestream, which replicates to standby.replica")
    .option("--litestream-config", "configuration of Litestream; its unit runs this at each start")
    .option("--sysusers", "print the sysusers.d line that creates the user instead")
    .printsJson()
    .action((options: Options, command: CliCommand) => print(context, command, options));

/** Adds the settings that the unit of Litestream depends on. */
export const addOptions = (command: CliCommand): CliCommand =>
  addOptionsOf(command, ["data_dir", "standby.replica", "standby.litestream"]);

interface Options {
  only?: Part;
  executable?: string;
  sysusers?: boolean;
  litestream?: boolean;
  litestreamConfig?: boolean;
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
  if (options.litestreamConfig) {
    const content = await litestreamConfigIn(context, command);
    output.result({ name: "litestream.yml", content }, content.trimEnd());
    return;
  }
  const own = Bun.isStandaloneExecutable ? process.execPath : USUAL_PLACE;
  const executable = options.executable === undefined ? own : resolve(context.cwd, options.executable);
  if (HIDDEN.test(executable)) {
    output.warning(
      `the unit hides ${executable} from the service; install it elsewhere, such as ${USUAL_PLACE}`,
    );
  }
  if (options.litestream) {
    const { LITESTREAM_UNIT, litestreamUnitText } = await import("./litestream-text.ts");
    const text = litestreamUnitText({ executable, ...(await replicaIn(context, command)) });
    output.result({ name: LITESTREAM_UNIT, content: `${text}\n` }, text);
    return;
  }
  const text = unitText(executable, options.only);
  output.result({ name: unitName(options.only), content: `${text}\n` }, text);
}

/** @throws DomainError `standby.off`, `standby.no_term` */
async function litestreamConfigIn(context: Context, command: CliCommand): Promise<string> {
  const config = await loadSettings(context, command);
  const { litestreamConfig } = await import("../../../src/app/standby/litestream.ts");
  const { findOwnTerm } = await import("../../../src/app/standby/own-term.ts");
  if (!config.has("standby.replica")) throw replicaOff();
  const directory = placesIn(resolve(config.get("data_dir")));
  const own = findOwnTerm(directory);
  if (own) return litestreamConfig(config, { ...directory, ...own });
  throw new DomainError("not_found", "standby.no_term", `${directory.path} has no term of the replica yet`, {
    hint: "start the service first; it begins the term",
  });
}

/** @throws DomainError `standby.off` */
async function replicaIn(context: Context, command: CliCommand) {
  const config = await loadSettings(context, command);
  const url = config.get("standby.replica");
  if (url === undefined) throw replicaOff();
  const litestream = config.get("standby.litestream");
  const place = placeOf(url);
  return { place, litestream, caFile: place.kind === "s3" ? config.get("blobs.s3.ca_file") : undefined };
}

const replicaOff = (): DomainError =>
  new DomainError("invalid", "standby.off", "standby.replica is not set", {
    hint: "set standby.replica, or pass the configuration file of the service with --config",
  });
