// The grammar of filters and PATCH paths, and its limits. evaluate.test.ts tests their meaning.
import { describe, expect, test } from "bun:test";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import {
  FILTER_DEPTH_MAX,
  FILTER_LENGTH_MAX,
  FILTER_TESTS_MAX,
  type Filter,
} from "../../../../src/domain/scim/filter/model.ts";
import { parseFilter, parseFilters, parseTarget } from "../../../../src/domain/scim/filter/parse.ts";
import { isNever, simplified } from "../../../../src/domain/scim/filter/simplify.ts";
import { pathText } from "../../../../src/domain/scim/schema/attribute-path.ts";
import { CORE_USER, ENTERPRISE_USER, type ResourceTypeName } from "../../../../src/domain/scim/wire.ts";

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ScimError) return `${error.status} ${error.scimType}: ${error.message}`;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** @returns the filter without the spelling of its literals */
const meant = (text: string, type: ResourceTypeName = "User"): Filter =>
  JSON.parse(
    JSON.stringify(parseFilter(type, text), (key, value) => (key === "written" ? undefined : value)),
  );

describe("SCIM-51 to SCIM-58 a filter has equivalent spellings", () => {
  test.each([
    ["names and operators in any letter case", 'uSERNAME EQ "x"', 'userName eq "x"'],
    ["joints and literals in any letter case", "title PR AND active EQ True", "title pr and active eq true"],
    ["names with the URN of the core", `${CORE_USER.toUpperCase()}:userName eq "x"`, 'userName eq "x"'],
    ["enterprise names without their URN", 'department eq "x"', `${ENTERPRISE_USER}:department eq "x"`],
    ["any number of blanks and tabs", 'userName \t eq  "x"', 'userName eq "x"'],
    ["blanks around it and within parentheses", ' ( userName eq "x" ) ', 'userName eq "x"'],
    ["more parentheses than needed", '((userName eq "x"))', 'userName eq "x"'],
    ["escapes as in JSON", 'userName eq "\\u0061\\/\\n"', 'userName eq "a/\\n"'],
    ["text that folds to the same value", 'userName eq "ＡDA"', 'userName eq "ada"'],
    [
      "and binds before or",
      "title pr or active eq true and userType pr",
      "title pr or (active eq true and userType pr)",
    ],
    ["not binds before and", "not (title pr) and userType pr", "(not (title pr)) and userType pr"],
    ["no blank after not", "not(title pr)", "not (title pr)"],
    ["eq null as absence", "title eq null", "not (title pr)"],
    ["ne null as presence", "title ne NULL", "title pr"],
    ["eq null of a list as its absence", "emails.type eq null", "not (emails.type pr)"],
    ["empty text to contain, begin or end with as presence", 'title co ""', "title pr"],
    ["ne as a negated eq", 'title ne "x"', 'not (title eq "x")'],
    ["a complex name for its value", 'manager eq "x"', 'manager.value eq "x"'],
    ["a list's name for its values", 'emails co "@x"', 'emails.value co "@x"'],
    ["a test on a list for one on any of its values", 'emails.type eq "work"', 'emails[type eq "work"]'],
    [
      "a test behind brackets for one within",
      'emails[type eq "work"].value eq "x"',
      'emails[type eq "work" and value eq "x"]',
    ],
    ["brackets after a single value", 'name[givenName eq "x"]', 'name pr and name.givenName eq "x"'],
    ["booleans as text", 'active eq "True"', "active eq true"],
    [
      "booleans as text within brackets",
      'roles[primary eq "True"].value pr',
      "roles[primary eq true].value pr",
    ],
    [
      "instants with an offset",
      'meta.created gt "2026-01-01T01:00:00+01:00"',
      'meta.created gt "2026-01-01T00:00:00.000Z"',
    ],
    [
      "instants without an offset",
      'meta.created gt "2026-01-01T00:00:00"',
      'meta.created gt "2026-01-01T00:00:00z"',
    ],
    [
      "instants finer than a millisecond",
      'meta.created gt "2026-01-01T00:00:00.123999-00:30"',
      'meta.created gt "2026-01-01T00:30:00.123Z"',
    ],
  ])("%s", (_what, text, same) => {
    expect(meant(text)).toEqual(meant(same));
  });
});

