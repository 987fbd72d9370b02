import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import type { GatewayRequest } from '../fakes/gateway.ts'
import { everything } from '../harness/mcp.ts'
import { postEvents, textOf } from '../harness/sse.ts'
import { watchTasks } from '../harness/tasks.ts'
import { startLoaded } from './load.ts'

const ANSWER = Array.from({ length: 30 }, (_, n) => `piece ${n} `)
/** What is under way when the service is stopped. */
const PARTS = ['run command', 'run answer', 'run tool', 'task command', 'task answer'] as const
type Part = typeof PARTS[number]

/**
 * Stops the service in the middle of commands, a model's answers, a tool server's call and task runs, with its children
 * as a machine that sleeps does, or alone; then lets it go on. Nothing has run out of time and nothing is done twice,
 * although the model, as models do, repeats a call that it is told has failed. `limitMs`: the limits are made so short.
 */
export async function stopInTheMiddle (t: Test, { ms, children, limitMs }: { ms: number, children: boolean, limitMs?: number }) {
  const asked: Record<string, number> = {}
  const reply = ({ body, structured }: GatewayRequest) => {
    if (structured !== undefined) return undefined
    const part = PARTS.find((part) => JSON.stringify(body.prompt).includes(part))!
    const last = body.prompt.at(-1)
    asked[part] = (asked[part] ?? 0) + 1
    const word = part.replace(' ', '-')
    const command = `echo ${word} >> begun; sleep 1; echo ${word} >> ended`
    if (part === 'run answer') return { text: ANSWER, partMs: 50 }
    if (last.role === 'tool' && /"exitCode":0(?!.*timedOut)|completed/.test(JSON.stringify(last))) return { text: 'The command was run.' }
    if (part === 'run tool') return { toolCalls: [{ toolName: 'trigger-long-running-operation', input: { duration: 1, steps: 1 } }] }
    return {
      delayMs: part === 'task answer' ? 1_000 : 0,
      toolCalls: [{ toolName: 'runCommand', input: { command, ...(limitMs && { timeoutMs: limitMs }) } }]
    }
  }
  const { service, where } = await startLoaded(t, reply, {
    config: { permissions: { '*': 'allow' }, tasks: { concurrency: 2 }, ...(limitMs && { agent: { runMs: limitMs } }) }
  })
  const send = async (path: string, body?: object): Promise<any> =>
    (await fetch(service.url + path, {
      method: 'POST',
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    })).json()
  t.match(await send('/mcp/connect', everything()), { status: 'connected' })
  const events = await watchTasks(t, service.url)
  const tasks: string[] = []
  for (const goal of ['task command', 'task answer']) {
    const { id } = await send('/tasks', { goal, approval: { mode: 'never' }, plan: { phases: [{ description: 'run it' }] } })
    tasks.push(id)
  }
  const lines = (name: string) =>
    existsSync(`${where.cwd}/${name}`) ? readFileSync(`${where.cwd}/${name}`, 'utf8').split('\n').filter(Boolean).sort() : []

  await Promise.all(tasks.map((id) => send(`/tasks/${id}/start`)))
  const [command, answer, tool] = (['run command', 'run answer', 'run tool'] satisfies Part[]).map((content) =>
    postEvents(`${service.url}/run`, { messages: [{ role: 'user', content }] })
  )
  while (lines('begun').length < 2 || PARTS.some((part) => asked[part] === undefined)) await wait(10)
  const groups = children ? childrenOf(service.pid) : []
  const all = [service.pid, ...groups.map((pid) => -pid)]
  for (const id of all) process.kill(id, 'SIGSTOP')
  await wait(ms)
  for (const id of all.reverse()) process.kill(id, 'SIGCONT')

  t.match(
    (await command).events.find(({ type }) => type === 'tool-output-available'),
    { output: { exitCode: 0, timedOut: undefined } },
    'the command is not said to have run out of time'
  )
  t.match((await tool).events.find(({ type }) => type === 'tool-output-available'), { output: {} }, 'nor is the call of a tool server')
  for (const { events } of [await command, await tool]) t.match(events.at(-1), { type: 'finish', finishReason: 'stop' })
  t.equal(textOf((await answer).events), ANSWER.join(''), 'the answer is whole')
  for (const { status, error } of await events.ends(2)) t.same({ status, error }, { status: 'completed', error: undefined })
  for (const id of tasks) {
    const { runs } = await (await fetch(`${service.url}/tasks/${id}/runs`)).json() as { runs: object[] }
    t.match(runs, [{ status: 'completed', attempts: 1, toolCalls: [{ status: 'completed', output: { exitCode: 0 } }] }])
  }
  t.same(lines('begun'), ['run-command', 'task-answer', 'task-command'], 'nothing is done twice')
  t.same(lines('ended'), ['run-command', 'task-answer', 'task-command'], 'nor by halves')
  t.same(asked, { 'run command': 2, 'run answer': 1, 'run tool': 2, 'task command': 2, 'task answer': 2 }, 'no model is asked twice')
  t.match(await service.stop(), { code: 0 })
}

/** Those that lead a group of their own. */
const childrenOf = (parent: number) =>
  readdirSync('/proc').map(Number).filter((pid) => {
    try {
      const [, itsParent, group] = /^\d+ \(.*\) \S (\d+) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))!
      return Number(itsParent) === parent && Number(group) === pid
    } catch {
      return false
    }
  })
