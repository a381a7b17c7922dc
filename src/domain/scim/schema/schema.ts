// The attributes of users and groups as one table, from which validation, folding, filters, PATCH, projection and /Schemas
// derive. Source: RFC 7643 sections 3.1, 4 and 8.7.
import { CORE_GROUP, CORE_USER, ENTERPRISE_USER, type ResourceTypeName } from "../wire.ts";

export type AttributeType = "string" | "boolean" | "complex" | "reference" | "dateTime" | "binary";

/** The characteristics of RFC 7643 section 2.2, and our additions. */
export interface Attribute {
  readonly name: string;
  readonly type: AttributeType;
  readonly description: string;
  readonly multiValued: boolean;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: "readWrite" | "readOnly" | "immutable" | "writeOnly";
  readonly returned: "always" | "default" | "request" | "never";
  readonly uniqueness: "none" | "server";
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
  /** maximum characters of text */
  readonly lengthMax?: number;
  /** maximum number of values, if it is multi-valued */
  readonly valuesMax?: number;
  /** whether a filter or an order may name it */
  readonly filterable: boolean;
}

export interface Schema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

export interface ResourceType {
  readonly name: ResourceTypeName;
  readonly description: string;
  readonly core: Schema;
  readonly extensions: readonly Schema[];
}

export const TEXT_LENGTH_MAX = 255;
export const ADDRESS_LENGTH_MAX = 254;
export const URL_LENGTH_MAX = 2048;
export const LOCALE_LENGTH_MAX = 64;
export const VALUES_MAX = 64;
export const CERTIFICATES_MAX = 8;
/** base64 text of a certificate of 8 KiB */
export const CERTIFICATE_LENGTH_MAX = 10_924;

type Given = Partial<Omit<Attribute, "name" | "type" | "description">>;

const attribute = (
  name: string,
  description: string,
  given: Given & { type?: AttributeType } = {},
): Attribute => ({
  name,
  type: "string",
  description,
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: "readWrite",
  returned: "default",
  uniqueness: "none",
  filterable: true,
  ...given,
});

const text = (name: string, description: string, given: Given = {}): Attribute =>
  attribute(name, description, { lengthMax: TEXT_LENGTH_MAX, ...given });

const complex = (name: string, description: string, given: Given): Attribute =>
  attribute(name, description, { type: "complex", ...given });

const EXACT = { caseExact: true } as const;
const COMPUTED = { mutability: "readOnly" } as const;

const type = (canonicalValues?: readonly string[]): Attribute =>
  text("type", "Purpose of the value, such as work or home.", canonicalValues && { canonicalValues });
const primary = attribute("primary", "Whether this is the preferred value. At most one value is.", {
  type: "boolean",
});
const display = text("display", "Text to display for the value.");

/** A multi-valued attribute of the usual shape: value, display, type, primary. */
const values = (name: string, description: string, value: Attribute, kinds?: readonly string[]): Attribute =>
  complex(name, description, {
    multiValued: true,
    valuesMax: VALUES_MAX,
    subAttributes: [value, display, type(kinds), primary],
  });

const textValues = (name: string, description: string, kinds?: readonly string[]): Attribute =>
  values(name, description, text("value", "The value itself."), kinds);

const HIDDEN_IN_FILTERS = { filterable: false } as const;
const reference = (name: string, description: string, given: Given): Attribute =>
  attribute(name, description, { type: "reference", caseExact: true, lengthMax: URL_LENGTH_MAX, ...given });

/** Attributes that every resource has and no schema lists (RFC 7643 section 3.1). */
export const COMMON_ATTRIBUTES: readonly Attribute[] = [
  attribute("schemas", "URNs of the schemas of this resource.", {
    type: "reference",
    multiValued: true,
    required: true,
    caseExact: true,
    returned: "always",
    ...HIDDEN_IN_FILTERS,
  }),
  attribute("id", "Identifier assigned by this service.", {
    ...EXACT,
    ...COMPUTED,
    returned: "always",
    uniqueness: "server",
  }),
  text("externalId", "Identifier assigned by the identity provider.", { ...EXACT, uniqueness: "server" }),
  complex("meta", "Metadata of the resource.", {
    ...COMPUTED,
    subAttributes: [
      attribute("resourceType", "Name of the resource type.", { ...EXACT, ...COMPUTED }),
      attribute("created", "Time of creation.", { type: "dateTime", ...COMPUTED }),
      attribute("lastModified", "Time of the last change.", { type: "dateTime", ...COMPUTED }),
      attribute("location", "URL of the resource.", {
        type: "reference",
        ...EXACT,
        ...COMPUTED,
        ...HIDDEN_IN_FILTERS,
      }),
      attribute("version", "Its revision.", { ...EXACT, ...COMPUTED, ...HIDDEN_IN_FILTERS }),
    ],
  }),
];

/** Accepted and discarded unread. Not in a schema, because it cannot be set or shown (SCIM-21). */
export const PASSWORD: Attribute = attribute("password", "Never kept.", {
  mutability: "writeOnly",
  returned: "never",
  ...HIDDEN_IN_FILTERS,
});

