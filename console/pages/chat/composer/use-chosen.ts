import { useState } from 'react'
import { useDraft } from '../../../lib/draft.ts'
import type { Chosen } from '../thread/chosen.ts'

function read (draft: string, initial: Chosen[]): Chosen[] {
  try {
    return draft === '' ? initial : JSON.parse(draft)
  } catch {
    return initial
  }
}

/** The prompt and the skill of the message in the composer, at most one of each. They survive a reload. */
export function useChosen (draftOf: string, initial: Chosen[] = []) {
  const [draft, setDraft] = useDraft(draftOf)
  const [chosen, setChosen] = useState(() => read(draft, initial))
  const keep = (next: Chosen[]) => {
    setChosen(next)
    setDraft(next.length === 0 ? '' : JSON.stringify(next))
  }
  return {
    chosen,
    /** Adds a choice, and replaces an earlier one of the same kind. */
    add: (added: Chosen) => keep([...chosen.filter(({ kind }) => kind !== added.kind), added]),
    remove: (removed: Chosen) => keep(chosen.filter((each) => each !== removed)),
    /** Puts choices back whose message did not arrive. */
    restore: (back: Chosen[]) => keep([...chosen.filter(({ kind }) => !back.some((each) => each.kind === kind)), ...back]),
    /** Clears the choices of a sent message. Their draft is deleted when the service has the message. */
    clear: () => setChosen([])
  }
}
export type ChosenState = ReturnType<typeof useChosen>
