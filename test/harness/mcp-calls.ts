export const run = (app: any, name: string, input: object = {}) => ({
  name,
  input,
  runId: name,
  attempt: app.fence.enter(name),
  callId: 'c',
  cwd: '/',
  signal: new AbortController().signal
})
