// Which executables are refused, and that only the pinned bytes are ever run. The tests execute real files.
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DomainError } from "../../../src/platform/errors.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { EXECUTABLE_BYTES_MAX, inspectExecutable } from "../../../src/platform/programs/executable-checks.ts";
import { PinnedExecutable } from "../../../src/platform/programs/pinned-executable.ts";
import { isRoot, NOBODY } from "../../support/cli/child.ts";
import { temporaryDirectory } from "../../support/world.ts";

const GOOD = "#!/bin/sh\necho good\n";
const EVIL = "#!/bin/sh\necho evil\n";

class Place implements Disposable {
  readonly directory = temporaryDirectory();
  readonly folder = join(this.directory, "bin");
  readonly path = join(this.folder, "tool.sh");
  readonly private = join(this.directory, "private");

  constructor(text = GOOD) {
    mkdirSync(this.folder, { mode: 0o755 });
    writeFileSync(this.path, text, { mode: 0o755 });
  }

  get pin() {
    return { path: this.path, sha256: sha256Hex(GOOD) };
  }

  /** the path where it is executed */
  get copy(): string {
    return join(this.private, this.pin.sha256, "tool.sh");
  }

  open(): PinnedExecutable {
    return new PinnedExecutable(this.pin, this.private);
  }

