import type { CallPolicy } from '../call-policy.ts'

/** Adds a concern (a reason to ask a person) if the model composed one of the addresses of a call. */
export const addresses: CallPolicy = {
  name: 'addresses',
  async decide (checked, { tools, addresses: gate }, concerns) {
    if (concerns.length > 0 || tools.find(checked.call.toolName)?.execute.by !== undefined) return concerns
    if (checked.ownConcerns !== undefined) return checked.ownConcerns
    const question = await gate?.question(checked.call)
    if (question === undefined) return concerns
    checked.ownConcerns = [{ policy: 'addresses', isOfCall: true, ...question }]
    return checked.ownConcerns
  }
}
