import { Type } from '@sinclair/typebox'
import { oneOf } from './common.ts'

export const PlanSchema = Type.Object({
  steps: Type.Array(
    Type.Object({
      text: Type.String({ minLength: 1, maxLength: 500 }),
      status: oneOf(['pending', 'running', 'done'])
    }, { additionalProperties: false }),
    { minItems: 1, maxItems: 50 }
  )
}, { $id: 'AgentPlan', additionalProperties: false, description: 'The plan of a run, and how far it is' })
