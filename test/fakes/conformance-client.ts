// The client that the conformance suite starts for each scenario. It passes the server's address to the test, which does the work.
//   conformance-client.ts <address of the test> <address of the suite's server>
const [test, url] = process.argv.slice(2)
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env
const response = await fetch(`${test}?${new URLSearchParams({ scenario, context, url })}`)
console.log(await response.text())
process.exitCode = response.ok ? 0 : 1
