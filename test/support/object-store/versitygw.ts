// versitygw, a real S3 server that stores objects as files. Tests that need it are separate commands.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { accepting, freePort } from "../network/free-port.ts";
import { requireProgram } from "../proof.ts";
import { TEST_KEYS } from "./s3-server.ts";

/** @returns versitygw on PATH, or at $VERSITYGW @throws Error that says how to install it */
export const requireVersitygw = (): string =>
  requireProgram("versitygw", "run go install github.com/versity/versitygw/cmd/versitygw@latest");

/** Starts a server with one bucket. @param folder stores the objects @param options more arguments of the program */
export async function startVersitygw(
  program: string,
  { folder, bucket, options = [] }: { folder: string; bucket: string; options?: string[] },
): Promise<AsyncDisposable & { port: number }> {
  const port = freePort();
  const [root, meta] = [join(folder, "root"), join(folder, "meta")];
  for (const path of [join(root, bucket), meta]) mkdirSync(path, { recursive: true });
  const command = [program, "--port", `127.0.0.1:${port}`, "--quiet", ...options];
  const child = Bun.spawn([...command, "posix", "--sidecar", meta, root], {
    env: {
      ...process.env,
      ROOT_ACCESS_KEY: TEST_KEYS.accessKeyId,
      ROOT_SECRET_KEY: TEST_KEYS.secretAccessKey,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await accepting(port);
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}
