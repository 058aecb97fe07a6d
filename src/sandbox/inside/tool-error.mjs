/** A refusal. Its message is the result of the call, for the model. */
export class ToolError extends Error {}

export const limits = {
  fileBytes: 2_000_000,
  /** Maximum length of an answer in characters. The service refuses longer ones. */
  outputChars: 30_000,
  /** Characters of one line that is shown. */
  lineChars: 2000,
};
