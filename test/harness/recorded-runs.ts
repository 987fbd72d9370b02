import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ApprovalDecision, ApprovalView } from '../../schemas/approvals.ts'
import { inProcess } from '../../bin/replay.ts'
import { runThrough } from '../../services/recordings/replay/run-through.ts'
import type { Line, Recording } from '../../services/recordings/recording.ts'
import type { App } from '../../app.ts'
import type { Settings } from '../../settings.ts'
import type { Plan } from '../fakes/gateway.ts'
import { FORMAT } from './questions.ts'
import { everything, connect } from './mcp.ts'
import { analysis } from './with-analysis.ts'
import { withGateway } from './with-gateway.ts'
import { OPTIONS } from './app-tools.ts'

type Test = Parameters<typeof withGateway>[0]

/** A kind of run: its model's answers, its request, and the decisions and results of its user and application. */
export interface Kind {
  turns: Plan[]
  structured?: (name: string) => Plan
  config?: object
  files?: Record<string, string>
  request?: object
  task?: object
  /** By default, everything is approved. */
  decide?: (item: ApprovalView) => ApprovalDecision
  /** The result that the application sends. */
  result?: object
  before?: (app: App) => Promise<unknown>
  /** Makes the run in its own way; returns the id of the run. */
  make?: (app: App, cwd: string) => Promise<string>
  settings?: Partial<Settings>
}

const call = (toolName: string, input: object): Plan => ({ toolCalls: [{ toolName, input }] })
const write = (path: string, content: string) => call('writeFile', { path, content })
const said = (content: string) => ({ messages: [{ role: 'user', content }] })
const done: Plan = { text: 'All of it is done.' }
/** The claim that a judge finds in a report that no call confirms. */
const REPORTED = { quote: 'I wrote report.txt', claim: 'Wrote report.txt', effect: 'file', target: 'report.txt', call: null }

