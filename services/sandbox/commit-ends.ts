import type { ObeyedState } from './obeyed-state.ts'

// Records who made a commit: a command in a box, or somebody else. Only the ends of branches (their newest commits) are recorded, in the
// order in which they first appeared. A commit belongs to the first recorded end that is the commit itself or descends from it.

/** The newest commit of a branch. */
export interface CommitEnd {
  id: string
  /** True if a command in a box (a sandbox) made or fetched the commit. */
  isOfCommand: boolean
}

/** The stored ends of branches. */
export interface EndsShelf {
  append(ends: readonly CommitEnd[]): Promise<void>
  list(): AsyncIterable<readonly CommitEnd[]>
}

/** The most ends that are recorded, and the most ends of others that are recorded after one command. */
const MOST = 50_000
const MOST_OF_OTHERS = 2_000

export type CommitEnds = ReturnType<typeof createCommitEnds>

/** Creates the record of the ends of branches. Without `shelf`, which stores it, the record is lost when the service ends. */
export function createCommitEnds (shelf?: EndsShelf) {
  const known = new Map<string, CommitEnd>()
  let loading: Promise<void> | undefined
  const load = async () => {
    for await (const ends of shelf?.list() ?? []) for (const end of ends) if (!known.has(end.id)) known.set(end.id, end)
  }
  const ready = () => (loading ??= load())
  const tipsOf = ({ gitDirectories }: ObeyedState) => new Set([...gitDirectories.values()].flatMap(({ tips }) => tips))

  return {
    /** Returns the recorded ends in order, followed by the unrecorded ends from before a command, which count as made by others. */
    async list (before: ObeyedState): Promise<CommitEnd[]> {
      await ready()
      // When the record is full, an unrecorded end might be of an earlier command.
      const others = known.size < MOST ? [...tipsOf(before)].filter((id) => !known.has(id)) : []
      return [...known.values(), ...others.map((id) => ({ id, isOfCommand: false }))]
    },

    /** Records the ends of branches that are new after a command. They count as made by the command. */
    async note (before: ObeyedState, after: ObeyedState): Promise<void> {
      await ready()
      const [were, are] = [tipsOf(before), tipsOf(after)]
      const isNew = (id: string) => !known.has(id)
      const made = [...are].filter((id) => !were.has(id) && isNew(id))
      if (made.length === 0 || known.size >= MOST) return
      const others = [...were].filter(isNew).slice(0, MOST_OF_OTHERS)
      const ends = [...others.map((id) => ({ id, isOfCommand: false })), ...made.map((id) => ({ id, isOfCommand: true }))]
      await shelf?.append(ends)
      for (const end of ends) known.set(end.id, end)
    }
  }
}
