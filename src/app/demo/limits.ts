// How large a demo may be, in a separate file so that the command tree loads nothing else from src/app/demo/.

export const WORKSTATIONS_DEFAULT = 12;
/** Fewer than the 200 device logins that the service lets wait for one address. */
export const WORKSTATIONS_MAX = 100;
