import { readFileSync } from 'node:fs'
import { Value } from '@sinclair/typebox/value'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { FORMATS } from '../../schemas/formats.ts'
import { PhaseSchema } from '../../schemas/tasks.ts'
import { taskEvents } from '../../schemas/task-events.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'
import { readRun } from '../harness/reader.ts'
import { tasksOf } from '../harness/tasks.ts'

/** What the interface promises of each event, beside its type. */
const PROMISED: Record<string, Record<string, string>> = {
  'task:start': { taskId: 'string', runId: 'string', runNumber: 'integer', startedAt: 'integer', phases: 'array' },
  'task:phase': { taskId: 'string', phase: 'string', status: 'string' },
  'task:tool': { taskId: 'string', runId: 'string', tool: 'string', input: 'object', output: 'object', status: 'string' },
  'task:eval': { taskId: 'string' },
  'task:complete': {
    taskId: 'string',
    runId: 'string',
    runNumber: 'integer',
    status: 'string',
    output: 'string',
    durationMs: 'integer',
    toolCount: 'integer',
    qualityScore: 'number'
  },
  'task:approval': { taskId: 'string' },
  'task:error': { taskId: 'string', runId: 'string', error: 'string' },
  'task:steer': { taskId: 'string', comment: 'string' }
}
const kindOf = (value: unknown) => Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value
const fits = (value: unknown, kind: string) => kindOf(value) === kind || (kind === 'number' && kindOf(value) === 'integer')

t.test('every event has the fields the interface gives it, and its name is its type', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const named = await readRun(app, '/tasks/events')
  const done = await tasks.create('write "x" to a.txt then read a.txt', { approval: { mode: 'always' }, taskType: 'triggered' })
  await tasks.post(`/${done.id}/steer`, { comment: 'go', runNow: true })
  await events.until('task:approval', { kind: 'tool' })
  await tasks.post(`/${done.id}/approve`, { approved: true })
  await events.until('task:approval', { kind: 'result' })
  await tasks.post(`/${done.id}/approve`, { approved: true })
  await events.until('task:complete')
  const failed = await tasks.create('delete missing.txt')
  await tasks.post(`/${failed.id}/start`)
  await events.until('task:error')
  await named.says('event: task:error')

  for (const [type, fields] of Object.entries(PROMISED)) {
    const all: any[] = events.of(type as 'task:start')
    t.ok(all.length > 0, type)
    for (const event of all) {
      for (const [field, kind] of Object.entries(fields)) t.ok(fits(event[field], kind), `${type}: ${field} is of type ${kind}`)
    }
  }
  for (const { phases } of events.of('task:start') as any[]) {
    t.ok(phases.length > 0 && phases.every((phase: unknown) => Value.Check(PhaseSchema, phase)), 'phases have id, description and status')
  }
  t.same(new Set(events.of('task:tool').map(({ status }) => status)), new Set(['complete', 'error']))
  const ajv = new Ajv2020({ strict: false, formats: FORMATS })
  ajv.addSchema(JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')), 'document')
  for (const event of events.events) {
    const schema = taskEvents.find(({ properties }) => properties.type.const === event.type)
    t.ok(ajv.validate({ $ref: `document#/components/schemas/${schema?.$id}` }, event), `${event.type}: ${ajv.errorsText()}`)
  }
  const blocks = named.text.split('\n\n').filter((block) => block.startsWith('event: '))
  t.ok(blocks.length > 10)
  for (const block of blocks) {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block)!
    t.equal(JSON.parse(data).type, name)
  }
  named.hangUp()
})

t.test('a reconnecting client gets nothing twice, and a comment line in the silence', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const port = await listen(app)
  const tasks = await tasksOf(t, app)
  const { id } = await tasks.create('go', { taskType: 'triggered' })
  await tasks.post(`/${id}/steer`, { comment: 'first' })

  const again = await fetch(`http://127.0.0.1:${port}/tasks/events`, { headers: { 'last-event-id': '0' } })
  t.match([again.status, again.headers.get('content-type')], [200, /^text\/event-stream/])
  const reader = again.body!.pipeThrough(new TextDecoderStream()).getReader()
  await clock.advance(15_000)
  t.match((await reader.read()).value, /^:/)
  await tasks.post(`/${id}/steer`, { comment: 'second' })
  t.match((await reader.read()).value, /"comment":"second"/)
  await reader.cancel()
})