/** All kinds of steps, approvals, tool servers and failures. */
export const KINDS: Record<string, Kind> = {
  'read and write': { turns: [call('readFile', { path: 'a.txt' }), write('notes.txt', 'hello'), done], files: { 'a.txt': 'one\ntwo\n' } },
  denied: { turns: [write('notes.txt', 'hello'), { text: 'Then not.' }], decide: () => ({ approved: false, reason: 'Not now.' }) },
  'corrected input': {
    turns: [write('notes.txt', 'hello'), done],
    decide: () => ({ approved: true, input: { path: 'other.txt', content: 'goodbye' } })
  },
  question: {
    turns: [{ toolCalls: [{ toolName: 'askUser', input: { questions: [FORMAT] } }] }, { text: 'Markdown it is.' }],
    request: { ...said('Write the report.'), options: { interactive: true } },
    decide: () => ({ answers: { format: 'md' } })
  },
  'application call': {
    turns: [call('openDocument', { name: 'Budget' }), call('saveDocument', { name: 'Budget' }), done],
    request: { ...said('Open and save the budget.'), options: OPTIONS },
    result: { output: { pages: 12 } }
  },
  'application call that fails': {
    turns: [call('openDocument', { name: 'Budget' }), { text: 'There is none.' }],
    request: { ...said('Open the budget.'), options: OPTIONS },
    result: { error: 'There is no such document.' }
  },
  'structured answer': {
    turns: [call('answer', { total: 'three' }), call('answer', { total: 3 })],
    request: {
      ...said('How many?'),
      options: { object: { schema: { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] } } }
    }
  },
  'structured answer that never fits': {
    turns: Array.from({ length: 5 }, () => call('answer', { total: 'three' })),
    request: {
      ...said('How many?'),
      options: { object: { schema: { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] }, retries: 1 } }
    }
  },
  'review and refinement': {
    turns: [call('listDirectory', {}), { text: 'I wrote report.txt.' }, { text: 'I wrote nothing; the folder is empty.' }],
    config: { analysis: true },
    structured: (name) => name === 'analysis'
      ? { object: analysis('complex') }
      : { object: { outcome: 'done', claims: [REPORTED], satisfied: false, score: 0.2, issues: ['No report was written.'] } }
  },
  'tool server': {
    turns: [call('echo', { message: 'hello there' }), call('get-sum', { a: 2, b: 3 }), { text: 'Echo and sum.' }],
    before: (app) => connect(app, everything())
  },
  'provider that fails': { turns: [call('listDirectory', {}), { error: { status: 400, type: 'invalid_request_error', message: 'no' } }] },
  'retried answer': { turns: [{ text: 'Cut off here', ending: 'cut', after: 4 }, call('listDirectory', {}), done] },
  'used up steps': {
    turns: [call('listDirectory', {}), { text: 'I could not go on.' }],
    request: { ...said('Look around.'), options: { maxSteps: 1 } }
  },
  'repeated calls': { turns: Array.from({ length: 12 }, () => call('listDirectory', {})) },
  'empty answer': { turns: [{ text: '' }, done] },
  'cut off answer': { turns: [{ text: 'As long as', finishReason: 'length' }] },
  'refused answer': { turns: [{ text: '', finishReason: 'content-filter' }] },
  'invalid call': { turns: [call('readFile', { file: 'a.txt' }), call('readFile', { path: 'a.txt' }), done], files: { 'a.txt': 'one' } },
  'unknown tool': { turns: [call('readMind', {}), { text: 'I have no such tool.' }] },
  'tool error': { turns: [call('readFile', { path: 'missing.txt' }), { text: 'There is no such file.' }] },
  'files changed in every way': {
    turns: [
      call('readFile', { path: 'a.txt' }),
      call('editFile', { path: 'a.txt', edits: [{ oldText: 'one', newText: '1' }] }),
      call('moveFile', { from: 'b.txt', to: 'c/b.txt' }),
      call('deleteFile', { path: 'd.txt' }),
      call('searchFiles', { pattern: '1' }),
      done
    ],
    files: { 'a.txt': 'one\ntwo\n', 'b.txt': 'B', 'd.txt': 'D' }
  },
  command: { turns: [call('runCommand', { command: 'echo "$((20 + 3))"' }), { text: '23' }] },
  'granted call': {
    turns: [write('a.md', '1'), write('b.md', '2'), done],
    decide: ({ scopes = [] }) => ({ approved: true, ...(scopes.some(({ scope }) => scope === 'folder') && { scope: 'folder' }) })
  },
  'calls side by side': {
    turns: [
      {
        text: 'Both at once.',
        toolCalls: [
          { toolName: 'writeFile', input: { path: 'a.txt', content: '1' } },
          { toolName: 'writeFile', input: { path: 'b.txt', content: '2' } },
          { toolName: 'listDirectory', input: {} }
        ]
      },
      { text: 'One of them.' }
    ],
    decide: ({ input }) => ({ approved: (input as { path: string }).path === 'a.txt' })
  },
  thinking: { turns: [{ reasoning: 'Let me look first.', ...call('listDirectory', {}) }, { reasoning: 'Empty.', text: 'It is empty.' }] },
  'plan shown': {
    turns: [call('updatePlan', { steps: [{ text: 'look', status: 'completed' }, { text: 'tell', status: 'pending' }] }), done]
  },
  'follow-up': {
    turns: [{ text: 'Hello.' }, write('notes.txt', 'as before'), done],
    async make (app, cwd) {
      const first = await app.inject({ method: 'POST', url: '/run/sync', payload: { id: 'talk', ...said('Hello!'), cwd } })
      await first.json()
      const second = { type: 'request' as const, messages: [{ role: 'user', content: 'Now write it down.' }] }
      const before = { role: 'assistant', content: 'Hello.' }
      const messages = [{ role: 'user', content: 'Hello!' }, before, ...second.messages]
      return (await through(app, cwd, { ...second, messages }, { decide: () => ({ approved: true }) })).runId
    }
  },
  'chat client': {
    turns: [call('listDirectory', {}), { text: 'Nothing there.' }],
    request: { messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'What is here?' }] }] }
  },
  'no permission': {
    turns: [write('a.txt', '1'), { text: 'I may not write.' }],
    config: { permissions: { writeFile: 'deny' } }
  },
  'nobody there': {
    turns: [write('a.txt', '1'), { text: 'Nobody let me.' }],
    request: { ...said('Write.'), options: { interactive: false } }
  },
  'used up tokens': {
    turns: [{ ...call('listDirectory', {}), usage: { inputTokens: 900, outputTokens: 200 } }, done],
    request: { ...said('Look around.'), options: { budget: { tokens: 1_000 } } }
  },
  'stopped in an answer': {
    turns: [call('listDirectory', {}), { text: ['I ', 'will ', 'say '], ending: 'stall', after: 5 }],
    make: (app, cwd) => whileRunning(app, cwd, async (id, text) => {
      if (text.includes('will')) await app.inject({ method: 'POST', url: `/run/${id}/stop`, payload: {} })
    })
  },
  'agent with its name and options': {
    turns: [call('listDirectory', {}), done],
    async make (app, cwd) {
      const options = { instructions: 'Be brief.', allowTools: ['listDirectory', 'readFile'] }
      await app.inject({ method: 'PUT', url: '/agents/reader', payload: { options } })
      const payload = { ...said('Look round.'), cwd, options: { agent: 'reader', denyTools: ['readFile'] } }
      return (await app.inject({ method: 'POST', url: '/run/sync', payload })).json().runId
    }
  },
  steered: {
    turns: [{ text: ['One ', 'moment. '], ...call('listDirectory', {}), partMs: 60 }, { text: 'In German then.' }],
    make: (app, cwd) => whileRunning(app, cwd, async (id, text) => {
      if (text.includes('One')) await app.inject({ method: 'POST', url: `/run/${id}/steer`, payload: { message: 'In German, please.' } })
    })
  },
  'task with approvals': {
    turns: [write('notes.txt', 'hello'), call('updatePhase', { phase: 'phase-1', status: 'completed' }), { text: 'I wrote notes.txt.' }],
    task: { goal: 'Write hello to notes.txt.', plan: { phases: [{ description: 'write' }] }, approval: { mode: 'always' } },
    structured: (name) => name === 'task-memory' ? { object: { findings: ['notes.txt is there'], decisions: [] } } : {}
  },
  'task whose result is rejected': {
    turns: [{ text: 'Nothing was to be done.' }],
    task: { goal: 'Look whether anything is to be done.', plan: { phases: [{ description: 'look' }] }, approval: { mode: 'always' } },
    decide: () => ({ approved: false, reason: 'There was.' })
  },
  'task without approvals': {
    turns: [write('notes.txt', 'hello'), { text: 'I wrote notes.txt.' }],
    task: { goal: 'Write hello to notes.txt.', plan: { phases: [{ description: 'write' }] }, approval: { mode: 'never' } }
  },
  'task that asks': {
    turns: [{ toolCalls: [{ toolName: 'askUser', input: { questions: [FORMAT] } }] }, { text: 'Markdown.' }],
    task: { goal: 'Choose a format.', plan: { phases: [{ description: 'ask' }] }, approval: { mode: 'always' } },
    decide: ({ kind }) => kind === 'question' ? { answers: { format: 'md' } } : { approved: true }
  },
  'task that fails': {
    turns: [call('listDirectory', {}), { error: { status: 400, type: 'invalid_request_error', message: 'no' } }],
    task: { goal: 'Look around.', plan: { phases: [{ description: 'look' }] }, approval: { mode: 'never' } }
  }
}

