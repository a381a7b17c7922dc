// How addresses are found in texts, and the form of pseudonyms.
import { expect, test } from "bun:test";
import { pseudonymOf, replaceAddresses } from "../../../src/domain/shared/personal-data.ts";

const replace = replaceAddresses({ addresses: ["ana@example.org", "añá@example.org"], pseudonym: "X" });

test.each([
  ["ana@example.org", "X"],
  ["ANA@Example.ORG", "X"],
  ["AÑÁ@example.org", "X"],
  ["quartermaster:ana@example.org", "quartermaster:X"],
  ["quartermaster:ana@example.org-2", "quartermaster:X-2"],
  ["ask ana@example.org, or <ana@example.org>.", "ask X, or <X>."],
  ["juliana@example.org", "juliana@example.org"],
  ["dr.ana@example.org", "dr.ana@example.org"],
  ["x+ana@example.org", "x+ana@example.org"],
  ["ana@example.org.uk", "ana@example.org.uk"],
  ["ana@example.org-net.com", "ana@example.org-net.com"],
  ["ana@example.organic", "ana@example.organic"],
  ["ana@exampleXorg", "ana@exampleXorg"],
])("replaces the person in %j: %j", (text, replaced) => {
  expect(replace(text)).toBe(replaced);
});

test("replaces nothing without an address", () => {
  expect(replaceAddresses({ addresses: [], pseudonym: "X" })("ana@example.org")).toBe("ana@example.org");
});

test("a pseudonym depends only on the mark of its subject", () => {
  const sealing = { mac: (text: string) => Buffer.from(`mark of ${text}`).toString("base64url") };
  expect(pseudonymOf(sealing, "ana")).toBe(pseudonymOf(sealing, "ana"));
  expect(pseudonymOf(sealing, "ana")).toBe(`erased-${Buffer.from("mark of ").toString("hex")}`);
});
