import type { CallPolicy } from '../call-policy.ts'

/**
 * Adds a concern (a reason to ask a person) to a call that the model wrote as text and that can change something: the model might have
 * meant the text as an example.
 */
export const writtenAsText: CallPolicy = {
  name: 'writtenAsText',
  async decide ({ call: { toolName, isFromText } }, { tools }, concerns) {
    if (!isFromText || tools.find(toolName)?.policy.effect === 'read') return concerns
    return [...concerns, { policy: 'writtenAsText', reason: 'The model wrote this call as text, which it may have meant to show.' }]
  }
}
