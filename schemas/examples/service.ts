export const about = {
  name: 'local-agent-service',
  model: 'offline/assistant',
  workspace: '/home/ada/notes',
  endpoints: ['GET /', 'GET /health', 'POST /run', 'POST /run/approve', 'GET /memory/brain']
}
export const health = { status: 'ok', version: '0.1.0', uptimeMs: 564, checks: { store: 'ok', config: 'ok', scheduler: 'ok', model: 'ok' } }
export const config = { model: 'anthropic/claude-sonnet-5.5', permissions: { 'mcp_*': 'ask' } }
export const error = {
  error: 'body.messages needs at least 1 entry.',
  code: 'ERR_INVALID_REQUEST',
  statusCode: 400,
  details: [{ path: '/messages', message: 'needs at least 1 entry' }]
}
