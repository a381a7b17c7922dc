// Size limits of a demo, in a separate file so that the command tree loads nothing else from src/app/demo/.

export const WORKSTATIONS_DEFAULT = 12;
/** Less than the limit of 200 pending device logins per address. */
export const WORKSTATIONS_MAX = 100;
