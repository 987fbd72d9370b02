import { mkdirSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { App } from '../../../app.ts'
import { createFiling } from '../../../services/brain/extraction/file-entries.ts'
import type { Plan } from '../../fakes/gateway.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { tasksOf } from '../../harness/tasks.ts'
import { small } from '../../harness/small-window.ts'
import { withGateway } from '../../harness/with-gateway.ts'
import { scene, sloppyAnswers, type SloppyAnswer } from './cases/sloppy-answers-open.ts'

/** Answers of helper models by half; those of the other half were written by somebody else, and are not looked into. */
async function halves (): Promise<Record<string, SloppyAnswer[]>> {
  const held = Object.values(await import('./cases/sloppy-answers-held.ts')).find((each) => Array.isArray(each))
  return { open: sloppyAnswers, held: held as unknown as SloppyAnswer[] }
}

const NO_ANSWER: Plan = { error: { status: 400, message: 'no' } }
const LIKES = { outcome: 'done', satisfied: true, score: 1, quote: '', missing: [], issues: [], claims: [] }
const DEFAULTS: Record<string, object> = {
  analysis: { complexity: 'standard', thinking: '', goal: 'Answer', qualityCriteria: [] },
  plan: { phases: [{ description: 'Do it' }], qualityCriteria: [], expects: 'none' },
  evaluation: LIKES,
  summary: { summary: '' },
  'task-memory': { findings: [], decisions: [], outdated: [] },
  facts: { pointers: [], habits: [] },
  topics: { entries: [] },
  title: { title: '' }
}
/** An answer as its model writes it. */
const written = (text: string): Plan => ({ text: [text], parts: [] })
const UNASKED = { approval: { mode: 'never' }, plan: { phases: [{ description: 'Do it' }] } }
const SECOND = 'Sorry, nothing was done.'

/** What the model of the work does: it collects the invoices, reports, and takes its report back when it is asked again. */
function work ({ body: { prompt } }: any): Plan {
  const last = prompt.at(-1)
  const text = JSON.stringify(last.content)
  if (last.role === 'tool') return { text: scene.report }
  if (text.includes('A review of this run found')) return { text: SECOND }
  if (text.includes(scene.goal)) {
    return { toolCalls: scene.calls.map(({ id, toolName, input }) => ({ toolCallId: `${id}-${prompt.length}`, toolName, input })) }
  }
  return { text: 'It is about the invoice of the baker.' }
}

/** One service whose helper models answer what `answers` says, by the name of the question. */
async function service (t: Test) {
  const answers = new Map<string, Plan>()
  const { app, gateway } = await withGateway(t, work, {
    config: { analysis: true, threads: { titles: true }, permissions: { writeFile: 'allow' } },
    structured: (name) => answers.get(name) ?? { object: DEFAULTS[name] }
  })
  mkdirSync(`${app.cwd}/invoices`)
  for (const n of [4711, 4712, 4713]) writeFileSync(`${app.cwd}/invoices/${n}.txt`, `Invoice ${n}\nPaid: no`)
  const steps = (since: number) => gateway.requests.slice(since).filter(({ structured }) => structured === undefined)
  return { app, gateway, answers, steps }
}
type Service = Awaited<ReturnType<typeof service>>

const countTasks = async (app: App): Promise<number> => (await app.inject('/tasks?limit=500')).json().tasks.length

/** Runs a request, and returns what its user gets. */
async function resultOf ({ app, gateway, steps }: Service, text: string, id?: string) {
  const since = gateway.requests.length
  const tasks = await countTasks(app)
  const payload = { messages: [{ role: 'user', content: text }], id }
  const { statusCode: status, json } = await app.inject({ method: 'POST', url: '/run/sync', payload })
  const { text: answer, evaluation } = json()
  const [first] = steps(since)
  return {
    status,
    answer,
    outcome: evaluation?.outcome,
    tools: first.body.tools.map(({ name }: { name: string }) => name) as string[],
    isTold: JSON.stringify(first.body.prompt).includes(JSON.stringify(text).slice(1, -1)),
    began: await countTasks(app) - tasks
  }
}

type Check = (answer: SloppyAnswer, at: number) => Promise<string | undefined>
type Call = SloppyAnswer['call']

/** Makes the checks of the calls beside summaries: each returns what the user loses by an answer, undefined for nothing. */
async function createChecks (t: Test): Promise<Record<Exclude<Call, 'summary'>, Check>> {
  const made = await service(t)
  const { app, answers, gateway } = made
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const baselines = new Map<string, Awaited<ReturnType<typeof resultOf>>>()
  const given = (name: string, plan: Plan) => {
    answers.clear()
    answers.set(name, plan)
  }

  async function analysis ({ answer, request = scene.request }: SloppyAnswer): Promise<string | undefined> {
    given('analysis', NO_ANSWER)
    if (!baselines.has(request)) baselines.set(request, await resultOf(made, request))
    const without = baselines.get(request)!
    given('analysis', written(answer))
    const got = await resultOf(made, request)
    const lost = without.tools.filter((name) => !got.tools.includes(name))
    if (lost.length > 0) return `tools ${lost.join(', ')}`
    if (got.began !== without.began) return `${got.began} tasks began`
    return got.status === 200 && got.answer === without.answer && got.isTold ? undefined : `the answer: ${JSON.stringify(got.answer)}`
  }

  async function plan ({ answer }: SloppyAnswer): Promise<string | undefined> {
    given('plan', written(answer))
    const { goal, plan } = await tasks.create(scene.goal)
    const isFiller = ({ description }: { description: string }) => /^(?:n\/?a|none|string|tbd)?\P{L}*$/iu.test(description)
    if (goal !== scene.goal || plan.phases.length === 0 || plan.phases.some(isFiller)) return JSON.stringify(plan)
    return undefined
  }

  async function judge ({ answer }: SloppyAnswer, at: number): Promise<string | undefined> {
    answers.clear()
    answers.set('evaluation', written(answer))
    // Analyses that failed are not asked for a while, until the configuration changes.
    await app.inject({ method: 'PATCH', url: '/config', payload: { analysis: true } })
    answers.set('analysis', { object: { complexity: 'complex', thinking: '', goal: 'Collect', qualityCriteria: [] } })
    const since = gateway.requests.length
    if (at % 2 === 0) {
      const { status, answer: text } = await resultOf(made, scene.goal)
      if (!gateway.requests.slice(since).some(({ structured }) => structured === 'evaluation')) return 'nobody judged'
      return status === 200 && text === scene.report ? undefined : `the answer: ${JSON.stringify(text)}`
    }
    const run = await runTask()
    return run.status === 'completed' && run.output === scene.report ? undefined : `${run.status}: ${run.error ?? run.output}`
  }

  async function runTask (id?: string) {
    const taskId = id ?? (await tasks.create(scene.goal, UNASKED)).id
    await tasks.post(`/${taskId}/run`)
    await events.until('task:complete', { taskId }).catch(() => {})
    return (await tasks.runs(taskId))[0]
  }

  async function taskMemory ({ answer }: SloppyAnswer): Promise<string | undefined> {
    const { id } = await tasks.create(scene.goal, UNASKED)
    const { findings, decisions } = scene.memory
    await tasks.call('PUT', `/${id}/memory`, { findings, decisions })
    given('task-memory', written(answer))
    await runTask(id)
    const { memory } = await tasks.get(`/${id}`)
    const kept = [...memory.findings, ...memory.decisions]
    const known: readonly string[] = [...findings, ...decisions]
    const lost = known.filter((entry) => !kept.includes(entry))
    const junk = kept.filter((entry: string) => !known.includes(entry) && !scene.report.includes(entry))
    return lost.length + junk.length === 0 ? undefined : JSON.stringify({ lost, junk })
  }

  return {
    analysis,
    plan,
    judge,
    taskMemory,
    facts: (answer, at) => checkFacts(made, answer, at),
    topics: (answer) => checkTopics(app, answer),
    title: (answer, at) => checkTitle(made, answer, at)
  }
}

const LONG_ANSWER = `Done. ${'It went well. '.repeat(40)}`

/** Returns the check of summaries in a long conversation in a small window: the last prompt holds what its user said, whatever they say. */
async function checkSummaries (t: Test): Promise<Check> {
  let answer: Plan = {}
  const { app, sent, summaries } = await small(t, { config: { contextWindows: { test: 6_800 } }, summary: () => answer })
  const orders = Array.from({ length: 27 }, (_, n) => `Put scan-${n}.pdf into /srv/box${n}, and never call 555-0${100 + n}.`)
  const said = [scene.conversation[0].text, scene.conversation[2].text, ...orders, 'And now?']
  const messages = said.flatMap((content, n) => [
    { role: 'user', content },
    ...n === said.length - 1 ? [] : [{ role: 'assistant', content: scene.conversation[n * 2 + 1]?.text ?? LONG_ANSWER }]
  ])
  return async (given) => {
    answer = written(given.answer)
    const since = summaries().length
    // A conversation of its own: the same messages without an id would find the one before, with its summary.
    await app.inject({ method: 'POST', url: '/run/sync', payload: { id: `summary-${since}`, messages } })
    if (summaries().length === since) return 'nothing was summed up'
    const prompt = JSON.stringify(sent().at(-1))
    const names = [...orders.flatMap((order) => order.match(/scan-\d+\.pdf|\/srv\/box\d+|never call 555-\d+/g)!),
      'Brother HL-L2350DW', '192.168.1.40', 'never restart the router', '~/Downloads/hll2350.deb']
    const lost = names.filter((name) => !prompt.includes(name))
    return lost.length === 0 ? undefined : `${lost.length} of ${names.length}: ${lost.slice(0, 5).join(', ')}`
  }
}

/** Nothing that a person typed or confirmed is replaced, and what is replaced can be restored. */
async function checkFacts ({ app, answers }: Service, { answer }: SloppyAnswer, at: number): Promise<string | undefined> {
  await app.inject({ method: 'DELETE', url: '/memory/brain' })
  const source = { threadId: 'before', message: 0, span: 'x' }
  const learned = { kind: 'fact' as const, replaces: [], isRetraction: false, source, said: Date.now() }
  for (const { text, from } of scene.known) {
    if (from === 'typed') await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: text } })
    else await app.brain.ingest([{ ...learned, said: Date.now() + 1, fact: text, isUnsure: from === 'confirmed' }])
    if (from !== 'confirmed') continue
    const { facts: [{ id }] } = (await app.inject('/memory/brain/facts?state=proposed')).json()
    await app.inject({ method: 'PUT', url: `/memory/brain/facts/${id}`, payload: { state: 'known' } })
  }
  const known = async (state = 'known') => (await app.inject(`/memory/brain/facts?state=${state}&limit=100`)).json().facts as any[]
  answers.clear()
  const id = `facts-${at}-${answer.length}-${Math.random()}`.replace('.', '')
  for (const content of scene.messages) {
    await app.inject({ method: 'POST', url: '/run/sync', payload: { id, message: { role: 'user', content } } })
  }
  // The service counts what is known by ids of its own.
  answers.set('facts', written(answer.replace(/\be([1-5])\b/g, 'k$1')))
  await app.inject({ method: 'POST', url: `/threads/${id}/extract` })
  const texts = (await known()).map(({ fact }) => fact)
  const lost = scene.known.filter(({ text, from }) => from !== 'learned' && !texts.includes(text))
  if (lost.length > 0) return `${lost.length} that a person gave`
  for (const { id, fact } of await known('replaced')) {
    const { statusCode } = await app.inject({ method: 'PUT', url: `/memory/brain/facts/${id}`, payload: { state: 'known' } })
    if (statusCode !== 200) return `not restored: ${fact}`
  }
  const all = (await known()).map(({ fact }) => fact)
  return scene.known.every(({ text }) => all.includes(text)) ? undefined : 'an entry is gone'
}

