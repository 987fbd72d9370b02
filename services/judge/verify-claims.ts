import type { Claim } from '../../schemas/evaluation.ts'
import type { CallFact } from './call-facts.ts'
import { isThere, pathTarget, type PathTarget, type Relation, mentions, textOfInput } from './claim-target.ts'
import { shown } from './material.ts'
import { digestAt } from '../tools/index.ts'
import type { FileChange } from '../contracts/tool.ts'

/** A claim (an effect that the report says the run had), as the judge model listed it. */
export interface Asserted extends Pick<Claim, 'claim' | 'effect' | 'count' | 'succeeded'> {
  target?: string | null
  call?: string | null
}
/** `by`: for a confirmed claim, the ids of the calls that can have had its effect. */
type Verdict = Pick<Claim, 'verdict' | 'reason'> & { by?: string[] }

const confirmedBy = (calls: readonly CallFact[]): Verdict => ({ verdict: 'confirmed', by: calls.map(({ id }) => id) })
const contradicted = (reason: string): Verdict => ({ verdict: 'contradicted', reason })
const unchecked = (reason: string): Verdict => ({ verdict: 'unchecked', reason })

const NO_CALL = 'No completed call of this run can have done it.'
const NOT_TOUCHED = /^".*" was not (?:changed|deleted) by this run\.$/su
const OUTCOME_OPEN = 'The outcome of a call that can have done it is not known.'
const NOT_NAMED = 'Calls ran that can have done it, and none of them names it.'

/** True if a claim is contradicted because no call had its effect, not because a later call undid the effect. */
export const lacksCall = ({ verdict, reason = '' }: Verdict): boolean =>
  verdict === 'contradicted' && (reason === NO_CALL || NOT_TOUCHED.test(reason))

/**
 * Checks the claims of a report against the recorded calls and, for files, against the disk. The wording of a
 * claim is not interpreted: only its effect, target and call count.
 */
export async function verifyClaims (claims: Asserted[], facts: Omit<Facts, 'claims'>): Promise<Claim[]> {
  const verified: Claim[] = []
  for (const asserted of claims) {
    const { claim, effect, target, call, count, succeeded } = asserted
    const found = effect === 'file' || effect === 'deletion'
      ? await verifyFileClaim(asserted, { ...facts, claims })
      : effect === 'other'
        ? unchecked('An effect of this kind leaves nothing that can be checked.')
        : verifyAct(asserted, facts.calls)
    const { by = [], ...verdict } = found.verdict === 'confirmed' ? await verifyNumbers(asserted, facts) ?? found : found
    // A confirmed claim refers to a call that supports it, even if the judge named no call or another one.
    const leadsTo = call && (by.length === 0 || by.includes(call)) ? call : by.at(-1) ?? null
    verified.push({
      claim: shown(claim),
      effect,
      ...(target && { target: shown(target) }),
      call: leadsTo === null ? null : shown(leadsTo),
      ...(typeof count === 'number' && { count }),
      ...(typeof succeeded === 'boolean' && { succeeded }),
      ...verdict
    })
  }
  return verified
}

/**
 * Checks a claim about a command or a message, for which only the call is recorded. The call must contain the
 * target of the claim; a claim without a target must name the call.
 */
function verifyAct ({ effect, target, call: id }: Asserted, calls: CallFact[]): Verdict {
  const able = calls.filter(({ proves }) => proves === effect || proves === 'any')
  const done = able.filter(({ status }) => status === 'completed')
  const proofs = done.filter((call) => target ? names(call, target) : call.id === id)
  if (proofs.length > 0) return confirmedBy(proofs)
  if (able.some(({ status }) => status === 'unknown')) return unchecked(OUTCOME_OPEN)
  return done.length > 0 ? unchecked(NOT_NAMED) : contradicted(NO_CALL)
}

/** What is needed to check a claim. `claims` are all claims of the report. */
interface Facts {
  claims: Asserted[]
  calls: CallFact[]
  cwd: string
  signal: AbortSignal
}
/** A recorded change that concerns the target, and the position `at` of its call in the run. */
interface Touch {
  at: number
  call: CallFact
  change: FileChange
  relation: Relation
}
type FileEffect = 'file' | 'deletion'

const NOT_BY_PATH = unchecked('The report does not name the file by its path.')

/**
 * Checks a claim that a file was written, moved or deleted. The records of files tools decide, together with the
 * state of the disk at the end. A command, or another tool that can do anything, confirms a claim if its input
 * names the path and the disk agrees. Only recorded and named paths are looked up on the disk.
 */
