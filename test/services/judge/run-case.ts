import { noUsage } from '../../../services/usage/usage-sums.ts'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Evaluation } from '../../../schemas/evaluation.ts'
import { isCompleted } from '../../../services/judge/evaluate.ts'
import { judgeRun } from '../../../services/judge/judge.ts'
import { systemClock, type Clock } from '../../../services/lib/clock.ts'
import type { RunEvent } from '../../../services/contracts/run-events.ts'
import { contentDigest } from '../../../services/tools/files/change-digest.ts'
import type { FileChange, Tool } from '../../../services/contracts/tool.ts'
import { OUTCOME_UNKNOWN } from '../../../services/contracts/model-texts.ts'
import { unmetered } from '../../harness/meter.ts'
import { build } from '../tools/helper.ts'
import { workspace, type JudgeCase, type ToolCall } from './cases/case-types.ts'
import type { Expects } from '../../../schemas/tasks.ts'

const usage = noUsage()

/** A model that answers each call with that text; undefined: that never answers. */
export const answering = (text: string | undefined): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'test',
  modelId: 'judge',
  supportedUrls: {},
  doGenerate () {
    if (text === undefined) return new Promise(() => {})
    return Promise.resolve({
      content: [{ type: 'text', text }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined }
      },
      warnings: []
    })
  },
  doStream: () => Promise.reject(new Error('nobody streams a judgement'))
})

/** A case without what its author expects. */
type Case = Omit<JudgeCase, 'expect'> & { expects?: Expects }

type Find = (name: string) => Tool | undefined

/** The collaborators of a judge whose model is that one. */
export const judgeDeps = (model: LanguageModelV4 | undefined, find: Find = () => undefined, clock: Clock = systemClock) => ({
  registry: {
    roles: () => ({ fast: 'test/judge', capable: 'test/judge', vision: 'test/judge' }),
    async model () {
      if (model === undefined) throw new Error('there is no judge')
      return { id: 'test/judge', origin: 'test/judge', model }
    }
  },
  host: { find },
  clock,
  meter: unmetered,
  log: { warn () {} }
})

/**
 * Lays out the files of a case in a folder and judges its run. `judge` is what the model answers; undefined for no model at all.
 * Paths of the case that lie elsewhere are moved into the folder.
 */
export async function runCase (
  given: Case,
  folder: string,
  judge: string | undefined
): Promise<{ status: string, evaluation: Evaluation }> {
  const { cwd, inside } = moveInto(given, folder)
  const { calls, report, goal, cutOff, expects, atEnd = {} } = inside
  mkdirSync(cwd, { recursive: true })
  const put = (path: string, content: string | null) => {
    const place = resolve(cwd, path)
    rmSync(place, { recursive: true, force: true })
    if (content === null) return
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, content)
  }
  const { host } = build({ workspace: cwd })
  for (const call of calls) for (const { path, after } of changesOf(call)) put(path, after)
  for (const [path, content] of Object.entries(atEnd)) put(path, content)
  const events: RunEvent[] = [
    { type: 'step-start', step: 1 },
    ...calls.flatMap((call) => eventsOf(call, cwd)),
    { type: 'step-finish', step: 1, finishReason: 'tool-calls', usage },
    { type: 'step-start', step: 2 },
    { type: 'text-delta', id: 't', delta: report },
    { type: 'step-finish', step: 2, finishReason: cutOff ? 'length' : 'stop', usage }
  ]
  const deps = judgeDeps(judge === undefined ? undefined : answering(judge), host.find)
  const { evaluation } = await judgeRun({ request: goal, criteria: [], plan: [], expects, events, cwd }, deps, AbortSignal.timeout(60_000))
  return { status: isCompleted(evaluation) ? 'completed' : 'failed', evaluation }
}

/** The judgement of a case, with its paths, and with the words of the report that it is about where its author gave none. */
export const judgementIn = (given: Case, folder: string): string => {
  const { judgement, report } = moveInto(given, folder).inside
  const quote = report
  return JSON.stringify({ quote, ...judgement, claims: judgement.claims.map((claim) => ({ quote, ...claim })) })
}

function moveInto (given: Case, folder: string): { cwd: string, inside: Case } {
  const cwd = join(folder, workspace)
  const paths = [...Object.keys(given.atEnd ?? {}), ...given.calls.flatMap(changesOf).map(({ path }) => path)]
  const elsewhere = paths.filter((path) => isAbsolute(path) && !path.startsWith(workspace))
  let text = JSON.stringify(given).replaceAll(workspace, cwd)
  for (const path of new Set(elsewhere)) text = text.replaceAll(path, join(folder, path))
  return { cwd, inside: JSON.parse(text) }
}

/** The changes of a call, with their contents; a move also takes the old path away. */
function changesOf ({ changedFile, tool, input, status }: ToolCall) {
  if (changedFile === undefined || status !== 'completed') return []
  const from = tool === 'moveFile' ? [{ path: String(input.from), before: changedFile.after, after: null }] : []
  return [...from, changedFile]
}

function eventsOf (call: ToolCall, cwd: string): RunEvent[] {
  const { id: toolCallId, tool: toolName, input, status, output } = call
  const changes = changesOf(call).map(({ path, before, after }): FileChange => ({
    path: resolve(cwd, path),
    before: before === null ? null : contentDigest(before),
    after: after === null ? null : contentDigest(after)
  }))
  const about = { toolCallId, toolName }
  const recorded = changes.length > 0 && { changes }
  const asObject = typeof output === 'object' && output !== null && !Array.isArray(output)
    ? output as Record<string, unknown>
    : {
        result: output
      }
  const outcome: Record<ToolCall['status'], RunEvent> = {
    completed: { type: 'tool-output', ...about, output: asObject, ...recorded },
    error: { type: 'tool-error', ...about, errorText: String(output ?? 'failed') },
    denied: { type: 'tool-denied', ...about, reason: 'The user denied this call.' },
    unknown: { type: 'tool-error', ...about, errorText: OUTCOME_UNKNOWN }
  }
  return [{ type: 'tool-input', ...about, input }, outcome[status]]
}
