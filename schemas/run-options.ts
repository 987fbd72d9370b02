import { Type, type Static } from '@sinclair/typebox'
import { enumOf, oneOf } from './common.ts'
import { MODEL_ID } from './ids.ts'

const closed = { additionalProperties: false }

/** The values of the call option `reasoning` of the AI SDK. */
export const EffortSchema = oneOf(
  ['provider-default', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  'How much the model reasons before it answers. Providers take the nearest effort that their model has'
)
export type Effort = Static<typeof EffortSchema>

/** The model and settings that produced an answer, for people who compare answers. */
export const AnsweredBySchema = Type.Object({
  model: Type.String({ description: 'Id of the model' }),
  effort: Type.Optional(EffortSchema)
}, { description: 'The model of the last step, and the effort that it was asked with; absent when no model answered' })
export type AnsweredBy = Static<typeof AnsweredBySchema>

export const MaxOutputTokens = Type.Integer({
  minimum: 1,
  maximum: 10_000_000,
  description: 'The greatest length of the answer of one model call, in tokens; providers count reasoning, too'
})

/** The maximum number of steps with tools that options can allow. */
export const MAX_STEPS = 500

/** The longest working time that options can allow, in minutes. */
export const LONGEST_RUN = 24 * 60

const BudgetSchema = Type.Object({
  usd: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, description: 'US dollars' })),
  tokens: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Tokens of input and output, over all model calls' })
  ),
  minutes: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: LONGEST_RUN,
      description: 'Working time in minutes, without the time of waiting for approvals; 4 hours at most unless config.json says otherwise'
    })
  )
}, {
  ...closed,
  description: 'Limits of the run. When its money or tokens are spent, it asks whether it may go on, where somebody can be asked; else, ' +
    'and when its minutes are over, it ends'
})
export type Budget = Static<typeof BudgetSchema>

/** A tool that the application executes itself. */
const AppToolSchema = Type.Object({
  name: Type.String({
    pattern: '^[A-Za-z][A-Za-z0-9_\\-]{0,63}$',
    description: 'up to 64 letters, digits, _ and -, beginning with a letter'
  }),
  description: Type.String({ minLength: 1, maxLength: 8_192, description: 'Told to the model' }),
  inputSchema: Type.Unsafe<Record<string, unknown>>(
    Type.Object({}, { additionalProperties: true, description: 'JSON schema of the input, an object' })
  ),
  effect: enumOf(
    ['read', 'write', 'external'],
    'Tools that do more than read need an approval for each call, unless config.json says otherwise'
  ),
  timeoutMs: Type.Optional(
    Type.Integer({ minimum: 1_000, maximum: 5 * 24 * 60 * 60 * 1000, description: 'The time in which a call must be answered, ms' })
  )
}, { ...closed, description: 'A tool that the application executes itself' })
export type AppTool = Static<typeof AppToolSchema>

/** The JSON Schema that the answer of a run must match. */
const ObjectOptionSchema = Type.Object({
  schema: Type.Unsafe<Record<string, unknown>>(
    Type.Object({}, { additionalProperties: true, description: 'JSON schema of the answer, an object' })
  ),
  retries: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 5, default: 2, description: 'How often the model may correct an answer that does not fit' })
  )
}, { ...closed, description: 'The answer is an object that fits the schema; the run fails otherwise' })
export type ObjectOption = Static<typeof ObjectOptionSchema>

/** The structured answer of a run, as results and runs show it. */
export const StructuredAnswer = Type.Unsafe<Record<string, unknown>>(
  Type.Object({}, { additionalProperties: true, description: 'The structured answer; it fits options.object.schema' })
)

const ENTRIES = 'Names, patterns of names such as `github_*`, or `server:<name>` for all tools of a tool server'
const toolNames = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 512 }), { maxItems: MOST_TOOL_NAMES, uniqueItems: true, description }))

/** The name of an agent, chosen by a person or an application. */
export const AgentName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._\\-]{0,63}$',
  description: 'Up to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit'
})

/** The maximum length of the instructions of a run, in characters, also after several instructions are joined. */
export const MOST_INSTRUCTIONS = 20_000
/** The maximum number of application tools in one run. */
export const MOST_APP_TOOLS = 512
/** The application name under which clients of OpenAI's API execute their tools. */
export const OPENAI_APP = 'chat-completions'
/** The maximum number of names in a list of tools. */
export const MOST_TOOL_NAMES = 512

const fields = {
  model: Type.Optional(
    Type.String({
      ...MODEL_ID,
      minLength: 1,
      maxLength: 200,
      description: '`<provider>/<model>`: the model of role `capable` for this run, instead of the active model'
    })
  ),
  instructions: Type.Optional(
    Type.String({ minLength: 1, maxLength: MOST_INSTRUCTIONS, description: "The application's instructions, part of the system prompt" })
  ),
  allowTools: toolNames(`The run has these tools and no others; absent: all tools. ${ENTRIES}`),
  denyTools: toolNames(`The run has no tools of these names. ${ENTRIES}`),
  effort: Type.Optional(EffortSchema),
  maxOutputTokens: Type.Optional(MaxOutputTokens),
  maxSteps: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_STEPS, description: 'The number of steps with tools; by default 100, and 200 for a task' })
  ),
  budget: Type.Optional(BudgetSchema),
  object: Type.Optional(ObjectOptionSchema),
  appTools: Type.Optional(
    Type.Array(AppToolSchema, { maxItems: MOST_APP_TOOLS, description: 'Tools that the application executes itself' })
  ),
  app: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'The application whose tools these are; calls can be listed by it' })
  ),
  sandbox: Type.Optional(enumOf(
    ['auto', 'required'],
    'Which commands run in a box, where config.json lets more of them run outside. required: a command that cannot is refused'
  )),
  workspace: Type.Optional(enumOf(
    ['folder', 'copy'],
    'copy: the run works on a copy of its folder, where file tools and commands in the box need no approval; ' +
      'POST /runs/{runId}/apply takes its changes over. For conversations'
  )),
  interactive: Type.Optional(Type.Boolean({
    description: 'true: the agent may ask the user questions; false: what would wait for a person is denied at once. ' +
      'Without it approvals wait; tasks may ask questions in the approval modes changes, always and first_n'
  }))
}

export const RunOptionsSchema = Type.Object({
  agent: Type.Optional({ ...AgentName, description: 'The name of an agent (`GET /agents`), whose options apply beside these' }),
  ...fields
}, {
  ...closed,
  $id: 'RunOptions',
  description: 'Settings of one run. They are resolved with the options of its agent and of its conversation when the run starts, and ' +
    'kept with the run: the same applies after approvals and after a restart'
})
export type RunOptions = Static<typeof RunOptionsSchema>

export const NamedOptionsSchema = Type.Object(fields, {
  ...closed,
  $id: 'NamedOptions',
  description: 'The options of an agent, or of a conversation. Those of a run narrow them: each tool must be allowed by all, the least ' +
    'budget counts, and the instructions of all are told'
})
export type NamedOptions = Static<typeof NamedOptionsSchema>
