import { Type, type Static } from '@sinclair/typebox'
import { PlanSchema } from '../../schemas/plan.ts'
import { PLAN_TOOL } from '../contracts/model-texts.ts'
import type { BuiltinTool } from '../contracts/tool.ts'

const { steps } = PlanSchema.properties
const Input = Type.Object({ steps }, { additionalProperties: false })

/** Creates the tool that shows the user the plan of longer work. The output of a run's newest call is the run's plan. */
export function createUpdatePlan (): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: PLAN_TOOL,
      description: 'Show the user your plan for long work: send all steps in order, each time a step begins or ends. ' +
        'Not for short work.',
      schema: Input
    },
    says: { en: { label: 'Update the plan', does: 'change its plan' }, otherNames: ['todowrite'] },
    policy: { effect: 'read', needs: ['conversation'] },
    execute: async ({ steps }) => ({ steps })
  }
}
