import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentError, createAgent, getRun, getToolServer, getUsage, listRuns, testProvider, type Agent } from '../client/index.ts'
import { everything } from '../test/harness/mcp.ts'
import { startService } from '../test/harness/sidecar.ts'
import { startSite } from '../test/fakes/site.ts'
import { ended } from './checks.ts'
import { faultsOf } from './conduct.ts'
import { converse, runOnce, type Drive } from './drive.ts'
import { snapshotOf, writeFiles } from './folder.ts'
import type { Goal, Outcome } from './goal.ts'

/** The settings that all trials of an evaluation share. */
export interface Setup {
  model: string
  /** Added to the config.json of the service. */
  config?: Record<string, unknown>
  /** The environment of the service, which also holds keys of models. */
  env: NodeJS.ProcessEnv
  /** Keys of model providers, by provider, which the service receives on its standard input. */
  keys?: Record<string, string>
  /** How long a goal may take, in milliseconds. */
  timeMs: number
  /** The cost limit for the runs of this trial, in US dollars. */
  budgetUsd?: number
}

/** The result of one trial. */
export interface Trial {
  goal: string
  passed: boolean
  /** The failed checks, in order, each with what was found instead. */
  problems: Array<{ check: string, found: string }>
  /** The rules that the service violated, whatever its model did. */
  faults: string[]
  /** The end of each run, in order: its state, and why it stopped short. */
  ends: string[]
  /** The number of calls of the answering model, and of tool calls. */
  steps: number
  calls: number
  inputTokens: number
  outputTokens: number
  /** Absent if no call has a price; `isPartial` is true if only some calls have one. */
  costUsd?: number
  isPartial?: boolean
  /** Milliseconds from the first message to the last answer. */
  ms: number
  /** The folder of a failed trial, with its files and the home of its service. */
  folder?: string
}

type Site = Awaited<ReturnType<typeof startSite>>

/** How long a tool server may take to connect, and the polling interval, in milliseconds. */
const CONNECT_MS = 30_000
const LOOK_MS = 50
/** How long after its last event the record of a run can appear, in milliseconds. */
const RECORD_MS = 10_000

/** Tries a goal once, in a separate folder and with a separate service. Never rejects: an unexpected error fails the trial. */
export async function tryGoal (goal: Goal, setup: Setup): Promise<Trial> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `goal-${goal.name}-`)))
  const result = await inService(folder, goal, setup, (agent, site) => trialIn(folder, goal, setup, { agent, site })).catch((error) => ({
    ...NOTHING,
    problems: [{ check: 'the goal can be tried', found: error instanceof Error ? error.message : String(error) }]
  }))
  const passed = result.problems.length === 0
  if (passed) rmSync(folder, { recursive: true, force: true })
  return { goal: goal.name, passed, ...result, ...!passed && { folder } }
}

/**
 * Sends a small request to the model, so that a wrong key is found before all goals fail. Resolves to the reason why it does not answer.
 */
