import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { readBackground } from './background.ts'
import { smallestInstance } from './instance.ts'
import type { Reply } from './model.ts'
import { lastRequest } from './prompt.ts'
import { readSteps, type Step } from './split.ts'

type Format = Extract<NonNullable<LanguageModelV4CallOptions['responseFormat']>, { type: 'json' }>

const COMPLEX =
  /\b(?:thorough(?:ly)?|in depth|in detail|comprehensive(?:ly)?|carefully|step by step|compare\b[^]*\band|analy[sz]e|investigate|research|refactor)\b/i
const READS_ONLY = new Set(['readFile', 'listDirectory', 'fetchUrl', 'webSearch', 'systemInfo', 'screenshot'])
/** A request with more commands is complex. */
const MAX_STANDARD_COMMANDS = 3

/** Answers a structured call by rules that are selected by the name of its response format. */
export function structuredReply (options: LanguageModelV4CallOptions, format: Format): Reply {
  const request = lastRequest(options.prompt)
  const rules: Record<string, () => Record<string, unknown>> = {
    analysis: () => analysis(request),
    evaluation: () => evaluation(request),
    plan: () => plan(request, format.schema),
    'task-memory': () => ({ findings: [finding(request)], decisions: [] })
  }
  const found = Object.hasOwn(rules, format.name ?? '') ? rules[format.name!]() : {}
  const properties = (format.schema as { properties?: object } | undefined)?.properties
  const fitting = Object.entries(found).filter(([key]) => !properties || key in properties)
  const smallest = format.schema ? smallestInstance(format.schema as object) : {}
  const value = typeof smallest === 'object' && smallest !== null && !Array.isArray(smallest)
    ? { ...smallest, ...Object.fromEntries(fitting) }
    : smallest
  return { text: JSON.stringify(value) }
}

function analysis (request: string) {
  const background = readBackground(request)
  const goal = background?.goal ?? request
  const steps = readSteps(goal)
  const commands = steps.filter((step) => step.kind === 'command')
  const complexity = background
    ? 'long_running'
    : commands.length > MAX_STANDARD_COMMANDS || COMPLEX.test(request)
      ? 'complex'
      : commands.length === 0 || (commands.length === 1 && READS_ONLY.has(commands[0].toolName))
        ? 'simple'
        : 'standard'
  return {
    complexity,
    // The goal of a task is not shortened, because its runs get no other text of the request.
    goal: background ? goal : shortened(request),
    ...(background && { interval: background.interval ?? '' }),
    thinking: (background ? 'This is work for a background task. ' : '') + (commands.length === 0
      ? 'I find no command in this message.'
      : `I find ${commands.length === 1 ? 'one command' : `${commands.length} commands`}: ${
        commands.map(({ toolName }) => toolName).join(', then ')
      }.`),
    qualityCriteria: complexity === 'simple' ? [] : commands.map((step) => `The result of ${described(step)} is reported.`)
  }
}

function evaluation (request: string) {
  const answer = /\b(?:answer|output|response|result)\s*:\s*([^]*)$/i.exec(request)?.[1] ?? request
  const empty = answer.trim() === ''
  const failed = /^\s*(?:error|failed|failure)\b/i.test(answer)
  return empty || failed
    ? { satisfied: false, score: 0, qualityScore: 0, issues: [empty ? 'The answer is empty.' : 'The answer is an error.'] }
    : { satisfied: true, score: 1, qualityScore: 1, issues: [] }
}

/** Makes a plan of one phase per command, in the shape that the schema requires. */
function plan (request: string, schema: unknown) {
  const commands = readSteps(request).filter((step) => step.kind === 'command')
  const descriptions = commands.length === 0 ? [shortened(request) || 'Do what was asked'] : commands.map(described)
  const item = (schema as any)?.properties?.phases?.items
  const shape = (description: string, index: number) =>
    item?.type === 'string'
      ? description
      : { ...smallestInstance(item) as object | null, ...item?.properties?.id && { id: `phase-${index + 1}` }, description }
  return { phases: descriptions.map(shape), qualityCriteria: [] }
}

/** Returns the first line of a run's report, shortened. */
const finding = (request: string) => shortened(/\breport:\n([^\n]*)/i.exec(request)?.[1] ?? '')

const described = (step: Step) =>
  step.kind === 'command'
    ? `${step.toolName} ${shortened(String(step.input.path ?? step.input.command ?? step.input.url ?? step.input.query ?? ''))}`.trim()
    : step.text
const shortened = (text: string) => text.trim().length > 200 ? `${text.trim().slice(0, 199)}…` : text.trim()
