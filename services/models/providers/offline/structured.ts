import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { mentionsTime } from '../../../calendar/index.ts'
import { type Background, readBackground } from './background.ts'
import type { Command } from './commands.ts'
import { readMessage } from './excerpt.ts'
import { lastRequest } from './prompt.ts'
import type { Reply } from '../reply-model.ts'
import { readSteps, type Step } from './steps.ts'
import { toolOf } from './tools.ts'

const COMPLEX = new RegExp(
  String.raw`\b(?:thorough(?:ly)?|in depth|in detail|comprehensive(?:ly)?|carefully|step by step|compare\b[^]*\band|` +
    String.raw`analy[sz]e|investigate|research|refactor)\b`,
  'i'
)
/** A request with more commands is complex. */
const MAX_STANDARD_COMMANDS = 3

const RULES: Record<string, (request: string) => object> = {
  analysis,
  plan,
  // The first line of a run's report.
  'task-memory': (request) => ({ findings: [shortened(/\breport:\n([^\n]*)/i.exec(request)?.[1] ?? '')], decisions: [] })
}

/** Answers a structured call by the rule of its name. Without a rule the answer is `{}`, which counts as no answer. */
export function structuredReply ({ prompt }: LanguageModelV4CallOptions, name = ''): Reply {
  return { text: JSON.stringify(Object.hasOwn(RULES, name) ? RULES[name](lastRequest(prompt)) : {}) }
}

function analysis (request: string) {
  const timed = readBackground(request)
  const steps = readSteps(request, timed)
  const commands = commandsOf(steps)
  const background = timed ?? inDoubt(request, steps)
  const isSimple = commands.length === 0 || (commands.length === 1 && toolOf(commands[0].toolName)?.reads !== undefined)
  const isComplex = commands.length > MAX_STANDARD_COMMANDS || COMPLEX.test(request)
  const complexity = background ? 'long_running' : isComplex ? 'complex' : isSimple ? 'simple' : 'standard'
  const found = commands.length === 1 ? 'one command' : `${commands.length} commands`
  return {
    complexity,
    // The goal of a task is not shortened, because its runs get no other text of the request.
    goal: background?.goal ?? shortened(request),
    ...background?.when && { when: whenOf(background.when) },
    thinking: (background ? 'This is work for a background task. ' : '') + (commands.length === 0
      ? 'I find no command in this message.'
      : `I find ${found}: ${commands.map(({ toolName }) => toolName).join(', then ')}.`),
    qualityCriteria: complexity === 'simple' ? [] : commands.map((command) => `The result of ${described(command)} is reported.`)
  }
}

/** The words about time in the notation of the analysis; words in doubt are neither one time nor repeated ones. */
const whenOf = ({ text, kind }: NonNullable<Background['when']>) => ({
  at: kind === 'once' ? text : '',
  every: kind === 'repeated' ? text : '',
  zone: '',
  text
})

/** Commands beside words about a time that could not be read are not carried out now. */
function inDoubt (request: string, steps: Step[]): Background | undefined {
  const [text] = steps.flatMap((step) => step.kind === 'unread' && mentionsTime(readMessage(step.text).mask) ? [step.text] : [])
  return commandsOf(steps).length === 0 || text === undefined ? undefined : { goal: shortened(request), when: { text, kind: 'doubt' } }
}

/** Makes a plan of one phase per command. */
function plan (request: string) {
  const commands = commandsOf(readSteps(request))
  const phases = commands.map(described)
  const expected = commands.flatMap(({ toolName }) => toolOf(toolName)?.effect ?? [])
  return {
    phases: (phases.length === 0 ? [shortened(request)] : phases).map((description) => ({ description })),
    qualityCriteria: [],
    expects: expected[0] ?? 'none'
  }
}

const commandsOf = (steps: Step[]): Command[] => steps.filter((step) => step.kind === 'command')
const described = ({ toolName, input }: Command) =>
  `${toolName} ${shortened(String(input.path ?? input.command ?? input.url ?? input.query ?? ''))}`.trim()
const shortened = (text: string) => text.trim().length > 200 ? `${text.trim().slice(0, 199)}…` : text.trim()
