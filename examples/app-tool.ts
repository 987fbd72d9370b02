// Gives the agent a tool of the application: the service asks for a call, and this program executes it.
//
//   node examples/app-tool.ts 'Which orders are open?'
//
// The service is found by LOCAL_AGENT_URL or by the file of its instance; LOCAL_AGENT_TOKEN is its token, if it has one.
import { AgentError } from 'local-agent-service/client'
import { connect } from 'local-agent-service/client/node'

const ORDERS = [{ id: 'A-1', state: 'open', item: 'a lamp' }, { id: 'A-2', state: 'sent', item: 'a chair' }]

try {
  const agent = await connect({ app: 'order-desk' })
  const { text } = await agent.run({
    prompt: process.argv[2] ?? 'Which orders are open?',
    tools: {
      findOrders: {
        description: 'Finds the orders of the shop in a state',
        inputSchema: { type: 'object', properties: { state: { enum: ['open', 'sent'] } }, required: ['state'] },
        // A tool that only reads needs no approval. For the others give `approve` as in client.ts.
        effect: 'read',
        timeoutMs: 10_000,
        // What it returns is the output, and what it throws is told to the model. `signal` is aborted when the time is over.
        async execute ({ state }: { state: string }, { signal }) {
          signal.throwIfAborted()
          return { orders: ORDERS.filter((order) => order.state === state) }
        }
      }
    }
  }).result()
  console.log(text)
} catch (error) {
  if (!(error instanceof AgentError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