describe("SCIM-51, SCIM-56, SCIM-57, SCIM-59 a filter is refused", () => {
  test.each([
    ["without any text", "", "character 1: expected an attribute name or `(`"],
    ["without an operator", "userName", "character 9: expected an operator"],
    ["without a literal", "userName eq", "character 9: expected an operator"],
    ["with an unknown operator", 'userName is "x"', "expected an operator"],
    ["with a bare word", "userName eq x", "expected text in double quotes"],
    ["with single quotes", "userName eq 'x'", "character 13: expected text in double quotes"],
    ["with text that does not end", 'userName eq "x', "expected text in double quotes"],
    ["with an unknown escape", 'userName eq "\\x"', "invalid escape"],
    ["with half a character", 'userName eq "\\ud800"', "invalid escape"],
    ["with a line break in text", 'userName eq "\n"', "invalid escape"],
    ["with something after its end", 'userName eq "x" and', "character 17: expected the end"],
    ["without a blank before and", 'userName eq "x"and title pr', "expected the end"],
    ["with unclosed parentheses", "(title pr", "expected `)`"],
    ["with an unmatched closing parenthesis", "title pr)", "expected the end"],
    ["with unclosed brackets", "emails[type pr", "expected `]`"],
    ["with brackets within brackets", "emails[value[type pr] pr]", "nested brackets"],
    ["without an operator after brackets", 'emails[type eq "work"].value', "expected an operator"],
    ["with not before a bare test", "not title pr", "expected an operator"],
    ["for an unknown attribute", 'nickname2 eq "x"', "names nickname2, which is not a filterable attribute"],
    ["for an unknown sub-attribute", 'name.first eq "x"', "names name.first"],
    [
      "for an unknown name within brackets",
      'emails[first eq "x"]',
      "not a filterable sub-attribute of emails",
    ],
    ["for a name of JavaScript itself", "__proto__ pr", "expected an attribute name"],
    ["for another name of JavaScript itself", "constructor pr", "names constructor"],
    ["for an extension as a whole", `${ENTERPRISE_USER} pr`, "not a filterable attribute"],
    ["for the password", 'password eq "x"', "names password"],
    ["for schemas", 'schemas eq "x"', "names schemas"],
    ["for the location", 'meta.location eq "x"', "names meta.location"],
    ["for the version", 'meta.version eq "x"', "names meta.version"],
    ["for a reference to another resource", 'manager.$ref eq "x"', "names manager.$ref"],
    ["for an order of booleans", "active gt true", "cannot use gt on active; use pr, eq, ne"],
    ["for a part of a boolean", 'active co "t"', "cannot use co on active"],
    [
      "for an order of certificates",
      'x509Certificates.value gt "x"',
      "cannot use gt on x509Certificates.value",
    ],
    ["for a part of an instant", 'meta.created sw "2026"', "cannot use sw on meta.created"],
    ["for a name as a whole", 'name eq "x"', "cannot use eq on name; use pr"],
    ["for addresses as a whole", 'addresses eq "x"', "cannot use eq on addresses"],
    ["for an order of null", "title gt null", "compares null with gt"],
    ["for a number where text is stored", "employeeNumber eq 7", "employeeNumber with text in double quotes"],
    ["for a boolean where text is stored", "title eq true", "must compare title with text in double quotes"],
    ["for text where a boolean is stored", 'active eq "yes"', "must compare active with true or false"],
    [
      "for a day that does not exist",
      'meta.created gt "2026-02-30T00:00:00Z"',
      "must compare meta.created with an instant",
    ],
    [
      "for a date without a time",
      'meta.created gt "2026-02-03"',
      "must compare meta.created with an instant",
    ],
  ])("%s", (_what, text, problem) => {
    const refused = refusal(() => parseFilter("User", text));
    expect(refused).toStartWith("400 invalidFilter: filter ");
    expect(refused).toContain(problem);
  });

  test("quotes a group's members in the refusal", () => {
    expect(refusal(() => parseFilter("Group", 'members.display eq "x"'))).toContain("names members.display");
  });

  test("quotes a shortened excerpt of an attribute name of any length", () => {
    const refused = refusal(() => parseFilter("User", `${"x".repeat(9_000)} pr`));
    expect(refused.length).toBeLessThan(250);
  });
});