/** Sends a request or creates a task, and answers the requests of its run. */
const through = (app: App, cwd: string, asked: Line, { decide, result }: Pick<Kind, 'decide' | 'result'>) => {
  const recording = { header: { type: 'recording', version: 1 }, lines: [asked] } as Recording
  return runThrough(recording, inProcess(app), cwd, { decide: decide ?? (() => ({ approved: true })), answerCall: () => result as never })
}

/** Starts a run, and calls `look` with the thread id and the text of the stream so far while the run executes. */
async function whileRunning (app: App, cwd: string, look: (id: string, text: string) => Promise<unknown>): Promise<string> {
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const id = 'looked-at'
  const response = await fetch(`${address}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, ...said('Look around.'), cwd })
  })
  let text = ''
  let looked = false
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (looked || !/text-delta/.test(text)) continue
    const before = text
    await look(id, text)
    looked = /will|One/.test(before)
  }
  const [{ runId }] = (await app.inject(`/runs?threadId=${id}`)).json().runs
  await app.inject(`/runs/${runId}?waitMs=20000`)
  return runId
}

/** Makes a run of a kind with a service of its own, and returns its recording. */
export async function recordKind (t: Test, kind: Kind): Promise<{ text: string, app: App, runId: string, cwd: string }> {
  const { turns, structured, config, files = {}, request = said('Do it.'), task, before, make, settings } = kind
  const { app } = await withGateway(t, (_request, nth) => turns[nth] ?? done, {
    ...settings,
    ...(config && { config }),
    ...(structured && { structured: (name) => structured(name) })
  })
  const { cwd } = app as unknown as { cwd: string }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  await before?.(app)
  const asked = (task ? { type: 'task', ...task } : { type: 'request', ...request }) as Line
  const runId = make ? await make(app, cwd) : (await through(app, cwd, asked, kind)).runId
  const { statusCode, body } = await app.inject({ method: 'POST', url: `/runs/${runId}/recording` })
  if (statusCode !== 200) throw new Error(body)
  return { text: body, app, runId, cwd }
}
