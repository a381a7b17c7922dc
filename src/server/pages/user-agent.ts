// What a browser calls itself, as people call it. A user agent is the browser's own claim: it is shown, never believed.

/** The first that fits counts: most browsers also claim to be those further down. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Headless)?(?:Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bVersion\/[\d.]+.*\bSafari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad|iPod)\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

const nameIn = (text: string, names: typeof BROWSERS): string | undefined =>
  names.find(([pattern]) => pattern.test(text))?.[1];

/** @returns such as `Firefox on Linux`; the text itself where the browser is not a known one */
export function browserText(userAgent: string | null): string {
  if (!userAgent?.trim()) return "Unknown browser";
  const browser = nameIn(userAgent, BROWSERS);
  if (browser === undefined) return userAgent;
  const system = nameIn(userAgent, SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
