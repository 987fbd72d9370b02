import type { Digest } from '../../../client/generated/index.ts'

export type OfTask = Digest['tasks']['items'][number]
export type Chat = Digest['chats']['items'][number]
/** What a card tells of a run, of a task or a chat. */
export type Reported = Pick<EndedRun, 'runId' | 'error' | 'output' | 'evidence' | 'verified' | 'facts' | 'claims' | 'unasked'> &
  Partial<Pick<EndedRun, 'judge' | 'differs' | 'rehearsalVoid'>> & Partial<Pick<Chat, 'stopped'>>
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

/** What gets a card: the tasks and chats with something to look at, the newest first. */
export function cardsOf ({ tasks, chats }: Digest): Array<OfTask | Chat> {
  const cards: Array<OfTask | Chat> = [...tasks.items.filter(hasNews), ...chats.items]
  return cards.sort((one, other) => timeOf(other) - timeOf(one))
}

const timeOf = (card: OfTask | Chat): number => 'taskId' in card ? card.runs.items[0]?.completedAt ?? 0 : card.completedAt

/** Whether a run may have changed files, by the service's line of facts: it wrote, ran a command, or called something outside. */
export const mayHaveChanged = (facts: string | undefined): boolean => facts === undefined || /[1-9]\d* (write|command|external)/.test(facts)

/** `until` lies so long before now, since what ended in the last moments may not be stored yet; milliseconds. */
export const SETTLES_MS = 1_000

/** Whether a run is shown that ended after `until`: it would come again if the digest were marked as seen now. */
export function isUnsettled ({ until, tasks, chats }: Digest): boolean {
  const ends = [...tasks.items.flatMap(({ runs }) => runs.items), ...chats.items]
  return ends.some(({ completedAt }) => completedAt >= until && completedAt <= until + SETTLES_MS)
}
