import type { TaskToolCall } from '../../../schemas/task-runs.ts'

/** Tools that change nothing. */
const READS = new Set(['readFile', 'listDirectory', 'systemInfo', 'fetchUrl', 'webSearch', 'screenshot'])

export const isChange = ({ tool }: TaskToolCall) => !READS.has(tool)
export const isDone = (call: TaskToolCall) => call.status === 'complete' && !isBadExit(call)

/** The exit code of a command; null when the command did not exit by itself. */
const exitCode = ({ output }: TaskToolCall): number | null => (output as { exitCode?: number | null } | undefined)?.exitCode ?? null
const isCommand = ({ tool, status }: TaskToolCall) => tool === 'runCommand' && status === 'complete'
const commandOf = ({ input }: TaskToolCall) => String((input as { command?: unknown } | undefined)?.command ?? '')

/** Whether a command failed. Exit code 1 without stderr is no failure, because grep, diff and test answer no in that way. */
export function isBadExit (call: TaskToolCall): boolean {
  if (!isCommand(call)) return false
  const { stderr } = call.output as { stderr?: string }
  return exitCode(call) !== 0 && !(exitCode(call) === 1 && !stderr)
}

/** Describes the exit of a failed command. */
export const describeExit = (call: TaskToolCall): string => exitCode(call) === null ? 'was ended' : `ended with code ${exitCode(call)}`

/** The later calls of the same tool. */
export const laterCallsOfTool = (calls: TaskToolCall[], call: TaskToolCall) =>
  calls.slice(calls.indexOf(call) + 1).filter(({ tool }) => tool === call.tool)

const ANY_COMMAND = ['runCommand']
const WEB = ['fetchUrl', 'webSearch', 'runCommand']
const CHANGING = ['writeFile', 'deleteFile', 'runCommand']
/** Claims of a report, and the built-in tools that can have done it. Any tool that is not built in may also have done it. */
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

/** A claim in the report that no call of the run can have fulfilled. */
export function deedWithoutCall (report: string, calls: TaskToolCall[]): string | undefined {
  const done = calls.filter(isDone)
  for (const [deed, tools] of DEEDS) {
    const claim = deed.exec(report)?.[0]
    if (claim !== undefined && !done.some(({ tool }) => tools.includes(tool) || !BUILT_IN.has(tool))) return claim
  }
  return undefined
}

const TESTS_PASS =
  /\b(?:all (?:of the )?(?:\d+ )?tests (?:now )?(?:pass|passed|are (?:green|passing))|(?:the )?tests (?:now )?(?:pass|passed|are green)|the build (?:succeeded|succeeds|passes)|build is green)\b/i
const CHECKS = /\b(?:tests?|check|lint|build|make|compile|verify|tap|jest|pytest|tsc)\b/i

/** The command of the last check, when it failed although the report says that tests or build pass. */
export function failedCheck (report: string, calls: TaskToolCall[]): string | undefined {
  if (!TESTS_PASS.test(report)) return undefined
  const last = calls.filter(isCommand).findLast((call) => CHECKS.test(commandOf(call)))
  return last !== undefined && exitCode(last) !== 0 ? commandOf(last) : undefined
}

/** The names that appear neither in the goal nor in the input or output of a call. */
export function unknownFiles (names: string[], goal: string, calls: TaskToolCall[]): string[] {
  const seen = `${goal}\n${JSON.stringify(calls.map(({ input, output, error }) => [input, output, error]))}`
  return names.filter((name) => !seen.includes(name.slice(name.lastIndexOf('/') + 1)))
}

/** Longest content that can be a mere placeholder; characters. */
const MAX_PLACEHOLDER = 300
const EMPTY_TALK =
  /^\W*(?:todo|tbd|wip|placeholder|lorem ipsum|coming soon|(?:add |insert |your )?(?:content|text)(?: goes)? here|\[[^\]]*\])\b[^\n]*$/i
/** Files that the run wrote with a mere placeholder as their content. */
export const placeholders = (calls: TaskToolCall[]): string[] =>
  calls.flatMap(({ tool, status, input }) => {
    const { path, content } = (input ?? {}) as { path?: unknown, content?: unknown }
    return tool === 'writeFile' && status === 'complete' && typeof content === 'string' && content.length <= MAX_PLACEHOLDER &&
        EMPTY_TALK.test(content.trim())
      ? [String(path)]
      : []
  })
