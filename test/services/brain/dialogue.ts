/** What is said in turn: a text is the user's, the others are the assistant's or a tool's. */
export type Line = string | { assistant: string } | { tool: string }
