// Makes repositories with git itself, as their owners would.
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const OWN = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  PATH: process.env.PATH ?? "/usr/bin:/bin",
  GIT_AUTHOR_NAME: "n",
  GIT_AUTHOR_EMAIL: "n@example.org",
  GIT_COMMITTER_NAME: "n",
  GIT_COMMITTER_EMAIL: "n@example.org",
  GIT_AUTHOR_DATE: "2025-11-12T08:09:10Z",
  GIT_COMMITTER_DATE: "2025-11-12T08:09:10Z",
};

/** Runs git. @returns its output @throws Error if it fails */
export function git(cwd: string, args: readonly string[], input?: Uint8Array): string {
  const run = Bun.spawnSync(["git", ...args], {
    cwd,
    env: OWN,
    ...(input && { stdin: new Uint8Array(input) }),
  });
  if (run.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${run.stderr}`);
  return run.stdout.toString().trim();
}

export class Repository {
  readonly bare: string;
  readonly #work: string;

  /** @param root of all repositories @param name such as `acme/tools` */
  constructor(root: string, name: string) {
    this.bare = join(root, `${name}.git`);
    mkdirSync(this.bare, { recursive: true });
    git(this.bare, ["init", "-q", "--bare"]);
    this.#work = mkdtempSync(join(dirname(root), "work-"));
    git(this.#work, ["init", "-q"]);
    git(this.#work, ["config", "core.compression", "0"]);
    git(this.#work, ["remote", "add", "origin", this.bare]);
  }

  /** @param files by path; a link starts with `->`, a script ends with .sh @returns the commit, which has exactly these files */
  commit(files: Readonly<Record<string, string | Uint8Array>>): string {
    git(this.#work, ["rm", "-rqf", "--ignore-unmatch", "."]);
    for (const [path, content] of Object.entries(files)) {
      const place = join(this.#work, path);
      mkdirSync(dirname(place), { recursive: true });
      if (typeof content === "string" && content.startsWith("->")) symlinkSync(content.slice(2), place);
      else writeFileSync(place, content, { mode: path.endsWith(".sh") ? 0o755 : 0o644 });
    }
    git(this.#work, ["add", "-Af"]);
    return this.#committed();
  }

  /** Adds a submodule to the last commit. */
  submodule(path: string): string {
    writeFileSync(
      join(this.#work, ".gitmodules"),
      `[submodule "x"]\n\tpath = ${path}\n\turl = https://x.example/x\n`,
    );
    git(this.#work, ["add", ".gitmodules"]);
    git(this.#work, ["update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},${path}`]);
    return this.#committed();
  }

  /** Creates a commit from its tree, which git itself would not write. */
  raw(tree: Uint8Array): string {
    const id = git(this.bare, ["hash-object", "-t", "tree", "--literally", "-w", "--stdin"], tree);
    return git(this.bare, ["commit-tree", id, "-m", "raw"]);
  }

  /** Sets a branch or a tag at the host, replacing its former value. */
  set(ref: string, object: string): void {
    git(this.bare, ["update-ref", ref, object]);
  }

  /** @returns the object of an annotated tag */
  annotate(name: string, commit: string): string {
    git(this.bare, ["tag", "-a", "-m", "release", name, commit]);
    return git(this.bare, ["rev-parse", `refs/tags/${name}`]);
  }

  #committed(): string {
    git(this.#work, ["commit", "-q", "--allow-empty", "-m", "change"]);
    const commit = git(this.#work, ["rev-parse", "HEAD"]);
    git(this.#work, ["push", "-q", "-f", "origin", `${commit}:refs/heads/made`]);
    git(this.bare, ["update-ref", "-d", "refs/heads/made"]);
    return commit;
  }
}
