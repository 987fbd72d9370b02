/** What is said in turn: a text is the user's, the others are the assistant's or a tool's. */
export type Line = string | { assistant: string } | { tool: string }

/** A short conversation, and what it tells of its user. */
export interface Dialogue {
  lines: Line[]
  facts?: string[]
  preferences?: Record<string, string>
}

export const tells = (lines: Line | Line[], ...facts: string[]): Dialogue => ({ lines: [lines].flat(), facts })
export const wants = (lines: Line | Line[], preferences: Record<string, string>, ...facts: string[]): Dialogue => ({
  lines: [lines].flat(),
  facts,
  preferences
})
export const nothing = (...lines: Line[]): Dialogue => ({ lines })
