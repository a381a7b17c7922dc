// The size of the file with private certificates. Checks with such a file are tested in test/app/probe/probe.test.ts.
import { expect, test } from "bun:test";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CA_FILE_BYTES_MAX } from "../../../../cli/commands/probe/report.ts";
import { runHere } from "../../../support/in-process.ts";

test("a file of certificates is read up to its maximum size", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-test-"));
  const args = ["probe", "http://127.0.0.1:1", "--ca", "ca.pem"];
  const texts: string[] = [];
  for (const step of [-1, 0, 1]) {
    writeFileSync(join(folder.path, "ca.pem"), "x".repeat(CA_FILE_BYTES_MAX + step));
    const { stderr } = await runHere(args, { cwd: folder.path });
    texts.push(stderr);
  }
  const read = expect.stringContaining("does not contain a PEM certificate");
  expect(texts).toEqual([read, read, expect.stringContaining("is larger than")]);
});
