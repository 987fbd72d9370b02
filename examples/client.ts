// Talks to a running service through its client, and asks you before a tool writes, deletes or runs a command:
//
//   npm run build && npm start                            (in another terminal)
//   node examples/client.ts 'write "hello" to hello.txt' [url]
//
// If the service was started with LOCAL_AGENT_TOKEN, set that here too. In a project of its own, install
// local-agent-service; the imports stay as they are, and in JavaScript, too.
import { createInterface } from 'node:readline/promises'
import { AgentError, createClient, getBrain, listProviders, runAgent } from 'local-agent-service/client'

const [said = 'system info', baseUrl = 'http://127.0.0.1:3001'] = process.argv.slice(2)
const token = process.env.LOCAL_AGENT_TOKEN
const terminal = createInterface({ input: process.stdin, output: process.stdout })

try {
  // Every operation of openapi.json is a function; each answer has its type.
  const client = createClient({ baseUrl, auth: token, throwOnError: true })
  const { data: { active_model: model } } = await listProviders({ client, throwOnError: true })
  const { data: { brain } } = await getBrain({ client, throwOnError: true })
  console.log(`${model} knows ${brain.facts.length} facts about you.\n`)

  // A run with all of its approvals: one promise.
  const { finishReason, threadId } = await runAgent({
    baseUrl,
    token,
    messages: [{ role: 'user', content: said }],
    onEvent (event) {
      if (event.type === 'text-delta') process.stdout.write(event.content)
      if (event.type === 'tool-output-available') console.log(`\n[${event.toolName} is done]`)
    },
    async approve ({ toolName, input }) {
      const answer = await terminal.question(`\nMay it use ${toolName} with ${JSON.stringify(input)}? [y/N] `)
      return answer.trim() === 'y' ? true : { approved: false, reason: 'The user said no.' }
    }
  })
  console.log(`\n\n${finishReason}; go on with id ${threadId}`)
} catch (error) {
  // runAgent throws AgentError, the generated functions what the service answered: { error, code, … }.
  const { message, error: said } = error as AgentError & { error?: string }
  console.error(said ?? message)
  process.exitCode = 1
} finally {
  terminal.close()
}
