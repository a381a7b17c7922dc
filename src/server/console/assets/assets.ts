// The console's browser files under names that contain their digests. Only the server loads this module, because it runs the
// bundler when the service runs from source.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { invariant } from "../../../platform/errors.ts";
import type { PreparedResponse } from "../../http/conditional.ts";
import { prepareResponse } from "../../http/conditional.ts";
import { CONSOLE_ASSETS_PATH } from "../frame/navigation.ts";
import { type BrowserFile, browserFiles, PACKED } from "./bundle.ts";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};
const CACHE_CONTROL = "public, max-age=31536000, immutable";

interface Asset {
  compressed: PreparedResponse;
  /** made on the first request of a browser without brotli */
  plain(): PreparedResponse;
}

const embedded = embeddedFiles();
const files = embedded.length > 0 ? embedded : browserFiles();
const assets = new Map(files.map(({ name, brotli }) => [name, assetOf(name, brotli)]));

/** Names of all files. */
export const assetNames: readonly string[] = [...assets.keys()];

/** Path of the script that every console page loads. */
export const consoleScriptPath = pathOf("main-", ".js");
/** Path of the script that pages with an editor load as well. */
export const editorScriptPath = pathOf("editor-", ".js");
/** Path of the console's style sheet. */
export const consoleStylePath = pathOf("console-", ".css");

/** @returns the file in the encoding that the browser reads; undefined if this version has no such file */
export function findAsset(request: Request, name: string): PreparedResponse | undefined {
  const asset = assets.get(name);
  if (!asset) return undefined;
  return acceptsBrotli(request) ? asset.compressed : asset.plain();
}

/** @returns the files that build.ts put into the executable, beside this module; none from source */
function embeddedFiles(): BrowserFile[] {
  const names = Bun.embeddedFiles.flatMap((file) =>
    "name" in file && typeof file.name === "string" && file.name.endsWith(PACKED) ? [file.name] : [],
  );
  return names.map((name) => ({
    name: name.slice(0, -PACKED.length),
    brotli: new Uint8Array(readFileSync(join(import.meta.dir, name))),
  }));
}

function assetOf(name: string, brotli: BrowserFile["brotli"]): Asset {
  const digest = /-([\w]+)\.\w+$/.exec(name)?.[1] ?? name;
  const contentType = CONTENT_TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  const prepare = (bytes: Uint8Array<ArrayBuffer>, encoding: string, others: Record<string, string>) =>
    prepareResponse(bytes, {
      contentType,
      cacheControl: CACHE_CONTROL,
      etag: `"${digest}${encoding}"`,
      others: { vary: "accept-encoding", ...others },
    });
  let plain: PreparedResponse | undefined;
  return {
    compressed: prepare(brotli, "-br", { "content-encoding": "br" }),
    plain: () => {
      plain ??= prepare(new Uint8Array(brotliDecompressSync(brotli)), "", {});
      return plain;
    },
  };
}

function pathOf(start: string, end: string): string {
  const name = assetNames.find((candidate) => candidate.startsWith(start) && candidate.endsWith(end));
  invariant(name, `the browser files include ${start}…${end}`);
  return `${CONSOLE_ASSETS_PATH}/${name}`;
}

const acceptsBrotli = ({ headers }: Request): boolean =>
  /(?:^|[,\s])br(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))\s*(?:[;,]|$)/.test(headers.get("accept-encoding") ?? "");
