import type { DigestChat } from '../../../schemas/digest.ts'
import { type RunRepository, type ThreadRun, isOver } from '../../runs/index.ts'
import { unlessDamaged } from '../../store/index.ts'
import type { TaskDeps } from '../task-deps.ts'
import { shorten } from './digest-text.ts'
import { unaskedOf, type UnaskedParts } from './unasked.ts'

/** The most conversations that are checked, the most recently changed first. */
const MOST_CHATS = 500
const PAGE = 100
/** The most runs of one conversation that are checked, the newest first. */
const MOST_RUNS = 50

export interface ChatParts extends UnaskedParts {
  threads: TaskDeps['threads']
  runs: Pick<RunRepository, 'ofThread' | 'get'>
}

/**
 * Returns the conversations in which runs have ended since `since`, each with its last run. The conversation whose run
 * ended last comes first. `seenUntil` returns the time up to which the reader has seen a conversation; it is never before
 * `since`. Conversations with an active or waiting run are left out, because the digest lists open questions separately.
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

/**
 * Returns the runs of a conversation that ended after `since`, newest first. Returns none while a run of the
 * conversation is active or waits.
 */
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
