import type { RefusedCall, ToolItem } from '../contracts/approval-record.ts'
import { NOTE_OPENING } from '../contracts/model-texts.ts'

// The calls that the user refused in a conversation. Those of a task's run are found in its asked items
// (services/runs/engine/asked-items.ts); services/runs/gate/policies/denied-before.ts refuses both.

/** The number of refused calls of a conversation that are kept; older ones are dropped. */
const REFUSED_KEPT = 200
/** The number of refused calls in the prompt, the newest ones: a model is most likely to repeat those. */
const REFUSED_SHOWN = 20
/** Characters of an input in the prompt: enough to recognise the call. */
const INPUT_SHOWN = 500

/** Returns the refused calls of a conversation with these added, oldest first. */
export function withRefused (calls: RefusedCall[], refused: ToolItem[]): RefusedCall[] {
  const added = refused.map(({ toolName, input, digest, reason }): RefusedCall => ({ toolName, input, digest, reason }))
  return [...calls, ...added].slice(-REFUSED_KEPT)
}

/**
 * Returns the message that names the refused calls, for the end of a prompt; [] for none. It changes with each denial, so that it must not
 * stand before messages that a cache holds.
 */
export function refusedNotes (refusedCalls: RefusedCall[]): string[] {
  if (refusedCalls.length === 0) return []
  const lines = refusedCalls.slice(-REFUSED_SHOWN).map(({ toolName, input, reason }) =>
    `- ${toolName} with ${shorten(JSON.stringify(input))}${reason ? ` (the user said: ${shorten(JSON.stringify(reason))})` : ''}`
  )
  return [`${NOTE_OPENING} The user denied these calls. Do not retry them; go on without, or ask what to do instead:]\n${lines.join('\n')}`]
}

const shorten = (text: string) => text.length > INPUT_SHOWN ? `${text.slice(0, INPUT_SHOWN)}…` : text
