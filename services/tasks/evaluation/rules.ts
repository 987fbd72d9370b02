import type { TaskToolCall } from '../../../schemas/task-runs.ts'
import type { Evidence } from './evidence.ts'
import { claimedFiles, wantedFiles } from './claims.ts'

/** A rule that a finished run must keep: resolves to what is wrong with it, or undefined. */
type Rule = (evidence: Evidence) => Promise<string | undefined> | string | undefined

const ERROR_TEXT = /^\W*(?:(?:an? )?(?:\w+ )?(?:error|exception|failure)\b(?!-)|failed\b|fatal\b|traceback\b|(?:AI_|ERR_)\w+|\w*(?:Error|Exception):|E[A-Z]{3,}:|HTTP (?:4|5)\d\d|(?:4|5)\d\d [A-Z])/i
const CANNOT = /\b(?:i(?:['’]m| am|['’]ve| have| was)? (?:(?:could|can|did|was|am|have)(?:n['’]t| not|not)|cannot|unable|(?:been )?unable|failed|not able)\b|(?:could|can) ?not (?:be )?(?:complete|finish|do|find|access|read|write|create|fetch|reach|open|run)\w*|(?:was|were|am|is) (?:not|un)able to)/i
const UNFINISHED = /\b(?:to be continued|not (?:yet )?(?:done|finished|complete[d]?|implemented)|(?:still|remain(?:s|ing)?) to (?:be done|do)|todo\b|to-do\b|work in progress|half done|partially (?:done|complete[d]?)|i (?:will|['’]ll|am going to|still need to|plan to) (?:now |next |then |later )?\w+|(?:the )?rest (?:will|is|remains)|next,? i)/i

/**
 * The rules, each a sentence's worth. They read what is on record, not what is claimed: what they find cannot be
 * outvoted by a model.
 */
export const RULES: Record<string, Rule> = {
  saysSomething: ({ answer }) => answer === '' ? 'The run ended without a report.' : undefined,
  wasNotCutOff: ({ finishReason }) => finishReason === 'stop' || finishReason === 'other'
    ? undefined
    : `The report was cut off (${finishReason}).`,
  isNoError: ({ answer }) => ERROR_TEXT.test(answer) ? 'The report is an error message.' : undefined,
  isDone: ({ answer }) => CANNOT.test(answer)
    ? 'The report says that something could not be done.'
    : UNFINISHED.test(answer) ? 'The report says that work is left to do.' : undefined,
  toolsWorked ({ calls }) {
    const tried = calls.filter(({ status }) => status !== 'denied')
    const failed = tried.filter(({ status }) => status !== 'complete')
    if (failed.length > 0 && failed.length === tried.length) return `Every tool call failed: ${inWords(failed)}.`
    // A look that found nothing may be part of the work; a change that was not made is work not done.
    const lost = failed.filter((call) => !READS.has(call.tool) && !laterOnes(calls, call).some(({ status }) => status === 'complete'))
    return lost.length > 0 ? `These calls failed and were not made good: ${inWords(lost)}.` : undefined
  },
  commandsWorked ({ calls }) {
    const failed = calls.filter((call) => isBadExit(call) && !laterOnes(calls, call).some((later) => later.status === 'complete' && !isBadExit(later)))
    return failed.length > 0 ? `A command ended with code ${exitCode(failed[0])} and no later one succeeded.` : undefined
  },
  async claimedFilesAreThere ({ answer, exists }) {
    const missing = await absent(claimedFiles(answer), exists)
    return missing.length > 0 ? `The report names files as made that are not there: ${missing.join(', ')}.` : undefined
  },
  async wantedFilesAreThere ({ goal, exists }) {
    const missing = await absent(wantedFiles(goal), exists)
    return missing.length > 0 ? `The goal asks for files that are not there: ${missing.join(', ')}.` : undefined
  },
  async filesWereWritten ({ goal, answer, calls }) {
    const wanted = new Set([...wantedFiles(goal), ...claimedFiles(answer)])
    const changed = calls.some(({ tool, status }) => status === 'complete' && !READS.has(tool))
    return wanted.size > 0 && !changed ? `Nothing was written, although ${[...wanted].slice(0, 3).join(', ')} should have been.` : undefined
  },
  phasesAreDone ({ run: { phases } }) {
    const failed = phases.filter(({ status }) => status === 'failed')
    if (failed.length > 0) return `Phases failed: ${failed.map(({ description }) => description).join('; ')}.`
    const reported = phases.some(({ status }) => status === 'completed' || status === 'skipped')
    const open = phases.filter(({ status }) => status === 'pending' || status === 'running')
    return reported && open.length > 0 ? `Phases were not reported as done: ${open.map(({ description }) => description).join('; ')}.` : undefined
  }
}

const READS = new Set(['readFile', 'listDirectory', 'systemInfo', 'fetchUrl', 'webSearch', 'screenshot'])

const laterOnes = (calls: TaskToolCall[], call: TaskToolCall) => calls.slice(calls.indexOf(call) + 1).filter(({ tool }) => tool === call.tool)
const inWords = (calls: TaskToolCall[]) => [...new Set(calls.map(({ tool, error }) => `${tool} (${(error ?? 'no result').slice(0, 120)})`))].slice(0, 5).join(', ')
const exitCode = ({ output }: TaskToolCall) => (output as { exitCode?: number | null } | undefined)?.exitCode ?? 0

/** 1 without a complaint is how grep and test say no. */
function isBadExit (call: TaskToolCall): boolean {
  if (call.tool !== 'runCommand' || call.status !== 'complete') return false
  const { stderr } = call.output as { stderr?: string }
  return exitCode(call) !== 0 && !(exitCode(call) === 1 && !stderr)
}

async function absent (paths: string[], exists: Evidence['exists']): Promise<string[]> {
  const there = await Promise.all(paths.map(exists))
  return paths.filter((_, at) => !there[at])
}

/** What is wrong, rule by rule; and the share of rules that hold, from 0 to 1. */
export async function checkRules (evidence: Evidence): Promise<{ issues: string[], share: number }> {
  const found = await Promise.all(Object.values(RULES).map((rule) => rule(evidence)))
  const issues = found.filter((issue) => issue !== undefined)
  return { issues, share: (found.length - issues.length) / found.length }
}
