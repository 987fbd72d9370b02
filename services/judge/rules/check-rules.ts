import type { TaskToolCall } from '../../../schemas/task-runs.ts'
import { changedFiles, claimedFiles, namedFiles, removedFiles, wantedFiles } from './claims.ts'
import { deedWithoutCall, failedCheck, describeExit, isBadExit, isChange, isDone, laterCallsOfTool, placeholders, unknownFiles } from './deeds.ts'
import type { Evidence } from '../evidence.ts'
import { isToReport, needsChange, needsLook } from './goals.ts'
import { admission, breaksOff, hasGaps, isErrorText, isMereAssent, isWordless } from './words.ts'

/** A rule for finished runs: returns a sentence about the violation, or undefined. */
type Rule = (evidence: Evidence) => Promise<string | undefined> | string | undefined

const ADMITTED = {
  failed: 'The report says that something could not be done.',
  unfinished: 'The report says that work is left to do.',
  asks: 'The report asks before it goes on, and nobody reads along.'
}

/**
 * The rules by name. They compare the report with the recorded facts, so a model's opinion cannot overrule their findings.
 */
export const RULES: Record<string, Rule> = {
  saysSomething ({ answer, goal, calls }) {
    if (isWordless(answer) || (isMereAssent(answer) && !calls.some(isDone))) return 'The run ended without a report.'
    return hasGaps(answer) && !hasGaps(goal) && !/\b(?:form|placeholders?|template)\b/i.test(goal)
      ? 'The report has gaps that were to be filled in.'
      : undefined
  },
  wasNotCutOff ({ finishReason, answer }) {
    if (finishReason !== 'stop' && finishReason !== 'other') return `The report was cut off (${finishReason}).`
    return breaksOff(answer) ? 'The report breaks off in the middle of a sentence.' : undefined
  },
  isNoError: ({ answer, goal }) => isErrorText(answer, goal) ? 'The report is an error message.' : undefined,
  isDone ({ answer, goal, calls }) {
    const admitted = admission(answer, goal, calls.some(isDone))
    return admitted && ADMITTED[admitted]
  },
  usedTools ({ goal, calls }) {
    const worked = calls.filter(({ status }) => status === 'complete')
    if (needsChange(goal) && !worked.some(isChange)) return 'Nothing was changed, although the goal asks for it.'
    return needsLook(goal) && worked.length === 0 && calls.length === 0
      ? 'No tool was used, although the goal cannot be reached without.'
      : undefined
  },
  toolsWorked ({ calls, goal, answer }) {
    const tried = calls.filter(({ status }) => status !== 'denied')
    const failed = tried.filter(({ status }) => status !== 'complete')
    // A failed read may be part of the work, or the very result that the goal asks for. A failed change is work that was not done.
    if (failed.length > 0 && failed.length === tried.length && !(isToReport(goal, answer) && !failed.some(isChange))) {
      return `Every tool call failed: ${describeCalls(failed)}.`
    }
    const lost = failed.filter((call) => isChange(call) && !laterCallsOfTool(calls, call).some(({ status }) => status === 'complete'))
    return lost.length > 0 ? `These calls failed and were not made good: ${describeCalls(lost)}.` : undefined
  },
  commandsWorked ({ calls, goal, answer }) {
    const failed = calls.filter((call) => isBadExit(call) && !laterCallsOfTool(calls, call).some(isDone))
    return failed.length > 0 && !isToReport(goal, answer) ? `A command ${describeExit(failed[0])} and no later one succeeded.` : undefined
  },
  checksPassed ({ answer, calls }) {
    const failed = failedCheck(answer, calls)
    return failed && `The report says that all is well, but ${JSON.stringify(failed.slice(0, 120))} failed.`
  },
  deedsWereDone ({ answer, calls }) {
    const deed = deedWithoutCall(answer, calls)
    return deed && `The report says ${JSON.stringify(deed)}, but no tool has done that.`
  },
  async claimedFilesAreThere ({ answer, calls, sizeOf }) {
    const missing = await pathsWhere(withoutDeleted(claimedFiles(answer), calls), sizeOf, (size) => size === undefined)
    return missing.length > 0 ? `The report names files as made that are not there: ${missing.join(', ')}.` : undefined
  },
  async namedFilesAreKnown ({ answer, goal, calls, sizeOf }) {
    // Commands and other programs can create files whose names appear in no call.
    const changes = calls.filter(isChange)
    if (changes.some(({ tool }) => tool !== 'writeFile' && tool !== 'deleteFile') || (changes.length === 0 && !needsChange(goal))) {
      return undefined
    }
    const nowhere = await pathsWhere(unknownFiles(namedFiles(answer), goal, calls), sizeOf, (size) => size === undefined)
    return nowhere.length > 0 ? `The report names files that are nowhere: ${nowhere.join(', ')}.` : undefined
  },
  async removedFilesAreGone ({ answer, sizeOf, calls }) {
    const claimed = removedFiles(answer).filter((path) =>
      !calls.some((call) => isDone(call) && call.tool === 'deleteFile' && pathOf(call) === path)
    )
    const left = await pathsWhere(claimed, sizeOf, (size) => size !== undefined)
    return left.length > 0 ? `The report names files as removed that are still there: ${left.join(', ')}.` : undefined
  },
  async wantedFilesAreThere ({ goal, calls, sizeOf }) {
    const missing = await pathsWhere(withoutDeleted(wantedFiles(goal), calls), sizeOf, (size) => size === undefined)
    return missing.length > 0 ? `The goal asks for files that are not there: ${missing.join(', ')}.` : undefined
  },
  async filesHoldSomething ({ goal, answer, calls, sizeOf }) {
    if (/\b(?:empty|blank|placeholder|touch|clear|truncate)\b/i.test(goal)) return undefined
    const named = [...new Set([...wantedFiles(goal), ...claimedFiles(answer)])]
    const hollow = [...await pathsWhere(named, sizeOf, (size) => size === 0), ...placeholders(calls)]
    return hollow.length > 0 ? `These files hold nothing: ${[...new Set(hollow)].join(', ')}.` : undefined
  },
  filesWereWritten ({ goal, answer, calls }) {
    const wanted = [...new Set([...wantedFiles(goal), ...changedFiles(goal), ...claimedFiles(answer)])]
    return wanted.length > 0 && !calls.some((call) => call.status === 'complete' && isChange(call))
      ? `Nothing was written, although ${wanted.slice(0, 3).join(', ')} should have been.`
      : undefined
  },
  phasesAreDone ({ run: { phases } }) {
    const failed = phases.filter(({ status }) => status === 'failed')
    if (failed.length > 0) return `Phases failed: ${failed.map(({ description }) => description).join('; ')}.`
    const reported = phases.some(({ status }) => status === 'completed' || status === 'skipped')
    const open = phases.filter(({ status }) => status === 'pending' || status === 'running')
    return reported && open.length > 0
      ? `Phases were not reported as done: ${open.map(({ description }) => description).join('; ')}.`
      : undefined
  }
}

