// The events of a demo. The JSON lines of `demo --json` have the same members.

/** The address and the users of the demo. */
export interface Started {
  event: "started";
  /** origin of the service */
  url: string;
  data_dir: string;
  /** file with the log of the service */
  log: string;
  /** e-mail address */
  administrator: string;
  /** of the administrator and of every user */
  password: string;
  /** in the order in which they sign in, each with the e-mail address of its user */
  workstations: readonly { hostname: string; user: string }[];
  /** a workstation that the next policy refuses; null if there is none */
  misfit: string | null;
  /** a policy file that can be published */
  next_policy: string;
}

/** The states of all workstations, as numbers. */
export interface FleetState {
  /** sequence number of the policy in force */
  revision: number;
  workstations: number;
  signing_in: number;
  /** lost their login; the inventory keeps their last report */
  signed_out: number;
  /** by the health that the service gives their last report */
  current: number;
  outdated: number;
  attention: number;
}

export type WorkstationEvent =
  | { event: "user_code_shown"; workstation: string; user: string; user_code: string }
  | { event: "signed_in"; workstation: string; user: string }
  | { event: "package_fetched"; workstation: string; package: string; size_bytes: number }
  | { event: "reported"; workstation: string; revision: string }
  | { event: "signed_out"; workstation: string; user: string }
  | { event: "request_failed"; workstation: string; message: string };

export type DemoEvent =
  | Started
  | WorkstationEvent
  | { event: "policy_published"; revision: number }
  | ({ event: "fleet" } & FleetState)
  | { event: "removed"; data_dir: string };

export type ReportDemoEvent<Event extends DemoEvent = DemoEvent> = (event: Event) => void;
