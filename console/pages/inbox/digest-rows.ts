import type { Digest } from '../../../client/generated/index.ts'

/** One line of the digest. */
export interface DigestRow {
  key: string
  /** A word of the states; see parts/status.tsx. */
  state: string
  /** What the row tells of; `to` is the path of its page. */
  title: string
  to: string
  text: string
  at: number
  isContradicted?: boolean
}

type Run = Digest['completed']['items'][number]

/** The states of which the digest tells, by urgency. */
export const SECTIONS = ['failing', 'failed', 'stopped', 'notRun', 'completed', 'working', 'next'] as const
export type Section = typeof SECTIONS[number]

const ofRun = ({ runId, status, goal, output, error, completedAt, evidence }: Run): DigestRow => ({
  key: runId,
  state: status,
  title: goal,
  to: `/runs/${runId}`,
  text: error ?? output ?? '',
  at: completedAt,
  isContradicted: evidence === 'contradicted'
})

/** Returns the rows of one section of a digest, and how many more there are. */
export function rowsOf (digest: Digest, section: Section): { rows: DigestRow[], more: number } {
  return { rows: rows(digest, section), more: digest[section].more }
}

function rows (digest: Digest, section: Section): DigestRow[] {
  switch (section) {
    case 'completed':
    case 'failed':
    case 'stopped':
      return digest[section].items.map(ofRun)
    case 'failing':
      return digest.failing.items.map(({ taskId, goal, since, error }) =>
        ({ key: taskId, state: 'failing', title: goal, to: `/tasks/${taskId}`, text: error ?? '', at: since }))
    case 'notRun':
      return digest.notRun.items.map(({ taskId, goal, slot, text }) =>
        ({ key: `${taskId} ${slot.at}`, state: slot.fate, title: goal, to: `/tasks/${taskId}`, text, at: slot.at }))
    case 'working':
      return digest.working.items.map(({ runId, goal, status, startedAt }) =>
        ({ key: runId, state: status, title: goal, to: `/runs/${runId}`, text: '', at: startedAt }))
    case 'next':
      return digest.next.items.map(({ taskId, goal, at }) =>
        ({ key: taskId, state: 'scheduled', title: goal, to: `/tasks/${taskId}`, text: '', at }))
  }
}