async function verifyFileClaim (asserted: Asserted, facts: Facts): Promise<Verdict> {
  const { calls, cwd } = facts
  const effect: FileEffect = asserted.effect === 'deletion' ? 'deletion' : 'file'
  const cited = calls.find(({ id }) => id === asserted.call)
  const named = await pathTarget(asserted.target ?? '', cwd)
  // A claim about a move names both paths as its target. The first change of the call is that of the new path.
  const move = calls.find(({ target, changes }) => changes.length > 1 && target === asserted.target)
  const target = move || named.isWhole ? await pathTarget((move ?? cited)?.changes[0]?.path ?? '', cwd) : named
  if (target.isWhole) return withoutTarget(effect, calls)

  const touched = await touchesOf(target, effect, calls)
  const last = touched.findLast(effect === 'file' ? wrote : removed)
  if (last !== undefined) return effect === 'file' ? verifyWritten(asserted, last, touched, facts) : verifyDeleted(last, touched, facts)
  const naming = calls.filter((call) => isFree(call) && target.isNamedIn(call.input, call.folder))
  if (touched.length > 0) return verifyUntouched(effect, touched, naming, facts)
  const moved = effect === 'file' ? await movedWithFolder(target, facts) : []
  if (moved.length > 0) return confirmedBy(moved)
  return verifyByOthers(effect, target, naming, calls)
}

/** Returns the calls that moved a folder which contains the target, if the target exists at the end. */
async function movedWithFolder (target: PathTarget, { calls, cwd }: Facts): Promise<CallFact[]> {
  const movers: CallFact[] = []
  for (const call of calls.filter(({ proves }) => proves === 'file')) {
    const folders = call.changes.filter(({ before, after }) => before === null && after === 'directory')
    const relations = await Promise.all(folders.map(({ path }) => target.relationOf(path)))
    if (relations.includes('around')) movers.push(call)
  }
  if (movers.length === 0) return []
  return (await Promise.all(target.placesFrom(cwd).map(isThere))).includes(true) ? movers : []
}

/** Checks a claim about a file that names no path. */
function withoutTarget (effect: FileEffect, calls: CallFact[]): Verdict {
  const able = calls.filter(({ proves }) => proves === effect || proves === 'any')
  if (able.some(({ status }) => status === 'unknown')) return unchecked(OUTCOME_OPEN)
  const done = able.filter(({ status, proves, changes }) =>
    status === 'completed' && (proves === 'any' || changes.some(({ before, after }) => before !== after))
  )
  return done.length > 0 ? NOT_BY_PATH : contradicted(NO_CALL)
}

/** Returns the recorded changes that concern the target, in the order of their calls. */
async function touchesOf (target: PathTarget, effect: FileEffect, calls: CallFact[]): Promise<Touch[]> {
  const found: Touch[] = []
  for (const [at, call] of calls.entries()) {
    for (const change of call.changes) {
      // The path that a call named can lead to the changed path through links.
      const relation = await target.relationOf(change.path) ??
        (call.target !== undefined && call.changes.length === 1 ? await target.relationOf(call.target) : undefined)
      // The removal of a folder removes its content. Other changes of a folder say nothing about the files in it.
      if (relation === undefined || (relation === 'around' && change.after !== null)) continue
      if (effect === 'file' || change.after === null || relation === 'same') found.push({ at, call, change, relation })
    }
  }
  return found
}

const removed = ({ change: { before, after } }: Touch) => before !== null && after === null
/**
 * True if a change removed a path by moving it elsewhere (`file` tools cannot delete), or removed something
 * inside the target folder, which changes that folder.
 */
const tookAway = (touch: Touch) => removed(touch) && (touch.call.proves === 'file' || touch.relation === 'inside')
const wrote = (touch: Touch) => (touch.change.after !== null && touch.change.after !== touch.change.before) || tookAway(touch)
const shownPath = ({ change }: Touch) => JSON.stringify(change.path)
/** True for a call of a tool that can do anything, if the call completed or has an unknown outcome. */
const isFree = ({ proves, status }: CallFact) => proves === 'any' && (status === 'completed' || status === 'unknown')

/**
 * Checks a claim about a file that was written. At the end the file must exist and differ from before, unless a
 * later call explains its state.
 */
