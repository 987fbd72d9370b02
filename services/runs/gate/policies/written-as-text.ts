import type { CallPolicy } from '../call-policy.ts'

/** A call that a model wrote as text may have been meant as an example: it asks if it can change something. */
export const writtenAsText: CallPolicy = {
  name: 'writtenAsText',
  async decide ({ call: { toolName, isFromText } }, { tools }, concerns) {
    if (!isFromText || tools.find(toolName)?.policy.effect === 'read') return concerns
    return [...concerns, { policy: 'writtenAsText', reason: 'The model wrote this call as text, which it may have meant to show.' }]
  }
}
