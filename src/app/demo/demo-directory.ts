// The one directory that holds everything of a demo. It is removed when the demo or the process ends.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { switchToOwner } from "../../platform/data-directory/owner.ts";
import { DomainError } from "../../platform/errors.ts";

export interface DemoDirectory {
  /** absolute; the data directory of the service */
  path: string;
  /** holds the files of the example organization */
  example: string;
  /** May be called twice. */
  remove(): void;
}

const PREFIX = "quartermaster-demo-";
const OWNER_ONLY = 0o700;

/**
 * @param wanted absolute; an empty directory, or one that does not exist yet; default: a new one in the temporary directory of the system
 * @throws DomainError `demo.directory_not_empty`, `demo.bad_directory`
 */
export function makeDemoDirectory(wanted: string | undefined): DemoDirectory {
  const path = wanted === undefined ? mkdtempSync(join(tmpdir(), PREFIX)) : wanted;
  const isOurs = wanted === undefined || takeDirectory(path) === "made";
  const remove = () => {
    process.off("exit", remove);
    const found = !isOurs && existsSync(path) ? readdirSync(path) : [];
    const targets = isOurs ? [path] : found.map((name) => join(path, name));
    for (const target of targets) rmSync(target, { recursive: true, force: true });
  };
  process.on("exit", remove); // a second Ctrl-C and a closed terminal end the process without its finally blocks
  const example = join(path, "example");
  mkdirSync(example, { mode: OWNER_ONLY });
  return { path, example, remove };
}

function takeDirectory(path: string): "made" | "found" {
  try {
    mkdirSync(path, { mode: OWNER_ONLY });
    return "made";
  } catch (error) {
    if (Object(error).code !== "EEXIST") throw badDirectory(path, error);
  }
  if (namesIn(path).length > 0) {
    throw new DomainError("conflict", "demo.directory_not_empty", `${path} is not empty`, {
      hint: "the demo removes its directory at the end; name an empty or new directory, or omit --data-dir",
    });
  }
  switchToOwner(path);
  return "found";
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    throw badDirectory(path, error);
  }
}

const badDirectory = (path: string, cause: unknown): DomainError =>
  new DomainError("invalid", "demo.bad_directory", `${path} cannot be created or read as a directory`, {
    hint: "name an empty or new directory in a writable folder, or omit --data-dir",
    cause,
  });
