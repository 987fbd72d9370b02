import createError from '@fastify/error'

export const ToolServerNotFound = createError<[string]>(
  'ERR_TOOL_SERVER_NOT_FOUND',
  'There is no tool server "%s"; GET /mcp/servers lists them.',
  404
)
export const ToolServersInvalid = createError<[string]>(
  'ERR_TOOL_SERVERS_INVALID',
  'The tool servers in config.json cannot be changed: %s. Correct the file first.',
  409
)
export const TooManyToolServers = createError<[number]>(
  'ERR_TOO_MANY_TOOL_SERVERS',
  'There are already %d tool servers; disconnect one first.',
  409
)
const Failed = createError<[string]>('ERR_TOOL_SERVER_FAILED', '%s', 502)

/** Creates the 502 error for a server that cannot be connected; `stderr` (its last lines) becomes part of the response. */
export const toolServerFailed = (message: string, stderr: string) => Object.assign(new Failed(message), { shown: { stderr } })
