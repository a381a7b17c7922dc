import { describe, expect, test } from "bun:test";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import { namesVersion, requireVersion } from "../../../../src/domain/scim/messages/messages.ts";

describe("SCIM-96 entity tags", () => {
  test.each(['W/"7"', '"7"', "7", "W/7", ' W/"6" , W/"7" ', "*"])("%s matches version 7", (tags) => {
    expect(namesVersion(tags, 7)).toBe(true);
  });

  test.each(['W/"8"', '"77"', "", '""', 'w/"7"', "W/", '"7', "07"])("%s does not match version 7", (tags) => {
    expect(namesVersion(tags, 7)).toBe(false);
  });
});

describe("SCIM-97 If-Match", () => {
  test.each([undefined, "", "  ", 'W/"7"', "*"])("%p permits a change of version 7", (ifMatch) => {
    expect(() => requireVersion(ifMatch, 7)).not.toThrow();
  });

  test("refuses another version with 412 and no scimType", () => {
    const refusal = new ScimError(
      412,
      undefined,
      "If-Match does not match the current version; read the resource again and retry",
    );
    expect(() => requireVersion('W/"6"', 7)).toThrow(refusal);
    try {
      requireVersion('W/"6"', 7);
    } catch (error) {
      expect(error).toMatchObject({ status: 412, scimType: undefined });
    }
  });
});
