// Calls tools in a namespace with mounts of its own, and tells the results. Arguments: the workspace, the service's
// folder, [tool, input] pairs as JSON.
import { build } from './helper.ts'

const [workspace, forbidden, calls] = process.argv.slice(2)
const { execute } = build({ workspace, forbidden })
const results = []
for (const [name, input] of JSON.parse(calls)) results.push(await execute(name, input))
process.stdout.write(JSON.stringify(results))