describe("SCIM-60 the limits of a filter", () => {
  const textOfLength = (length: number) => `userName eq "${"x".repeat(length - 14)}"`;
  const tests = (count: number) => Array(count).fill("title pr").join(" and ");
  const nested = (depth: number) => `${"(".repeat(depth)}title pr${")".repeat(depth)}`;

  test.each([
    ["characters, below", () => textOfLength(FILTER_LENGTH_MAX - 1)],
    ["characters, at", () => textOfLength(FILTER_LENGTH_MAX)],
    ["tests, below", () => tests(FILTER_TESTS_MAX - 1)],
    ["tests, at", () => tests(FILTER_TESTS_MAX)],
    ["depth, below", () => nested(FILTER_DEPTH_MAX - 1)],
    ["depth, at", () => nested(FILTER_DEPTH_MAX)],
    ["depth with brackets, at", () => nested(FILTER_DEPTH_MAX - 1).replace("title pr", "emails[type pr]")],
    ["depth side by side", () => `${nested(FILTER_DEPTH_MAX)} and ${nested(FILTER_DEPTH_MAX)}`],
  ])("accept: %s", (_what, text) => {
    expect(() => parseFilter("User", text())).not.toThrow();
  });

  test.each([
    ["characters", () => textOfLength(FILTER_LENGTH_MAX + 1), "has more than 16384 characters"],
    ["tests", () => tests(FILTER_TESTS_MAX + 1), "has more than 256 comparisons"],
    ["depth", () => nested(FILTER_DEPTH_MAX + 1), "nested deeper than 20"],
    ["depth with brackets", () => nested(FILTER_DEPTH_MAX).replace("title pr", "emails[type pr]"), "deeper"],
    ["depth of what never closes", () => "(".repeat(FILTER_LENGTH_MAX), "nested deeper than 20"],
  ])("refuse beyond: %s", (_what, text, problem) => {
    const refused = refusal(() => parseFilter("User", text()));
    expect(refused).toStartWith("400 invalidFilter");
    expect(refused).toContain(problem);
  });
});

describe("a filter over all types", () => {
  test("is false for a type without the attribute, and the attribute must exist in one type", () => {
    const { User, Group } = parseFilters('userName eq "x"');
    expect([isNever(simplified(User)), isNever(simplified(Group))]).toEqual([false, true]);
    const members = parseFilters('members[value eq "x"]');
    expect([isNever(simplified(members.User)), isNever(simplified(members.Group))]).toEqual([true, false]);
    expect(refusal(() => parseFilters('userNames eq "x"'))).toContain("names userNames");
    expect(refusal(() => parseFilters('members.display eq "x"'))).toContain("names members.display");
  });

  test("is refused if it is invalid for the type that has the attribute", () => {
    expect(refusal(() => parseFilters("active gt true"))).toContain("cannot use gt on active");
    expect(refusal(() => parseFilters('members[first eq "x"]'))).toContain("not a filterable sub-attribute");
  });

  test("selects a type by its name", () => {
    const { User, Group } = parseFilters('meta.resourceType eq "User" and displayName pr');
    expect(simplified(User)).toMatchObject({ kind: "present" });
    expect(isNever(simplified(Group))).toBe(true);
  });
});

describe("the path of a PATCH operation", () => {
  test.each([
    ["an attribute", "USERNAME", "userName", undefined],
    ["a sub-attribute", "name.GivenName", "name.givenName", "givenName"],
    ["a sub-attribute of a list", "emails.value", "emails.value", "value"],
    ["an enterprise attribute", `${ENTERPRISE_USER}:manager`, `${ENTERPRISE_USER}:manager`, undefined],
    ["an enterprise attribute without its URN", "department", `${ENTERPRISE_USER}:department`, undefined],
    ["an extension as a whole", ENTERPRISE_USER, ENTERPRISE_USER, undefined],
    ["values in brackets", 'emails[type eq "work"]', "emails", undefined],
    ["part of values in brackets", 'emails[type eq "work"].value', "emails.value", "value"],
    ["what may not be filtered on", "password", "password", undefined],
  ])("selects %s", (_what, text, path, sub) => {
    const target = parseTarget("User", text);
    expect(pathText(target.path)).toBe(path);
    expect(target.sub?.name).toBe(sub);
    expect(target.elements !== undefined).toBe(text.includes("["));
  });

  test.each([
    ["of no text", ""],
    ["of an unknown attribute", "nickname2"],
    ["of another type's attribute", "members"],
    ["of a name of JavaScript itself", "__proto__.x"],
    ["of a filter", "title pr"],
    ["of two attributes", "title userType"],
    ["with brackets after a single value", 'name[givenName eq "x"]'],
    ["with brackets after part of a list", 'emails.value[type eq "x"]'],
    ["with brackets after an extension", `${ENTERPRISE_USER}[value eq "x"]`],
    ["with an unknown name in brackets", 'emails[first eq "x"]'],
    ["with a wrong literal in brackets", 'emails[primary eq "maybe"]'],
    ["with an unknown name after brackets", 'emails[type eq "work"].first'],
    ["with a test after brackets", 'emails[type eq "work"].value eq "x"'],
    ["that is too long", `emails[value eq "${"x".repeat(FILTER_LENGTH_MAX)}"]`],
  ])("SCIM-41 is refused for one %s", (_what, text) => {
    expect(refusal(() => parseTarget("User", text))).toStartWith("400 invalidPath: path ");
  });
});
