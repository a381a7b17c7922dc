// `bun run test:litellm`: agents' requests through the executable to a real LiteLLM with its own mock models: responses, streams,
// and a key that was deleted there. Needs Python 3 and, unless $LITELLM names the program, pip with a registry that has LiteLLM.
// The example provisioner creates the keys, because LiteLLM itself needs PostgreSQL for that. It takes a minute, which is why `bun
// run test` leaves it out.
import { mkdtempDisposableSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { build } from "../../src/app/release/build.ts";
import { deviceLogin } from "../support/device-login.ts";
import { type ExampleUpstream, installExample } from "../support/gateway/example-provisioner.ts";
import { freePort } from "../support/network/free-port.ts";
import { expectEqual, prove } from "../support/proof.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { ANSWER, type Litellm, litellmProgram, MODEL, startLitellm } from "./litellm.ts";

const EMAIL = "admin@example.com";

async function main(): Promise<void> {
  const program = litellmProgram();
  using folder = mkdtempDisposableSync(join(tmpdir(), "quartermaster-litellm-"));
  const example = installExample();
  const keys = join(example.directory, "gateway");
  await using litellm = await startLitellm(program, { folder: folder.path, keys, port: freePort() });
  await example.upstream.addAccount(EMAIL);
  await using service = await startOurs(folder.path, { litellm, example });
  const agent = await signIn(service);
  await proveResponses(agent);
  await proveKeyReplacement(agent, join(keys, "keys"));
  await proveOwnPaths(agent, service);
  rmSync(example.directory, { recursive: true });
}

type Example = ReturnType<typeof installExample> & { upstream: ExampleUpstream };

async function startOurs(
  folder: string,
  { litellm, example }: { litellm: Litellm; example: Example },
): Promise<RunningService> {
  build({ directory: join(folder, "bin") });
  const { executable } = example.settings;
  const names = ["PATH", "PROVISIONER_DIRECTORY"];
  return await startService({
    command: [join(folder, "bin/quartermaster")],
    env: executable?.environment ?? {},
    args: [
      ...["--data-dir", join(folder, "data"), "--gateway-type", "litellm", "--gateway-url", litellm.origin],
      ...["--gateway-provisioner-type", "example", "--gateway-provisioner-policy-revision", "1"],
      ...["--gateway-provisioner-executable-path", executable?.path ?? ""],
      ...["--gateway-provisioner-executable-sha256", executable?.sha256 ?? ""],
      ...["--gateway-provisioner-executable-environment", names.join(",")],
    ],
  });
}

/** @returns the official client, with an inference token as its key */
async function signIn(service: RunningService): Promise<OpenAI> {
  const login = await deviceLogin(service.baseUrl, { email: EMAIL, password: service.password() });
  const post = async (path: string) => {
    const headers = { authorization: `Bearer ${login.access_token}` };
    const response = await fetch(service.baseUrl + path, { method: "POST", headers });
    const body = await response.json();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`);
    return body;
  };
  expectEqual("a key is made for the user", (await post("/gateway/key/ensure")).status, "ready");
  const { token, proxy_url: baseURL } = await post("/gateway/token");
  return new OpenAI({ apiKey: token, baseURL, maxRetries: 0 });
}

const QUESTION = { model: MODEL, messages: [{ role: "user" as const, content: "Hello?" }] };

async function textOf(agent: OpenAI): Promise<string> {
  const { choices } = await agent.chat.completions.create(QUESTION);
  return choices[0]?.message.content ?? "";
}

async function proveResponses(agent: OpenAI): Promise<void> {
  expectEqual("an answer arrives", await textOf(agent), ANSWER);
  const stream = await agent.chat.completions.create({
    ...QUESTION,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let total: number | undefined;
  for await (const { choices, usage } of stream) {
    text += choices[0]?.delta?.content ?? "";
    total = usage?.total_tokens ?? total;
  }
  expectEqual(
    "a stream arrives with its usage",
    { text, hasUsage: (total ?? 0) > 0 },
    {
      text: ANSWER,
      hasUsage: true,
    },
  );
  const models = await Array.fromAsync(await agent.models.list());
  expectEqual(
    "models are listed",
    models.map(({ id }) => id),
    [MODEL],
  );
}

/** LiteLLM responds with 401 for a key that was deleted there; the agent sees only the response for the next key. */
async function proveKeyReplacement(agent: OpenAI, keys: string): Promise<void> {
  const [deleted = ""] = readdirSync(keys);
  rmSync(join(keys, deleted));
  expectEqual("a request with a deleted key is answered with another key", await textOf(agent), ANSWER);
  expectEqual(
    "the deleted key was replaced by one other",
    readdirSync(keys).map((key) => key === deleted),
    [false],
  );
}

async function proveOwnPaths({ apiKey }: OpenAI, { baseUrl }: RunningService): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` };
  for (const path of ["/key/list", "/v1/../key/list", "/user/list", "/health"]) {
    const { status } = await fetch(`${baseUrl}/inference${path}`, { headers, redirect: "manual" });
    const isOwn = path === "/health";
    expectEqual(`${path} is ${isOwn ? "answered by us" : "not forwarded"}`, status, isOwn ? 200 : 404);
  }
}

await prove(main);
