import { Type, type Static } from '@sinclair/typebox'
import { ref, Timestamp } from './common.ts'
import { AgentName, NamedOptionsSchema } from './run-options.ts'

const Description = Type.String({ maxLength: 1_000, description: 'What the agent is for, for people who choose one' })

export const NamedAgentSchema = Type.Object({
  name: Type.String(),
  description: Description,
  options: ref(NamedOptionsSchema),
  createdAt: Timestamp,
  updatedAt: Timestamp
}, { $id: 'NamedAgent', description: 'Options under a name, for conversations, runs and tasks' })
export type NamedAgent = Static<typeof NamedAgentSchema>

export const AgentBodySchema = Type.Object({
  description: Type.Optional(Description),
  options: Type.Optional(ref(NamedOptionsSchema))
}, {
  additionalProperties: false,
  $id: 'AgentBody',
  description: 'The whole agent: it takes the place of one of the same name. Runs that begin later have it',
  examples: [
    {
      description: 'Answers questions about orders and changes nothing',
      options: {
        instructions: 'You help the staff of a bookshop. Answer in two sentences.',
        allowTools: ['readFile', 'listDirectory', 'searchFiles'],
        maxSteps: 20
      }
    }
  ]
})
export type AgentBody = Static<typeof AgentBodySchema>

export const AgentListSchema = Type.Object({ agents: Type.Array(ref(NamedAgentSchema)) }, {
  $id: 'AgentList',
  description: 'All agents, by name'
})
export const AgentDeletedSchema = Type.Object({ ok: Type.Literal(true), name: Type.String() }, {
  $id: 'AgentDeleted',
  description: 'The agent was deleted'
})
export const AgentParams = Type.Object({ name: AgentName })
