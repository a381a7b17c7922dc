// Counts and prints the checks of `bun run test:packages`, and contains the checks for both formats.
import { isDeepStrictEqual } from "node:util";
import { DATA_PLACE, EXECUTABLE_PLACE, INSTALLED_CONFIG } from "../../src/app/release/packages/layout.ts";
import type { ScratchRoot } from "./scratch-root.ts";

export interface Examination {
  readonly failures: number;
  equal(sentence: string, found: unknown, expected: unknown): void;
}

export function examination(): Examination {
  let failures = 0;
  return {
    get failures() {
      return failures;
    },
    equal(sentence, found, expected) {
      const isEqual = isDeepStrictEqual(found, expected);
      if (!isEqual) failures += 1;
      process.stdout.write(`${isEqual ? "ok     " : "FAILED "} ${sentence}\n`);
      if (!isEqual)
        process.stdout.write(
          `        found    ${JSON.stringify(found)}\n        expected ${JSON.stringify(expected)}\n`,
        );
    },
  };
}

export const DATABASE = `${DATA_PLACE}/quartermaster.db`;
export const UNIT_FILE = "/usr/lib/systemd/system/quartermaster.service";
/** The lines that the administrator adds to the configuration file. */
export const CHANGE = "# changed by the administrator\n";
export const CONFIG_OWNED = "640 root:quartermaster";
/** Arguments that systemctl must not be called with. */
const STARTS = /\b(?:start|restart|enable|preset|unmask)\b/;

/** Checks a first installation, and creates data as an administrator does. */
export function examineInstalled(root: ScratchRoot, format: string, seen: Examination): void {
  const equal = (sentence: string, found: unknown, expected: unknown) =>
    seen.equal(`${format}: ${sentence}`, found, expected);
  equal(
    "installing starts and enables nothing",
    root.requests().filter((line) => STARTS.test(line)),
    [],
  );
  equal("the executable belongs to root", root.owned(EXECUTABLE_PLACE), "755 root:root");
  equal("the service may read its configuration file", root.owned(INSTALLED_CONFIG), CONFIG_OWNED);
  equal(
    "the data directory belongs to the service",
    root.owned(DATA_PLACE),
    "700 quartermaster:quartermaster",
  );
  const asService = ["setpriv", "--reuid=quartermaster", "--regid=quartermaster", "--clear-groups"];
  const checked = root.run(...asService, "quartermaster", "config", "check", "--config", INSTALLED_CONFIG);
  equal("the configuration file is accepted", checked.exitCode === 0 ? 0 : checked.output, 0);
  const verified = root.run("systemd-analyze", "verify", "--man=no", UNIT_FILE);
  equal("systemd accepts the unit", verified.exitCode === 0 ? 0 : verified.output, 0);
  equal(
    "man finds the page",
    root.run("man", "--where", "quartermaster").output.trim(),
    "/usr/share/man/man1/quartermaster.1.gz",
  );
  const completion = "/usr/share/bash-completion/completions/quartermaster";
  equal("bash completes", root.run("bash", "-c", `. ${completion} && complete -p quartermaster`).exitCode, 0);
  root.must("quartermaster", "setup", "--data-dir", DATA_PLACE);
  equal(
    "a database that root makes belongs to the service",
    root.owned(DATABASE),
    "600 quartermaster:quartermaster",
  );
}

/** @returns a check that the data and the configuration are the same as at this call */
export function keeping(root: ScratchRoot, format: string, seen: Examination): (sentence: string) => void {
  root.write(INSTALLED_CONFIG, root.read(INSTALLED_CONFIG) + CHANGE);
  const digest = () => root.run("sha256sum", DATABASE).output;
  const before = digest();
  return (sentence) =>
    seen.equal(
      `${format}: ${sentence} keeps the data`,
      [digest(), root.owned(DATA_PLACE)],
      [before, "700 quartermaster:quartermaster"],
    );
}
