import type { CallPolicy } from '../call-policy.ts'

/** A call that asks about nothing else asks about an address that the model put together. */
export const addresses: CallPolicy = {
  name: 'addresses',
  async decide (checked, { tools, addresses: gate }, concerns) {
    if (concerns.length > 0 || tools.find(checked.call.toolName)?.policy.answeredBy !== undefined) return concerns
    if (checked.ownConcerns !== undefined) return checked.ownConcerns
    const question = await gate?.question(checked.call)
    if (question === undefined) return concerns
    checked.ownConcerns = [{ policy: 'addresses', isOfCall: true, ...question }]
    return checked.ownConcerns
  }
}
