export const question = {
  id: 'format',
  text: 'Which format should the report have?',
  options: [{ value: 'md', label: 'Markdown' }, { value: 'pdf', label: 'PDF' }],
  free: true,
  required: true
}
export const answers = { format: 'md', sections: ['summary', 'figures'] }
