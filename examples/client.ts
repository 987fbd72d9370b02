// Calls a running service through its client, and asks for approval before a tool writes, deletes or runs a command:
//
//   npm run build && npm start                            (in another terminal)
//   node examples/client.ts 'write "hello" to hello.txt' [url]
//
// If the service was started with LOCAL_AGENT_TOKEN, set it here too. In another project, install local-agent-service;
// the imports stay the same, in TypeScript and in JavaScript.
import { createInterface } from 'node:readline/promises'
import { AgentError, createClient, getBrain, listProviders, runAgent } from 'local-agent-service/client'

const [request = 'system info', baseUrl = 'http://127.0.0.1:3001'] = process.argv.slice(2)
const token = process.env.LOCAL_AGENT_TOKEN
const terminal = createInterface({ input: process.stdin, output: process.stdout })

try {
  // The client has a function for every operation of openapi.json, with types for its answers.
  const client = createClient({ baseUrl, auth: token, throwOnError: true })
  const { data: { active_model: model } } = await listProviders({ client, throwOnError: true })
  const { data: { brain } } = await getBrain({ client, throwOnError: true })
  console.log(`${model} knows ${brain.facts.length} facts about you.\n`)

  // The promise resolves at the end of the run, after all of its approvals.
  const { finishReason, threadId } = await runAgent({
    baseUrl,
    token,
    messages: [{ role: 'user', content: request }],
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
  // runAgent throws AgentError; the generated functions throw the error body of the service: { error, code, … }.
  const { message, error: sentence } = error as AgentError & { error?: string }
  console.error(sentence ?? message)
  process.exitCode = 1
} finally {
  terminal.close()
}
