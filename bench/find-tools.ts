import { readFileSync } from 'node:fs'
import { createToolSearch } from '../services/tools/deferred/tool-index.ts'
import { missedQuestions, type Question, questions, realTools } from '../test/harness/tool-lists.ts'

// node bench/find-tools.ts [file]: prints how many questions find their tool among the first five results from 273 tools, and the CPU time
// of a search among 500 tools.
// The file holds [{"question": "…", "tools": ["name", …]}]. Without a file, the questions of test/fakes/tool-lists are used.

const [file] = process.argv.slice(2)
const asked: Question[] = file === undefined ? questions() : JSON.parse(readFileSync(file, 'utf8'))
const missed = await missedQuestions(asked)
const hits = asked.length - missed.length
console.log(`${hits} of ${asked.length} (${(hits / asked.length * 100).toFixed(1)} %)`)
for (const { question, tools, found } of missed) console.log(`  ${question}\n    wanted ${tools.join(' or ')}; found ${found.join(', ')}`)

const tools = realTools()
const many = [...tools, ...tools.map((tool) => ({ ...tool }))].slice(0, 500)
const search = createToolSearch()
/** Returns the CPU time of `work`, in milliseconds. */
async function timed (work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
const reading = await timed(() => search(many, 'anything'))
const searching = await timed(async () => {
  for (const { question } of asked) await search(many, question)
})
console.log(`500 tools are read in ${reading.toFixed(0)} ms; a search takes ${(searching / asked.length).toFixed(2)} ms`)