async function verifyWritten (asserted: Asserted, last: Touch, touched: Touch[], facts: Facts): Promise<Verdict> {
  const borneOut = confirmedBy([...touched.filter(wrote).map(({ call }) => call), last.call])
  if (tookAway(last)) return borneOut
  const { path } = last.change
  const now = await digestAt(path, facts.signal)
  if (now !== null) {
    const first = touched.find(({ change }) => change.path === path)!
    if (now !== first.change.before || await isClaimed('file', path, { ...facts, claims: others(asserted, facts) })) return borneOut
  } else if (touched.some((touch) => touch.at > last.at && removed(touch))) {
    return await isClaimed('deletion', path, facts) ? borneOut : contradicted(`${shownPath(last)} was deleted later in this run.`)
  }
  const state = now === null ? 'is not there at the end' : 'is at the end as it was before'
  const later = facts.calls.slice(last.at + 1).filter(isFree)
  if (later.length === 0) return contradicted(`${shownPath(last)} ${state}.`)
  const target = await pathTarget(path, facts.cwd)
  const naming = later.filter(({ input, folder }) => target.isNamedIn(input, folder))
  const isTold = others(asserted, facts).some(({ call }) => naming.some(({ id }) => id === call))
  return isTold ? borneOut : unchecked(`${shownPath(last)} ${state}; a later call may account for it.`)
}

const others = (asserted: Asserted, { claims }: Facts) => claims.filter((claim) => claim !== asserted)

/** Checks a claim about a file that was deleted. At the end the file must be gone, unless the report says that it was written again. */
async function verifyDeleted (last: Touch, touched: Touch[], facts: Facts): Promise<Verdict> {
  const { path } = last.change
  const borneOut = confirmedBy([...touched.filter(removed).map(({ call }) => call), last.call])
  if (!await isThere(path)) return borneOut
  if (touched.some((touch) => touch.at > last.at && touch.change.after !== null)) {
    return await isClaimed('file', path, facts) ? borneOut : contradicted(`${shownPath(last)} was written again later in this run.`)
  }
  return facts.calls.slice(last.at + 1).some(isFree)
    ? unchecked(`${shownPath(last)} is there at the end; a later call may account for it.`)
    : contradicted(`${shownPath(last)} is there at the end.`)
}

/**
 * Checks a claim about a file that the records mention although no files tool had the effect. If the disk shows
 * the effect, another call caused it.
 */
async function verifyUntouched (effect: FileEffect, touched: Touch[], naming: CallFact[], { calls, signal }: Facts): Promise<Verdict> {
  const [{ change: first }] = touched
  const now = await digestAt(first.path, signal)
  const isSo = effect === 'deletion' ? now === null : now !== null && (now !== first.before || now !== touched.at(-1)!.change.after)
  const done = naming.filter(({ status }) => status === 'completed')
  if (isSo && done.length > 0) return confirmedBy(done)
  if (isSo && calls.some(isFree)) return unchecked(NOT_NAMED)
  return contradicted(`${shownPath(touched[0])} was not ${effect === 'file' ? 'changed' : 'deleted'} by this run.`)
}

/** Checks a claim about a target that no files tool touched. */
async function verifyByOthers (effect: FileEffect, target: PathTarget, naming: CallFact[], calls: CallFact[]): Promise<Verdict> {
  const done = naming.filter(({ status }) => status === 'completed')
  for (const call of done) if (await agrees(effect, call, target)) return confirmedBy([call])
  if (calls.some((call) => call.status === 'unknown' && canHave(effect, call, target))) return unchecked(OUTCOME_OPEN)
  if (done.length > 0) return unchecked('A call names it, and its outcome does not show it.')
  if (calls.some(isFree)) return unchecked(NOT_NAMED)
  // The target can be a description instead of a path, or name several paths.
  const isNear = calls.some(({ target: path, changes }) =>
    changes.some(({ before, after }) => effect === 'file' ? before !== after : after === null) &&
    (target.isVague || (path !== undefined && target.holds(path)))
  )
  return isNear ? NOT_BY_PATH : contradicted(NO_CALL)
}

/** True if a call that names the target can have had the effect. A command must have succeeded, and the disk must show the effect. */
async function agrees (effect: FileEffect, { folder, output }: CallFact, target: PathTarget): Promise<boolean> {
  // A tool of a server or of the application can have its effect elsewhere than on this disk.
  if (folder === undefined) return true
  if (output?.exitCode !== 0) return false
  const there = await Promise.all(target.placesFrom(folder).map(isThere))
  return there.includes(true) === (effect === 'file')
}

/** True if a call with an unknown outcome can have had the effect. */
const canHave = (effect: FileEffect, { proves, input }: CallFact, target: PathTarget) =>
  proves === 'any' || (proves !== undefined && (proves === effect || effect === 'deletion') && target.isNamedIn(input))

