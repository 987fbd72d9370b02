import { execFileSync } from 'node:child_process'
import t from 'tap'
import { startFakeSearch } from '../fakes/search.ts'
import { startSite } from '../fakes/site.ts'
import { misbehaving } from '../harness/mcp.ts'
import { alive, allGone } from '../services/process/alive.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

const CANARY = 'canary-51b7d0e2a94f'

t.test('a task of the built service reaches tool servers, pages and the search, and outlives a server that crashes', {
  skip: process.platform !== 'linux' && 'needs /proc'
}, async (t) => {
  const search = await startFakeSearch(
    t,
    'searxng',
    () => ({ results: [{ title: 'Cats', url: 'https://cats.test/', snippet: 'All about them.' }] })
  )
  const site = await startSite(t, { '/': '<title>My page</title><p>Written for a test.' })
  const dir = t.testdir({
    home: {
      'config.json': JSON.stringify({
        analysis: false,
        fetch: { allowPrivate: true },
        search: { provider: 'searxng', baseURL: search.url }
      })
    },
    work: {}
  })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  for (const body of [misbehaving('odd', [], { env: { TOKEN: CANARY }, approval: 'always' }), misbehaving('good')]) {
    t.equal(
      (await fetch(`${service.url}/mcp/connect`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body)
      })).status,
      200
    )
  }
  const tasks = await tasksOf(t, service)
  const watch = await tasks.watch()
  /** The calls of the only run of a task with this goal. */
  const done = async (goal: string): Promise<{ status: string, output: string, calls: any[] }> => {
    const { id } = await tasks.create(goal)
    await tasks.post(`/${id}/start`)
    const { runId } = await watch.until('task:start', { taskId: id })
    await watch.ended(watch.of('task:start').length)
    const run = await tasks.get(`/${id}/runs/${runId}`)
    return { status: run.status, output: run.output, calls: run.toolCalls }
  }

  const { status, calls } = await done(
    'use echo with {"message": "from a task"} then use image with {"characters": 100000} then use env with {"name": "TOKEN"} then fetch ' +
    `${site.url}/ then search for cats then use the fork tool then use good_pid with {}`
  )
  t.equal(status, 'completed')
  t.match(calls.map(({ toolName, status, output }) => [toolName, status, output]), [
    ['echo', 'completed', { content: [{ text: 'from a task' }] }],
    ['image', 'completed', { content: [{ type: 'image', data: 'A'.repeat(100_000) }] }],
    ['env', 'completed', { content: [{ text: '[secret]' }] }],
    ['fetchUrl', 'completed', { title: 'My page', content: 'Written for a test.' }],
    ['webSearch', 'completed', { results: [{ title: 'Cats', url: 'https://cats.test/' }] }],
    ['fork', 'completed', {}],
    ['good_pid', 'completed', {}]
  ])
  const [forked, good] = [calls[5], calls[6]].map(({ output }) => Number(output.content[0].text))
  t.same([alive(forked), alive(good)], [true, true])

  const lost = await done('use the crash tool then use good_echo with {"message": "still here"}')
  t.match(lost.calls.slice(0, 2).map(({ toolName, status, output }) => [toolName, status, output]), [
    ['crash', 'error'],
    ['good_echo', 'completed', { content: [{ text: 'still here' }] }]
  ])
  t.match(lost.output, /could not use crash: The tool server was lost[^]*still here/, 'the report says both')
  await allGone([forked])
  t.ok(alive(good), 'the other server is the one it was')

  t.match(await service.stop(), { code: 0 })
  t.notOk(alive(good))
  const told = JSON.stringify([watch.events, calls, lost]) + service.log() + service.out()
  t.notMatch(told, CANARY)
  t.equal(
    execFileSync('sh', ['-c', `grep -rlaF ${CANARY} "$1" || true`, 'sh', dir], { encoding: 'utf8' }),
    '',
    'the secret lies nowhere as it is'
  )
})
