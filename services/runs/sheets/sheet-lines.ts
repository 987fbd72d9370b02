import type { Sheet, SheetLine, AcceptedSheet, SheetAnswer } from '../../../schemas/sheets.ts'
import { GrantRefused, type Grants } from '../../approvals/index.ts'
import type { NewLine, StoredLine, StoredSheet } from '../../contracts/sheet-record.ts'
import type { ToolHost } from '../../tools/index.ts'
import { type RunRecord, isOver } from '../run-record.ts'
import type { GrantView } from '../../../schemas/grants.ts'
import type { Owner } from '../../contracts/approval-record.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { inputDigest } from '../../lib/canonical-json.ts'
import { defineError } from '../../lib/service-error.ts'
import type { Op } from '../../store/index.ts'
import { toolCallsOf } from '../tool-calls.ts'

/** The most lines of a sheet, the list of the calls that a rehearsal would have made. Later calls get no line. */
const MOST_LINES = 1_000
/** The most characters of an input that a line shows, as JSON. */
const INPUT_SHOWN = 4_000

/**
 * Returns the record of a rehearsal with a call of its newest step added to the sheet. If there is already a line for the same call, the
 * count of that line is increased. Beyond MOST_LINES lines, the call is dropped. A long input is cut.
 */
export function withLine<R extends RunRecord> (run: R, call: NewLine): R {
  const { sheet, steps } = run
  return sheet === undefined ? run : { ...run, sheet: { ...sheet, lines: addLine(sheet.lines, call, steps) } }
}

function addLine (lines: readonly StoredLine[], call: NewLine, step: number): StoredLine[] {
  const digest = inputDigest(call.input)
  const same = lines.findIndex((line) => line.toolName === call.toolName && line.digest === digest && line.outcome === call.outcome)
  if (same !== -1) return lines.with(same, { ...lines[same], count: lines[same].count + 1 })
  if (lines.length >= MOST_LINES) return [...lines]
  const isGuess = lines.some((line) => line.outcome === 'unknown' && line.step < step)
  const json = JSON.stringify(call.input) ?? ''
  const input = json.length > INPUT_SHOWN ? `${json.slice(0, INPUT_SHOWN).toWellFormed()}…` : call.input
  return [...lines, { ...call, digest, input, line: lines.length + 1, count: 1, step, ...(isGuess && { guess: true as const }) }]
}

/** Returns why a line can no longer be accepted; undefined if it can. */
function whyLineVoid ({ toolName, identity }: StoredLine, { find, identity: identityOf }: Pick<ToolHost, 'find' | 'identity'>) {
  if (find(toolName) === undefined) return `${toolName} is not there now: its server is away, or the application has not given it.`
  return identityOf(toolName) === identity ? undefined : `${toolName} was changed since the rehearsal.`
}

/**
 * Returns the public form of a sheet. `tools` are the tools that a run would have now. `isVoid` is the reason why no line of the sheet can
 * be accepted any more.
 */
export function sheetView (
  { run, sheet, isVoid }: { run: RunRecord, sheet: StoredSheet, isVoid?: string },
  tools: Pick<ToolHost, 'find' | 'identity'>
): Sheet {
  const { runId, taskId, threadId, status, startedAt, durationMs, output, error, facts, usage } = run
  return {
    ...{ runId, status, startedAt, durationMs, output, error, facts, usage },
    ...taskId === undefined ? { threadId } : { taskId },
    lines: sheet.lines.map(({ digest, identity, step, ...line }): SheetLine => {
      const why = line.scopes.length === 0 ? undefined : whyLineVoid({ ...line, digest, identity, step }, tools)
      return { ...line, void: why }
    }),
    void: isVoid
  }
}

export const NoRehearsal = defineError(
  'ERR_RUN_NOT_FOUND',
  'There is no rehearsal "%s". GET /tasks/:id/rehearsals lists those of a task, GET /runs?threadId= the runs of a conversation.'
)
const RehearsalLive = defineError('ERR_RUN_LIVE', 'The rehearsal "%s" is not over. Its sheet can be accepted when it is.')
export const SheetVoid = defineError('ERR_SHEET_VOID', '%s Rehearse it again.')

