// How dpkg installs, upgrades and removes the package for Debian.
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

const ENABLED = "/etc/systemd/system/multi-user.target.wants/quartermaster.service";

/** Installs, upgrades twice, removes, installs again, and purges. */
export function examineDeb(root: ScratchRoot, [first, second, third]: Generations, seen: Examination): void {
  const equal = (sentence: string, found: unknown, expected: unknown) =>
    seen.equal(`deb: ${sentence}`, found, expected);
  const config = () => root.read(INSTALLED_CONFIG).endsWith(CHANGE);
  root.must("dpkg", "--install", first);
  examineInstalled(root, "deb", seen);
  equal("every file is as packaged", root.run("dpkg", "--verify", "quartermaster").output, "");
  const conffiles = root.must("dpkg-query", "--control-show", "quartermaster", "conffiles").trim();
  equal("the configuration file is the only one", conffiles, INSTALLED_CONFIG);

  const kept = keeping(root, "deb", seen);
  root.must("ln", "-s", UNIT_FILE, ENABLED); // like `systemctl enable`
  root.must("dpkg", "--install", second);
  equal("an upgrade restarts what runs", root.requests(), RESTARTED);
  kept("an upgrade");
  equal(
    "an upgrade keeps a changed configuration file",
    [config(), root.owned(INSTALLED_CONFIG)],
    [true, CONFIG_OWNED],
  );
  root.must("dpkg", "--force-confdef", "--force-confold", "--install", third);
  equal("so does one with another file", [config(), root.owned(INSTALLED_CONFIG)], [true, CONFIG_OWNED]);
  equal("which is put beside it", root.owned(`${INSTALLED_CONFIG}.dpkg-dist`) !== undefined, true);
  root.requests();

  root.must("dpkg", "--remove", "quartermaster");
  equal("removal stops the service", root.requests(), STOPPED);
  equal("removal removes the unit", root.owned(UNIT_FILE), undefined);
  kept("removal");
  equal(
    "removal keeps the configuration file",
    [config(), root.owned(INSTALLED_CONFIG)],
    [true, CONFIG_OWNED],
  );
  root.must("dpkg", "--force-confdef", "--force-confold", "--install", third);
  equal(
    "a second installation takes the configuration file over",
    [config(), root.owned(INSTALLED_CONFIG)],
    [true, CONFIG_OWNED],
  );

  const said = root.must("dpkg", "--purge", "quartermaster");
  equal("purging says that the data is kept", said.includes("/var/lib/quartermaster is kept"), true);
  kept("purging");
  equal("purging removes the configuration file", root.owned(INSTALLED_CONFIG), undefined);
  equal("purging removes the link that enabled the service", root.run("test", "-L", ENABLED).exitCode, 1);
  equal("the user is kept", root.run("getent", "passwd", "quartermaster").exitCode, 0);
  equal("nothing else is left", leftovers(root), []);
}

const RESTARTED = [
  "daemon-reload",
  "try-restart quartermaster.service",
  "try-restart quartermaster-proxy.service",
];
const STOPPED = ["stop quartermaster-proxy.service", "stop quartermaster.service", "daemon-reload"];

const leftovers = (root: ScratchRoot): string[] =>
  root
    .changedFiles()
    .filter((path) => !path.startsWith("var/lib/quartermaster") && root.owned(`/${path}`) !== undefined);
