// The example catalog that a new installation starts with is valid and complete.

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseCatalog } from "../../../../src/domain/catalog/seed/catalog-document.ts";

const folder = new URL("../../../../src/domain/catalog/example/", import.meta.url);
const { packages } = parseCatalog(readFileSync(new URL("catalog.yaml", folder)), "catalog.yaml");
const local = packages.filter(({ source_ref }) => !source_ref.includes("://"));

const namesInside = (archive: URL): string[] => {
  const listing = Bun.spawnSync(["tar", "-tzf", fileURLToPath(archive)]);
  return listing.stdout
    .toString()
    .split("\n")
    .map((name) => name.replace(/\/$/, ""));
};

describe("the example catalog", () => {
  test("holds packages of both common shapes without a problem", () => {
    expect(packages.map(({ id }) => id)).toEqual(["review-guide", "ticket-cli", "audit-hooks"]);
    expect(Object.keys(packages[0]?.adapters ?? {})).toEqual(["codex", "claude", "kimi", "opencode"]);
    expect(Object.keys(packages[1]?.platform_sources ?? {})).toHaveLength(4);
    expect(local).toHaveLength(1);
  });

  test.each(local)("$id: its archive has the digest and stays small", ({ source_ref, sha256 }) => {
    const file = new URL(source_ref, folder);
    expect(createHash("sha256").update(readFileSync(file)).digest("hex")).toBe(sha256);
    expect(statSync(file).size).toBeLessThan(4096);
  });

  test.each(local)(
    "$id: the archive holds every path that the adapters name",
    async ({ source_ref, adapters }) => {
      const names = namesInside(new URL(source_ref, folder));
      const wanted = Object.values(adapters).flatMap(({ plugin_dir, skills_dir, plugins }) => [
        plugin_dir ?? [],
        skills_dir ?? [],
        plugins,
      ]);
      for (const path of wanted.flat(2)) expect(names).toContain(path);
    },
  );
});
