// The form of a bulk message, and the effect of one invalid operation.
import { describe, expect, test } from "bun:test";
import { BULK_OPERATIONS_MAX } from "../../../../src/domain/scim/bulk/model.ts";
import { readBulk } from "../../../../src/domain/scim/bulk/request.ts";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import { BULK_REQUEST } from "../../../../src/domain/scim/wire.ts";

const post = (bulkId: string) => ({ method: "POST", path: "/Users", bulkId, data: {} });

function refusalOf(body: unknown): Pick<ScimError, "status" | "scimType" | "message"> {
  try {
    readBulk(body);
  } catch (error) {
    if (error instanceof ScimError)
      return { status: error.status, scimType: error.scimType, message: error.message };
    throw error;
  }
  throw new Error("it was accepted");
}

const refused = (operation: unknown) => refusalOf({ Operations: [operation] }).message;

/** The one operation is parsed, and only it must fail. */
function spoiled(operation: object) {
  const { operations } = readBulk({ Operations: [{ data: {}, bulkId: "b", ...operation }] });
  const refusal = operations[0]?.refusal;
  return refusal && [refusal.status, refusal.scimType];
}

describe("a bulk message", () => {
  test("is read in any letter case, with and without its schema", () => {
    const operation = { METHOD: "post", Path: "/Users/", BULKID: "b", Data: { userName: "ada" } };
    for (const schemas of [undefined, null, [], [BULK_REQUEST], [BULK_REQUEST.toUpperCase(), "urn:other"]])
      expect(readBulk({ schemas, operations: [operation], FailOnErrors: 2 })).toEqual({
        operations: [
          {
            method: "POST",
            bulkId: "b",
            target: { type: "User", id: "" },
            version: undefined,
            data: { userName: "ada" },
            refusal: undefined,
          },
        ],
        failuresMax: 2,
      });
  });

  test("attempts every operation without failOnErrors", () => {
    expect(readBulk({ Operations: [post("a")] }).failuresMax).toBe(Number.POSITIVE_INFINITY);
    expect(readBulk({ Operations: [post("a")], failOnErrors: null }).failuresMax).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  test.each([
    ["no object", []],
    ["no operations", {}],
    ["an empty list of operations", { Operations: [] }],
    ["operations that are not a list", { Operations: {} }],
    ["an operation that is not an object", { Operations: ["POST"] }],
    ["another message's schema", { schemas: ["urn:other"], Operations: [post("a")] }],
    ["failOnErrors of 0", { failOnErrors: 0, Operations: [post("a")] }],
    ["failOnErrors of 1.5", { failOnErrors: 1.5, Operations: [post("a")] }],
    ["failOnErrors that is text", { failOnErrors: "1", Operations: [post("a")] }],
    ["a bulkId given twice", { Operations: [post("a"), post("a")] }],
  ])("SCIM-102 is refused as a whole with %s", (_, body) => {
    expect(refusalOf(body)).toMatchObject({ status: 400, scimType: "invalidSyntax" });
  });

  test.each([
    ["method", { ...post("a"), method: "PURGE" }],
    ["method", { path: "/Users" }],
    ["path", { ...post("a"), path: undefined }],
    ["path", { ...post("a"), path: 7 }],
    ["bulkId", { ...post("a"), bulkId: undefined }],
    ["bulkId", { ...post("a"), bulkId: "" }],
    ["version", { ...post("a"), version: 1 }],
    ["data", { ...post("a"), data: "text" }],
    ["data", { method: "PUT", path: "/Users/1" }],
    ["data", { method: "PATCH", path: "/Users/1", data: null }],
  ])("refuses a wrong %s with the position of the operation", (name, operation) => {
    expect(refused(operation)).toContain(`Operations[0].${name} `);
  });

  test("is refused with all its problems, up to ten", () => {
    const { message } = refusalOf({ failOnErrors: 0, Operations: [{ method: "PUT" }, 1] });
    expect(message.split("; ")).toHaveLength(4);
    const many = refusalOf({ Operations: Array.from({ length: 13 }, () => 1) }).message;
    expect(many.split("; ")).toHaveLength(11);
    expect(many).toEndWith("and 3 more");
  });

  test("SCIM-101 may have at most the maximum number of operations", () => {
    const many = (count: number) => ({
      Operations: Array.from({ length: count }, (_, at) => post(`b${at}`)),
    });
    expect(readBulk(many(BULK_OPERATIONS_MAX - 1)).operations).toHaveLength(999);
    expect(readBulk(many(BULK_OPERATIONS_MAX)).operations).toHaveLength(1_000);
    const refusal = refusalOf(many(BULK_OPERATIONS_MAX + 1));
    expect(refusal.status).toBe(413);
    expect(refusal.message).toContain("1000");
  });

  test("quotes a part of a long bulkId that two operations use", () => {
    const long = "b".repeat(50_000);
    expect(refusalOf({ Operations: [post(long), post(long)] }).message).toContain(
      "is used by two operations",
    );
    expect(refusalOf({ Operations: [post(long), post(long)] }).message.length).toBeLessThan(200);
  });

  test("may reuse a bulkId on operations that create nothing", () => {
    const remove = { method: "DELETE", path: "/Users/1", bulkId: "a" };
    expect(readBulk({ Operations: [post("a"), remove, remove] }).operations).toHaveLength(3);
  });

  test.each([
    ["GET", { method: "GET", path: "/Users/1" }, [400, "invalidSyntax"]],
    ["a POST to one resource", { method: "POST", path: "/Users/1" }, [400, "invalidSyntax"]],
    ["a DELETE of all", { method: "DELETE", path: "/Groups" }, [400, "invalidSyntax"]],
    ["/Bulk", { method: "POST", path: "/Bulk" }, [404, undefined]],
    ["/Me", { method: "PATCH", path: "/Me" }, [404, undefined]],
    ["another letter case of the path", { method: "POST", path: "/users" }, [404, undefined]],
    ["a path with an extra segment", { method: "DELETE", path: "/Users/1/name" }, [404, undefined]],
    ["a good one", { method: "DELETE", path: "/Groups/1/" }, undefined],
  ])("SCIM-102 fails only that operation for %s", (_, operation, expected) => {
    expect<unknown>(spoiled(operation)).toEqual(expected);
  });
});
