import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import { resolveOptions } from '../../services/runs/options/resolve-options.ts'
import { startFakeGateway } from '../fakes/gateway.ts'
import { build } from '../harness/helper.ts'

// A life of agents, conversations and tasks, by chance, beside a model of it in memory: what is stored, what is refused, and what each run
// is given are what the model says, over restarts.

const AGENTS = ['a', 'b', 'c']
const THREADS = ['t', 'u']
const tools = fc.uniqueArray(fc.constantFrom('readFile', 'writeFile', 'listDirectory', 'runCommand'), { maxLength: 4 })
const layer: fc.Arbitrary<RunOptions> = fc.record({
  allowTools: tools,
  denyTools: tools,
  maxSteps: fc.integer({ min: 1, max: 9 }),
  maxOutputTokens: fc.integer({ min: 100, max: 900 }),
  budget: fc.record({ tokens: fc.integer({ min: 1_000_000, max: 9_000_000 }) }),
  instructions: fc.constantFrom('BE BRIEF', 'IN FRENCH', 'x'.repeat(9_000)),
  interactive: fc.boolean(),
  sandbox: fc.constantFrom('auto' as const, 'required' as const),
  effort: fc.constantFrom('low' as const, 'high' as const)
}, { requiredKeys: [] })
const agent = fc.constantFrom(...AGENTS)
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

type Act =
  | { do: 'put', name: string, options: RunOptions }
  | { do: 'delete', name: string }
  | { do: 'set', thread: string, agent?: string, options?: RunOptions }
  | { do: 'run', thread: string, agent?: string, options?: RunOptions }
  | { do: 'task', agent?: string, options: RunOptions }
  | { do: 'runTask' | 'dropTask', at: number }
  | { do: 'restart' }
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('put' as const), name: agent, options: layer }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), name: agent }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('set' as const), thread: fc.constantFrom(...THREADS), agent: some(agent), options: some(layer) })
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('run' as const), thread: fc.constantFrom(...THREADS), agent: some(agent), options: some(layer) })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('task' as const), agent: some(agent), options: layer }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('runTask' as const, 'dropTask' as const), at: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) }
)

const withAgent = (options: RunOptions | undefined, name: string | undefined): RunOptions | undefined =>
  name === undefined ? options : { ...options, agent: name }

async function live (t: Test, acts: Act[], gatewayBaseURL: string) {
  const config = { model: 'test/model', analysis: false, threads: { titles: false } }
  const settings = { gatewayKey: 'k', gatewayBaseURL }
  let app: App & { home: string, cwd: string } = await build(t, { ...settings, config })
  const agents = new Map<string, RunOptions>()
  const threads = new Map<string, { agent?: string, options?: RunOptions }>()
  const tasks = new Map<string, RunOptions>()
  const call = async (method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: object) => {
    const response = await app.inject({ method, url, ...payload && { payload } })
    return { http: response.statusCode, ...response.json() }
  }
  /** What a run is to be given, or undefined where its request is to be refused. */
  function expected (layers: Array<RunOptions | undefined>): { options: RunOptions | undefined } | undefined {
    const given = layers.filter((each) => each !== undefined)
    const name = given.findLast((each) => each.agent !== undefined)?.agent
    if (name !== undefined && !agents.has(name)) return undefined
    try {
      return { options: given.length === 0 ? undefined : resolveOptions(name === undefined ? given : [agents.get(name)!, ...given]) }
    } catch {
      return undefined
    }
  }
  const isUsed = (name: string) => [...threads.values(), ...tasks.values()].some((each) => each.agent === name)

  for (const [n, each] of acts.entries()) {
    const what = `${n} ${JSON.stringify(each).slice(0, 300)}`
    const fails = (got: unknown) => {
      throw new Error(`${what}: ${JSON.stringify(got).slice(0, 800)}`)
    }
    switch (each.do) {
      case 'put':
        if ((await call('PUT', `/agents/${each.name}`, { options: each.options })).http !== 200) fails('refused')
        agents.set(each.name, each.options)
        break
      case 'delete': {
        const { http } = await call('DELETE', `/agents/${each.name}`)
        if (http !== (!agents.has(each.name) ? 404 : isUsed(each.name) ? 409 : 200)) fails(http)
        if (http === 200) agents.delete(each.name)
        break
      }
      case 'set': {
        const { do: _, thread, ...set } = each
        const chosen = { ...set.agent !== undefined && { agent: set.agent }, ...set.options && { options: set.options } }
        const { http } = await call('PUT', `/threads/${thread}`, { settings: chosen })
        if (http !== (expected([withAgent(set.options, set.agent)]) ? 200 : 400)) fails(http)
        if (http === 200) threads.set(thread, chosen)
        break
      }
      case 'run': {
        const given = withAgent(each.options, each.agent)
        const ofThread = threads.get(each.thread)
        const wanted = expected([withAgent(ofThread?.options, ofThread?.agent), given])
        const message = { role: 'user', content: 'go' }
        const answer = await call('POST', '/run/sync', { id: each.thread, message, ...given && { options: given } })
        if (answer.http !== (wanted ? 200 : 400)) fails(answer)
        if (wanted && !isDeepStrictEqual(answer.options, wanted.options)) fails([answer.options, wanted.options])
        break
      }
      case 'task': {
        const options = withAgent(each.options, each.agent)!
        const plan = { phases: [{ description: 'do it' }] }
        const body = { goal: 'go', taskType: 'triggered', approval: { mode: 'never' }, plan, options }
        const answer = await call('POST', '/tasks', body)
        if (answer.http !== (expected([options]) ? 201 : 400)) fails(answer)
        if (answer.http === 201) tasks.set(answer.id, options)
        break
      }
      case 'runTask': {
        const [id, options] = [...tasks][each.at % Math.max(1, tasks.size)] ?? []
        if (id === undefined) break
        const { runId } = await call('POST', `/tasks/${id}/run`)
        const run = await call('GET', `/runs/${runId}?waitMs=20000`)
        const wanted = expected([options])
        if (run.status !== (wanted ? 'completed' : 'failed')) fails(run)
        if (wanted && !isDeepStrictEqual(run.options, wanted.options)) fails([run.options, wanted.options])
        break
      }
      case 'dropTask': {
        const [id] = [...tasks][each.at % Math.max(1, tasks.size)] ?? []
        if (id === undefined) break
        await call('DELETE', `/tasks/${id}`)
        tasks.delete(id)
        break
      }
      case 'restart':
        await app.close()
        app = await build(t, { ...settings, home: app.home, cwd: app.cwd })
    }
    const stored = (await call('GET', '/agents')).agents.map(({ name, options }: any) => [name, options])
    if (!isDeepStrictEqual(stored, [...agents].sort(([a], [b]) => a < b ? -1 : 1))) fails(stored)
  }
  await app.close()
}

t.test('agents, conversations, requests and tasks come together as the model says, in any order and over restarts', async (t) => {
  const gateway = await startFakeGateway({
    reply: ({ structured }) =>
      structured === undefined
        ? { text: 'done' }
        : { object: { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [], findings: [], decisions: [] } }
  })
  t.teardown(() => gateway.close())
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
  t.comment(`SEED=${seed}`)
  const lives = fc.sample(fc.array(act, { minLength: 30, maxLength: 60, size: 'max' }), { seed, numRuns: Number(process.env.LIVES ?? 20) })
  for (const [n, acts] of lives.entries()) {
    await t.test(`life ${n}, ${acts.length} acts`, (t) => live(t, JSON.parse(JSON.stringify(acts)), gateway.url))
  }
})
