// Runs an operator's executable only if its bytes have the pinned digest. The checked bytes are copied to a private folder and the
// copy is run, so that it cannot be replaced in between. executable-checks.ts checks, program.ts runs.
import {
  accessSync,
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf, DomainError } from "../errors.ts";
import { sha256Hex } from "../ids.ts";
import { ownId, type Pin, readPinned } from "./executable-checks.ts";
import { type Invocation, type ProgramResult, runProgram } from "./program.ts";

const OWNER_ONLY = 0o700;
const EXECUTABLE_BY_OWNER = 0o500;
const PERMISSIONS = 0o7777n;

export class PinnedExecutable {
  readonly #copy: string;
  /** status of the copy whose digest was verified */
  #fingerprint: string | undefined;

  /** @param directory private to this class, below the data directory; created if missing */
  constructor(
    private readonly pin: Pin,
    private readonly directory: string,
  ) {
    this.#copy = join(directory, pin.sha256, basename(pin.path));
  }

  /**
   * @param signal the deadline for everything
   * @throws DomainError `executable.*` if it may not run, `program.*`
   */
  async run(invocation: Invocation, signal: AbortSignal): Promise<ProgramResult> {
    return await runProgram({ ...invocation, path: this.prepare(), directory: this.directory }, signal);
  }

  /**
   * Checks the copy by its status if that is unchanged since its digest was verified, else by its digest. A missing or damaged
   * copy is created again from the executable.
   * @returns the path of the copy
   * @throws DomainError `executable.unverified`, `executable.forbidden`, `executable.folder_unsafe`, `executable.not_copied`
   */
  prepare(): string {
    const isUnchanged = this.#fingerprint !== undefined && this.#fingerprint === fingerprintAt(this.#copy);
    if (!isUnchanged) this.#fingerprint = this.#verify();
    return this.#copy;
  }

  #verify(): string {
    try {
      makePrivate(this.directory);
      const fingerprint = this.#intactFingerprint() ?? this.#makeCopy();
      refuseForbidden(this.#copy);
      return fingerprint;
    } catch (error) {
      if (error instanceof DomainError) throw error;
      throw notCopied(this.pin, { directory: this.directory, cause: error });
    }
  }

  #makeCopy(): string {
    const { bytes, problems } = readPinned(this.pin);
    if (problems.length > 0) {
      throw unverified(
        this.pin,
        problems.map(({ detail }) => detail),
      );
    }
    removeOthers(this.directory, this.pin.sha256);
    const folder = dirname(this.#copy);
    makePrivate(folder);
    const partial = join(folder, `${process.pid}.partial`);
    rmSync(partial, { force: true });
    writeFileSync(partial, bytes, { flag: "wx", mode: EXECUTABLE_BY_OWNER });
    renameSync(partial, this.#copy);
    const fingerprint = this.#intactFingerprint();
    if (fingerprint === undefined)
      throw unverified(this.pin, ["its copy changed while it was being written"]);
    return fingerprint;
  }

  /** @returns the status of the copy; undefined unless it is our file with the pinned bytes */
  #intactFingerprint(): string | undefined {
    let file: number | undefined;
    try {
      file = openSync(this.#copy, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const status = fstatSync(file, { bigint: true });
      if (!isOurs(status) || sha256Hex(readFileSync(file)) !== this.pin.sha256) return undefined;
      return fingerprintOf(status);
    } catch (error) {
      if (codeOf(error) === "ENOENT" || codeOf(error) === "ELOOP") return undefined;
      throw error;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
}

const isOurs = (status: BigIntStats): boolean =>
  status.isFile() && status.uid === ownId() && (status.mode & PERMISSIONS) === BigInt(EXECUTABLE_BY_OWNER);

function makePrivate(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: OWNER_ONLY });
  const status = lstatSync(directory, { bigint: true });
  if (!status.isDirectory() || status.uid !== ownId()) {
    throw new DomainError(
      "forbidden",
      "executable.folder_unsafe",
      `${directory} is not a folder of user id ${ownId()}`,
      { hint: `remove ${directory}; the service creates it again` },
    );
  }
  chmodSync(directory, OWNER_ONLY);
}

/** Removes copies of executables that were pinned before. */
function removeOthers(directory: string, kept: string): void {
  for (const name of readdirSync(directory)) {
    if (name !== kept) rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Asks the system, which knows of mounts that forbid execution. */
function refuseForbidden(path: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch (cause) {
    throw new DomainError("forbidden", "executable.forbidden", `${path} may not be executed`, {
      hint: "mount the file system of the data directory without noexec",
      cause,
    });
  }
}

function fingerprintAt(path: string): string | undefined {
  const status = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return status && fingerprintOf(status);
}

/** Changes with every write, replacement and change of permissions, because programs cannot set the change time of a file. */
const fingerprintOf = ({ dev, ino, size, mode, uid, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mode, uid, mtimeNs, ctimeNs].join(" ");

const unverified = ({ path }: Pin, details: readonly string[]): DomainError =>
  new DomainError("unverified", "executable.unverified", `${path} is not run: ${details.join("; ")}`);

const notCopied = ({ path }: Pin, { directory, cause }: { directory: string; cause: unknown }): DomainError =>
  new DomainError(
    "unavailable",
    "executable.not_copied",
    `${path} cannot be copied to ${directory} (${codeOf(cause)})`,
    { hint: "check that the disk has room and that the folder is writable", cause },
  );
