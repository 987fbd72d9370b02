import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import type { MadeCall } from './prompt.ts'
import { resultWords } from './results.ts'
import type { Step } from './split.ts'

/** The outcome of a step: the call that was made, or no call because the tool is not available or the step is no command. */
export interface Outcome {
  step: Step
  call?: MadeCall
}

export const HELP = `I am the built-in offline assistant, not a language model: I understand plain commands, nothing more.

You can say, for example:
- list the files in src
- read notes.txt
- write 'hello' to notes.txt
- run \`npm test\`
- delete notes.txt
- fetch https://example.com
- search for local-first software
- system info
- take a screenshot
- click at 10, 20 (also: type 'hello', press ctrl+s, scroll down)
- use echo with {"message": "hello"} (any tool, by its name)

Join several with “then”, or put each on a line of its own. Put text, paths with blanks and commands in quotes.

To talk to a language model, configure one: POST /providers/configure with {"model": "<provider>/<model>", "gateway_key": "<key>"}.`

/** Returns a report of all outcomes in their order. */
export function report (outcomes: Outcome[]): string {
  const words = outcomes.map(({ step, call }) => {
    if (step.kind === 'unread') {
      const said = `“${step.text.length > 200 ? `${step.text.slice(0, 199)}…` : step.text}”`
      return step.isRemark ? `Noted: ${said}.` : `I could not read ${said} as a command, so I left it out.`
    }
    if (!call) return `I cannot ${doing(step).plain}: the tool ${step.toolName} is not available here.`
    if (!call.output) return `I have no result of my attempt to ${doing(step).plain}.`
    return outcome(step, call.output)
  })
  const unread = outcomes.some(({ step }) => step.kind === 'unread' && !step.isRemark)
  return [
    ...words,
    ...unread
      ? [
          'I am the built-in offline assistant and understand plain commands only. To use a language model: POST /providers/configure with {"model": "<provider>/<model>", "gateway_key": "<key>"}.'
        ]
      : []
  ].join('\n\n')
}

type CommandStep = Extract<Step, { kind: 'command' }>

function outcome (step: CommandStep, output: LanguageModelV4ToolResultOutput): string {
  const { plain, gerund } = doing(step)
  switch (output.type) {
    case 'execution-denied':
      return `You did not approve ${gerund}, so I did not do it.${output.reason ? ` (${output.reason})` : ''}`
    case 'error-text':
      return `I could not ${plain}: ${output.value}`
    case 'error-json':
      return `I could not ${plain}: ${errorText(output.value)}`
    case 'text':
      return resultWords(step, parsed(output.value))
    case 'json':
      return resultWords(step, output.value)
    case 'content':
      // The result of a screenshot has a text part beside its image.
      if (step.toolName === 'screenshot') return resultWords(step, parsed(output.value.find((part) => part.type === 'text')?.text ?? ''))
      return resultWords(
        step,
        output.value.map((part) => part.type === 'text' ? part.text : part.type === 'file' ? `[${part.mediaType}]` : '').filter(Boolean)
          .join('\n')
      )
  }
}

/** Returns phrases for the step, to follow "I could not …" (plain) and "You did not approve …" (gerund). */
function doing ({ toolName, input }: CommandStep): { plain: string, gerund: string } {
  const what = (value: unknown) => `\`${String(value)}\``
  const phrases: Record<string, [string, string, string]> = {
    listDirectory: ['list', 'listing', what(input.path)],
    readFile: ['read', 'reading', what(input.path)],
    writeFile: ['write', 'writing', what(input.path)],
    deleteFile: ['delete', 'deleting', what(input.path)],
    runCommand: ['run', 'running', what(input.command)],
    fetchUrl: ['fetch', 'fetching', String(input.url)],
    webSearch: ['search the web for', 'searching the web for', `“${String(input.query)}”`],
    systemInfo: ['read', 'reading', 'the system information'],
    screenshot: ['take', 'taking', 'a screenshot'],
    click: ['click', 'clicking', `at ${String(input.x)}, ${String(input.y)}`],
    type: input.text === undefined
      ? ['press', 'pressing', String(input.keys)]
      : ['type', 'typing', `“${String(input.text).slice(0, 200)}”`],
    scroll: ['scroll', 'scrolling', String(input.direction)]
  }
  const [plain, gerund, object] = Object.hasOwn(phrases, toolName) ? phrases[toolName] : ['use', 'using', toolName]
  return { plain: `${plain} ${object}`, gerund: `${gerund} ${object}` }
}

function errorText (value: unknown): string {
  const said = (value as { message?: unknown, error?: unknown } | null)?.message ?? (value as { error?: unknown } | null)?.error
  return typeof said === 'string' ? said : JSON.stringify(value)
}

/** Parses a text that holds a JSON object or list; returns any other text unchanged. */
function parsed (value: string): unknown {
  if (!/^\s*[{[]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
