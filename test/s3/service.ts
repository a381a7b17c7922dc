// The whole service with a real S3 server: configured as the handbook shows, with uploads and downloads by curl and by fetch exactly
// as a workstation sends them.
import { deepEqual, equal } from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment } from "../bench/processes.ts";
import { addUsers, administratorOf, logIn, openBeside } from "../bench/tools/installation.ts";
import { sectionOf } from "../domain/governance/governance-world.ts";
import { productCommand } from "../support/cli/executable.ts";
import { announcementOf, type PresignedOnWire } from "../support/content/sessions.ts";
import { TEST_KEYS } from "../support/object-store/s3-server.ts";
import { startService } from "../support/running-service.ts";

export interface ServiceCase {
  name: string;
  run(): Promise<void>;
}

/** @param endpoint of the store, in path style @param folder for the settings and the data */
export async function withService(
  { endpoint, folder }: { endpoint: string; folder: string },
  examine: (cases: readonly ServiceCase[]) => Promise<void>,
): Promise<void> {
  const data = join(folder, "data");
  const settings = ["--config", settingsIn(folder, endpoint), "--data-dir", data];
  await using service = await startService({ args: settings });
  const token = await workstationOf(data, service.baseUrl);
  await examine(casesOf({ folder, settings, token, origin: service.baseUrl }));
}

/** @returns the path of the settings that the chapter on the object store shows, for that store */
function settingsIn(folder: string, endpoint: string): string {
  const chapter = readFileSync("src/handbook/chapters/operate/object-store.md", "utf8");
  const [, example = ""] = /```yaml [^\n]*test:s3[^\n]*\n([^`]+)```/.exec(chapter) ?? [];
  const secret = (name: string, value: string): string => {
    const path = join(folder, name);
    writeFileSync(path, value, { mode: 0o600 });
    return path;
  };
  const text = example
    .replace("https://store.example.org", endpoint)
    .replace("captured-sessions", "sessions")
    .replace("/run/secrets/s3-access-key-id", secret("access-key-id", TEST_KEYS.accessKeyId))
    .replace("/run/secrets/s3-secret-access-key", secret("secret-access-key", TEST_KEYS.secretAccessKey));
  const path = join(folder, "quartermaster.yaml");
  writeFileSync(path, text);
  return path;
}

/** Publishes a policy that asks for sessions. @returns the access token of a member's workstation */
async function workstationOf(data: string, origin: string): Promise<string> {
  const installation = await openBeside(data, origin);
  try {
    const policy = { session_upload: { presign_url: `${origin}/session-uploads/presign` } };
    const input = JSON.stringify(sectionOf({ ...policy, allowed_harnesses: ["codex"] }));
    const operator = { ...administratorOf(installation), kind: "operator" } as const;
    await installation.domain.governance.deployments.apply(operator, {
      input,
      variables: {},
      linesOf: async () => [],
    });
    const [member] = await addUsers(installation, operator, 1);
    const [login] = await logIn(installation, 1, member);
    return login?.access_token ?? "";
  } finally {
    await installation.close();
  }
}

interface Site {
  folder: string;
  settings: readonly string[];
  token: string;
  origin: string;
}

function casesOf({ folder, settings, token, origin }: Site): ServiceCase[] {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${origin}/session-uploads${path}`, { method, headers, ...text });
    const answer = await response.text();
    return { ...(answer === "" ? {} : JSON.parse(answer)), code: response.status };
  };
  const announce = (bytes: string): Promise<PresignedOnWire> =>
    call("POST", "/presign", announcementOf(bytes, { session_id: bytes }));
  const complete = ({ upload_id: id }: PresignedOnWire) => call("POST", `/${id}/complete`);
  const idOf = async (name: string): Promise<string> =>
    (await call("GET", `?q=${encodeURIComponent(name)}`)).items[0]?.id;
  const byCurl = async ({ headers, upload_url: url }: PresignedOnWire, bytes: string): Promise<string> => {
    const file = join(folder, "upload");
    writeFileSync(file, bytes);
    const sent = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    return await outputOf(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-T", file, ...sent, url]);
  };
  const download = async (name: string) => (await call("POST", `/${await idOf(name)}/download`)).download_url;
  return [
    {
      name: "a session that curl uploads is listed and downloaded",
      async run() {
        const announced = await announce("sent by curl");
        equal(await byCurl(announced, "sent by curl"), "200");
        equal((await complete(announced)).code, 200);
        equal(await outputOf(["curl", "-sS", await download("sent by curl")]), "sent by curl");
      },
    },
    {
      name: "a session that fetch uploads is listed and downloaded",
      async run() {
        const announced = await announce("sent by fetch");
        const { upload_url: url, headers } = announced;
        equal((await fetch(url, { method: "PUT", headers, body: "sent by fetch" })).status, 200);
        equal((await complete(announced)).code, 200);
        equal(await (await fetch(await download("sent by fetch"))).text(), "sent by fetch");
      },
    },
    {
      name: "other bytes of equal length are refused by the store, and the right ones complete the upload",
      async run() {
        const announced = await announce("right bytes");
        equal(await byCurl(announced, "wrong bytes"), "400");
        equal((await complete(announced)).reason, "sessions.not_uploaded");
        equal(await byCurl(announced, "right bytes"), "200");
        equal((await complete(announced)).code, 200);
      },
    },
    {
      name: "objects move to the data directory and back while the service runs",
      async run() {
        for (const store of ["local", "s3"])
          equal((await command(["sessions", "migrate", "--to", store, "--yes"], settings)).versions, 3);
        const { checked, items } = await command(["sessions", "verify"], settings);
        deepEqual([checked, items], [3, []]);
        equal(await (await fetch(await download("sent by fetch"))).text(), "sent by fetch");
      },
    },
    {
      name: "a removed session leaves no object",
      async run() {
        const url = await download("sent by curl");
        equal((await call("DELETE", `/${await idOf("sent by curl")}`)).code, 204);
        equal((await fetch(url)).status, 404);
      },
    },
  ];
}

const command = async (args: readonly string[], settings: readonly string[]) =>
  JSON.parse(await outputOf([...productCommand(), ...args, "--json", ...settings]));

/** @throws Error with the output of the program, if it fails */
async function outputOf(line: readonly string[]): Promise<string> {
  const child = Bun.spawn([...line], { env: cleanEnvironment(), stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${line.join(" ")}: ${output}${errors}`);
  return output;
}
