// Records schemas/examples.json, the examples of the OpenAPI document, from bodies and events that tests see. `npm run examples` runs this
// script and then `npm run openapi`. For each component it keeps the value with the most information in the fewest characters.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { FORMATS } from '../schemas/formats.ts'
import type { Seen } from '../test/harness/record-examples.ts'
import { ROOT } from './bundle.ts'
import { makeDocument } from './openapi/document.ts'

type Json = any

/** Tests that together see all components. */
const TESTS = [
  'test/clients/generated.test.ts',
  'test/app/schemas.test.ts',
  'test/docs/events.test.ts',
  'test/routes/broken-streams.test.ts',
  'test/routes/carry-on.test.ts',
  'test/routes/events.test.ts',
  'test/routes/notifications.test.ts',
  'test/routes/task-events.test.ts',
  'test/routes/brain.test.ts',
  'test/routes/long-threads.test.ts',
  'test/routes/questions.test.ts',
  'test/routes/replaced-changes.test.ts',
  'test/routes/budget-questions.test.ts',
  'test/routes/rehearsals.test.ts',
  'test/routes/runs.test.ts',
  'test/routes/outages.test.ts',
  'test/routes/schedule-life.test.ts',
  'test/routes/task-learning.test.ts',
  'test/routes/task-tools.test.ts',
  'test/routes/triggers.test.ts',
  'test/routes/memory-tools.test.ts',
  'test/routes/mcp-prompts.test.ts',
  'test/services/mcp/oauth.test.ts'
]
/** The time limit for one test file, in seconds. A file that is ended early has not seen everything. */
const MOST_SECONDS = 1_800
/** The preferred maximum length of an example, in characters. A longer one is used only if there is no shorter one. */
const LONG = 1_200
/** Fields that only describe the machine of the recording. */
const OF_MACHINE = /loadAverage/
/** States of successful work. */
const WELL = ['completed', 'connected', 'ok', 'scheduled']

/** Replaces details of this machine: folders, its name and ports. */
function anonymous (line: string): string {
  return line
    .replaceAll(/[^\s"'`]*\.tap\/fixtures\/[^/\s"'`]+(?:\/(?:work|home))?/g, '/home/ada/notes')
    .replaceAll(ROOT.replace(/\/$/, ''), '/home/ada/notes')
    .replaceAll(new RegExp(`${homedir()}(?![\\w-])`, 'g'), '/home/ada')
    .replaceAll(hostname(), 'desk')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:3001')
}

/** Returns the best example of each component that has no example of its own. Components of request bodies have their own. */
async function examplesIn (seen: Seen[]): Promise<Record<string, Json[]>> {
  // Uses the component names of the schemas, before they are renamed for generators.
  const { narrow: document } = await makeDocument({})
  const { schemas } = document.components
  const ajv = new Ajv2020({ strict: false, formats: FORMATS })
  ajv.addSchema(document, 'document')
  const fits = (schema: { $ref: string }, value: unknown) =>
    ajv.getSchema(`document${schema.$ref}`)!(value) as boolean
  const found = new Map<string, Json[]>()

  /** Records a value and its parts as examples of their components. */
  function note (schema: Json, value: Json): void {
    if (schema === undefined || value === undefined || value === null) return
    const { $ref, properties = {}, items, additionalProperties, anyOf, oneOf = anyOf } = schema
    if ($ref !== undefined) {
      const name = $ref.split('/').at(-1)
      if (!fits(schema, value)) return
      if (!schemas[name].oneOf) found.set(name, [...found.get(name) ?? [], value])
      return note(schemas[name], value)
    }
    for (const each of oneOf ?? []) if ('$ref' in each ? fits(each, value) : true) note(each, value)
    for (const each of Array.isArray(value) ? value : []) note(items, each)
    if (typeof value !== 'object' || Array.isArray(value)) return
    for (const [key, each] of Object.entries(value)) note(properties[key] ?? additionalProperties, each)
  }

  for (const each of seen) {
    if ('event' in each) {
      for (const union of ['RunStreamEvent', 'TaskStreamEvent', 'StreamEvent']) note({ $ref: `#/components/schemas/${union}` }, each.event)
      continue
    }
    const operation = document.paths[each.url.replace(/:(\w+)/g, '{$1}')]?.[each.method.toLowerCase()]
    const part = each.status === undefined ? operation?.requestBody : operation?.responses[each.status]
    const { content } = part?.$ref ? document.components.responses[part.$ref.split('/').at(-1)] : part ?? {}
    note(content?.['application/json']?.schema, each.body)
  }
  const missing = Object.keys(schemas).filter((name) => !schemas[name].oneOf && !schemas[name].examples && !found.has(name))
  if (missing.length > 0) throw new Error(`No test saw ${missing.join(', ')}.`)
  const recorded = [...found].filter(([name]) => !schemas[name].examples).sort(([a], [b]) => a < b ? -1 : 1)
  return Object.fromEntries(recorded.map(([name, values]) => [name, [best(values)]]))
}

/** Returns the most informative value: among successful ones, those with the most fields; among these, the longest that is not too long. */
function best (values: Json[]): Json {
  const measured = values.map((value) => {
    const { length } = JSON.stringify(value)
    const fields = Object.values(value).filter((each) => !isEmpty(each)).length
    return { value, length, isLong: length > LONG || OF_MACHINE.test(JSON.stringify(value)), isWell: WELL.includes(value.status), fields }
  })
  measured.sort((a, b) =>
    Number(a.isLong) - Number(b.isLong) || Number(b.isWell) - Number(a.isWell) || b.fields - a.fields ||
    (a.isLong ? a.length - b.length : b.length - a.length)
  )
  return measured[0].value
}

const isEmpty = (value: unknown) => Array.isArray(value) ? value.length === 0 : value === '' || value === null

const folder = mkdtempSync(join(tmpdir(), 'local-agent-examples-'))
try {
  const tap = join(ROOT, 'node_modules/tap/dist/esm/run.mjs')
  const args = [tap, '--disable-coverage', '--reporter=terse', `--timeout=${MOST_SECONDS}`, ...TESTS]
  spawnSync(process.execPath, args, { cwd: ROOT, env: { ...process.env, RECORD_EXAMPLES: folder }, stdio: 'inherit' })
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean))
  const examples = await examplesIn(lines.map((line) => JSON.parse(anonymous(line))))
  writeFileSync(`${ROOT}schemas/examples.json`, `${JSON.stringify(examples, undefined, 2)}\n`)
} finally {
  rmSync(folder, { recursive: true })
}
