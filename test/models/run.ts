import { ok, strictEqual } from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../harness/source-tree.ts'
import { parseEvents } from '../harness/sse.ts'
import { start } from '../ship/start.ts'
import { CACHE, install, isInstalled, missingPrograms, startEngine } from './engine.ts'

// The built service on a real model server: conversations, a structured answer, memory, a task and titles. The model is small and weak:
// what it says is not judged, only that every run ends well and that it is shown its tools.
// With --if-cached nothing is installed, for CI.

const isSample = process.argv.includes('--if-cached')
if (!isInstalled()) {
  if (isSample) {
    console.log(`No model server in ${CACHE}: skipped. "npm run test:models" installs one.`)
    process.exit(0)
  }
  const missing = missingPrograms()
  if (missing.length > 0) {
    console.error(`The model server cannot be built: install ${missing.join(', ')}, or set LOCAL_AGENT_MODELS to a folder that has it.`)
    process.exit(1)
  }
  install()
}

const engine = await startEngine()
const home = mkdtempSync(join(tmpdir(), 'local-agent-models-'))
const cwd = mkdtempSync(join(tmpdir(), 'local-agent-work-'))
writeFileSync(join(cwd, 'notes.txt'), 'Call Ada about the boat.\n')
writeFileSync(join(home, 'config.json'), JSON.stringify({
  model: 'llama/smol',
  models: { settings: { capable: { maxOutputTokens: 120 } } },
  providers: { llama: { baseURL: `${engine.origin}/v1`, models: ['smol'] } }
}))
const service = await start([process.execPath, join(ROOT, 'dist/server.js')], { home, cwd })

async function send (method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(service.url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...body && { body: JSON.stringify(body) }
  })
  const text = await response.text()
  // A model as small as this may fail to give an object; the service says so with 422.
  ok(response.ok || response.status === 422, `${method} ${path}: ${response.status} ${text}`)
  return response.headers.get('content-type')?.startsWith('text/event-stream') ? parseEvents(text) : JSON.parse(text)
}

const MESSAGES = [
  'Hi!',
  'What is in this folder?',
  'Read notes.txt and tell me who I should call.',
  'Write a haiku to haiku.txt.',
  'Thanks.'
]
const began = performance.now()
let calls = 0
for (const content of MESSAGES.slice(0, isSample ? 3 : undefined)) {
  const at = performance.now()
  const events: Array<Record<string, any>> = await send('POST', '/run', { id: 'chat', message: { role: 'user', content }, cwd })
  const errors = events.filter(({ type }) => type === 'error')
  strictEqual(errors.length, 0, JSON.stringify(errors))
  const finish = events.findLast(({ type }) => type === 'finish')
  const asked = events.filter(({ type }) => type === 'tool-approval-request').map(({ approvalId }) => approvalId)
  calls += events.filter(({ type }) => type === 'tool-input-available').length
  for (const approvalId of asked) await send('POST', `/approvals/${approvalId}`, { approved: false })
  const { inputTokens } = finish?.usage ?? {}
  console.log(`${JSON.stringify(content)}: ${Math.round(performance.now() - at)} ms, ${inputTokens} tokens read, ${finish?.finishReason}`)
  ok(inputTokens > 2_000, 'the model is shown its tools')
}

const object = await send('POST', '/run/sync', {
  messages: [{ role: 'user', content: 'Which animal says meow?' }],
  options: { object: { schema: { type: 'object', properties: { animal: { type: 'string' } }, required: ['animal'] } }, allowTools: [] }
})
console.log(`a structured answer: ${JSON.stringify(object.object ?? object.error)}`)

if (!isSample) {
  await send('POST', '/memory/brain/fact', { fact: 'Likes tea' })
  const task = await send('POST', '/tasks', { goal: 'Say hello.', taskType: 'once', plan: { phases: [{ description: 'Say hello' }] } })
  console.log(`a task: ${task.id}, ${task.name}`)
}
const { threads } = await send('GET', '/threads')
console.log(`title of the chat: ${JSON.stringify(threads[0]?.title)}`)
ok(String(threads[0]?.title ?? '').length <= 120)
console.log(`${calls} calls, ${Math.round((performance.now() - began) / 1_000)} s`)
strictEqual(await service.stop(), 0)
engine.stop()
