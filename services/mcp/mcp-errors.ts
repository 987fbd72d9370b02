import { defineError } from '../lib/service-error.ts'

export const ToolServerNotFound = defineError('ERR_TOOL_SERVER_NOT_FOUND', 'There is no tool server "%s"; GET /mcp/servers lists them.')
export const ToolServersInvalid = defineError(
  'ERR_TOOL_SERVERS_INVALID',
  'The tool servers in config.json cannot be changed: %s. Correct the file first.'
)
export const UnknownTools = defineError('ERR_INVALID_REQUEST', 'The tools of "%s" cannot be accepted: %s.')
export const ToolsChanged = defineError(
  'ERR_TOOLS_CHANGED',
  'The tools of "%s" have changed since they were looked at, and were not accepted. Look at them again: GET /mcp/servers/:name.'
)
export const TooManyToolServers = defineError('ERR_TOO_MANY_TOOL_SERVERS', 'There are already %d tool servers; disconnect one first.')
export const HeaderNotAllowed = defineError('ERR_BAD_REQUEST', 'The header "%s" is set by the protocol or the connection; leave it out.')
export const NotAnAddress = defineError('ERR_BAD_REQUEST', 'The url of "%s" is no address: check its host and its port.')
export const ClientIdMissing = defineError('ERR_BAD_REQUEST', 'A clientSecret belongs to a clientId; send both.')
export const NotServers = defineError('ERR_INVALID_REQUEST', 'No servers could be read: %s.')
const Failed = defineError('ERR_TOOL_SERVER_FAILED', '%s')

/**
 * Creates the error for a server that cannot be connected. `stderr`, the last lines of the server's stderr, becomes a field of the
 * response.
 */
export const toolServerFailed = (message: string, stderr: string) => Object.assign(new Failed(message), { fields: { stderr } })
