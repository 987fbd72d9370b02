export const pattern = {
  id: '01a1fe20-4f4c-74b8-a3b8-5b8e2c8e9a11',
  pattern: 'Summarise my unread mail.',
  confidence: 0.6,
  evidence: [
    { threadId: 'monday', at: 1795255011447 },
    { threadId: 'tuesday', at: 1795255511447 },
    { taskId: '01a1fe20-4f4c-74b8-a3b8-5b8e2c8e9a12', at: 1795256011447 }
  ],
  updatedAt: 1795256011447
}
export const brain = { facts: ['Prefers tea'], preferences: { editor: 'vim' }, patterns: [], updatedAt: 1795256011447 }
export const brainView = { brain, contextPreview: '## Known facts\n- Prefers tea\n\n## Preferences\n- editor: vim' }
export const fact = { fact: 'Prefers tea' }
export const preference = { key: 'editor', value: 'vim' }
export const preferenceKey = { key: 'editor' }
export const factChange = { state: 'known', pinned: true }
export const knownFact = {
  id: '01a1fe20-4f4c-74b8-a3b8-5b8e2c8e9a10',
  fact: 'I moved to Berlin.',
  kind: 'fact',
  state: 'known',
  source: { threadId: 'trip-to-lisbon', message: 4, messageId: 'm3', span: 'I moved to Berlin.' },
  createdAt: 1795256011447,
  supersedes: 'I live in Paris.',
  replaces: ['01a1fe20-4f4c-74b8-a3b8-5b8e2c8e9a0e']
}
export const factList = {
  facts: [
    knownFact,
    { id: '01a1fe20-4f4c-74b8-a3b8-5b8e2c8e9a0f', fact: 'Prefers tea', kind: 'fact', state: 'known', createdAt: 1795256011268 }
  ]
}
export const extraction = { facts: ['I moved to Berlin.'], preferences: { name: 'Ada' }, added: 2, proposed: 0 }
