// LiteLLM of the version below with its own mock models, installed as a Python package: how it is installed and started. run.ts has
// the tests.
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const VERSION = "1.106.0";
const CACHE = join(import.meta.dir, "../../node_modules/.cache");
const START_LIMIT_MS = 180_000;
const CHECK_EVERY_MS = 200;

export const MODEL = "mock-small";
export const ANSWER = "hello from the mock";

/** @returns the program, installed with pip unless $LITELLM names it or an earlier run installed it */
export function litellmProgram(): string {
  const home = join(CACHE, `litellm-${VERSION}`);
  const program = process.env.LITELLM ?? join(home, "bin/litellm");
  if (existsSync(program)) return program;
  for (const command of [
    ["python3", "-m", "venv", home],
    [join(home, "bin/pip"), "install", "--quiet", `litellm[proxy]==${VERSION}`],
  ]) {
    const { exitCode } = Bun.spawnSync(command, { stdout: "inherit", stderr: "inherit" });
    if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}`);
  }
  return program;
}

export interface Litellm extends AsyncDisposable {
  origin: string;
}

/** Starts it. @param options folder: for its files; keys: the folder of the example provisioner */
export async function startLitellm(
  program: string,
  { folder, keys, port }: { folder: string; keys: string; port: number },
): Promise<Litellm> {
  const config = join(folder, "litellm.json");
  const litellm_params = { model: `openai/${MODEL}`, api_key: "none", mock_response: ANSWER };
  writeFileSync(
    config,
    JSON.stringify({
      model_list: [{ model_name: MODEL, litellm_params }],
      general_settings: { master_key: "sk-of-a-test", custom_auth: "keys_in_folder.check" },
    }),
  );
  copyFileSync(join(import.meta.dir, "keys_in_folder.py"), join(folder, "keys_in_folder.py"));
  const child = Bun.spawn([program, "--config", config, "--host", "127.0.0.1", "--port", String(port)], {
    cwd: folder,
    env: { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: "True", PROVISIONER_DIRECTORY: keys },
    stdout: Bun.file(join(folder, "litellm.log")),
    stderr: Bun.file(join(folder, "litellm-errors.log")),
  });
  const origin = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + START_LIMIT_MS;
  const isUp = () =>
    fetch(`${origin}/health/liveliness`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill();
      throw new Error(`LiteLLM did not start: ${await Bun.file(join(folder, "litellm-errors.log")).text()}`);
    }
    await Bun.sleep(CHECK_EVERY_MS);
  }
  return {
    origin,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}
