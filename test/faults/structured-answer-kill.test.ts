import t from 'tap'
import { insistentClient, prepareDirectory, startDying } from './dying-service.ts'

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const options = { object: { schema, retries: 1 }, instructions: 'Count twice.', allowTools: ['listDirectory'], maxSteps: 5 }
const give = (n: unknown) => ({ toolCalls: [{ toolName: 'answer', input: { n } }] })
/** An answer that does not fit, one beside another call, and none that a third attempt could use. */
const SCRIPT = [
  { toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] },
  give('one'),
  { toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }, { toolName: 'answer', input: { n: 1 } }] },
  give(3)
]
const OVER = ['completed', 'failed', 'interrupted', 'cancelled', 'rejected']

t.test('a run that owes an object gives it once, with its options and its retries, wherever the service is killed', async (t) => {
  const prepared = await prepareDirectory(t, SCRIPT)
  for (const killAt of ['8 after', '14 before']) {
    await t.test(`killed ${killAt} a write`, async (t) => {
      const lives = await startDying(t, prepared, killAt)
      const client = insistentClient(t, lives)
      const { insist } = client
      const { id } = await insist((tasks) => tasks.create('count', { plan: { phases: [{ description: 'look' }] }, options }))
      await insist((tasks) => tasks.call('POST', `/${id}/start`))
      let run: any
      while (run === undefined || !OVER.includes(run.status)) {
        run = await insist(async (tasks) => {
          const [{ runId }] = await tasks.runs(id)
          return (await fetch(`${tasks.url}/runs/${runId}?waitMs=5000`)).json()
        })
      }
      t.equal(lives.deaths, 1)
      t.match(run, { status: 'completed', object: { n: 1 }, options })
      t.same(run.toolCalls.map(({ toolName, status }: any) => `${toolName} ${status}`), [
        'listDirectory completed',
        'answer error',
        'listDirectory completed',
        'answer completed'
      ])
    })
  }
})
