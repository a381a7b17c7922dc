// The policy: text, history, one revision, difference, explanation, rollout, editor, and the review of a draft.
import { withCapture } from "../../../support/content/sessions.ts";
import type { Area } from "../scenes.ts";

export const policyArea: Area = {
  async seed({ server }) {
    await withCapture(server); // the area of captured sessions hands some in
  },
  scenes: [
    { title: "Policy", open: "/console/policy" },
    { title: "Edit the policy", open: "/console/policy/edit" },
    { title: "History of the policy", open: "/console/policy/history" },
    { title: "Revision r1, the current one", open: "/console/policy/history/1" },
    { title: "From r1 to r1", open: "/console/policy/diff" },
    { title: "Explain the policy", open: "/console/policy/explain?user=admin@example.com&harness=codex" },
    {
      title: "Explain the policy",
      state: "asked wrongly",
      open: "/console/policy/explain?user=nobody@example.com",
    },
    { title: "Harnesses", open: "/console/harnesses" },
    { title: "Codex", open: "/console/harnesses/codex" },
    { title: "Packages", open: "/console/packages" },
    { title: "Packages", state: "filtered wrongly", open: "/console/packages?kind=other" },
    { title: "Rollout of r1", open: "/console/policy/rollout/1" },
  ],
};
