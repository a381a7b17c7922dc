// `bun run torture [part[=amount] …]`: checks that take too long for the tests. Each part uses a real service and
// prints its findings. The exit code is 1 after a loss, damage or growth.
import { type Figure, printFigure, printHead } from "../bench/figures.ts";
import { tortureByKilling } from "./kill.ts";
import { tortureBySlowness } from "./slow.ts";
import { soak } from "./soak/soak.ts";
import { tortureByUpgrades } from "./upgrade/upgrade.ts";

/** @param amount rounds, clients, minutes or schemas; replaces the part's default */
type Part = (amount?: number) => Promise<Figure[]>;

const PARTS: Readonly<Record<string, Part>> = {
  kill: tortureByKilling,
  slow: tortureBySlowness,
  soak,
  upgrade: tortureByUpgrades,
};

const wanted = process.argv.slice(2).map((argument) => {
  const [name = "", amount] = argument.split("=");
  return { name, amount: amount === undefined ? undefined : Number(amount) };
});
const wrong = wanted.filter(
  ({ name, amount }) => !(name in PARTS) || (amount !== undefined && !(amount > 0)),
);
if (wrong.length > 0) {
  const names = Object.keys(PARTS).join(", ");
  console.error(
    `there is no part ${wrong.map(({ name }) => name).join(", ")}: say some of ${names}, or kill=20`,
  );
  process.exit(2);
}
let hasFailed = false;
printHead();
for (const [name, torture] of Object.entries(PARTS)) {
  const request = wanted.find((one) => one.name === name);
  if (wanted.length > 0 && !request) continue;
  console.error(`${name} …`);
  for (const figure of await torture(request?.amount)) {
    printFigure(figure);
    hasFailed ||= figure.verdict?.isMet === false;
  }
}
process.exit(hasFailed ? 1 : 0);
