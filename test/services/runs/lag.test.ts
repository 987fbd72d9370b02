import t from 'tap'
import { createRunLog } from '../../../services/runs/run-log/run-log.ts'

t.test('one large output makes nobody a slow reader, much text does', async (t) => {
  const log = createRunLog()
  log.append({
    type: 'tool-output',
    toolCallId: 'c',
    toolName: 'look',
    output: { content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(4_000_000) }] }
  })
  t.ok(log.lag(0) < 100_000)
  t.ok(log.bytes > 4_000_000, 'though it is counted whole in what a run may say')
  for (let n = 0; n < 100; n++) log.append({ type: 'text-delta', id: 't', delta: 'x'.repeat(20_000) })
  t.ok(log.lag(1) > 2_000_000)
})
