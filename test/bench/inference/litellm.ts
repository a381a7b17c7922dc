// LiteLLM as a reference: one worker, started as its documentation recommends, in front of the same upstream.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Running, startServer } from "../processes.ts";
import type { InferenceSite } from "./inference-site.ts";

const PORT = 18_932;
const KEY = "sk-bench-master-0123456789";
const READY_LIMIT_MS = 90_000;

export interface Litellm extends AsyncDisposable {
  port: number;
  key: string;
}

/** @param command the program `litellm` */
export async function startLitellm(
  command: string,
  { directory, upstream }: InferenceSite,
): Promise<Litellm> {
  const file = join(directory, "litellm.yaml");
  const model = {
    model_name: "bench",
    litellm_params: {
      model: "openai/bench",
      api_key: "none",
      api_base: `http://127.0.0.1:${upstream.port}/v1`,
    },
  };
  writeFileSync(file, JSON.stringify({ model_list: [model], general_settings: { master_key: KEY } }));
  const shell = `echo http://127.0.0.1:${PORT}; LITELLM_LOCAL_MODEL_COST_MAP=True LITELLM_LOG=ERROR exec ${command} --config ${file} --port ${PORT} >/dev/null 2>&1`;
  const running = await startServer(["sh", "-c", shell]);
  await untilAlive(running);
  return { port: PORT, key: KEY, [Symbol.asyncDispose]: running.stop };
}

async function untilAlive(running: Running): Promise<void> {
  const limitMs = performance.now() + READY_LIMIT_MS;
  while (performance.now() < limitMs) {
    const isUp = await fetch(`http://127.0.0.1:${PORT}/health/liveliness`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await Bun.sleep(200);
  }
  await running.stop();
  throw new Error("LiteLLM does not answer");
}
