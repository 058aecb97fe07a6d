/**
 * How set-up of a change uses the network. `packages`: package managers fetch with the network of set-up, and nothing else
 * has it until a person approves. `approved`: a person always approves first. `closed`: nothing has it.
 */
export const setupsOfChange = ['packages', 'approved', 'closed'] as const;
export type SetupOfChange = (typeof setupsOfChange)[number];