/** Topics only find entries: none is lost, and no filler is one. */
async function checkTopics (app: App, { answer }: SloppyAnswer): Promise<string | undefined> {
  const before = await app.brain.known()
  const clock = { ...systemClock, now: () => Date.now() + 10 * 60_000 }
  const filing = createFiling({
    brain: app.brain,
    ask: async ({ read, text }) => {
      const value = await read(answer, text)
      return value === undefined ? { problem: 'could not be read' } : { value }
    },
    isOffline: async () => false,
    isWanted: () => true,
    clock,
    log: { warn () {} }
  })
  await filing.round(AbortSignal.timeout(10_000))
  const { entries } = await app.brain.known()
  if (entries.length !== before.entries.length) return 'an entry is gone'
  const hasFiller = entries.some(({ topics = [] }) => topics.some((topic) => /^(?:n\/a|string|none)$/i.test(topic)))
  return hasFiller ? 'a filler is a topic' : undefined
}

/** What no conversation is called: marks alone, roles, tokens, placeholders, greetings and names of all conversations. */
const NO_TITLE =
  /^\P{L}*$|[<|{}]|^\w+:|\btitle\b|^(?:hello|hi|sure)\W|^(?:n\/?a|none|string|chat|new c|conversation)\b|name the conv|sorry|(.)\1{9}/iu

