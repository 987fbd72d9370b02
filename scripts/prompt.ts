import { parseArgs } from 'node:util'
import { printCalls } from './prompt/print-calls.ts'
import { recordChat, recordTask, type Scene } from './prompt/record.ts'

const HELP = `npm run prompt -- <chat|follow-up|task> [request] [options]

Prints all that the models are told for a request: system messages, tools and messages of each call, in the order of the calls. What a
call has in common with the one before it is printed once. The service runs as it is, in a folder of its own, before a recording model.

  chat          one run, whose model lists the working folder and answers
  follow-up     the same, and a second message in its thread
  task          the plan of a task, its first run and its fifth, and what is judged and learned

  --cwd <dir>       the working folder (the present one)
  --fact <text>     something that is remembered of the user; may be repeated
  --steer <text>    a comment on the task before its last run
  --runs <n>        how many runs the task has (5)
  --config <json>   keys of config.json, such as '{"mcp": [...]}'
  --options <json>  options of the runs, such as '{"instructions": "Answer in French."}'. A structured answer is never given, so that
                    what the model is told then is printed, too
  --brief           leaves out the schemas of tools
`

const { values, positionals: [kind, request = 'What is in this folder?'] } = parseArgs({
  allowPositionals: true,
  options: {
    cwd: { type: 'string', default: process.cwd() },
    fact: { type: 'string', multiple: true, default: [] },
    steer: { type: 'string' },
    runs: { type: 'string', default: '5' },
    config: { type: 'string', default: '{}' },
    options: { type: 'string', default: '{}' },
    brief: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false }
  }
})

if (values.help || !['chat', 'follow-up', 'task'].includes(kind)) {
  console.log(HELP)
  process.exit(values.help ? 0 : 64)
}

const { cwd, fact: facts, steer } = values
const runs = Number(values.runs)
if (!Number.isInteger(runs) || runs < 1) refuse(`--runs must be a number of runs, not ${values.runs}.`)
const scene: Scene = { request, cwd, facts, config: readJson('config'), options: readJson('options') }
const calls = kind === 'task'
  ? await recordTask({ ...scene, steer, runs })
  : await recordChat({ ...scene, messages: kind === 'chat' ? [request] : [request, 'And what would you do next?'] })
console.log(printCalls(calls, { schemas: !values.brief }))

function readJson (name: 'config' | 'options'): object {
  try {
    return JSON.parse(values[name])
  } catch (error) {
    return refuse(`--${name} is not JSON: ${(error as Error).message}`)
  }
}

function refuse (problem: string): never {
  console.error(problem)
  process.exit(64)
}
