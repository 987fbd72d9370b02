import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { RunContext, RunEvent } from '../contracts/run-events.ts'
import { offeredTools, type RunAttempt, type ThreadRun } from '../runs/index.ts'
import type { ThreadPlacement } from './thread-history.ts'
import type { FolderGuide } from '../contracts/run-events.ts'
import type { AgentDeps } from './agent-deps.ts'
import { systemPrompt } from './system-prompt.ts'

/** The parts of a run's request that belong into its system prompt. */
export interface PromptInputs {
  instructions: string[]
  notes?: string[]
  /** The guide of the working folder, if reading it has begun already. */
  guide?: Promise<FolderGuide | undefined>
}

/** A run's request, converted for the model. */
export interface Context extends PromptInputs, ThreadPlacement {
  prompt: LanguageModelV4Prompt
}

type Described = Pick<LanguageModelV4FunctionTool, 'name' | 'description' | 'inputSchema'>
const descriptions = new WeakMap<Described, LanguageModelV4FunctionTool>()

/** Returns the description of a tool for models: always the same object, so that its JSON is made once. */
function describeTool (tool: Described): LanguageModelV4FunctionTool {
  const { name, description, inputSchema } = tool
  const described = descriptions.get(tool) ?? { type: 'function', name, description, inputSchema }
  descriptions.set(tool, described)
  return described
}

/**
 * Returns the context that the models of a run get beside its messages. It is made once and kept in the log, so that date,
 * memory and tools are the same in each step, after approvals and after a restart: models bind their thinking to the text before it.
 */
export async function runContext (
  { live, owed: owedAnswer }: Pick<RunAttempt<ThreadRun>, 'live' | 'owed'>,
  { instructions, notes = [], guide: begun }: PromptInputs,
  { host, memory, guides, machine, clock, append }: AgentDeps & { append: (event: RunEvent) => void }
): Promise<RunContext> {
  const { record, log } = live.run
  const known = log.events.find((event) => event.type === 'context')
  if (known !== undefined) return known.context
  const at = clock.now()
  const owed = await owedAnswer()
  const ofHost = offeredTools(host.offered(), record.options?.interactive === true)
  const tools = owed === undefined || ofHost.length === 0 ? ofHost : [...ofHost, owed.tool]
  const [remembered, guide] = await Promise.all([memory(), begun ?? guides.read(record.cwd)])
  const system = systemPrompt({
    machine,
    tools: tools.map(({ name }) => name),
    servers: host.describe(),
    cwd: record.cwd,
    now: at,
    instructions: [...instructions, ...record.options?.instructions === undefined ? [] : [record.options.instructions]],
    ...(owed && { answer: owed.instructions(ofHost.length > 0) }),
    memory: remembered,
    notes
  })
  const context = {
    at,
    cwd: record.cwd,
    system,
    ...(guide !== undefined && { guide }),
    tools: tools.map(describeTool)
  }
  append({ type: 'context', context })
  return context
}
