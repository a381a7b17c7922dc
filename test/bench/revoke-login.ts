// Ends one login from a process of its own. Arguments: a data directory, and the id of the login.
import { openBeside } from "./installation.ts";

const [directory = "", id = ""] = process.argv.slice(2);
const installation = await openBeside(directory, 0);
const { domain, organizationId } = installation;
await domain.access.logins.revoke({ kind: "operator", id: null, label: "bench", organizationId }, id);
await installation.close();
