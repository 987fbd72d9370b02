import type { ObeyedState } from './obeyed-state.ts'

// Who made a commit: a command in a box, or somebody else. Noted are the ends of branches alone, in the order in which they were first
// there: a commit belongs to the first of them that leads to it.

/** The end of a branch. */
export interface CommitEnd {
  id: string
  /** A command in a box made it, or brought it. */
  isOfCommand: boolean
}

/** Where the ends are, on the disk. */
export interface EndsShelf {
  append(ends: readonly CommitEnd[]): Promise<void>
  list(): AsyncIterable<readonly CommitEnd[]>
}

/** Ends that are known, and of others that are noted at once. */
const MOST = 50_000
const MOST_OF_OTHERS = 2_000

export type CommitEnds = ReturnType<typeof createCommitEnds>

/** Without a shelf they are known until the service ends. */
export function createCommitEnds (shelf?: EndsShelf) {
  const known = new Map<string, CommitEnd>()
  let loading: Promise<void> | undefined
  const load = async () => {
    for await (const ends of shelf?.list() ?? []) for (const end of ends) if (!known.has(end.id)) known.set(end.id, end)
  }
  const ready = () => (loading ??= load())
  const tipsOf = ({ gitDirectories }: ObeyedState) => new Set([...gitDirectories.values()].flatMap(({ tips }) => tips))

  return {
    /** Returns the ends in their order, with those that were there before a command. */
    async list (before: ObeyedState): Promise<CommitEnd[]> {
      await ready()
      // Where there were too many, what came later may be of a command.
      const others = known.size < MOST ? [...tipsOf(before)].filter((id) => !known.has(id)) : []
      return [...known.values(), ...others.map((id) => ({ id, isOfCommand: false }))]
    },

    /** Notes what a command made of the branches. */
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
