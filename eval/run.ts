import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ROOT } from '../scripts/bundle.ts'
import { configOf as configOfSmall, isInstalled, SMALL_MODEL, startEngine } from '../test/models/engine.ts'
import { tryGoal, whyUnusable, type Trial, type Setup } from './trial.ts'
import type { Goal } from './goal.ts'
import { GOALS, GROUPS } from './goals/index.ts'
import { setupFor } from './models.ts'
import { summaryOf, tableOf } from './report.ts'
import { prove, proofOf } from './scripted/prove.ts'

// npm run eval -- --model <provider>/<model>: runs the project's goals with an agent; see README.md.

const USAGE = `npm run eval -- --model <provider>/<model> [options]
npm run eval -- --small [options]               the small model that npm run test:models has installed
npm run eval -- --scripted [--only <names>]     every goal against scripted models: a good one, and bad ones that must fail
npm run eval -- --list                          the goals and what they measure

  --only <names>     goals or groups of them, with commas between
  --repeat <n>       trials of each goal, 1 by default
  --budget <usd>     no further goal begins when so much is spent, and no run spends more than is left
  --time <seconds>   how long a goal may take, 300 by default
  --jobs <n>         goals that are tried at once, 1 by default
  --config <file>    a config.json for the services: "providers", "models", "prices" and the like
  --json <file>      the results of all trials
`

function usage (problem: string): never {
  process.stderr.write(`${problem}\n\n${USAGE}`)
  process.exit(64)
}

function argumentsOf () {
  try {
    const { values } = parseArgs({
      options: {
        model: { type: 'string' },
        small: { type: 'boolean' },
        scripted: { type: 'boolean' },
        list: { type: 'boolean' },
        help: { type: 'boolean' },
        only: { type: 'string' },
        repeat: { type: 'string', default: '1' },
        budget: { type: 'string' },
        time: { type: 'string', default: '300' },
        jobs: { type: 'string', default: '1' },
        config: { type: 'string' },
        json: { type: 'string' }
      }
    })
    return values
  } catch (error) {
    return usage((error as Error).message)
  }
}

function numberOf (name: 'repeat' | 'budget' | 'time' | 'jobs', { isWhole = true } = {}): number {
  const value = Number(options[name])
  if (!(value > 0) || (isWhole && !Number.isInteger(value))) {
    usage(`--${name} takes a ${isWhole ? 'whole ' : ''}number above 0, not "${options[name]}".`)
  }
  return value
}

function goalsOf (names: string | undefined): Goal[] {
  if (names === undefined) return GOALS
  return names.split(',').flatMap((name) => {
    const found = GROUPS[name] ?? GOALS.filter((goal) => goal.name === name)
    return found.length > 0
      ? found
      : usage(`There is no goal "${name}". The groups are ${Object.keys(GROUPS).join(', ')}; --list names all goals.`)
  })
}

function configOf (path: string | undefined): Record<string, unknown> {
  if (path === undefined) return {}
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return usage(`--config ${path} cannot be read: ${(error as Error).message}`)
  }
}

/** Tries every goal the given number of times, several at once, until the budget is used up. */
async function tryAll (
  goals: Goal[],
  setup: Setup,
  { repeat, jobs, budgetUsd }: { repeat: number, jobs: number, budgetUsd?: number }
): Promise<{ trials: Trial[], notTried: number }> {
  const waiting = goals.flatMap((goal) => Array.from({ length: repeat }, () => goal)).entries()
  const trials: Array<[place: number, trial: Trial]> = []
  const left = () => budgetUsd === undefined ? undefined : budgetUsd - trials.reduce((sum, [, { costUsd = 0 }]) => sum + costUsd, 0)
  let notTried = 0
  await Promise.all(Array.from({ length: jobs }, async () => {
    for (const [place, goal] of waiting) {
      const budget = left()
      if (budget !== undefined && budget <= 0) {
        notTried++
        continue
      }
      const trial = await tryGoal(goal, { ...setup, ...budget !== undefined && { budgetUsd: budget } })
      trials.push([place, trial])
      process.stderr.write(`${trial.passed ? 'passed' : 'FAILED'}  ${goal.name}\n`)
    }
  }))
  return { trials: trials.sort(([a], [b]) => a - b).map(([, trial]) => trial), notTried }
}

/** Starts the server of the small model, and tries the goals with it. */
async function evaluateSmall () {
  if (!isInstalled()) usage('The small model is not installed: npm run test:models installs it and its server.')
  const engine = await startEngine()
  try {
    await evaluate(SMALL_MODEL, { ...configOfSmall(`${engine.origin}/v1`, 300), ...configOf(options.config) })
  } finally {
    engine.stop()
  }
}

async function evaluate (model: string, config = configOf(options.config)) {
  const limits = {
    repeat: numberOf('repeat'),
    jobs: numberOf('jobs'),
    ...options.budget !== undefined && { budgetUsd: numberOf('budget', { isWhole: false }) }
  }
  const goals = goalsOf(options.only)
  const timeMs = numberOf('time') * 1000
  const setup = setupFor(model, { env: process.env, config })
  if ('missing' in setup) usage(setup.missing)
  if (!existsSync(`${ROOT}dist/server.js`)) usage('There is no dist/: run npm run build.')
  const problem = await whyUnusable({ ...setup, timeMs })
  if (problem !== undefined) {
    process.stderr.write(`${model} does not answer, so no goal was tried: ${problem}\n`)
    process.exitCode = 1
    return
  }

  const { trials, notTried } = await tryAll(goals, { ...setup, timeMs }, limits)
  const summary = summaryOf(trials, { model, notTried })
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ date: new Date().toISOString(), model, summary, trials }, null, 2)}\n`)
  }
  console.log(`\n${trials.length === 0 ? '' : `${tableOf(trials)}\n\n`}${summary}`)
  process.exitCode = notTried > 0 || trials.some(({ passed }) => !passed) ? 1 : 0
}

/** Proves the goals: the good script of each goal must pass, and each of its checks must fail for a bad script. */
async function proveAll () {
  let isProven = true
  for (const goal of goalsOf(options.only)) {
    const proof = await prove(goal, configOf(options.config))
    console.log(proofOf(proof))
    isProven &&= proof.faults.length === 0
  }
  process.exitCode = isProven ? 0 : 1
}

const options = argumentsOf()
if (options.help) console.log(USAGE)
else if (options.list) {
  for (const [group, goals] of Object.entries(GROUPS)) {
    console.log(`${group}\n${goals.map(({ name, measures }) => `  ${name.padEnd(20)} ${measures}`).join('\n')}`)
  }
} else if (options.scripted) await proveAll()
else if (options.small) await evaluateSmall()
else if (options.model === undefined) usage('Name a model with --model, or use --small or --scripted.')
else await evaluate(options.model)