/** True if one of the claims is about this effect on this path. */
async function isClaimed (effect: FileEffect, path: string, { claims, calls, cwd }: Omit<Facts, 'signal'>): Promise<boolean> {
  for (const claim of claims) {
    if (claim.effect !== effect) continue
    const cited = calls.find(({ id }) => id === claim.call)
    const about = claim.target ?? cited?.changes[0]?.path
    if (about !== undefined && await (await pathTarget(about, cwd)).relationOf(path) !== undefined) return true
  }
  return false
}

/** The fewest characters of a command that is searched in a longer target. */
const SHORTEST = 4

/**
 * True if the input of a call contains the target, or if the target contains the whole command, because a report can quote more than was
 * run.
 */
function names ({ input, target: own }: CallFact, target: string): boolean {
  const wanted = spaced(target)
  const command = own === undefined ? '' : spaced(own)
  return mentions(spaced(textOfInput(input)), wanted) || (command.length >= SHORTEST && mentions(wanted, command))
}

const spaced = (text: string) => text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').replace(/^["'`\s]+|["'`\s]+$/gu, '')

/**
 * Checks the count and the success that a confirmed claim states. Returns undefined if the calls do not contradict
 * them. A mismatch only makes the claim unchecked and does not fail the run, because a judge might have misread a number.
 */
async function verifyNumbers (asserted: Asserted, { calls, cwd }: { calls: CallFact[], cwd: string }): Promise<Verdict | undefined> {
  const { effect, succeeded, count } = asserted
  if (succeeded === true && effect === 'command') {
    const failure = failureOf(asserted, calls)
    if (failure !== undefined) return unchecked(failure)
  }
  if (typeof count !== 'number' || count <= 1) return undefined
  const found = await countOf(asserted, calls, cwd)
  if (found >= count) return undefined
  const isOpen = effect !== 'command' && effect !== 'message' && calls.some(mayHaveDoneMore)
  const others = isOpen ? '; a call whose changes are not recorded may account for others' : ''
  return unchecked(`The calls show ${found}, not ${count}${others}.`)
}

/** Returns how the last command that the claim can mean failed; undefined if that command succeeded. */
function failureOf ({ target, call: id }: Asserted, calls: CallFact[]): string | undefined {
  const ran = calls.filter(({ status, isCommand }) => isCommand && status === 'completed')
  const last = ran.findLast((call) => target ? names(call, target) : call.id === id)
  const { exitCode, timedOut, signal } = last?.output ?? {}
  if (timedOut === true) return 'The command took too long and was ended.'
  if (typeof signal === 'string') return `The command was ended by ${signal}.`
  return typeof exitCode === 'number' && exitCode !== 0 ? `The command ended with exit code ${exitCode}.` : undefined
}

/** Returns the number of files, messages or commands that the calls show. */
async function countOf ({ effect, target }: Asserted, calls: CallFact[], cwd: string): Promise<number> {
  if (effect === 'file' || effect === 'deletion') return countPaths(effect, target ?? '', calls, cwd)
  const able = calls.filter(({ status, proves, isCommand }) =>
    status === 'completed' && (proves === effect || (proves === 'any' && isCommand === (effect === 'command')))
  )
  const named = target ? able.filter((call) => names(call, target)) : []
  return (named.length > 0 ? named : able).reduce((sum, { input }) => sum + (effect === 'message' ? recipients(input) : 1), 0)
}

/** Returns the number of recipients of a message: the length of the longest list in the input, at least 1. */
function recipients (input: unknown): number {
  if (typeof input !== 'object' || input === null) return 1
  return Math.max(1, ...Object.values(input).map((value) => Array.isArray(value) ? value.length : 1))
}

/** Returns the number of different paths that calls changed. If some belong to the target, only these count. */
async function countPaths (effect: 'file' | 'deletion', target: string, calls: CallFact[], cwd: string): Promise<number> {
  const changes = calls.flatMap(({ changes }) => changes)
  const paths = [...new Set(changes.filter(({ before, after }) => effect === 'file' ? after !== null && after !== before : after === null)
    .map(({ path }) => path))]
  const place = await pathTarget(target, cwd)
  if (target === '' || place.isWhole) return paths.length
  const related = (await Promise.all(paths.map((path) => place.relationOf(path)))).filter((relation) => relation !== undefined)
  return related.length > 0 ? related.length : paths.length
}

/** True if a call might have changed files that are not recorded. */
const mayHaveDoneMore = ({ proves, status, changes, hasChangedNothing }: CallFact) =>
  proves === 'any' && (status === 'completed' || status === 'unknown') && changes.length === 0 && !hasChangedNothing
