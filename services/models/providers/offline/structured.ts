import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { readLaterWork } from './later-work.ts'
import type { Command } from './commands.ts'
import { lastRequest } from './prompt.ts'
import type { Reply } from '../reply-model.ts'
import type { Expects } from '../../../../schemas/tasks.ts'
import type { ToolOf } from './report.ts'
import { isLook, readSteps, type Step } from './steps.ts'

const COMPLEX = new RegExp(
  String.raw`\b(?:thorough(?:ly)?|in depth|in detail|comprehensive(?:ly)?|carefully|step by step|compare\b[^]*\band|` +
    String.raw`analy[sz]e|investigate|research|refactor)\b`,
  'i'
)
/** A request with more commands than this is complex. */
const MAX_STANDARD_COMMANDS = 3

const RULES: Record<string, (request: string, toolOf: ToolOf) => object> = {
  analysis,
  plan,
  // The first line of a run's report.
  'task-memory': (request) => ({ findings: [shortened(/\breport:\n([^\n]*)/i.exec(request)?.[1] ?? '')], decisions: [] })
}

/** Answers a structured call with the rule for its name. Without a rule the answer is `{}`, which counts as no answer. */
export function structuredReply ({ prompt }: LanguageModelV4CallOptions, name = '', toolOf: ToolOf = () => undefined): Reply {
  return { text: JSON.stringify(Object.hasOwn(RULES, name) ? RULES[name](lastRequest(prompt), toolOf) : {}) }
}

function analysis (request: string) {
  const later = readLaterWork(request)
  const commands = commandsOf(readSteps(request))
  const isSimple = commands.length === 0 || (commands.length === 1 && isLook(commands[0]))
  const isComplex = commands.length > MAX_STANDARD_COMMANDS || COMPLEX.test(request)
  const found = commands.length === 1 ? 'one command' : `${commands.length} commands`
  return {
    complexity: later ? 'long_running' : isComplex ? 'complex' : isSimple ? 'simple' : 'standard',
    timeWords: later?.when?.text ?? '',
    thinking: (later ? 'This is work for a background task. ' : '') + (commands.length === 0
      ? 'I find no command in this message.'
      : `I find ${found}: ${commands.map(({ toolName }) => toolName).join(', then ')}.`)
  }
}

/** Makes a plan of one phase per command. */
function plan (request: string, toolOf: ToolOf) {
  const commands = commandsOf(readSteps(request))
  const phases = commands.map(described)
  const expected = commands.flatMap(({ toolName }) => expectedOf(toolOf(toolName)) ?? [])
  return {
    phases: (phases.length === 0 ? [shortened(request)] : phases).map((description) => ({ description })),
    qualityCriteria: [],
    expects: expected[0] ?? 'none'
  }
}

/** Returns the effect that a plan expects of a tool; undefined for a tool that only reads, and for an unknown one. */
function expectedOf (tool: ReturnType<ToolOf>): Expects | undefined {
  if (tool?.effects?.command !== undefined) return 'command'
  const { proves } = tool?.effects ?? {}
  return proves === 'file' || proves === 'deletion' ? 'files' : proves === 'message' ? proves : undefined
}

const commandsOf = (steps: Step[]): Command[] => steps.filter((step) => step.kind === 'command')
const described = ({ toolName, input }: Command) =>
  `${toolName} ${shortened(String(input.path ?? input.command ?? input.url ?? input.query ?? ''))}`.trim()
const shortened = (text: string) => text.trim().length > 200 ? `${text.trim().slice(0, 199)}…` : text.trim()
