// Headers of console pages: a content security policy with Trusted Types, `no-store`, and compression.
import { contentSecurityPolicy } from "../pages/assets.ts";

/** Smaller pages are sent uncompressed. */
const COMPRESSED_BYTES_MIN = 1_024;
/** Larger pages are sent uncompressed, because compressing them would delay other requests. */
const COMPRESSED_UP_TO_BYTES = 512 * 1024;
/** The tables of lists become 6 % smaller than with zlib's best level, in about the same time; level 10 takes five times as long. */
const GZIP = { level: 8, library: "libdeflate" } as const;

/** Everything that a console page may load comes from this origin. Trusted Types: only the policy `quartermaster` creates scripts or markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types quartermaster",
];

export interface HtmlOptions {
  status?: number | undefined;
  cookies?: readonly string[];
  /** addresses of images on the page; only this service's own origin and https addresses are allowed */
  images?: readonly (string | null)[];
  isScriptFree?: boolean;
}

/** A host may contain `;`, `,` and `*`, which would end the directive, begin another policy, or allow every host. */
const PLAIN_ORIGIN = /^https:\/\/(?:[a-z\d._-]+|\[[a-f\d:]+\])(?::\d+)?$/;

/** @returns the value of `Content-Security-Policy` for a console page */
function consolePolicy(images: readonly (string | null)[]): string {
  const origins = images
    .map((address) => URL.parse(address ?? "")?.origin ?? "")
    .filter((origin) => PLAIN_ORIGIN.test(origin));
  return [...POLICY, ["img-src 'self' data:", ...new Set(origins)].join(" ")].join("; ");
}

/** @returns the page, compressed if the browser asks for gzip. Form tokens are masked, so compression reveals none of them (BREACH). */
export function htmlResponse(
  request: Request,
  html: string,
  { status = 200, cookies = [], images = [], isScriptFree }: HtmlOptions = {},
): Response {
  const headers = new Headers({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": isScriptFree ? contentSecurityPolicy : consolePolicy(images),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    vary: "accept-encoding",
  });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  const bytes = Buffer.from(html);
  const isSmall = bytes.length < COMPRESSED_BYTES_MIN;
  if (isSmall || bytes.length > COMPRESSED_UP_TO_BYTES || !acceptsGzip(request))
    return new Response(bytes, { status, headers });
  headers.set("content-encoding", "gzip");
  return new Response(Bun.gzipSync(bytes, GZIP), { status, headers });
}

const acceptsGzip = ({ headers }: Request): boolean =>
  /(?:^|[,\s])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers.get("accept-encoding") ?? "");
