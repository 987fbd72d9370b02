import t from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { createStderrTail } from '../../../services/mcp/server-transport.ts'
import { createTransport } from '../../../services/mcp/guarded-transport.ts'
import { spawnGuarded, type GuardedChild } from '../../../services/process/spawn-guarded.ts'
import { alive } from '../process/alive.ts'

t.test('who disconnects a server that is just being started finds nothing of it left', async (t) => {
  const asked = Promise.withResolvers<void>()
  let child: GuardedChild | undefined
  const transport = createTransport({
    clock: systemClock,
    tail: createStderrTail(),
    async spawn () {
      await asked.promise
      return (child = await spawnGuarded('sleep', ['1000'], { cwd: t.testdir(), env: process.env, stdin: 'pipe', clock: systemClock }))
    }
  })
  const started = transport.start()
  const closed = transport.close()
  asked.resolve()
  await closed
  t.notOk(alive(child!.pid))
  await started
})
