import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Config } from '../schemas/config.ts'
import { systemClock } from '../services/lib/clock.ts'
import { homeFolder } from '../services/lib/home-folder.ts'
import { parseJson } from '../services/lib/json.ts'
import { openPack } from '../services/lib/pack.ts'
import { explainStart } from '../services/lib/start-error.ts'
import { NATIVE_PROVIDERS } from '../services/models/providers/kinds/kinds.ts'
import { Usage } from '../services/lib/usage-error.ts'
import { createStandardOutput } from '../services/log/sink.ts'
import { outcomeText, summaryText, type Outcome } from '../services/recordings/replay/outcome-text.ts'
import { trialTable } from '../services/recordings/replay/model-trial.ts'
import type { Settings } from '../settings.ts'
import { replayFile, tryFile } from './replay.ts'

// The command `local-agent test`: replays recordings of runs, without a key, a network or a running service.

const HELP = `local-agent test <file…> [--strict] [--json]
local-agent test <file…> --model <provider/model> [--model …] [--usd <n>] [--tokens <n>] [--approve] [--judge <model>] [--json]
  Replays recordings of runs (POST /runs/:runId/recording) without a key or a network, and says where they go otherwise now; or lets
  models answer the recorded requests, and compares.

  --strict   compares system prompts, descriptions of tools and the words of errors, too
  --json     prints one JSON object a file
  --model    asks this model, with file tools on a copy of the recorded files; other tools give their recorded results or fail. Its
             provider is one of config.json in LOCAL_AGENT_HOME, or has its key in the environment: AI_GATEWAY_API_KEY,
             OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY
  --usd, --tokens
             what a run of a model may cost or use; it ends there
  --approve  approves calls of tools, too, that nobody approved in the recording
  --judge    the model that judges answers where a recording expects it; by default the tried one

  The exit code is 0 when all is as recorded or expected, 1 when something is not, 64 when a file is no recording, and 74 when the
  outcome cannot be written.`

/** How long the exit waits for the last lines, in milliseconds. */
const FLUSH_MS = 2_000

/** Options that say how models are tried. */
const OF_MODELS = ['usd', 'tokens', 'approve', 'judge'] as const

/** Writes a text, and waits until it is written. Throws Unwritten. */
type Print = (text: string) => Promise<void>

/** Standard output was closed, or its disk is full. */
class Unwritten extends Error {
  readonly exitCode = 74
}

function read (args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        strict: { type: 'boolean' },
        json: { type: 'boolean' },
        model: { type: 'string', multiple: true },
        usd: { type: 'string' },
        tokens: { type: 'string' },
        approve: { type: 'boolean' },
        judge: { type: 'string' },
        help: { type: 'boolean', short: 'h' }
      }
    })
  } catch (error) {
    throw new Usage(`${(error as Error).message}\n\n${HELP}`)
  }
}

function positive (name: 'usd' | 'tokens', text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  const isValid = number > 0 && (name === 'tokens' ? Number.isInteger(number) : Number.isFinite(number))
  if (!isValid) throw new Usage(`--${name} must be a ${name === 'tokens' ? 'whole ' : ''}number above 0, not "${text}".`)
  return number
}

/** Throws Usage, without words of the text, which may hold keys. */
function readConfig (file: string, text: string): Config {
  try {
    return parseJson(text) as Config
  } catch (error) {
    throw new Usage(`${file} is not valid JSON: ${(error as Error).message}.`)
  }
}

/** Reads what models need from the configuration of the user, which is not changed, and the environment. */
async function modelSettings (env: NodeJS.ProcessEnv): Promise<{ config: Config, settings: Partial<Settings> }> {
  const file = join(homeFolder(env.LOCAL_AGENT_HOME || undefined), 'config.json')
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const { providers, gateway, prices, providerOptions, contextWindows, models, offline } = readConfig(file, text)
  const chosen = { providers, gateway, prices, providerOptions, contextWindows, models, offline }
  const keys = NATIVE_PROVIDERS.flatMap((name) => {
    const key = env[`${name.toUpperCase()}_API_KEY`]
    return key ? [[name, key] as const] : []
  })
  return {
    config: Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)),
    settings: {
      ...{ gatewayKey: env.AI_GATEWAY_API_KEY || undefined, gatewayBaseURL: env.AI_GATEWAY_BASE_URL || undefined },
      keys: Object.fromEntries(keys)
    }
  }
}

/** Returns the files that a name with `*` means, as shells do it elsewhere: those of Windows hand it over as it is. */
function matching (name: string): string[] {
  const found = /[*?]/.test(name) ? globSync(name).sort() : []
  return found.length > 0 ? found : [name]
}

async function main (args: string[], print: Print) {
  const { values, positionals } = read(args)
  const files = process.platform === 'win32' ? positionals.flatMap(matching) : positionals
  const { strict = false, json = false, help = false, model: models = [], approve = false, judge } = values
  if (help) return print(HELP)
  if (files.length === 0) throw new Usage(`Name at least one recording.\n\n${HELP}`)
  if (models.length > 0) {
    if (strict) throw new Usage('--strict is for recordings that are replayed; a model that is tried answers in its own words.')
    const [usd, tokens] = [positive('usd', values.usd), positive('tokens', values.tokens)]
    const budget = { ...(usd !== undefined && { usd }), ...(tokens !== undefined && { tokens }) }
    const parts = { models, approvesAll: approve, budget, ...(judge !== undefined && { judge }), ...await modelSettings(process.env) }
    process.exitCode = 0
    for (const file of files) {
      const trials = await tryFile(file, parts)
      await print(json ? JSON.stringify({ file, trials }) : trialTable(file, trials))
      if (trials.slice(1).some(({ ok }) => !ok)) process.exitCode = 1
    }
    return
  }
  const unused = OF_MODELS.find((name) => values[name] !== undefined)
  if (unused !== undefined) throw new Usage(`--${unused} is for models that are tried: name one with --model.`)
  const outcomes: Outcome[] = []
  for (const file of files) {
    const outcome = await replayFile(file, { isStrict: strict })
    outcomes.push(outcome)
    await print(json ? JSON.stringify(outcome) : outcomeText(outcome, files.length === 1))
  }
  if (!json) await print(summaryText(outcomes))
  process.exitCode = outcomes.every(({ ok }) => ok) ? 0 : 1
}

/** Runs the command with the arguments behind its name, and ends the process. */
export async function test (args: string[]): Promise<void> {
  const output = createStandardOutput({ clock: systemClock })
  output.takeOver()
  openPack()
  // The clock's timers do not keep the process alive.
  setInterval(() => {}, 60_000)
  try {
    await main(args, async (text) => {
      output.stdout.write(`${text}\n`)
      if (!await output.stdout.flush(Infinity)) throw new Unwritten('The outcome cannot be written to standard output.')
    })
  } catch (error) {
    const { message, exitCode } = explainStart(error)
    output.stderr.write(`${message}\n`)
    process.exitCode = exitCode
  }
  await output.flush(FLUSH_MS)
  process.exit()
}
