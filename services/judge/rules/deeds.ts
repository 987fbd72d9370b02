import type { TaskToolCall } from '../../../schemas/task-runs.ts'

/** Tools that change nothing. */
const READS = new Set(['readFile', 'listDirectory', 'systemInfo', 'fetchUrl', 'webSearch', 'screenshot'])

export const isChange = ({ tool }: TaskToolCall) => !READS.has(tool)
export const isDone = (call: TaskToolCall) => call.status === 'complete' && !isBadExit(call)

/** How a command ended; null when it did not by itself. */
const exitCode = ({ output }: TaskToolCall): number | null => (output as { exitCode?: number | null } | undefined)?.exitCode ?? null
const isCommand = ({ tool, status }: TaskToolCall) => tool === 'runCommand' && status === 'complete'
const commandOf = ({ input }: TaskToolCall) => String((input as { command?: unknown } | undefined)?.command ?? '')

/** 1 without a complaint is how grep, diff and test say no. */
export function isBadExit (call: TaskToolCall): boolean {
  if (!isCommand(call)) return false
  const { stderr } = call.output as { stderr?: string }
  return exitCode(call) !== 0 && !(exitCode(call) === 1 && !stderr)
}

/** How a command that failed ended. */
export const howItEnded = (call: TaskToolCall): string => exitCode(call) === null ? 'was ended' : `ended with code ${exitCode(call)}`

export const laterOnes = (calls: TaskToolCall[], call: TaskToolCall) =>
  calls.slice(calls.indexOf(call) + 1).filter(({ tool }) => tool === call.tool)

const ANY_COMMAND = ['runCommand']
const WEB = ['fetchUrl', 'webSearch', 'runCommand']
/** What a report says was done, and the built-in tools that can have done it; so may any tool that is not built in. */
const CHANGING = ['writeFile', 'deleteFile', 'runCommand']
const DEEDS: Array<[RegExp, string[]]> = [
  [
    /\bi (?:ran|executed)\b|\ball (?:of the )?(?:\d+ )?tests (?:pass|passed|are (?:green|passing))\b|\bthe (?:build|tests?) (?:succeeded|succeeds|pass|passed|passes)\b/i,
    ANY_COMMAND
  ],
  [/\bi (?:fetched|downloaded|visited|searched the web|browsed|looked up)\b/i, WEB],
  [
    /\bi (?:have |['’]ve )?(?:also |now |successfully )?(?:added|appended|changed|cleaned up|converted|copied|corrected|deleted|edited|erased|fixed|implemented|moved|organi[sz]ed|refactored|removed|renamed|replaced|rewrote|saved|stored|tidied|updated)\b/i,
    CHANGING
  ],
  [/\bi (?:installed|committed|pushed|deployed|compiled|started the)\b/i, ANY_COMMAND]
]
const BUILT_IN = new Set([...READS, 'writeFile', 'deleteFile', 'runCommand', 'click', 'type', 'scroll'])

/** A deed in the report that no call can have done. */
export function deedWithoutCall (report: string, calls: TaskToolCall[]): string | undefined {
  const done = calls.filter(isDone)
  for (const [deed, tools] of DEEDS) {
    const said = deed.exec(report)?.[0]
    if (said !== undefined && !done.some(({ tool }) => tools.includes(tool) || !BUILT_IN.has(tool))) return said
  }
  return undefined
}

const TESTS_PASS =
  /\b(?:all (?:of the )?(?:\d+ )?tests (?:now )?(?:pass|passed|are (?:green|passing))|(?:the )?tests (?:now )?(?:pass|passed|are green)|the build (?:succeeded|succeeds|passes)|build is green)\b/i
const CHECKS = /\b(?:tests?|check|lint|build|make|compile|verify|tap|jest|pytest|tsc)\b/i

/** The last check that was run, when it failed although the report says that it did not. */
export function failedCheck (report: string, calls: TaskToolCall[]): string | undefined {
  if (!TESTS_PASS.test(report)) return undefined
  const last = calls.filter(isCommand).findLast((call) => CHECKS.test(commandOf(call)))
  return last !== undefined && exitCode(last) !== 0 ? commandOf(last) : undefined
}

/** Files named in a report that are nowhere: neither in the goal nor in what any call was given or answered. */
export function unheardOf (names: string[], goal: string, calls: TaskToolCall[]): string[] {
  const seen = `${goal}\n${JSON.stringify(calls.map(({ input, output, error }) => [input, output, error]))}`
  return names.filter((name) => !seen.includes(name.slice(name.lastIndexOf('/') + 1)))
}

/** A promise is short; what is longer is not looked at, nor is it only a promise. */
const PROMISE = 300
const EMPTY_TALK =
  /^\W*(?:todo|tbd|wip|placeholder|lorem ipsum|coming soon|(?:add |insert |your )?(?:content|text)(?: goes)? here|\[[^\]]*\])\b[^\n]*$/i
/** Files that the run wrote with nothing in them but a promise. */
export const placeholders = (calls: TaskToolCall[]): string[] =>
  calls.flatMap(({ tool, status, input }) => {
    const { path, content } = (input ?? {}) as { path?: unknown, content?: unknown }
    return tool === 'writeFile' && status === 'complete' && typeof content === 'string' && content.length <= PROMISE &&
        EMPTY_TALK.test(content.trim())
      ? [String(path)]
      : []
  })
