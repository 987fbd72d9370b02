import { readFileSync, writeFileSync } from 'node:fs'
import { ROOT } from './bundle.ts'
import type { Tool } from '../services/contracts/tool.ts'
import { generateClient } from './openapi/client.ts'
import { makeDocument, textOf } from './openapi/document.ts'
import { writePythonFiles } from './openapi/python/python-client.ts'

/** Regenerates openapi.json from the schemas, the clients from openapi.json, and the console's facts about tools from the tools. */
const { document, narrow, tools } = await makeDocument()
writeFileSync(`${ROOT}openapi.json`, textOf(document))
await generateClient(narrow, `${ROOT}client/generated`)
writePythonFiles(document, `${ROOT}clients/python/src/local_agent`)

const labels = Object.fromEntries(tools.flatMap(({ model: { name }, says }) => says === undefined ? [] : [[name, says.en.label]]))
const texts = `${ROOT}console/texts/en.json`
const text = readFileSync(texts, 'utf8')
const named = Object.entries<string>({ ...JSON.parse(text).tool, ...labels }).sort(([a], [b]) => a < b ? -1 : 1)
const lines = named.map(([name, label]) => `    ${JSON.stringify(name)}: ${JSON.stringify(label)}`).join(',\n')
writeFileSync(texts, text.replace(/^ {2}"tool": \{[^}]*\}/m, () => `  "tool": {\n${lines}\n  }`))
// The service's phrases for what tools do are the keys, because the console translates them to tool names.
const byWords = Object.fromEntries(Object.entries<string>(labels).map(([name, label]) => [label[0].toLowerCase() + label.slice(1), name]))
const namesOf = (is: (tool: Tool) => boolean) => tools.filter(is).map(({ model: { name } }) => name)
const facts = {
  names: byWords,
  about: Object.fromEntries(tools.flatMap(({ model: { name }, says }) => says?.about === undefined ? [] : [[name, says.about]])),
  asking: namesOf(({ execute }) => execute.by === 'user')
}
writeFileSync(`${ROOT}console/lib/tool-facts.json`, `${JSON.stringify(facts, null, 2)}\n`)