/** The first words of the user stay the title where a model has none. */
async function checkTitle ({ app, answers }: Service, { answer }: SloppyAnswer, at: number): Promise<string | undefined> {
  answers.clear()
  answers.set('title', written(answer))
  const id = `title-${at}-${answer.length}-${Math.random()}`.replace('.', '')
  await app.inject({ method: 'POST', url: '/run/sync', payload: { id, messages: [{ role: 'user', content: scene.titled.user }] } })
  await app.titles.idle()
  const { title } = (await app.inject(`/threads/${id}`)).json()
  return NO_TITLE.test(title) ? JSON.stringify(title) : undefined
}

/** Tries each so many-eth answer of a call; `every` says how many. */
export async function tryAnswers (t: Test, every: (call: Call) => number): Promise<void> {
  const all = await halves()
  await t.test('summaries', async (t) => {
    const check = await checkSummaries(t)
    for (const half of Object.keys(all)) {
      await tryCall(t, half, all[half].filter(({ call }) => call === 'summary'), every('summary'), check)
    }
  })
  await t.test('other calls', async (t) => {
    const checks = await createChecks(t)
    for (const half of Object.keys(all)) {
      for (const call of Object.keys(checks) as Array<keyof typeof checks>) {
        await tryCall(t, half, all[half].filter((each) => each.call === call), every(call), checks[call])
      }
    }
  })
}

async function tryCall (t: Test, half: string, answers: SloppyAnswer[], every: number, check: Check): Promise<void> {
  const failed: string[] = []
  const tried = answers.filter((_, at) => at % every === 0)
  for (const [at, each] of tried.entries()) {
    const lost = await check(each, at)
    if (lost !== undefined) failed.push(half === 'open' ? `${each.note}: ${lost}` : each.call)
  }
  t.same(failed, [], `${half}: ${answers[0]?.call}, ${tried.length} of ${answers.length}`)
}
