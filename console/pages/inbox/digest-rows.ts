import type { Digest } from '../../../client/generated/index.ts'

export type OfTask = Digest['tasks']['items'][number]
export type EndedRun = OfTask['runs']['items'][number]
export type Denied = OfTask['denied'][number]
export type Passed = OfTask['passed'][number]

/** One line about a task as it is now. */
export interface DigestRow {
  key: string
  /** A word of the states; see parts/status.tsx. */
  state: string
  /** What the row tells of; `to` is the path of its page. */
  title: string
  to: string
  text: string
  at: number
}

/** The lists of what is now, whenever it began, by urgency. */
export const SECTIONS = ['failing', 'working', 'next'] as const
export type Section = typeof SECTIONS[number]

/** Returns the rows of one section of a digest, and how many more there are. */
export function rowsOf (digest: Digest, section: Section): { rows: DigestRow[], more: number } {
  return { rows: rows(digest, section), more: digest[section].more }
}

function rows (digest: Digest, section: Section): DigestRow[] {
  switch (section) {
    case 'failing':
      return digest.failing.items.map(({ taskId, name, since, error }) =>
        ({ key: taskId, state: 'failing', title: name, to: `/tasks/${taskId}`, text: error ?? '', at: since }))
    case 'working':
      return digest.working.items.map(({ runId, name, status, startedAt }) =>
        ({ key: runId, state: status, title: name, to: `/runs/${runId}`, text: '', at: startedAt }))
    case 'next':
      return digest.next.items.map(({ taskId, name, at }) =>
        ({ key: taskId, state: 'scheduled', title: name, to: `/tasks/${taskId}`, text: '', at }))
  }
}

/** Whether the task has something to look at: a run that is shown, or a call that was denied. */
export const hasNews = ({ runs, denied }: OfTask) => runs.items.length > 0 || denied.length > 0

/** `until` lies so long before now, since what ended in the last moments may not be stored yet; milliseconds. */
export const SETTLES_MS = 1_000

/** Whether a run is shown that ended after `until`: it would come again if the digest were marked as seen now. */
export const isUnsettled = ({ until, tasks }: Digest) =>
  tasks.items.some(({ runs }) => runs.items.some(({ completedAt }) => completedAt >= until && completedAt <= until + SETTLES_MS))
