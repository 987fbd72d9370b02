export const brain = { facts: ['Prefers tea'], preferences: { editor: 'vim' }, patterns: [], updatedAt: 1795256011447 }
export const brainView = { brain, contextPreview: '## Known facts\n- Prefers tea\n\n## Preferences\n- editor: vim' }
export const fact = { fact: 'Prefers tea' }
export const preference = { key: 'editor', value: 'vim' }