export const USER_SCHEMA: Schema = {
  id: CORE_USER,
  name: "User",
  description: "A person who may use the service.",
  attributes: [
    text("userName", "User name at the identity provider.", {
      required: true,
      uniqueness: "server",
    }),
    complex("name", "Parts of the user's name.", {
      subAttributes: [
        text("formatted", "The whole name."),
        text("familyName", "Family name."),
        text("givenName", "Given name."),
        text("middleName", "Middle names."),
        text("honorificPrefix", "Title before the name."),
        text("honorificSuffix", "Suffix after the name."),
      ],
    }),
    text("displayName", "Name to display."),
    text("nickName", "Casual name."),
    reference("profileUrl", "Web page about the user. Stored, never fetched.", {
      referenceTypes: ["external"],
    }),
    text("title", "Position, such as Engineer."),
    text("userType", "Type of employment. Grants no access."),
    text("preferredLanguage", "Language to use.", { lengthMax: LOCALE_LENGTH_MAX }),
    text("locale", "Locale for dates and numbers.", { lengthMax: LOCALE_LENGTH_MAX }),
    text("timezone", "Time zone.", { lengthMax: LOCALE_LENGTH_MAX }),
    attribute("active", "Whether the user may sign in.", { type: "boolean", required: true }),
    {
      ...values(
        "emails",
        "Email addresses. The account uses the primary one.",
        text("value", "The address.", { lengthMax: ADDRESS_LENGTH_MAX, required: true }),
        ["work", "home", "other"],
      ),
      required: true,
    },
    textValues("phoneNumbers", "Telephone numbers.", ["work", "home", "mobile", "fax", "pager", "other"]),
    textValues("ims", "Instant messaging addresses."),
    values(
      "photos",
      "Pictures of the user. Stored, never fetched.",
      reference("value", "URL of the picture.", { referenceTypes: ["external"] }),
      ["photo", "thumbnail"],
    ),
    complex("addresses", "Postal addresses.", {
      multiValued: true,
      valuesMax: VALUES_MAX,
      subAttributes: [
        text("formatted", "The whole address."),
        text("streetAddress", "Street and number."),
        text("locality", "Town."),
        text("region", "State or region."),
        text("postalCode", "Postal code."),
        text("country", "Country."),
        type(["work", "home", "other"]),
        primary,
      ],
    }),
    complex("groups", "Groups that the user belongs to. To change them, update the group.", {
      multiValued: true,
      ...COMPUTED,
      subAttributes: [
        attribute("value", "Id of the group.", { ...EXACT, ...COMPUTED }),
        reference("$ref", "The group.", { ...COMPUTED, ...HIDDEN_IN_FILTERS, referenceTypes: ["Group"] }),
        attribute("display", "Name of the group.", COMPUTED),
        attribute("type", "Always direct.", { ...COMPUTED, canonicalValues: ["direct"] }),
      ],
    }),
    textValues("entitlements", "Stored as sent. Grants no access."),
    textValues("roles", "Stored as sent. Grants no access."),
    {
      ...values(
        "x509Certificates",
        "Certificates in base64.",
        attribute("value", "The certificate.", {
          type: "binary",
          caseExact: true,
          lengthMax: CERTIFICATE_LENGTH_MAX,
        }),
      ),
      valuesMax: CERTIFICATES_MAX,
    },
  ],
};

export const ENTERPRISE_SCHEMA: Schema = {
  id: ENTERPRISE_USER,
  name: "EnterpriseUser",
  description: "Data of an employee.",
  attributes: [
    text("employeeNumber", "Number of the employee."),
    text("costCenter", "Cost center."),
    text("organization", "Organization."),
    text("division", "Division."),
    text("department", "Department."),
    complex("manager", "The user's manager.", {
      subAttributes: [
        text("value", "Id of the manager. Stored even if no such user exists yet.", EXACT),
        reference("$ref", "The manager.", { ...HIDDEN_IN_FILTERS, referenceTypes: ["User"] }),
        text("displayName", "Name of the manager.", COMPUTED),
      ],
    }),
  ],
};

const GROUP_SCHEMA: Schema = {
  id: CORE_GROUP,
  name: "Group",
  description: "A set of users. The configuration may map a role to it.",
  attributes: [
    text("displayName", "Name of the group.", { required: true, uniqueness: "server" }),
    complex("members", "Users in the group. Groups cannot contain groups.", {
      multiValued: true,
      subAttributes: [
        attribute("value", "Id of the user.", { ...EXACT, mutability: "immutable", required: true }),
        reference("$ref", "The user.", {
          mutability: "immutable",
          ...HIDDEN_IN_FILTERS,
          referenceTypes: ["User"],
        }),
        attribute("type", "Always User.", { mutability: "immutable", canonicalValues: ["User"] }),
        attribute("display", "Name of the user.", { ...COMPUTED, ...HIDDEN_IN_FILTERS }),
      ],
    }),
  ],
};

export const RESOURCE_TYPE: Readonly<Record<ResourceTypeName, ResourceType>> = {
  User: {
    name: "User",
    description: USER_SCHEMA.description,
    core: USER_SCHEMA,
    extensions: [ENTERPRISE_SCHEMA],
  },
  Group: { name: "Group", description: GROUP_SCHEMA.description, core: GROUP_SCHEMA, extensions: [] },
};
