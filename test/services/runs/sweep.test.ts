import t from 'tap'
import { newId } from '../../../services/lib/ids.ts'
import { runKey, runStateKey, threadRunKey } from '../../../services/store/keys.ts'
import type { ThreadRun } from '../../../services/runs/run-record.ts'
import type { Op } from '../../../services/store/store-types.ts'
import { fakeClock } from '../../harness/clock.ts'
import { asked, of, say } from '../../harness/agent.ts'
import { build } from '../../harness/helper.ts'

const HOUR = 60 * 60 * 1000

t.test('a conversation keeps its newest thousand runs, and a conversation that is gone none', async (t) => {
  const app = await build(t)
  await say(app, 'system info', { id: 'chat' })
  const [first] = (await app.inject('/runs')).json().runs
  const stored = (await app.store.get<ThreadRun>(runKey(first.runId)))!
  const record = (threadId: string): Op[] => {
    const [runId, thread] = [newId(), app.store.digest(threadId)]
    return [
      { type: 'put', key: runKey(runId), value: { ...stored, runId, threadId } },
      { type: 'put', key: threadRunKey(thread, runId), value: {} },
      { type: 'put', key: runStateKey('completed', runId), value: {} }
    ]
  }
  await app.store.transact([...Array.from({ length: 1_000 }, () => record('chat')), record('gone')].flat())
  t.equal((await app.inject('/runs?threadId=gone')).json().runs.length, 1)

  await app.runs.sweep()

  const count = async (query: string) => {
    let runs = 0
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: any = (await app.inject(`/runs?limit=500${query}${cursor && `&cursor=${cursor}`}`)).json()
      runs += page.runs.length
      cursor = page.nextCursor
    }
    return runs
  }
  t.equal(await count('&threadId=chat'), 1_000)
  t.equal(await count(''), 1_000)
  t.equal((await app.inject(`/runs/${first.runId}`)).statusCode, 404)
})

t.test('a run that nobody answered in time is rejected, at once in the answers and then in the store', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const { events } = await say(app, 'write "x" to a.txt', { id: 'chat' })
  const { runId } = of(events, 'start')[0].messageMetadata
  t.equal(asked(events).length, 1)
  await clock.advance(25 * HOUR)
  const runs = async (query: string) => (await app.inject(`/runs${query}`)).json().runs
  t.match(await runs('?status=rejected'), [{ runId, error: 'Nobody answered in time.', questions: [] }])
  await app.runs.sweep()
  t.match(await runs('?status=rejected'), [{ runId, status: 'rejected', completedAt: clock.now() }])
  t.same(await runs('?status=pending_approval'), [])
})
