import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import { startService } from '../harness/sidecar.ts'
import { kinds, parseEvents, textOf, type Sent } from '../harness/sse.ts'

const execute = promisify(execFile)

/** The documented calls, as a script in CI makes them. */
async function curl (url: string, body?: object): Promise<string> {
  const post = body ? ['-X', 'POST', '-H', 'content-type: application/json', '-d', JSON.stringify(body)] : []
  return (await execute('curl', ['-sN', '--max-time', '20', ...post, url])).stdout
}

t.test('with no key and no network: list, ask, get killed, approve, done', async (t) => {
  const dir = t.testdir({ work: { 'a b.txt': 'hi' } })
  const paths = { home: `${dir}/home`, cwd: `${dir}/work` }
  const request = {
    messages: [{ role: 'user', content: 'list the files here, then write "hello" to notes.txt' }],
    context: { cwd: paths.cwd }
  }

  const before = await startService(t, paths)
  const asked = parseEvents(await curl(`${before.url}/run`, request))
  t.same(kinds(asked), [
    'start',
    'reasoning-start',
    'reasoning-delta',
    'reasoning-end',
    'start-step',
    'tool-input-start',
    'tool-input-delta',
    'tool-input-available',
    'tool-output-available',
    'finish-step',
    'step-boundary',
    'start-step',
    'tool-input-start',
    'tool-input-delta',
    'tool-input-available',
    'tool-approval-request',
    'finish-step',
    'finish'
  ])
  const one = (events: Sent[], type: string) => events.find((event) => event.type === type)!
  t.match(one(asked, 'tool-output-available'), { output: { entries: [{ kind: 'file' }] } })
  const { approvalId } = one(asked, 'tool-approval-request')
  await before.stop('SIGKILL')

  const after = await startService(t, paths)
  const done = parseEvents(
    await curl(`${after.url}/run/approve`, {
      messages: [...request.messages, { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] }],
      context: request.context
    })
  )
  t.equal(readFileSync(`${paths.cwd}/notes.txt`, 'utf8'), 'hello')
  t.match(textOf(done), /a b\.txt[\s\S]*notes\.txt/, 'the answer tells of both')
  t.match(done.at(-1), { type: 'finish', finishReason: 'stop' })
  t.same(JSON.parse(await curl(`${after.url}/approvals`)), { approvals: [] })
  t.match(await after.stop(), { code: 0 })
})

t.test("paths, quoting and order are the user's", async (t) => {
  const dir = t.testdir({ desk: {} })
  const cwd = `${dir}/desk`
  mkdirSync(`${cwd}/Mein Ordner/été`, { recursive: true })
  writeFileSync(`${cwd}/Mein Ordner/été/été 1.md`, '# Sommer\n')
  const service = await startService(t, { home: `${dir}/home`, cwd })
  const say = async (content: string) => parseEvents(await curl(`${service.url}/run`, { messages: [{ role: 'user', content }] }))
  const inputs = (events: Sent[]) =>
    events.filter(({ type }) => type === 'tool-input-available').map(({ toolName, input }) => [toolName, input])

  t.match(inputs(await say('Could you please show me "Mein Ordner/été/été 1.md" and then list “Mein Ordner”?')), [
    ['readFile', { path: 'Mein Ordner/été/été 1.md' }],
    ['listDirectory', { path: 'Mein Ordner' }]
  ])
  t.match(inputs(await say('First, system info; then run `printf \'%s\\n\' "a;b" | sort -r`')), [
    ['systemInfo', {}],
    ['runCommand', { command: 'printf \'%s\\n\' "a;b" | sort -r' }]
  ])
  t.match(inputs(await say('write \'She said "go, then stop"\' to ./out/täglich.log')), [
    ['writeFile', { path: './out/täglich.log', content: 'She said "go, then stop"' }]
  ])
  t.match(textOf(await say('What is the meaning of life?')), /not a language model[\s\S]*in the settings/)
})
