import { applicationInstructions, describeRunTools, type RunAttempt, type DescribedTools, type ThreadRun } from '../runs/index.ts'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { RunContext, RunEvent, FolderGuide } from '../contracts/run-events.ts'
import type { ToolNeed } from '../contracts/tool.ts'
import type { ThreadMemory } from '../brain/index.ts'
import type { ThreadPlacement } from './thread-history.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { RunAdvice } from './run-advice.ts'
import { attachedIn } from './prepare-request.ts'
import { HOW_TO_WORK, HOW_TO_WORK_COMPACT } from '../contracts/model-texts.ts'

interface PromptParts extends Omit<DescribedTools, 'context'> {
  /** A description of the computer. */
  machine: string
  hasTools: boolean
  cwd: string
  /** The current time, for the date in the prompt; epoch milliseconds. */
  now: number
  /** The application's instructions: the system messages at the beginning of the conversation, and those of the run's options. */
  instructions: string[]
  /** The text of the user's memory, with its introductions; '' if the memory is empty. */
  memory: string
  /** Facts about the conversation that its messages might lack. */
  notes: string[]
}

/** This text stays the same when the user denies a call: denied calls are listed at the end of the messages (refused-calls.ts). */
const APPROVALS = 'The service asks the user for approvals. ' +
  'Do not retry calls that were denied; they are listed with the last results.'

const ONLY_TASKS_GO_ON =
  'When you have answered, nothing goes on: what is to be done in the background or later is a task, which the user asks for.'
const ONLY_TASKS_GO_ON_COMPACT = 'What is to be done later or in the background is a task.'

/**
 * Returns the texts of the agent's system prompt, ordered from what seldom changes to what often changes: first the text for every run,
 * then for the runs of this conversation, then for this run only. The refused calls are not part of it.
 */
function systemPrompt (parts: PromptParts): string[] {
  const { machine, hasTools, isCompact, servers, cwd, now, instructions, answer = '', memory, notes } = parts
  const stable = [
    "You are an assistant that works on its user's own computer. Answer briefly and truthfully, in the user's language. " +
    (isCompact ? `${HOW_TO_WORK_COMPACT} ${ONLY_TASKS_GO_ON_COMPACT}` : `${HOW_TO_WORK} ${ONLY_TASKS_GO_ON}`),
    machine,
    hasTools ? APPROVALS : '',
    servers
  ]
  const ofConversation = [
    `Working folder: ${JSON.stringify(cwd)}. Relative paths start there. Today is ${new Date(now).toDateString()}.`,
    applicationInstructions(instructions),
    answer,
    memory
  ]
  const ofRun = [
    notes.length > 0
      ? `What happened in this conversation, whatever its messages say:\n${notes.map((note) => `- ${note}`).join('\n')}`
      : ''
  ]
  return [stable, ofConversation, ofRun].map(
    (sections) => sections.filter((text) => text !== '').join('\n\n')
  ).filter((text) => text !== '')
}

/** The parts of a run's request that go into the system prompt. */
interface PromptInputs {
  instructions: string[]
  notes?: string[]
  /** The guide (AGENTS.md or CLAUDE.md) of the working folder, if it is already being read. */
  guide?: Promise<FolderGuide | undefined>
  /** The memory that the models of the conversation are told of. */
  memory: ThreadMemory
}

/** A run's request, converted for the model. */
export interface Context extends PromptInputs, ThreadPlacement {
  prompt: LanguageModelV4Prompt
  /** The advice about the request, for a run whose request is analysed. */
  advice?: RunAdvice
}

/**
 * Returns the context of a run without memory entries that were forgotten since the context was made, so that no later prompt contains
 * them.
 */
async function withoutForgotten (context: RunContext, memory: ThreadMemory): Promise<RunContext> {
  if (context.memory === undefined) return context
  const { shown, part, length } = context.memory
  const text = await memory.without(shown)
  if (text === undefined) return context
  return { ...context, system: context.system.with(part, `${context.system[part].slice(0, -length)}${text}`.trimEnd()) }
}

/**
 * Returns the context that the models of a run get beside its messages. The context is made once and stored in the log, so that date,
 * memory and tools are the same in each step, after approvals and after a restart: models bind their reasoning to the text before it.
 */
export async function runContext (
  { live, owed: owedAnswer }: Pick<RunAttempt<ThreadRun>, 'live' | 'owed'>,
  { prompt, instructions, notes = [], guide: begun, memory }: Context,
  { host, registry, guides, skills, machine, clock, store, attachments, append }: AgentDeps & { append: (event: RunEvent) => void }
): Promise<RunContext> {
  const { record, log } = live.run
  const known = log.events.findLast((event) => event.type === 'context')
  if (known !== undefined) return withoutForgotten(known.context, memory)
  const at = clock.now()
  const hasFiles = attachedIn(prompt).length > 0 || (await attachments.ofThread(store.digest(record.threadId))).size > 0
  const { interactive } = record.options ?? {}
  const { skills: found } = await skills.find(record.cwd)
  const missing: ToolNeed[] = [
    'task',
    ...hasFiles ? [] : ['attachments' as const],
    ...interactive === false ? ['person' as const] : []
  ]
  const mayAsk = interactive === true
  const [guide, { context: described, ...tools }] = await Promise.all([
    begun ?? guides.read(record.cwd),
    describeRunTools({ host, registry, skills: found, missing, mayAsk, owed: await owedAnswer() }, live.signal)
  ])
  const system = systemPrompt({
    ...tools,
    machine,
    hasTools: described.tools.length > 0,
    cwd: host.shown(record.cwd),
    now: at,
    instructions: [...instructions, ...record.options?.instructions === undefined ? [] : [record.options.instructions]],
    memory: memory.system.text,
    notes
  })
  const { text, shown } = memory.system
  const context: RunContext = {
    at,
    cwd: record.cwd,
    system,
    ...(text !== '' && { memory: { shown, part: system.findIndex((part) => part.endsWith(text)), length: text.length } }),
    guide,
    ...described
  }
  append({ type: 'context', context })
  return context
}
