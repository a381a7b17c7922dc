// How rpm installs, upgrades and removes the package for Fedora, RHEL, SUSE and others.
import { INSTALLED_CONFIG } from "../../src/app/release/packages/layout.ts";
import {
  CHANGE,
  CONFIG_OWNED,
  type Examination,
  examineInstalled,
  keeping,
  UNIT_FILE,
} from "./examination.ts";
import type { Generations } from "./run.ts";
import type { ScratchRoot } from "./scratch-root.ts";

/** The package database of this machine may lack the package's dependencies. */
const FLAGS = ["--force-debian", "--nodeps"];

/** Installs, upgrades twice, and erases. */
export function examineRpm(root: ScratchRoot, [first, second, third]: Generations, seen: Examination): void {
  const equal = (sentence: string, found: unknown, expected: unknown) =>
    seen.equal(`rpm: ${sentence}`, found, expected);
  const config = () => root.read(INSTALLED_CONFIG).endsWith(CHANGE);
  const quiet = (...args: string[]) =>
    equal(`rpm ${args[0]} says nothing`, root.must("rpm", ...FLAGS, ...args), "");
  quiet("--install", first);
  examineInstalled(root, "rpm", seen);
  equal("every file is as packaged", root.run("rpm", "--verify", "--nodeps", "quartermaster").output, "");
  equal(
    "the configuration file is the only one",
    root.must("rpm", "--query", "--configfiles", "quartermaster").trim(),
    INSTALLED_CONFIG,
  );

  const kept = keeping(root, "rpm", seen);
  quiet("--upgrade", second);
  equal("an upgrade restarts what runs", root.requests(), RESTARTED);
  kept("an upgrade");
  equal(
    "an upgrade keeps a changed configuration file",
    [config(), root.owned(INSTALLED_CONFIG)],
    [true, CONFIG_OWNED],
  );
  root.must("rpm", ...FLAGS, "--upgrade", third);
  equal("so does one with another file", [config(), root.owned(INSTALLED_CONFIG)], [true, CONFIG_OWNED]);
  equal("which is put beside it", root.owned(`${INSTALLED_CONFIG}.rpmnew`), CONFIG_OWNED);
  root.requests();

  const said = root.must("rpm", ...FLAGS, "--erase", "quartermaster");
  equal("removal stops the service", root.requests(), STOPPED);
  equal("removal says that the data is kept", said.includes("/var/lib/quartermaster is kept"), true);
  equal("removal removes the unit", root.owned(UNIT_FILE), undefined);
  kept("removal");
  equal(
    "removal keeps a changed configuration file aside",
    root.read(`${INSTALLED_CONFIG}.rpmsave`).endsWith(CHANGE),
    true,
  );
  equal("nothing else is left", leftovers(root), []);
}

const RELOAD = "daemon-reload";
const RESTARTED = [RELOAD, RELOAD, "try-restart quartermaster.service quartermaster-proxy.service"];
const STOPPED = [
  "stop quartermaster-proxy.service quartermaster.service",
  "--no-reload disable quartermaster.service",
  RELOAD,
];

const leftovers = (root: ScratchRoot): string[] =>
  root
    .changedFiles()
    .filter(
      (path) =>
        !/^(?:var\/lib|etc)\/quartermaster(?:\/|$)/.test(path) && root.owned(`/${path}`) !== undefined,
    );