const describeCalls = (calls: TaskToolCall[]) =>
  [...new Set(calls.map(({ tool, error }) => `${tool} (${(error ?? 'no result').slice(0, 120)})`))].slice(0, 5).join(', ')
const pathOf = ({ input }: TaskToolCall) => (input as { path?: unknown } | undefined)?.path

/** Leaves out files that the run deleted again, because the goal may ask for that. */
function withoutDeleted (paths: string[], calls: TaskToolCall[]): string[] {
  const deleted = calls.filter((call) => isDone(call) && call.tool === 'deleteFile').map(pathOf)
  return paths.filter((path) => !deleted.includes(path))
}

/** The paths whose size satisfies the condition; the size is undefined when the file does not exist. */
async function pathsWhere (paths: string[], sizeOf: Evidence['sizeOf'], condition: (size: number | undefined) => boolean): Promise<string[]> {
  const sizes = await Promise.all(paths.map(sizeOf))
  return paths.filter((_, at) => condition(sizes[at]))
}

/** The violations, in the order of the rules, and the share of rules that hold, from 0 to 1. */
export async function checkRules (evidence: Evidence): Promise<{ issues: string[], share: number }> {
  const found = await Promise.all(Object.values(RULES).map((rule) => rule(evidence)))
  const issues = found.filter((issue) => issue !== undefined)
  return { issues, share: (found.length - issues.length) / found.length }
}
