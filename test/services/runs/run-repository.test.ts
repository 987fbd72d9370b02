import t from 'tap'
import { createRunRepository } from '../../../services/runs/run-repository.ts'
import { facts } from '../../harness/facts.ts'
import { newRunFields, type ThreadRun } from '../../../services/runs/run-record.ts'
import { newId } from '../../../services/lib/ids.ts'
import { noUsage } from '../../../services/usage/index.ts'
import { fakeClock } from '../../harness/clock.ts'
import { testStore } from '../../harness/store.ts'

const executing = () => ({
  ...newRunFields(newId(), 1),
  threadId: 'a',
  messageId: newId(),
  cwd: '/',
  trigger: 'message' as const,
  status: 'running' as const,
  attempts: 1,
  maxSteps: 10,
  protocol: 'documented' as const,
  answerAt: 1,
  usage: noUsage()
})

for (const status of ['completed', 'pending_approval'] as const) {
  t.test(`what is saved by the clock while a run is made ${status} does not show it as executing again`, async (t) => {
    const clock = fakeClock(1_000)
    const store = await testStore(t, clock)
    const runs = createRunRepository({ store, clock, facts })
    const run = runs.open<ThreadRun>(executing(), [], [])
    await store.transact(runs.add(run))
    run.log.append({ type: 'text-start', id: 'a' })
    runs.saveSoon(run)
    await run.writing
    run.log.append({ type: 'text-delta', id: 'a', delta: 'Hello' })

    const ending = runs.commit(run, { status, finalEvents: [{ type: 'finish', finishReason: 'stop', usage: noUsage() }] })
    runs.saveSoon(run)
    await ending
    await run.writing

    t.equal((await runs.get(run.record.runId))!.status, status)
    t.equal((await runs.events('thread', run.record.runId)).at(-1)!.type, 'finish', 'all that was said is stored')
  })
}
