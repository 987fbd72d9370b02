import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { effects } from '../harness/effects.ts'
import { startService, type Sidecar } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

/** A request with an Idempotency-Key or an approvalId, and what it was answered; undefined while nobody knows. */
interface Asked {
  path: string
  body?: any
  key?: string
  answer?: any
}
type Calls = Awaited<ReturnType<typeof tasksOf>>

const pick = <T>(all: T[]): T => all[Math.floor(Math.random() * all.length)]
const effectOf = (text: string) => `run \`echo ${text} >> effects.log\``
const marksIn = (call: any): string | undefined => /echo ([\w-]+) >>/.exec(call.input?.command ?? '')?.[1]

/** What clients did in all lives, and were told. */
function createLedger () {
  const asked: Asked[] = []
  const of = (end: string) => asked.filter(({ path, answer }) => path.endsWith(end) && answer !== undefined)
  return {
    asked,
    tasks: (): string[] => asked.filter(({ path, answer }) => path === '' && answer !== undefined).map(({ answer }) => answer.id),
    runs: () => of('/run').map(({ answer }) => answer),
    steers: () => of('/steer'),
    approvals: () => of('/approve').map(({ answer }) => answer)
  }
}

/**
 * Kills the built service at random moments, life after life, while impatient clients make tasks, run and steer them and
 * answer what they ask. Whatever was acknowledged must be there in the next life, once; what was not is asked again with
 * the same key. Returns how many requests were acknowledged.
 */
export async function killTaskLives (t: Test, lives: number): Promise<number> {
  const dir = t.testdir({ home: { 'config.json': '{"tasks": {"concurrency": 3}}' }, work: {} })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const ledger = createLedger()
  let unique = 0

  for (let life = 0; ; life++) {
    const service = await startService(t, where)
    const tasks = await tasksOf(t, service)
    await askAgain(t, tasks, ledger.asked, life)
    await check(t, tasks, ledger, life)
    if (life === lives) {
      await finish(t, tasks, ledger, where.cwd)
      t.match(await service.stop(), { code: 0 })
      return ledger.asked.length
    }

    const spoke = Promise.withResolvers<void>()
    async function ask (request: Asked) {
      ledger.asked.push(request)
      const { status, body } = await tasks.call('POST', request.path, request.body, request.key ? { 'idempotency-key': request.key } : {})
      settle(t, ledger.asked, request, status, body)
      spoke.resolve()
    }
    const known = () => pick(ledger.tasks())
    const clients = [
      async (n: number) => {
        if (n > 1) return wait(50)
        const mode = pick(['never', 'never', 'always'])
        await ask({
          path: '',
          key: `key ${++unique}`,
          body: { goal: effectOf(`goal-${unique}`), taskType: 'triggered', approval: { mode } }
        })
      },
      async () => {
        await ask({ path: `/${known()}/run`, key: `key ${++unique}` })
        await wait(30)
      },
      async () => {
        await ask({
          path: `/${known()}/steer`,
          key: `key ${++unique}`,
          body: { comment: effectOf(`said-${unique}`), runNow: Math.random() < 0.5 }
        })
        await wait(20)
      },
      async () => {
        const { tasks: all } = await tasks.get('?limit=500')
        const waiting = all.filter(({ waitingFor }: any) => waitingFor !== undefined)
        for (const { id } of waiting) await answer(tasks, id, ask)
        if (waiting.length === 0) await wait(5)
      }
    ]
    await clients[0](0).catch(() => {})
    const working = clients.map(async (work) => {
      for (let n = 0; isAlive(service); n++) await work(n)
    })
    const over = Promise.all(working).catch((error) => {
      if (isAlive(service)) throw error
    })
    if (life % 3 !== 2) await Promise.race([spoke.promise, over])
    await wait(Math.random() * 700)
    await service.stop('SIGKILL')
    await over
    await Promise.allSettled(working)
  }
}

const isAlive = ({ child }: Sidecar) => child.exitCode === null && child.signalCode === null && !child.killed

/** Keeps what a request was answered; one that was refused for the state of its task has done nothing. */
function settle (t: Test, asked: Asked[], request: Asked, status: number, body: any) {
  if (status === 409) asked.splice(asked.indexOf(request), 1)
  else if (status > 202) t.fail(`${request.path} answered ${status}`, body)
  else request.answer = body
}

/** Answers the open questions of a task, mostly with yes. */
async function answer (tasks: Calls, id: string, ask: (request: Asked) => Promise<void>) {
  const waiting = (await tasks.runs(id)).filter(({ status }: any) => status === 'pending_approval')
  for (const { approvalId } of waiting.flatMap(({ questions }: any) => questions)) {
    await ask({ path: `/${id}/approve`, body: { approvalId, approved: Math.random() < 0.8 } })
  }
}

