// The length of a typed code of a second factor.
import { expect, test } from "bun:test";
import { readCode, TYPED_CODE_LENGTH_MAX } from "../../../../src/domain/access/second-factor/model.ts";
import { Secret } from "../../../../src/platform/secret.ts";

test.each([-1, 0, 1])("a code with spaces is read up to the limit: %i characters more", (step) => {
  const typed = new Secret("123456".padEnd(TYPED_CODE_LENGTH_MAX + step));
  const read = { kind: "authenticator_app" as const, code: "123456" };
  expect(readCode(typed)).toEqual(step > 0 ? undefined : read);
});
