// Calls a running service through its client, and asks for approval before a tool writes, deletes or runs a command:
//
//   npm run build && npm start                            (in another terminal)
//   node examples/client.ts 'write "hello" to hello.txt' [url]
//
// Without an address, the service is found by LOCAL_AGENT_URL or by the file of its instance. If it was started with
// LOCAL_AGENT_TOKEN, set it here too. In another project, install local-agent-service; the imports stay the same, in TypeScript
// and in JavaScript. A web page imports createAgent from local-agent-service/client and passes the address.
import { createInterface } from 'node:readline/promises'
import { AgentError, getBrain, listProviders } from 'local-agent-service/client'
import { connect } from 'local-agent-service/client/node'

const [request = 'system info', url] = process.argv.slice(2)
const terminal = createInterface({ input: process.stdin, output: process.stdout })

try {
  const agent = await connect({ url, token: process.env.LOCAL_AGENT_TOKEN })
  // The client has a function for every operation of openapi.json, with types for its answers.
  const options = { client: agent.client, throwOnError: true } as const
  const { data: { active_model: model } } = await listProviders(options)
  const { data: { brain } } = await getBrain(options)
  console.log(`${model} knows ${brain.facts.length} facts about you.\n`)

  const run = agent.run({
    prompt: request,
    async approve ({ toolName, input }) {
      const answer = await terminal.question(`\nMay it use ${toolName} with ${JSON.stringify(input)}? [y/N] `)
      return answer.trim() === 'y' ? true : { approved: false, reason: 'The user said no.' }
    }
  })
  // The loop ends with the run, after all of its approvals.
  for await (const event of run) {
    if (event.type === 'text-delta') process.stdout.write(event.content)
    if (event.type === 'tool-output-available') console.log(`\n[${event.toolName} is done]`)
  }
  const { finishReason, threadId } = await run.result()
  console.log(`\n\n${finishReason}; go on with id ${threadId}`)
} catch (error) {
  // Every call of the client fails with this one class: { message, code, statusCode?, details? }.
  if (!(error instanceof AgentError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  terminal.close()
}