  problems(): string[] {
    return inspectExecutable(this.pin).map(({ detail }) => detail.replaceAll(this.directory, ""));
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

async function outputOf(executable: PinnedExecutable): Promise<string> {
  const invocation = { environment: { PATH: "/usr/bin:/bin" }, input: "", outputBytesMax: 1_000 };
  const { output } = await executable.run(invocation, new AbortController().signal);
  return Buffer.from(output).toString().trim();
}

async function reasonOf(call: Promise<unknown>): Promise<string> {
  const outcome = await call.then(
    () => "it succeeded",
    (error: unknown) => error,
  );
  return outcome instanceof DomainError ? outcome.reason : String(outcome);
}

describe("an executable", () => {
  test("accepts a protected executable that matches its pin", () => {
    using place = new Place();
    expect(place.problems()).toEqual([]);
  });

  test("may be reached by a symbolic link", () => {
    using place = new Place();
    const link = join(place.folder, "link");
    symlinkSync(place.path, link);
    expect(inspectExecutable({ ...place.pin, path: link })).toEqual([]);
  });

  test("refuses an executable with another digest and reports both digests", () => {
    using place = new Place(EVIL);
    const { about, detail } = inspectExecutable(place.pin)[0] ?? {};
    expect(about).toBe("sha256");
    expect(detail).toContain(sha256Hex(EVIL));
    expect(detail).toContain(sha256Hex(GOOD));
  });

  test.each(["", "sha256:0", "A".repeat(64), "a".repeat(63), "a".repeat(65)])(
    "cannot be pinned by %p",
    (sha256) => {
      using place = new Place();
      expect(inspectExecutable({ ...place.pin, sha256 }).map(({ about }) => about)).toEqual(["sha256"]);
    },
  );

  test("needs an absolute path", () => {
    using place = new Place();
    expect(inspectExecutable({ ...place.pin, path: "bin/tool.sh" })).toEqual([
      { about: "path", detail: "must be an absolute path" },
    ]);
  });

  test("refuses a missing file, a folder and a named pipe without waiting", () => {
    using place = new Place();
    rmSync(place.path);
    expect(place.problems()).toEqual(["/bin/tool.sh cannot be read (ENOENT)"]);
    mkdirSync(place.path);
    expect(place.problems()).toEqual(["/bin/tool.sh is not a regular file"]);
    rmSync(place.path, { recursive: true });
    Bun.spawnSync(["mkfifo", place.path]);
    expect(place.problems()).toEqual(["/bin/tool.sh is not a regular file"]);
  });

  test("refuses an executable without an execute bit", () => {
    using place = new Place();
    chmodSync(place.path, 0o644);
    expect(place.problems()).toEqual([expect.stringContaining("is not executable")]);
  });

  test.each([0o775, 0o757, 0o777])(
    "refuses an executable with the mode %o because others can change it",
    (mode) => {
      using place = new Place();
      chmodSync(place.path, mode);
      expect(place.problems()).toEqual([
        expect.stringMatching(/^\/bin\/tool\.sh can be changed by users other/),
      ]);
    },
  );

  test.each([0o775, 0o757, 0o1777])(
    "reports that a folder with the mode %o lets others replace the executable",
    (mode) => {
      using place = new Place();
      chmodSync(place.folder, mode);
      expect(place.problems()).toEqual([expect.stringMatching(/^\/bin can be changed by users other/)]);
    },
  );

  test("treats a link as safe as the folder of its target", () => {
    using place = new Place();
    const link = join(place.directory, "link");
    symlinkSync(place.path, link);
    chmodSync(place.folder, 0o777);
    expect(inspectExecutable({ ...place.pin, path: link })).toHaveLength(1);
  });

  test("refuses an executable and its folder if they belong to another user", () => {
    using place = new Place();
    if (isRoot) chownSync(place.path, NOBODY, NOBODY);
    if (isRoot) chownSync(place.folder, NOBODY, NOBODY);
    const wanted = "it must belong to root or to user id 0";
    const foreign = [
      `/bin/tool.sh belongs to user id ${NOBODY}; ${wanted}`,
      `/bin belongs to user id ${NOBODY}; ${wanted}`,
    ];
    expect(place.problems()).toEqual(isRoot ? foreign : []); // only root can change the owner of a file
  });

  test("reports all problems of an executable", () => {
    using place = new Place(EVIL);
    chmodSync(place.path, 0o666);
    chmodSync(place.folder, 0o777);
    expect(place.problems()).toHaveLength(4);
  });

  test.each([
    [0, "has the digest"],
    [1, "the limit is"],
  ])("may have the maximum size: %i more is reported as %p", (more, detail) => {
    using place = new Place();
    truncateSync(place.path, EXECUTABLE_BYTES_MAX + more);
    expect(place.problems()).toEqual([expect.stringContaining(detail)]);
  });
});

describe("a run", () => {
  test("executes the pinned bytes", async () => {
    using place = new Place();
    expect(await outputOf(place.open())).toBe("good");
  });

  test("refuses to run a file that was never the pinned one", async () => {
    using place = new Place(EVIL);
    expect(await reasonOf(outputOf(place.open()))).toBe("executable.unverified");
  });

  test("refuses to run a file that others may write", async () => {
    using place = new Place();
    chmodSync(place.path, 0o777);
    expect(await reasonOf(outputOf(place.open()))).toBe("executable.unverified");
  });

  test("uses the pinned bytes after the file is replaced, overwritten or removed", async () => {
    using place = new Place();
    const executable = place.open();
    await outputOf(executable);
    writeFileSync(place.path, EVIL);
    expect(await outputOf(executable)).toBe("good");
    rmSync(place.path);
    expect(await outputOf(executable)).toBe("good");
  });

  const overwrite = (copy: string) => {
    chmodSync(copy, 0o700);
    writeFileSync(copy, EVIL);
    chmodSync(copy, 0o500);
  };
  const tampering: [string, (copy: string) => void][] = [
    ["overwritten in place", overwrite],
    [
      "overwritten with its times restored",
      (copy) => {
        const { atime, mtime } = statSync(copy);
        overwrite(copy);
        utimesSync(copy, atime, mtime);
      },
    ],
    [
      "replaced",
      (copy) => {
        writeFileSync(`${copy}.new`, EVIL, { mode: 0o500 });
        renameSync(`${copy}.new`, copy);
      },
    ],
    [
      "replaced by a link",
      (copy) => {
        const elsewhere = join(copy, "../../../evil.sh");
        writeFileSync(elsewhere, EVIL, { mode: 0o500 });
        rmSync(copy);
        symlinkSync(elsewhere, copy);
      },
    ],
    ["made writable", (copy) => chmodSync(copy, 0o777)],
    [
      "cut short",
      (copy) => {
        chmodSync(copy, 0o700);
        truncateSync(copy, 3);
      },
    ],
    ["removed", (copy) => rmSync(copy)],
    ["removed with its folder", (copy) => rmSync(join(copy, "../.."), { recursive: true })],
  ];

  test.each(tampering)("detects a copy that was %s, and creates it again", async (_, tamper) => {
    using place = new Place();
    const executable = place.open();
    await outputOf(executable);
    tamper(place.copy);
    expect(await outputOf(executable)).toBe("good");
    expect(readFileSync(place.copy, "utf8")).toBe(GOOD);
  });

  test.each(tampering)("replaces a copy that was %s if another process detects it", async (_, tamper) => {
    using place = new Place();
    await outputOf(place.open());
    tamper(place.copy);
    expect(await outputOf(place.open())).toBe("good");
  });

  test("is refused if copy and file both differ", async () => {
    using place = new Place();
    const executable = place.open();
    await outputOf(executable);
    writeFileSync(place.path, EVIL);
    chmodSync(place.copy, 0o700);
    writeFileSync(place.copy, EVIL);
    expect(await reasonOf(outputOf(executable))).toBe("executable.unverified");
  });
});

describe("the private folder", () => {
  test("is readable only by its owner, as is the copy", () => {
    using place = new Place();
    mkdirSync(place.private, { mode: 0o777 });
    chmodSync(place.private, 0o777);
    const copy = place.open().prepare();
    const modes = [place.private, join(copy, ".."), copy].map((path) => lstatSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o500]);
  });

  test("keeps no copy of an earlier pinned file", () => {
    using place = new Place();
    place.open().prepare();
    writeFileSync(place.path, EVIL);
    new PinnedExecutable({ path: place.path, sha256: sha256Hex(EVIL) }, place.private).prepare();
    expect(readdirSync(place.private)).toEqual([sha256Hex(EVIL)]);
  });

  test("refuses a private folder that is a link", () => {
    using place = new Place();
    symlinkSync(place.folder, place.private);
    expect(() => place.open().prepare()).toThrow("is not a folder of user id");
  });

  test("refuses a private folder that cannot be created, with the remedy", () => {
    using place = new Place();
    linkSync(place.path, place.private); // a file in place of the folder
    expect(() => place.open().prepare()).toThrow(DomainError);
  });
});
