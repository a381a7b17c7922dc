// The texts of a demo for people: where to look, what to try, and the state of the workstations.
import type { DemoEvent, FleetState, Started } from "../../../src/app/demo/events.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { shellWord } from "../../../src/platform/text/shell-word.ts";

/** Width of command lines, and of a terminal that does not report its width. */
export const COLUMNS = 80;

function startedText(started: Started, program: string): string {
  const { url, data_dir, log, administrator, password, workstations } = started;
  const place = `--data-dir ${shellWord(data_dir)}`;
  return [
    `An example organization with ${countText(workstations.length, "simulated workstation")} runs now.`,
    `Everything is in ${data_dir} and is removed at the end.`,
    "",
    "Look at it in a browser:",
    `  console     ${url}/console`,
    `              ${administrator}, password ${password}`,
    `              ${userOf(started)} and the other users have the same password`,
    `  handbook    ${url}/help`,
    `  API         ${url}/openapi.json`,
    "",
    "Try these commands in a second terminal:",
    "",
    ...suggestionsFor(started).flatMap(({ about, parts }) => [
      ...about.map((line) => `  # ${line}`),
      commandText([program, ...parts, place]),
      "",
    ]),
    `The log of the service is ${log}.`,
    "Ctrl-C ends the demo.",
    "",
  ].join("\n");
}

interface Suggestion {
  /** lines of explanation */
  about: readonly string[];
  /** a command line without the program, in parts that stay on one line */
  parts: readonly string[];
}

const userOf = ({ workstations, administrator }: Started): string => workstations[0]?.user ?? administrator;

function suggestionsFor(started: Started): Suggestion[] {
  const { misfit, next_policy } = started;
  const user = userOf(started);
  const show = {
    about: ["Then: why does this workstation need attention?"],
    parts: [`clients show ${misfit}`],
  };
  return [
    { about: ["Which workstations report, and in which state are they?"], parts: ["clients list"] },
    {
      about: [
        "Publish a policy. The line below shows how the workstations fall behind and",
        "catch up. Those that are turned off stay outdated.",
      ],
      parts: ["policy apply", shellWord(next_policy), "--yes"],
    },
    ...(misfit === null ? [] : [show]),
    {
      about: ["What does a user receive, and from which line of the policy?"],
      parts: ["policy explain", `--user ${user}`, "--harness claude"],
    },
    {
      about: ["End the logins of a user. The workstations of the user are signed out."],
      parts: ["logins revoke", `--user ${user}`, "--yes"],
    },
    { about: ["Who did what?"], parts: ["audit list"] },
  ];
}

/** @returns an indented command line, continued on further lines where it is too long */
function commandText(parts: readonly string[]): string {
  const lines: string[] = [];
  let line = " ";
  for (const part of parts) {
    if (line.trim() !== "" && `${line} ${part} \\`.length > COLUMNS) {
      lines.push(`${line} \\`);
      line = "   ";
    }
    line += ` ${part}`;
  }
  return [...lines, line].join("\n");
}

/** @returns one line: the revision, and how many workstations are in each state that occurs */
export function fleetText(fleet: FleetState): string {
  const { revision, signing_in, current, outdated, attention, signed_out } = fleet;
  const counts = Object.entries({ "signing in": signing_in, current, outdated, attention })
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`);
  const ended = signed_out > 0 ? ` (${signed_out} signed out)` : "";
  return `policy revision ${revision}: ${counts.join(", ")}${ended}`;
}

/**
 * @param program start of the command lines that the text shows
 * @returns undefined for an event that only the JSON lines have
 */
export function eventText(event: DemoEvent, program: string): string | undefined {
  switch (event.event) {
    case "started":
      return startedText(event, program);
    case "policy_published":
      return `Policy revision ${event.revision} is published. The workstations follow one by one.`;
    case "signed_out":
      return `${event.workstation} is signed out: the login of ${event.user} has ended.`;
    case "request_failed":
      return `${event.workstation}: ${event.message}`;
    case "removed":
      return `Removed ${event.data_dir}.`;
    default:
      return undefined;
  }
}
