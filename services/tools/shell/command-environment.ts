/** Variables that describe this process and would change what a command does: npm installs less under NODE_ENV=production. */
const OWN = new RegExp(
  '^(?:NODE_ENV|NODE_CHANNEL_FD|NODE_CHANNEL_SERIALIZATION_MODE|NODE_UNIQUE_ID|ELECTRON_RUN_AS_NODE|' +
    'npm_(?:lifecycle|package)_.*)$'
)

/** Returns the environment of commands: that of children, without the variables that say how the service itself was started. */
export const commandEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !OWN.test(name)))
