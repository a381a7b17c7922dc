// Detects that a running process no longer has the data of the installation: the database file was replaced, or another
// version of the program has changed its schema. The service itself prevents both with its lock; a second process has
// none.
import { statSync } from "node:fs";
import { SECOND_MS } from "../../../platform/clock.ts";
import { schemaNow } from "../../../platform/database/schema/schema-now.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Installation } from "../../installation/installation.ts";

/** How often the files are checked. */
const CHECK_EVERY_MS = SECOND_MS;

/** `replaced`: this process reads outdated data; `upgraded`: this program does not know the schema. */
export type DatabaseInvalidation = { error: DomainError; isReplaced: boolean };

export class DataWatch implements Disposable {
  /** pending while the data belongs to the installation */
  readonly invalidated: Promise<DatabaseInvalidation>;
  readonly #resolve: (found: DatabaseInvalidation) => void;
  readonly #file: string;
  #timer: Timer | undefined;
  #checks = 0;

  constructor(private readonly installation: Pick<Installation, "directory" | "db" | "schema">) {
    const { promise, resolve } = Promise.withResolvers<DatabaseInvalidation>();
    this.invalidated = promise;
    this.#resolve = resolve;
    this.#file = identityOf(installation.directory.database);
  }

  /** number of checks so far, which shows that the timer runs */
  get checks(): number {
    return this.#checks;
  }

  start(): void {
    this.#timer = setInterval(() => this.check(), CHECK_EVERY_MS);
  }

  check(): void {
    this.#checks += 1;
    const { directory, db, schema } = this.installation;
    if (identityOf(directory.database) !== this.#file)
      this.#resolve({ error: replaced(directory.database), isReplaced: true });
    else if (schemaNow(db.read) !== schema.to)
      this.#resolve({ error: upgraded(directory.database), isReplaced: false });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function identityOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : "none";
}

const START_AGAIN = "start this process again; a service manager does so automatically";

const replaced = (file: string): DomainError =>
  new DomainError("unavailable", "data_dir.replaced", `the database ${file} was moved or replaced`, {
    hint: START_AGAIN,
  });

const upgraded = (file: string): DomainError =>
  new DomainError(
    "unavailable",
    "schema.changed",
    `another version of this program changed the schema of ${file}`,
    { hint: START_AGAIN },
  );