/** The record of a run that has a sheet. */
export type Rehearsed<R extends RunRecord> = R & { sheet: StoredSheet }

interface Parts<R extends RunRecord> {
  grants: Pick<Grants, 'addAll' | 'views'>
  /** The tools that a run of the owner would have now. */
  tools: ToolHost
  /** Reads the events of the run. */
  events: () => Promise<readonly RunEvent[]>
  /** Returns the operations that store the record of the run. */
  put: (run: R) => Op[]
}

/**
 * Makes a grant for each line of a sheet that a person accepts: for all of these lines, or for none. Lines that were accepted before are
 * not changed. Throws RehearsalLive and SheetVoid (409), GrantRefused (400), TooManyGrants (409).
 */
export async function acceptLines<R extends RunRecord> (
  run: Rehearsed<R>,
  accepted: SheetAnswer['lines'],
  owner: Owner,
  { grants, tools, events, put }: Parts<R>
): Promise<AcceptedSheet> {
  if (!isOver(run)) throw new RehearsalLive(run.runId)
  const place = { cwd: run.sheet.cwd }
  const chosen = accepted.map(({ line: number, scope, until }) => {
    const line = run.sheet.lines[number - 1]
    if (line === undefined) throw new GrantRefused(`The sheet has no line ${number}; it has ${run.sheet.lines.length}.`)
    if (!line.scopes.some((offered) => offered.scope === scope)) {
      const offered = line.scopes.map((each) => `"${each.scope}"`).join(', ')
      throw new GrantRefused(`Line ${number} can be accepted with ${offered === '' ? 'no scope' : offered}, not with "${scope}".`)
    }
    const why = whyLineVoid(line, tools)
    if (why !== undefined) throw new SheetVoid(`Line ${number}: ${why}`)
    return { line, scope, until }
  })
  const standing = new Map((await grants.views(owner)).flatMap((grant) => grant.endedAt === undefined ? [[grant.grantId, grant]] : []))
  // A line that was accepted before gets a new grant if its grant has ended.
  const fresh = chosen.filter(({ line, scope }) => line.accepted?.scope !== scope || !standing.has(line.accepted.grantId))
  const calls = fresh.length === 0 ? [] : toolCallsOf(await events())
  const requested = await Promise.all(fresh.map(async ({ line, scope, until }) => {
    // The input in a line can be shortened, so the whole input is read from the events.
    const input = (calls.find(({ toolCallId }) => toolCallId === line.toolCallId)?.input ?? line.input) as object
    const folder = await tools.folders.of(line.toolName, input, place.cwd)
    if (folder === undefined) throw new GrantRefused(`The folder of line ${line.line} is not there any more.`)
    const isAddress = tools.permission(line.toolName) !== 'ask'
    return { toolName: line.toolName, input, scope, until, place: { ...place, folder }, isAddress }
  }))
  const made = fresh.length === 0
    ? []
    : await grants.addAll(owner, requested, tools, {
      source: 'rehearsal',
      sheet: run.runId,
      more: (granted) => put(withAccepted(run, fresh.map(({ line, scope }, nth) => ({ line, scope, ...grantOf(granted[nth]) }))))
    })
  const before = new Set(chosen.flatMap((each) => fresh.includes(each) ? [] : [each.line.accepted!.grantId]))
  return { grants: [...made, ...[...before].map((grantId) => standing.get(grantId)!)] }
}

const grantOf = ({ grantId, createdAt: at }: Pick<GrantView, 'grantId' | 'createdAt'>) => ({ grantId, at })

/** Returns the record of the run with the accepted lines marked. */
function withAccepted<R extends RunRecord> (
  run: Rehearsed<R>,
  accepted: ReadonlyArray<NonNullable<StoredLine['accepted']> & { line: StoredLine }>
): R {
  const lines = run.sheet.lines.map((each) => {
    const { line, ...found } = accepted.find(({ line }) => line.line === each.line) ?? {}
    return line === undefined ? each : { ...each, accepted: found as StoredLine['accepted'] }
  })
  return { ...run, sheet: { ...run.sheet, lines } }
}
