import type { Digest } from '../../../client/generated/index.ts'

export type OfTask = Digest['tasks']['items'][number]
export type Chat = Digest['chats']['items'][number]
/** The part of a run, of a task or of a chat, that a card shows. */
export type Reported = Pick<EndedRun, 'runId' | 'error' | 'output' | 'evidence' | 'verified' | 'facts' | 'claims' | 'unasked'> &
  Partial<Pick<EndedRun, 'judge' | 'differs' | 'rehearsalVoid'>> & Partial<Pick<Chat, 'stopped'>>
export type EndedRun = OfTask['runs']['items'][number]
export type Denied = OfTask['denied'][number]
export type Passed = OfTask['passed'][number]

/** A line about the current state of a task. */
interface DigestRow {
  key: string
  /** A state of parts/status.tsx. */
  state: string
  /** The name of the task; `to` is the path of its page. */
  title: string
  to: string
  text: string
  at: number
}

/** The lists about the present, by urgency. */
export const SECTIONS = ['failing', 'working', 'next'] as const
export type Section = typeof SECTIONS[number]

/** Returns the rows of one section of a digest, and the number of further ones. */
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

/** Returns true if a task has news: a run that is listed, or a denied call. */
export const hasNews = ({ runs, denied }: OfTask) => runs.items.length > 0 || denied.length > 0

/** Returns the tasks and chats that get a card because they have news, newest first. */
export function cardsOf ({ tasks, chats }: Digest): Array<OfTask | Chat> {
  const cards: Array<OfTask | Chat> = [...tasks.items.filter(hasNews), ...chats.items]
  return cards.sort((one, other) => timeOf(other) - timeOf(one))
}

const timeOf = (card: OfTask | Chat): number => 'taskId' in card ? card.runs.items[0]?.completedAt ?? 0 : card.completedAt

/** Returns true if a run might have changed files, by the service's line of facts: it wrote, ran a command, or called an external tool. */
export const mayHaveChanged = (facts: string | undefined): boolean => facts === undefined || /[1-9]\d* (write|command|external)/.test(facts)

/** The distance of a digest's `until` from the current time, in milliseconds: runs that have just ended might not be stored yet. */
export const SETTLES_MS = 1_000

/** Returns true if the digest holds a run that ended after `until`. It would appear again if the digest were marked as seen now. */
export function isUnsettled ({ until, tasks, chats }: Digest): boolean {
  const ends = [...tasks.items.flatMap(({ runs }) => runs.items), ...chats.items]
  return ends.some(({ completedAt }) => completedAt >= until && completedAt <= until + SETTLES_MS)
}
