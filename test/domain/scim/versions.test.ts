// Entity tags as callers write them.
import { expect, test } from "bun:test";
import { namesVersion, refuseOtherVersion } from "../../../src/domain/scim/versions.ts";

test.each(['W/"7"', '"7"', "W/7", "7", "*", 'W/"6", W/"7"', ' w/"7" '])("%s names revision 7", (tags) => {
  expect(namesVersion(tags, 7)).toBe(true);
});

test.each(['W/"8"', '"77"', '"7', "", '"', 'W/"6", W/"8"', '"*"'])("%s does not name revision 7", (tags) => {
  expect(namesVersion(tags, 7)).toBe(false);
});

test("a change is refused for another revision, and not without a condition", () => {
  expect(() => refuseOtherVersion('W/"6"', 7)).toThrow("read it again");
  for (const condition of [undefined, "", " ", 'W/"7"', "*"]) refuseOtherVersion(condition, 7);
});
