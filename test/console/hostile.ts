import type { Agent } from '../../client/agent.ts'
import { createTask, learnFact, listApprovals, putThread, runTask, setPreference, startTask } from '../../client/generated/index.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'

/** A name that reads as another file's: the end is written backwards. */
export const SPOOFED = 'notes\u202Etxt.exe'
const SCRIPT = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2"><svg onload="window.hacked = 3">'
/** Text that would run, load or lead somewhere in a page that trusts it. */
export const HOSTILE = `${SCRIPT}\n\n![pixel](https://outside.example/pixel.png) [link](javascript:window.hacked=4) ` +
  '[data](data:text/html,<script>window.hacked=5</script>) <iframe src="https://outside.example/"></iframe> ' +
  '<style>@import "https://outside.example/style.css";</style> <a href="javascript:window.hacked=6">click</a> \u202Eabc\u200B\u2066'

/** What the hostile model asks for at the first step of each prompt; then it answers with hostile text. */
const CALLS: Record<string, NonNullable<Plan['toolCalls']>> = {
  write: [{ toolName: 'writeFile', input: { path: SPOOFED, content: `${SCRIPT}\n${HOSTILE}\n` } }],
  run: [{ toolName: 'runCommand', input: { command: `echo ${HOSTILE} \u200B&& rm -rf /` } }],
  ask: [{
    toolName: 'askUser',
    // The service refuses characters in questions that hide or reorder others.
    input: { questions: [{ id: 'q', text: SCRIPT, options: [{ value: 'a', label: SCRIPT }], free: true }] }
  }],
  list: [{ toolName: 'listDirectory', input: { path: '.' } }]
}

export function hostileModel ({ body: { prompt } }: GatewayRequest): Plan {
  const last = prompt.at(-1)
  const toolCalls = last.role === 'user' ? CALLS[last.content.at(-1).text] : undefined
  return toolCalls === undefined ? { reasoning: HOSTILE, text: HOSTILE } : { text: HOSTILE, toolCalls }
}

/** Fills the service with hostile content of each kind. Returns the pages of the console that show it. */
export async function seedHostile (agent: Agent): Promise<string[]> {
  const asked = { client: agent.client, throwOnError: true } as const
  await learnFact({ ...asked, body: { fact: `Likes ${HOSTILE}`.slice(0, 900) } })
  await setPreference({ ...asked, body: { key: SCRIPT.slice(0, 100), value: HOSTILE.slice(0, 900) } })
  const run = (prompt: string) => agent.run({ prompt, options: { interactive: true } }).result()
  const listed = await run('list')
  for (const prompt of ['write', 'run', 'ask']) await run(prompt)
  await putThread({ ...asked, path: { id: listed.threadId }, body: { title: HOSTILE.slice(0, 200) } })
  const { data: task } = await createTask({
    ...asked,
    body: { goal: HOSTILE, taskType: 'recurring', schedule: { interval: 'daily' }, approval: { mode: 'always' } }
  })
  const path = { id: task.id }
  await startTask({ ...asked, path })
  const connected = Promise.withResolvers<void>()
  const events = agent.events({ types: ['approval:open'], onConnection: () => connected.resolve() })
  const resultWaits = events.next()
  await connected.promise
  await runTask({ ...asked, path })
  await resultWaits
  await events.return(undefined)
  const { data: { approvals } } = await listApprovals(asked)
  return [
    '/console',
    '/console/tasks',
    `/console/tasks/${task.id}`,
    `/console/runs/${listed.runId}`,
    `/console/chat/${approvals[0].threadId}`,
    '/console/memory',
    '/console/settings'
  ]
}
