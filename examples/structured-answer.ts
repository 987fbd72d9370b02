// Asks a question in CI and gets an object that fits a schema. The exit code is the answer:
//
//   git diff main | node examples/structured-answer.ts 'Does this change need a line in the changelog?'
//
// 0: no problem found, 1: at least one problem, 2: the agent could not answer. Nothing waits for a person: what would need an approval
// is denied. The service is found by LOCAL_AGENT_URL or by the file of its instance; LOCAL_AGENT_TOKEN is its token, if it has one.
import { text } from 'node:stream/consumers'
import { AgentError } from 'local-agent-service/client'
import { connect } from 'local-agent-service/client/node'

const question = process.argv[2] ?? 'Which problems does this text have?'
const material = process.stdin.isTTY ? '' : await text(process.stdin)

try {
  const agent = await connect()
  const { object } = await agent.run({
    prompt: `${question}\n\n${material}`,
    options: { interactive: false, budget: { minutes: 5 } },
    schema: {
      type: 'object',
      properties: {
        summary: { type: 'string' },
        problems: {
          type: 'array',
          items: { type: 'object', properties: { where: { type: 'string' }, what: { type: 'string' } }, required: ['where', 'what'] }
        }
      },
      required: ['summary', 'problems']
    }
  }).result()
  if (object === undefined) throw new AgentError('The run ended without an answer.', { code: 'ERR_OBJECT_INVALID' })
  console.log(object.summary)
  for (const { where, what } of object.problems) console.log(`${where}: ${what}`)
  process.exitCode = object.problems.length > 0 ? 1 : 0
} catch (error) {
  if (!(error instanceof AgentError)) throw error
  console.error(`${error.code}: ${error.message}`)
  process.exitCode = 2
}
