import type { DigestChat } from '../../../schemas/digest.ts'
import { type RunRepository, type ThreadRun, isOver } from '../../runs/index.ts'
import { unlessDamaged } from '../../store/index.ts'
import type { TaskDeps } from '../task-deps.ts'
import { shorten } from './digest-text.ts'
import { unaskedOf, type UnaskedParts } from './unasked.ts'

/** Conversations that are looked at, the most recently changed first. */
const MOST_CHATS = 500
const PAGE = 100
/** Runs that are looked at of one conversation, the newest first. */
const MOST_RUNS = 50

export interface ChatParts extends UnaskedParts {
  threads: TaskDeps['threads']
  runs: Pick<RunRepository, 'ofThread' | 'get'>
}

/**
 * Returns the conversations in which runs have ended, those with the newest end first, each with its last run. `seenUntil` returns where
 * the reader has seen a conversation, which is not before `since`. Conversations that work or wait now are left out: what waits is listed
 * for itself.
 */
export async function chatsSince (since: number, seenUntil: (threadId: string) => number, parts: ChatParts): Promise<DigestChat[]> {
  const found: DigestChat[] = []
  let cursor: string | undefined
  for (let looked = 0; looked < MOST_CHATS; looked += PAGE) {
    const { threads, nextCursor } = await parts.threads.list({ limit: PAGE, cursor })
    const recent = threads.filter(({ updatedAt }) => updatedAt >= since)
    for (const { id, title, status } of recent) {
      const ended = status === 'idle' ? await endedRuns(id, seenUntil(id), parts) : []
      if (ended.length > 0) found.push(await chatOf(ended, title, parts))
    }
    if (nextCursor === undefined || recent.length < threads.length) break
    cursor = nextCursor
  }
  return found.sort((one, other) => other.completedAt - one.completedAt)
}

type EndedRun = ThreadRun & { completedAt: number }

/** The runs of a conversation that ended since then, the newest first; none while one is active or waits. */
async function endedRuns (threadId: string, since: number, { runs }: ChatParts): Promise<EndedRun[]> {
  const ended: EndedRun[] = []
  let looked = 0
  for await (const runId of runs.ofThread(threadId)) {
    if (++looked > MOST_RUNS) break
    const run = await unlessDamaged(runs.get<ThreadRun>(runId))
    if (run === undefined || run.trigger === 'rehearsal') continue
    if (!isOver(run)) return []
    if (run.completedAt === undefined || run.completedAt < since) break
    ended.push({ ...run, completedAt: run.completedAt })
  }
  return ended
}

async function chatOf (runs: EndedRun[], title: string, parts: ChatParts): Promise<DigestChat> {
  const [{ threadId, runId, status, startedAt, completedAt, output, error, stopped, facts, evaluation, verified }] = runs
  return {
    threadId,
    title,
    runId,
    status,
    startedAt,
    completedAt,
    runs: runs.length,
    output: output && shorten(output),
    error: error && shorten(error),
    stopped: stopped?.text,
    facts,
    verified,
    evidence: evaluation?.evidence,
    claims: evaluation?.claims?.slice(0, 5),
    unasked: await unaskedOf(runs[0], parts)
  }
}
