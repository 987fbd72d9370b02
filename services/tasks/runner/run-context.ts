import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { COMMENT_OPENING, NOTE_OPENING } from '../../contracts/model-texts.ts'
import type { ObjectAnswer } from '../../runs/index.ts'
import type { RunContext } from '../../contracts/run-events.ts'
import type { FolderGuide } from '../../contracts/run-events.ts'
import type { Tool } from '../../contracts/tool.ts'
import { taskContext, type ContextParts } from './task-prompt.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'

interface Parts extends Omit<ContextParts, 'tools' | 'answer'> {
  tools: Tool[]
  guide: FolderGuide | undefined
  /** The structured answer that the run owes. */
  owed: ObjectAnswer | undefined
}

/** The context of an earlier attempt at the run; undefined when there was none, or when the task has changed since. */
export function knownContext (log: readonly RunEvent[], task: StoredTask, run: StoredRun): RunContext | undefined {
  const known = log.findLast((event) => event.type === 'context')
  return known?.context.cwd === task.cwd && task.outdatedRun !== run.runNumber ? known.context : undefined
}

/**
 * The system prompt and the tools of a run. They stay the same in all its steps and attempts, because the reasoning of a
 * model is bound to them.
 */
export function newContext ({ tools, guide, owed, ...parts }: Parts): RunContext {
  const names = tools.map(({ name }) => name)
  return {
    at: parts.now,
    cwd: parts.task.cwd,
    system: taskContext({
      ...parts,
      ...(owed && { answer: owed.instructions(true) }),
      tools: owed === undefined ? names : [...names, owed.tool.name]
    }),
    ...(guide !== undefined && { guide }),
    tools: [
      ...tools.map(({ name, description, inputSchema }): LanguageModelV4FunctionTool => ({
        type: 'function',
        name,
        description,
        inputSchema
      })),
      ...owed === undefined ? [] : [owed.tool]
    ]
  }
}

/**
 * Texts that a continued run receives because its context does not contain them: that it was interrupted, and what the
 * user said to the task since.
 */
export function notesOf (log: readonly RunEvent[], context: RunContext, task: StoredTask, run: StoredRun): string[] {
  const texts = [
    ...(run.attempts > 1
      ? [
        `${NOTE_OPENING} This run was interrupted and goes on now (attempt ${run.attempts}). What it had done stands in the ` +
        'conversation; do not repeat it.]'
        ]
      : []),
    ...task.steeringHistory.filter(({ runId, createdAt }) => runId !== run.runId && createdAt > context.at).map(({ comment }) =>
      `${COMMENT_OPENING}${comment}`
    )
  ]
  return texts.filter((text) => !log.some((event) => event.type === 'message' && event.text === text))
}
