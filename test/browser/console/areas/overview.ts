// The first page of the console, the search with its palette, and the page of keys.
import type { Area } from "../scenes.ts";

export const overviewArea: Area = {
  scenes: [
    { title: "Overview", open: "/console" },
    { title: "Overview", state: "for an auditor", as: "auditor", open: "/console" },
    { title: "Search", open: "/console/search?q=a" },
    { title: "Search", state: "that finds nothing", open: "/console/search?q=no+such+thing" },
    { title: "Search", state: "for an impossible text", open: "/console/search?q=%00" },
    { title: "Search", state: "without a text", open: "/console/search" },
    { title: "Keyboard", open: "/console/help/keys" },
    { title: "Keyboard", state: "for a member", as: "member", open: "/console/help/keys" },
  ],
};
