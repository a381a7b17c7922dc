// The style sheet, the icon and the passkey script, under paths that contain their digests, and the content security policies of
// pages. Routes serve them and set the other headers.
import { createHash } from "node:crypto";
import icon from "./icon.svg" with { type: "text" };
import passkeyScript from "./second-factor/passkey.client.js" with { type: "text" };
import styleSheet from "./style.css" with { type: "text" };

const fingerprintOf = (content: string): string =>
  createHash("sha256").update(content).digest("hex").slice(0, 12);

/** Content of the style sheet, `text/css; charset=utf-8`. */
export const styleSheetBody: string = styleSheet;

/** Path of the style sheet. It contains the digest, so the response may be cached forever. */
export const styleSheetPath = `/assets/${fingerprintOf(styleSheet)}-style.css`;

/** Content of the program's own icon and logo, `image/svg+xml`. */
export const iconBody: string = icon;

/** Path of the icon. It contains the digest, so the response may be cached forever. */
export const iconPath = `/assets/${fingerprintOf(icon)}-icon.svg`;

/** Content of the script that asks the browser for a passkey, `text/javascript; charset=utf-8`. */
export const passkeyScriptBody: string = passkeyScript;

/** Path of the passkey script. It contains the digest, so the response may be cached forever. */
export const passkeyScriptPath = `/assets/${fingerprintOf(passkeyScript)}-passkey.js`;

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data: https:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

/**
 * Value of `Content-Security-Policy` for pages: no scripts, no frames, nothing inline, forms only to this origin.
 * `https:` images are allowed for the organization's logo.
 */
export const contentSecurityPolicy = POLICY.join("; ");

/** The same for pages that ask for a passkey: scripts of this origin run, and no text can become one. */
export const scriptedContentSecurityPolicy = [
  ...POLICY,
  "script-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");