export async function whyUnusable (setup: Setup): Promise<string | undefined> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'goal-model-')))
  const asked = async ({ client }: Agent) => (await testProvider({ client, body: { model: setup.model }, throwOnError: true })).data
  try {
    const { ok, error } = await inService(folder, {}, setup, asked)
    return ok ? undefined : error
  } catch (error) {
    return (error as Error).message
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Result = Omit<Trial, 'goal' | 'passed' | 'folder'>

const NOTHING = { faults: [], ends: [], steps: 0, calls: 0, inputTokens: 0, outputTokens: 0, ms: 0 }

/** Calls `use` while a service runs whose workspace is `work` in this folder. */
async function inService<T> (
  folder: string,
  goal: Pick<Goal, 'files' | 'links' | 'outside' | 'site' | 'server'>,
  setup: Setup,
  use: (agent: Agent, site?: Site) => Promise<T>
): Promise<T> {
  writeFiles(join(folder, 'outside'), goal.outside)
  writeFiles(join(folder, 'work'), goal.files, goal.links)
  mkdirSync(join(folder, 'user'))
  const ends: Array<() => unknown> = []
  const t = { teardown: (end: () => unknown) => ends.unshift(end) }
  try {
    const site = goal.site && await startSite(t, goal.site)
    const { url, stop } = await startService(t, {
      home: homeIn(folder, goal, setup),
      cwd: join(folder, 'work'),
      env: { ...setup.env, HOME: join(folder, 'user') },
      ...setup.keys && { args: ['--stdin'], stdin: `${JSON.stringify({ keys: setup.keys })}\n` }
    })
    const agent = createAgent({ url, app: 'eval' })
    if (goal.server) await connected(agent, goal.server)
    const used = await use(agent, site)
    await stop()
    return used
  } finally {
    for (const end of ends) await end()
  }
}

async function trialIn (
  folder: string,
  goal: Goal,
  setup: Setup,
  { agent, site }: { agent: Agent, site?: Site }
): Promise<Result> {
  const work = join(folder, 'work')
  const outside = join(folder, 'outside')
  const before = snapshotOf(work)
  const outsideBefore = snapshotOf(outside)
  const drive: Drive = { goal, agent, folder: work, site: site?.url ?? '', signal: AbortSignal.timeout(setup.timeMs), said: noWords() }
  const began = performance.now()
  const failure = await (goal.task ? runOnce(drive, goal.task) : converse(drive, budgetOf(setup))).catch((error) => error)
  const ms = performance.now() - began
  if (failure !== undefined && !(failure instanceof AgentError) && !drive.signal.aborted) throw failure

  const outcome: Outcome = {
    folder: work,
    before,
    after: snapshotOf(work),
    outsideBefore,
    outsideAfter: snapshotOf(outside),
    ...drive.said,
    visits: site?.requests.map(({ path }) => path) ?? [],
    runs: await runsOf(agent),
    agent
  }
  const late = drive.signal.aborted ? [{ check: 'it is done in time', found: `it took longer than ${setup.timeMs / 1000} s` }] : []
  const problems = [...late, ...await problemsOf(goal, outcome)]
  // A refused request leaves no run with an error, so the request's own error is reported.
  if (failure instanceof AgentError && problems.length === 0) problems.push({ check: ended.says, found: failure.message })
  const ends = outcome.runs.map(endOf).reverse()
  return { problems, faults: faultsOf(outcome), ends, ...await spent(agent), calls: callsOf(outcome), ms }
}

/** Returns all runs. The record of a run can appear shortly after its last event. */
async function runsOf ({ client }: Agent): Promise<Outcome['runs']> {
  const { data: { runs } } = await listRuns({ client, query: { limit: 500 }, throwOnError: true })
  return Promise.all(runs.map(async (run) => {
    if (run.status !== 'running') return run
    return (await getRun({ client, path: { runId: run.runId }, query: { waitMs: RECORD_MS }, throwOnError: true })).data
  }))
}

const noWords = (): Drive['said'] => ({ answers: [], turns: [], approvals: [], questions: [] })
const budgetOf = ({ budgetUsd }: Setup) => budgetUsd === undefined ? {} : { budget: { usd: budgetUsd } }
const endOf = ({ status, stopped, failure }: Outcome['runs'][number]) =>
  [status, stopped?.reason ?? failure?.code ?? failure?.reason].filter(Boolean).join(': ')
const callsOf = ({ runs }: Outcome) => runs.reduce((sum, { toolCount }) => sum + toolCount, 0)

async function problemsOf ({ checks }: Goal, outcome: Outcome): Promise<Trial['problems']> {
  const problems: Trial['problems'] = []
  for (const check of [ended, ...checks]) {
    const found = await check.failure(outcome)
    if (found !== undefined) problems.push({ check: check.says, found })
  }
  return problems
}

/** Creates the configuration directory of the service. */
function homeIn (folder: string, { site, server }: Pick<Goal, 'site' | 'server'>, { model, config }: Setup): string {
  const home = join(folder, 'home')
  mkdirSync(home, { mode: 0o700 })
  writeFileSync(join(home, 'config.json'), JSON.stringify({
    ...config,
    model,
    threads: { titles: false },
    ...site && { fetch: { allowPrivate: true } },
    ...server && { mcp: [everything(server)] }
  }))
  return home
}

async function connected ({ client }: Agent, name: string) {
  const until = performance.now() + CONNECT_MS
  while (true) {
    const { data } = await getToolServer({ client, path: { name }, throwOnError: true })
    if (data.status === 'connected') return
    if (performance.now() > until) throw new Error(`The tool server ${name} is ${data.status} after ${CONNECT_MS / 1000} s: ${data.error}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

async function spent ({ client }: Agent): Promise<Pick<Trial, 'steps' | 'inputTokens' | 'outputTokens' | 'costUsd' | 'isPartial'>> {
  const { data: { groups } } = await getUsage({ client, query: { by: 'role' }, throwOnError: true })
  const sum = (count: (group: typeof groups[number]) => number) => groups.reduce((total, group) => total + count(group), 0)
  return {
    steps: groups.find(({ key }) => key === 'capable')?.calls ?? 0,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    ...groups.some(({ costUsd }) => costUsd !== undefined) && {
      costUsd: sum(({ costUsd = 0 }) => costUsd),
      ...sum(({ unpricedCalls }) => unpricedCalls) > 0 && { isPartial: true }
    }
  }
}
