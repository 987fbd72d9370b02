import { readFileSync } from 'node:fs'

declare const PACKAGE_VERSION: string | undefined

export const NAME = 'local-agent-service'

/** The build defines PACKAGE_VERSION; when run from the sources, the version is read from package.json. */
export const VERSION: string = typeof PACKAGE_VERSION === 'string'
  ? PACKAGE_VERSION
  : JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
