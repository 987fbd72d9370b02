const SONNET = 'anthropic/claude-sonnet-5.5'
const HAIKU = 'anthropic/claude-haiku-5.5'

export const providerList = {
  active_model: SONNET,
  gateway_configured: true,
  providers: [
    { name: 'offline', default_model: 'offline/assistant', kind: 'offline', configured: true },
    { name: 'gateway', default_model: SONNET, kind: 'gateway', configured: true }
  ],
  roles: { fast: HAIKU, capable: SONNET, vision: SONNET }
}
export const configureBody = { model: SONNET, keys: { anthropic: '<ANTHROPIC_KEY>' } }
export const configured = { status: 'configured', active_model: SONNET, gateway_configured: true }
export const modelList = {
  models: [
    { id: 'offline/assistant', name: 'Offline assistant (plain commands, no language model)', provider: 'offline' },
    { id: 'offline/scripted', name: 'Offline script (replays offline.script of config.json)', provider: 'offline' }
  ],
  errors: []
}
export const testBody = { model: SONNET }
export const tested = {
  ok: false,
  model: SONNET,
  latencyMs: 0,
  error:
    `The model ${SONNET} cannot be used yet: the model gateway has no key. POST /providers/configure with {"gateway_key": "<key>"}, or ` +
    'set AI_GATEWAY_API_KEY.'
}