/** Asks the newest again: the first answer comes again, and what nobody heard of takes effect at most once. */
async function askAgain (t: Test, tasks: Calls, asked: Asked[], life: number) {
  for (const request of asked.filter(({ answer }, at) => answer === undefined || at >= asked.length - 30)) {
    const { path, body, key } = request
    const { status, body: again } = await tasks.call('POST', path, body, key ? { 'idempotency-key': key } : {})
    if (request.answer === undefined) settle(t, asked, request, status, again)
    // What an approval leads to goes on meanwhile.
    else if (path.endsWith('/approve')) {
      t.match(again, { ok: true, approvalId: body.approvalId, approved: body.approved }, `life ${life}: the same decision is no news`)
    } else t.same(again, request.answer, `life ${life}: ${path} gets its first answer again`)
  }
}

/** All that was acknowledged is there, once. */
async function check (t: Test, tasks: Calls, ledger: ReturnType<typeof createLedger>, life: number) {
  const all: any[] = []
  for (let cursor = ''; ;) {
    const page = await tasks.get(`?limit=500${cursor}`)
    all.push(...page.tasks)
    if (!page.nextCursor) break
    cursor = `&cursor=${page.nextCursor}`
  }
  t.same(all.map(({ id }) => id).sort(), ledger.tasks().sort(), `life ${life}: the tasks that were acknowledged`)
  const manual: string[] = []
  for (const { id, totalRuns, steeringHistory, approvalHistory } of all) {
    const runs: any[] = (await tasks.get(`/${id}/runs?limit=500`)).runs
    t.same(
      runs.map(({ runNumber }) => runNumber),
      Array.from({ length: totalRuns }, (_, n) => totalRuns - n),
      `life ${life}: run numbers have no gaps and no doubles`
    )
    manual.push(...runs.filter(({ trigger }) => trigger === 'manual').map(({ runId }) => runId))
    const said = ledger.steers().filter(({ path }) => path === `/${id}/steer`).map(({ body }) => body.comment)
    t.same(steeringHistory.map(({ comment }: any) => comment).sort(), said.sort(), `life ${life}: the comments that were acknowledged`)
    for (const { approvalId, approved } of ledger.approvals().filter(({ taskId }) => taskId === id)) {
      t.same(
        approvalHistory.filter((entry: any) => entry.approvalId === approvalId).map((entry: any) => entry.approved),
        [approved],
        `life ${life}: an answer is there, once`
      )
    }
  }
  t.same(manual.sort(), ledger.runs().map(({ runId }) => runId).sort(), `life ${life}: the runs that were acknowledged`)
}

/** Lets everything come to its end, and looks at what happened outside. */
async function finish (t: Test, tasks: Calls, { tasks: known }: ReturnType<typeof createLedger>, cwd: string) {
  const events = await tasks.watch()
  const yes = async ({ path, body }: Asked) => {
    await tasks.call('POST', path, body)
  }
  const doubtful = new Map<string, number>()
  const done = new Map<string, number>()
  const count = (map: Map<string, number>, mark: string) => map.set(mark, (map.get(mark) ?? 0) + 1)
  for (const id of known()) {
    for (;;) {
      const seen = events.events.length
      const { status, waitingFor } = await tasks.get(`/${id}`)
      if (waitingFor !== undefined) await answer(tasks, id, yes)
      else if (status === 'running') await events.beyond(seen)
      else break
    }
    t.equal((await tasks.get(`/${id}`)).status, 'planned', 'where it came from')
    for (const run of (await tasks.get(`/${id}/runs?limit=500`)).runs) {
      t.match(run, { status: /^(completed|failed|rejected|interrupted)$/, completedAt: Number })
      for (const call of run.toolCalls) {
        const mark = marksIn(call)
        if (mark !== undefined && call.status !== 'denied') count(call.status === 'completed' ? done : doubtful, mark)
      }
    }
  }
  const happened = new Map<string, number>()
  for (const mark of effects(cwd).split('\n').filter(Boolean)) count(happened, mark)
  for (const mark of new Set([...done.keys(), ...happened.keys()])) {
    const [times, sure, maybe] = [happened, done, doubtful].map((map) => map.get(mark) ?? 0)
    if (times < sure || times > sure + maybe) t.fail(`${mark} happened ${times} times; ${sure} calls are done, ${maybe} in doubt`)
  }
  t.comment(
    `${[...happened.values()].reduce((sum, n) => sum + n, 0)} effects, ${
      [...doubtful.values()].reduce((sum, n) => sum + n, 0)
    } calls in doubt`
  )
}
