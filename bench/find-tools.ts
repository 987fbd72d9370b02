import { readFileSync } from 'node:fs'
import { missedQuestions, type Question, questions } from '../test/harness/tool-lists.ts'

// node bench/find-tools.ts [file]: how many questions find their tool among the first five of 273, with the words of a model and without.
// The file holds [{"question": "…", "tools": ["name", …]}]; without one, the questions of test/fakes/tool-lists are looked for.

const [file] = process.argv.slice(2)
const asked: Question[] = file === undefined ? questions() : JSON.parse(readFileSync(file, 'utf8'))
for (const withWords of [true, false]) {
  const missed = await missedQuestions(asked, { withWords })
  const hits = asked.length - missed.length
  const share = (hits / asked.length * 100).toFixed(1)
  console.log(`${withWords ? "with a model's words" : 'without a model'}: ${hits} of ${asked.length} (${share} %)`)
  for (const { question, tools, found } of missed) console.log(`  ${question}\n    wanted ${tools.join(' or ')}; found ${found.join(', ')}`)
}
