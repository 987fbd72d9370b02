/** What the service says that a tool does (`sayTool` of services/tools/say-call.ts), and the tool; others are used by their name. */
export const GRANTED_TOOLS: Record<string, string> = {
  'change a task': 'changeTask',
  click: 'click',
  'make a task': 'createTask',
  'delete a file': 'deleteFile',
  'edit a file': 'editFile',
  'read a web page': 'fetchUrl',
  'move a file': 'moveFile',
  'run a command': 'runCommand',
  'take a screenshot': 'screenshot',
  scroll: 'scroll',
  'stop a command': 'stopCommand',
  type: 'type',
  'search the web': 'webSearch',
  'write a file': 'writeFile'
}
