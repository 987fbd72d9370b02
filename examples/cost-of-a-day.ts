// Prints what the model calls of a day cost, and which models, threads and tasks cost most:
//
//   node examples/cost-of-a-day.ts [2026-01-31]
//
// The service is found by LOCAL_AGENT_URL or by the file of its instance; LOCAL_AGENT_TOKEN is its token, if it has one.
import { AgentError, getUsage, type UsageReport } from 'local-agent-service/client'
import { connect } from 'local-agent-service/client/node'

type Group = UsageReport['groups'][number]

try {
  const { client } = await connect()
  const report = async (by: 'day' | 'model' | 'thread' | 'task', day?: string) =>
    (await getUsage({ client, query: { by, from: day, to: day }, throwOnError: true })).data
  // Without a day, the report ends with today, in the time zone of the service.
  const day = process.argv[2] ?? (await report('day')).to

  const [total] = (await report('day', day)).groups
  console.log(total ? `${day}: ${describe(total)}` : `${day}: no model was called`)
  for (const by of ['model', 'thread', 'task'] as const) {
    const { groups } = await report(by, day)
    if (groups.length > 0) console.log(`\nby ${by}`)
    for (const group of groups.slice(0, 10)) console.log(`  ${group.key || '(deleted)'}: ${describe(group)}`)
  }
} catch (error) {
  if (!(error instanceof AgentError)) throw error
  console.error(error.message)
  process.exitCode = 1
}

/** Calls of models without a known price have tokens, and no cost. */
function describe ({ calls, costUsd, unpricedCalls, inputTokens, outputTokens }: Group) {
  const price = costUsd === undefined ? 'unknown price' : `$${costUsd.toFixed(4)}`
  return `${price}, ${inputTokens + outputTokens} tokens, ${calls} calls${unpricedCalls > 0 ? `, ${unpricedCalls} without a price` : ''}`
}
