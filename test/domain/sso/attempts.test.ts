// The sealed cookie with the sign-ins that a browser has started.
import { expect, test } from "bun:test";
import { SEALED_LENGTH_MAX, SignInAttempts } from "../../../src/domain/sso/browser/attempts.ts";
import { heldClock } from "../../support/world.ts";

/** Does not encrypt, so that the length stays that of the text. */
const sealing = { seal: (text: string) => text, open: (text: string) => text };
const attempts = new SignInAttempts({ clock: heldClock(), sealing, settings: () => undefined });
const attemptOf = (state: string, padding: number) => ({ state, nonce: "n".repeat(padding), verifier: "v" });

test.each([-1, 0, 1])("a cookie of %i characters more than the limit loses its oldest sign-in", (step) => {
  const first = attempts.add(undefined, attemptOf("first", 1), undefined);
  const both = attempts.add(first, attemptOf("second", 0), undefined);
  const padding = SEALED_LENGTH_MAX + step - both.length;
  const cookie = attempts.add(first, attemptOf("second", padding), undefined);
  expect(attempts.has(cookie, "first")).toBe(step <= 0);
  expect(attempts.has(cookie, "second")).toBe(true);
  if (step <= 0) expect(cookie).toHaveLength(SEALED_LENGTH_MAX + step);
});
