// A scripted conversation as a test of an app, without a model, a key or a network:
//
//   node --test examples/ci/conversation.test.js
//
// A recording of a run needs no test of its own: `npx local-agent test <file…>` replays it (docs/recordings.md).
//
// LOCAL_AGENT_COMMAND names the executable of the service; the default is the one of the installed package.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createSupervisor } from 'local-agent-service/supervisor'

const TOKEN = 'a-token-of-this-test'
/** Each entry answers one call of the model. */
const SCRIPT = [
  { toolCalls: [{ toolName: 'writeFile', input: { path: 'notes.txt', content: 'from the script' } }] },
  { text: 'The note is written.' }
]

let folder, work, supervisor, service

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conversation-'))
  work = join(folder, 'work')
  const home = join(folder, 'home')
  await Promise.all([mkdir(work), mkdir(home)])
  await writeFile(join(home, 'config.json'), JSON.stringify({ model: 'offline/scripted', offline: { script: SCRIPT } }))
  supervisor = createSupervisor({
    command: process.env.LOCAL_AGENT_COMMAND,
    args: ['--port', '0'],
    env: { PATH: process.env.PATH, LOCAL_AGENT_HOME: home },
    secrets: { token: TOKEN },
    onLog: () => {}
  })
  service = await supervisor.start()
})

after(async () => {
  await supervisor?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function runSync (messages) {
  const response = await fetch(`${service.url}/run/sync`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ messages, context: { cwd: work } })
  })
  const answer = await response.json()
  assert.equal(response.status, 200, answer.error)
  return answer
}

test('the agent writes the note once it is allowed to', async () => {
  const said = { role: 'user', content: 'Write the note.' }
  const { pendingApprovals: [{ approvalId, toolName, input }] } = await runSync([said])
  assert.deepEqual({ toolName, input }, SCRIPT[0].toolCalls[0])
  assert.deepEqual(await readdir(work), [])

  const { text } = await runSync([
    said,
    { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] }
  ])
  assert.equal(text, 'The note is written.')
  assert.equal(await readFile(join(work, 'notes.txt'), 'utf8'), 'from the script')
})
