import { ok, strictEqual } from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { configOf, startEngine } from './engine.ts'
import { type Forced, startForcingServer } from './forcing-server.ts'
import { startOnModel } from './service.ts'

const MESSAGES = ['What is in this folder?', 'Read notes.txt and tell me who I should call.', 'Thanks.']
export const writeCall = (path: string): Forced => ({
  name: 'writeFile',
  input: {
    type: 'object',
    properties: { path: { type: 'string', const: path }, content: { type: 'string', minLength: 3, maxLength: 40 } },
    required: ['path', 'content'],
    additionalProperties: false
  }
})

/** Conversations, calls with and without approval, a structured answer, memory, a task and titles. */
export async function mainJob ({ isSample = false } = {}): Promise<void> {
  const engine = await startEngine()
  const forcing = await startForcingServer(engine.origin)
  const service = await startOnModel(configOf(forcing.url, 120))
  const { cwd, send, say, decide } = service

  const hi = await say('Hi!')
  const bare = await send('POST', '/run/sync', { messages: [{ role: 'user', content: 'Hi!' }], options: { allowTools: [] } })
  const told = hi.findLast(({ type }) => type === 'finish')!.usage.inputTokens - bare.usage.inputTokens
  ok(told > 300, `the model is told of its tools, which take ${told} tokens`)

  forcing.force(writeCall('haiku.txt'))
  const asked = await say('Write a haiku to haiku.txt.')
  ok(forcing.isForced() && !existsSync(join(cwd, 'haiku.txt')), 'the call waits')
  const written = await decide(asked, true)
  strictEqual(written.toolCalls[0].status, 'completed')
  ok(readFileSync(join(cwd, 'haiku.txt'), 'utf8').length >= 3, 'the file is written')

  if (!isSample) {
    forcing.force(writeCall('other.txt'))
    await decide(await say('Write another one to other.txt.'), false)
    ok(!existsSync(join(cwd, 'other.txt')), 'a denied call does nothing')
    const path = { type: 'string', const: 'notes.txt' }
    forcing.force({ name: 'readFile', input: { type: 'object', properties: { path }, required: ['path'] } })
    const read = await say('Read notes.txt.')
    const outputs = read.filter(({ type }) => type === 'tool-output-available').map(({ output }) => JSON.stringify(output))
    ok(outputs.some((output) => output.includes('Ada')), 'a file is read unasked')
    for (const content of MESSAGES) await say(content)
    await remember(service)
    await runTask(service)
  }

  const { object, error } = await send('POST', '/run/sync', {
    messages: [{ role: 'user', content: 'Which animal says meow?' }],
    options: { object: { schema: { type: 'object', properties: { animal: { type: 'string' } }, required: ['animal'] } }, allowTools: [] }
  })
  console.log(`a structured answer: ${JSON.stringify(object ?? error)}`)
  ok(typeof object?.animal === 'string' || /no object that fits/.test(error), 'an object, or a sentence about why there is none')

  const { threads } = await send('GET', '/threads')
  const { title } = threads.find(({ id }: { id: string }) => id === 'chat')
  console.log(`the title of the chat: ${JSON.stringify(title)}`)
  ok(typeof title === 'string' && title.length > 0 && title.length <= 120, 'the chat has a title')
  await service.stop()
  forcing.close()
  engine.stop()
}

type Service = Awaited<ReturnType<typeof startOnModel>>

async function remember ({ send, say }: Service): Promise<void> {
  await send('POST', '/memory/brain/fact', { fact: 'Likes tea' })
  await say('I live in Graz and my sister is called Eva. Remember that.')
  const extracted = await send('POST', '/threads/chat/extract')
  console.log(`memory: ${JSON.stringify(extracted)}`)
  const { facts } = await send('GET', '/memory/brain/facts')
  ok(facts.some(({ text, fact }: { text?: string, fact?: string }) => (text ?? fact) === 'Likes tea'), 'what was remembered stays')
  console.log(`facts: ${JSON.stringify(facts.map(({ text, fact }: { text?: string, fact?: string }) => text ?? fact))}`)
}

async function runTask ({ cwd, send, waitForEnd }: Service): Promise<void> {
  const { id, name, status } = await send('POST', '/tasks', { goal: 'Say hello.', taskType: 'one_shot', cwd })
  console.log(`a task: ${JSON.stringify(name)}, ${status}`)
  await send('POST', `/tasks/${id}/start`)
  const { runs: [{ runId }] } = await send('GET', `/runs?taskId=${id}`)
  const run = await waitForEnd(runId)
  console.log(`  its run: ${run.status}, ${run.stopped?.reason ?? ''} ${JSON.stringify(run.output?.slice(0, 100) ?? run.error)}`)
  ok(['completed', 'rejected', 'failed', 'pending_approval'].includes(run.status) && (run.output || run.error), 'it ends with words')
}
